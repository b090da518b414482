"use strict";
// Scales of plots: which part of the values is shown, where its marks stand, and what they say.
{
    // Room above nearly all values where the others are cut off, and how many it takes to tell.
    const ROOM = 1.6, FEWEST = 8;

    // Round numbers between two values, about `count` of them.
    function ticks(low, high, count) {
        const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
        const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
        const list = [];
        for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && list.length < 50; k++) list.push(k * step);
        return list;
    }

    // Powers of ten, about five; where there is hardly one, its multiples too.
    function decades(low, high) {
        const from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high)), every = Math.max(1, Math.ceil((to - from) / 5));
        const list = [];
        for (let k = from; k <= to; k += every) list.push(10 ** k);
        const inside = (marks) => marks.filter((x) => x >= low * 0.999 && x <= high * 1.001);
        return inside(list).length > 1 ? inside(list) : inside(list.flatMap((x) => [x, 2 * x, 5 * x]));
    }

    // One value far above all others would press them flat: where to cut, or null if the peak is not `times` as high as
    // a `share` of them.
    function cut(values, peak, { times, share }) {
        const sorted = values.filter((x) => Number.isFinite(x)).sort((a, b) => a - b);
        const most = sorted[Math.floor(share * (sorted.length - 1))];
        return sorted.length >= FEWEST && most > 0 && peak > times * most ? ROOM * most : null;
    }

    // What marks say, all in the same unit.
    function texts(marks, unit) {
        const largest = Math.max(...marks.map(Math.abs), 0);
        if (!unit || !(largest > 1e-13 && largest < 1e15)) return marks.map((x) => barchan.number(x, unit));
        const thousand = Math.min(Math.max(3 * Math.floor(Math.log10(largest) / 3 + 1e-9), -12), 12);
        const prefix = barchan.number(10 ** thousand, unit).slice(2);
        return marks.map((x) => `${Number((x / 10 ** thousand).toPrecision(4))} ${prefix}`);
    }

    barchan.scale = { ticks, decades, cut, texts };
}
