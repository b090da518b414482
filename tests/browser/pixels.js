// What a picture shows, counted in the browser itself: no library reads the PNG.

// Counts the pixels of a canvas that differ from its corner, and hashes all of them. The view is drawn for this:
// a canvas of WebGL only has its pixels until it is shown.
export function look(page, selector = "#view canvas") {
    return page.evaluate(async (selector) => {
        const source = document.querySelector(selector);
        if (source === globalThis.barchan?.viewer?.canvas) globalThis.barchan.viewer.render();
        const copy = new OffscreenCanvas(source.width, source.height), c = copy.getContext("2d");
        c.drawImage(source, 0, 0);
        const { data } = c.getImageData(0, 0, copy.width, copy.height);
        let differ = 0, hash = 0;
        const colours = new Set();
        for (let i = 0; i < data.length; i += 4) {
            const away = Math.abs(data[i] - data[0]) + Math.abs(data[i + 1] - data[1]) + Math.abs(data[i + 2] - data[2]);
            if (away > 24) differ += 1;
            const colour = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
            hash = (Math.imul(hash, 31) + colour) | 0;
            if (colours.size < 5000) colours.add(colour);
        }
        return { differ, hash, colours: colours.size, share: differ / (data.length / 4) };
    }, selector);
}
