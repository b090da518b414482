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

const PLOTS = ["energy", "contacts", "penetration", "iterations", "residual", "seconds"];

// The part of a plot's width that has pixels in the colour of a curve, for each plot.
export function drawn(page) {
    return page.evaluate((names) => {
        const probe = document.createElement("canvas").getContext("2d");
        const rgb = (name) => {
            probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
            probe.fillRect(0, 0, 1, 1);
            return probe.getImageData(0, 0, 1, 1).data;
        };
        const series = [1, 2, 3, 4, 5, 6].map((k) => rgb(`--s${k}`));
        const share = (canvas) => {
            const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            const columns = new Set();
            for (let i = 0; i < data.length; i += 4) {
                const near = series.some((c) => Math.abs(data[i] - c[0]) + Math.abs(data[i + 1] - c[1]) + Math.abs(data[i + 2] - c[2]) < 30);
                if (near && data[i + 3] > 200) columns.add((i / 4) % width);
            }
            return columns.size / width;
        };
        return Object.fromEntries(names.map((name) => [name, share(document.getElementById(`plot-${name}`))]));
    }, PLOTS);
}

// Every plot has a curve in its own colour, over a third of its width or as much as `least` says.
export async function curves(page, checks, least = {}) {
    const found = await drawn(page);
    for (const name of PLOTS) checks.that(found[name] > (least[name] ?? 0.3), `the plot of ${name} has a curve`, found[name]);
}
