"use strict";
// Colours: maps for quantities whose steps look equally large, and distinct ones for names.
{
    // Viridis, at sixteen places.
    const VIRIDIS = [
        "440154", "481a6c", "472f7d", "414487", "39568c", "31688e", "2a788e", "23888e", "1f988b", "22a884", "35b779",
        "54c568", "7ad151", "a5db36", "d2e21b", "fde725",
    ];
    // From dark red to pale yellow, for forces on either background.
    const EMBER = ["7f1d1d", "a32a1a", "c43c16", "dd5713", "ef7816", "f89b2a", "fdbd52", "fddc86"];

    const channels = (hex) => [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16));

    function between(stops, t) {
        const place = Math.min(Math.max(t, 0), 1) * (stops.length - 1), k = Math.min(Math.floor(place), stops.length - 2);
        const low = channels(stops[k]), high = channels(stops[k + 1]);
        return low.map((c, j) => c + (high[j] - c) * (place - k));
    }

    // Hues a golden angle apart never repeat; lightness and chroma stay.
    function distinct(k) {
        const hue = (k * 137.508 + 210) % 360, s = 0.55, l = 0.55 + 0.1 * ((k >> 3) % 2);
        const f = (n) => {
            const h = (n + hue / 30) % 12;
            return 255 * (l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(h - 3, 9 - h, 1)));
        };
        return [f(0), f(8), f(4)];
    }

    function table(size, colour) {
        const data = new Uint8Array(size * 4);
        for (let k = 0; k < size; k++) data.set([...colour(k).map(Math.round), 255], 4 * k);
        return data;
    }

    const css = (rgb) => `rgb(${rgb.map(Math.round).join(" ")})`;

    barchan.colours = {
        SIZE: 256,
        viridis: table(256, (k) => between(VIRIDIS, k / 255)),
        ember: table(256, (k) => between(EMBER, k / 255)),
        distinct: table(256, distinct),
        css,
        distinctCss: (k) => css(distinct(k % 256)),
        gradient: (name) => {
            const stops = (name === "ember" ? EMBER : VIRIDIS).map((hex) => `#${hex}`);
            return `linear-gradient(to right, ${stops.join(", ")})`;
        },
    };

    // A number as people read it: three or four digits, and a prefix to the unit where it helps.
    const PREFIXES = { "-12": "p", "-9": "n", "-6": "µ", "-3": "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T" };
    barchan.number = (x, unit = "", digits = 3) => {
        if (x === null || x === undefined || !Number.isFinite(x)) return "not finite";
        const tail = unit ? ` ${unit}` : "";
        if (x === 0) return `0${tail}`;
        // Rounded first: what becomes a thousand takes the next prefix.
        x = Number(x.toPrecision(digits));
        const power = Math.floor(Math.log10(Math.abs(x)) + 1e-9);
        if (unit) {
            const thousand = Math.min(Math.max(3 * Math.floor(power / 3), -12), 12);
            const scaled = x / 10 ** thousand;
            if (Math.abs(power) <= 14) return `${trim(scaled.toPrecision(digits))} ${PREFIXES[thousand]}${unit}`;
        }
        if (power < -4 || power > 5) {
            const [mantissa, exponent] = x.toExponential(digits - 1).split("e");
            return `${trim(mantissa)}e${Number(exponent)}${tail}`;
        }
        return trim(x.toPrecision(Math.max(digits, power + 1))) + tail;
    };
    barchan.whole = (n) => (Number.isFinite(n) ? Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f") : "–");
    barchan.seconds = (s) => {
        if (!Number.isFinite(s)) return "–";
        if (s < 120) return barchan.number(s, "s");
        return s < 7200 ? `${Math.floor(s / 60)} min ${Math.round(s % 60)} s` : `${Math.floor(s / 3600)} h ${Math.round((s % 3600) / 60)} min`;
    };
    function trim(text) {
        return text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text;
    }

    // An element with properties and children; text only ever as text.
    barchan.element = (tag, properties = {}, ...children) => {
        const made = document.createElement(tag);
        for (const [name, value] of Object.entries(properties)) {
            if (name.includes("-")) made.setAttribute(name, value);
            else made[name] = value;
        }
        made.append(...children);
        return made;
    };
}
