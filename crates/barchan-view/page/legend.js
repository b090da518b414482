"use strict";
// The legend: what colours mean, beside the view and in pictures that are saved.
{
    const { element, number, whole } = barchan;
    // Names that are listed at most.
    const MOST_NAMES = 12;
    const FONT = "system-ui, -apple-system, sans-serif";

    // What there is to tell: a title, and the ends of a map of colours or names with theirs.
    function entries(viewer) {
        const quantity = barchan.QUANTITIES[viewer.quantity], { low, high, capped } = viewer.range ?? {};
        if (!viewer.frame?.shown) return [];
        const list = [];
        if (quantity.names) {
            const last = Math.min(high, low + MOST_NAMES - 1), names = [];
            for (let k = low; k <= last; k++) names.push({ colour: barchan.colours.distinctCss(k), text: quantity.names(k) });
            list.push({ title: quantity.title, names, more: high - last });
        } else {
            const tell = (x) => (viewer.quantity === "id" || viewer.quantity === "contacts" ? whole(x) : number(x, quantity.unit));
            list.push({ title: quantity.title, map: "viridis", ends: [tell(low), (capped ? "≥ " : "") + tell(high)] });
        }
        if (viewer.chains.mesh.visible && viewer.frame.chains.count) {
            list.push({ title: "Force", map: "ember", ends: ["0", `≥ ${number(viewer.chains.strongest, "N")}`] });
        }
        return list;
    }

    barchan.showLegend = (viewer, host) => {
        host.replaceChildren();
        for (const { title, names, more, map, ends } of entries(viewer)) {
            host.append(element("div", { className: "legend-title", textContent: title }));
            if (names) {
                const list = names.map(({ colour, text }) => {
                    const swatch = element("i");
                    swatch.style.background = colour;
                    return element("span", {}, swatch, text);
                });
                if (more > 0) list.push(element("span", { textContent: `and ${more} more` }));
                host.append(element("div", { className: "legend-names" }, ...list));
            } else {
                const bar = element("div", { className: "legend-bar" });
                bar.style.background = barchan.colours.gradient(map);
                host.append(bar, element("div", { className: "legend-ends" }, ...ends.map((text) => element("span", { textContent: text }))));
            }
        }
    };

    // Draws the legend and the time into a picture, as large as on the screen.
    barchan.drawLegend = (viewer, c, ratio) => {
        const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
        c.save();
        c.scale(ratio, ratio);
        c.textBaseline = "top";
        const left = 14, wide = 170;
        let y = 14;
        const write = (text, at, font, align = "left") => {
            c.font = `${font} 12px ${FONT}`;
            c.textAlign = align;
            // A rim keeps it readable before bodies.
            c.lineWidth = 4;
            c.lineJoin = "round";
            c.strokeStyle = css("--view");
            c.strokeText(text, at, y);
            c.fillText(text, at, y);
        };
        for (const { title, names, more, map, ends } of entries(viewer)) {
            c.fillStyle = css("--text");
            write(title, left, "600");
            y += 18;
            for (const { colour, text } of names ?? []) {
                c.fillStyle = colour;
                c.beginPath();
                c.arc(left + 5, y + 6, 5, 0, 7);
                c.fill();
                c.fillStyle = css("--text");
                write(text, left + 17, "400");
                y += 17;
            }
            if (map) {
                const colours = barchan.colours[map];
                for (let x = 0; x < wide; x++) {
                    const k = 4 * Math.floor((x / wide) * (colours.length / 4));
                    c.fillStyle = barchan.colours.css([...colours.slice(k, k + 3)]);
                    c.fillRect(left + x, y, 1.5, 9);
                }
                y += 13;
                c.fillStyle = css("--text");
                write(ends[0], left, "400");
                write(ends[1], left + wide, "400", "right");
                y += 17;
            } else if (more > 0) {
                write(`and ${more} more`, left, "400");
                y += 17;
            }
            y += 6;
        }
        if (viewer.frame) {
            c.fillStyle = css("--text");
            y = c.canvas.height / ratio - 26;
            write(`${barchan.config.name}, ${number(viewer.frame.time, "s", 4)}, step ${whole(viewer.frame.step)}`, left, "400");
        }
        c.restore();
    };
}
