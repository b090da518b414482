"use strict";
// Plots over time: the rows of all of them, thinned, with a cursor that they share and what was missed.
{
    const { number, whole, STAGES, Plot, PLOTS } = barchan;
    // Beyond this many rows, a live page keeps the extremes of stretches only.
    const MOST_ROWS = 6000, STRETCHES = 250;
    // Times of stages are means over stretches; beyond this many, two neighbours become one.
    const MOST_BINS = 800;
    // Columns whose extremes survive thinning.
    const EXTREMES = ["kinetic", "potential", "contacts", "max_penetration", "mean_penetration", "iterations", "residual"];

    class Plots {
        constructor(host) {
            this.clear();
            this.cursor = null;
            this.tolerance = NaN;
            this.list = PLOTS.map((spec) => new Plot(this, spec));
            host.append(...this.list.map((plot) => plot.figure));
            new ResizeObserver(() => this.draw()).observe(host);
            matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
        }

        clear() {
            this.rows = [];
            this.hovered = null;
            this.total = 0;
            this.missedCount = 0;
            this.worst = 0;
            this.leastPotential = Infinity;
            this.ranges = null;
            this.bins = [];
            this.binRows = 1;
            this.judge();
            this.draw();
        }

        // Adds rows: objects whose keys are columns of steps.csv.
        addRows(rows) {
            for (const row of rows) {
                // JSON has no number for what is not finite, and null counts as 0 where it is added.
                for (const name in row) row[name] ??= NaN;
                this.rows.push(row);
                this.total += 1;
                if (!row.converged) this.missedCount += 1;
                if (row.residual > this.worst) this.worst = row.residual;
                if (row.potential < this.leastPotential) this.leastPotential = row.potential;
                this.bin(row);
            }
            if (this.rows.length > MOST_ROWS) this.thin();
            this.judge();
            this.draw();
        }

        // Adds the seconds of a step to the stretch it belongs to.
        bin(row) {
            const seconds = STAGES.map((stage) => row[`seconds_${stage}`] || 0), all = seconds.reduce((a, b) => a + b, 0);
            const last = this.bins[this.bins.length - 1];
            if (!last || last.count >= this.binRows) {
                this.bins.push({ time: row.time, count: 1, sums: seconds, slowest: all });
            } else {
                Object.assign(last, { time: row.time, count: last.count + 1, slowest: Math.max(last.slowest, all) });
                seconds.forEach((s, k) => (last.sums[k] += s));
            }
            if (this.bins.length <= MOST_BINS) return;
            this.binRows *= 2;
            const merged = [];
            for (let i = 0; i < this.bins.length; i += 2) {
                const a = this.bins[i], b = this.bins[i + 1];
                merged.push(b ? {
                    time: b.time, count: a.count + b.count, sums: a.sums.map((s, k) => s + b.sums[k]), slowest: Math.max(a.slowest, b.slowest),
                } : a);
            }
            this.bins = merged;
        }

        // Takes the table of a report: fewer rows than steps, and what was counted over all steps.
        setTable({ columns, rows, total, missed, missed_ranges: ranges, stages }, worst) {
            this.clear();
            this.addRows(rows.map((row) => Object.fromEntries(columns.map((name, k) => [name, row[k]]))));
            const bins = stages.map(([time, slowest, ...sums]) => ({ time, slowest, sums, count: 1 }));
            Object.assign(this, { total, missedCount: missed, ranges, bins });
            if (Number.isFinite(worst)) this.worst = worst;
            this.judge();
        }

        // Of stretches of rows, those with the smallest and largest values stay, and one that missed.
        thin() {
            const { rows } = this, kept = new Set([0, rows.length - 1]);
            for (let k = 0; k < STRETCHES; k++) {
                const from = Math.floor((k * rows.length) / STRETCHES), to = Math.floor(((k + 1) * rows.length) / STRETCHES);
                for (const name of EXTREMES) {
                    let low = from, high = from;
                    for (let i = from; i < to; i++) {
                        if (rows[i][name] < rows[low][name]) low = i;
                        if (rows[i][name] > rows[high][name]) high = i;
                    }
                    kept.add(low).add(high);
                }
                const missed = rows.slice(from, to).findIndex((row) => !row.converged);
                if (missed >= 0) kept.add(from + missed);
            }
            this.rows = [...kept].sort((a, b) => a - b).map((i) => rows[i]);
        }

        span() {
            let first = this.rows[0]?.time ?? 0;
            const last = this.rows[this.rows.length - 1]?.time ?? 1;
            // A run that starts at its first step is drawn from zero.
            if (first > 0 && first < 0.05 * last) first = 0;
            // One step alone stands in the middle.
            if (last > first) return [first, last];
            return last > 0 ? [0, 2 * last] : [0, 1];
        }

        missedRanges() {
            return this.ranges ?? this.rows.filter((row) => !row.converged).map((row) => [row.time, row.time]);
        }

        setTolerance(tolerance) {
            this.tolerance = tolerance;
            this.judge();
            this.draw();
        }

        setCursor(time) {
            if (time === this.cursor) return;
            this.cursor = time;
            this.draw();
        }

        hover(time) {
            this.hovered = time === null ? null : this.nearest(time);
            for (const plot of this.list) plot.tell(this.hovered);
            this.draw();
        }

        nearest(time) {
            let low = 0, high = this.rows.length - 1;
            while (high - low > 1) {
                const middle = (low + high) >> 1;
                if (this.rows[middle].time < time) low = middle;
                else high = middle;
            }
            const a = this.rows[low], b = this.rows[high];
            return a && b && time - a.time > b.time - time ? b : a ?? null;
        }

        // Says loudly whether every step reached the tolerance.
        judge() {
            const host = document.getElementById("verdict");
            if (!host) return;
            host.hidden = this.total === 0;
            const bad = this.missedCount > 0, tolerance = this.tolerance > 0 ? ` ${number(this.tolerance, "", 2)}` : "";
            host.classList.toggle("bad", bad);
            const steps = this.total === 1 ? "step" : "steps";
            host.textContent = bad
                ? `${whole(this.missedCount)} of ${whole(this.total)} ${steps} missed the tolerance${tolerance}. Worst residual ${number(this.worst, "", 2)}.`
                : `${this.total === 1 ? "The step" : `All ${whole(this.total)} steps`} reached the tolerance${tolerance}.`;
        }

        draw() {
            if (this.waiting || !this.list) return;
            this.waiting = true;
            requestAnimationFrame(() => {
                this.waiting = false;
                this.list.forEach((plot) => plot.draw());
            });
        }
    }

    barchan.Plots = Plots;
}
