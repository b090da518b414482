"use strict";
// Plots over time: curves on canvases that share a cursor, with steps that missed the tolerance in red.
{
    const { element, number, whole } = barchan;
    // Beyond this many rows, a live page keeps the extremes of stretches only.
    const MOST_ROWS = 6000, STRETCHES = 250;
    // Times of stages are means over stretches; beyond this many, two neighbours become one.
    const MOST_BINS = 800;
    const MARGIN = { left: 58, right: 10, top: 10, bottom: 22 };

    const STAGES = ["exchange", "broad", "narrow", "solve", "integrate", "output"];
    const column = (name, title = name) => ({ title, of: (row) => row[name] });
    const PLOTS = [
        {
            id: "energy", title: "Energy", unit: "J",
            series: [
                column("kinetic"),
                { title: "potential above its least", of: (row, plots) => row.potential - plots.leastPotential, tell: (row) => row.potential, told: "potential" },
                { title: "sum", of: (row, plots) => row.kinetic + row.potential - plots.leastPotential, tell: (row) => row.kinetic + row.potential },
            ],
        },
        { id: "contacts", title: "Contacts", whole: true, series: [column("contacts")] },
        { id: "penetration", title: "Penetration", unit: "m", series: [column("max_penetration", "deepest"), column("mean_penetration", "mean")] },
        { id: "iterations", title: "Iterations of the solver", whole: true, series: [column("iterations")] },
        { id: "residual", title: "Residual against tolerance", log: true, tolerance: true, series: [column("residual")] },
        { id: "seconds", title: "Time a stage", unit: "s", stacked: true, series: STAGES.map((stage) => column(`seconds_${stage}`, stage)) },
    ];
    // Columns whose extremes survive thinning.
    const EXTREMES = ["kinetic", "potential", "contacts", "max_penetration", "mean_penetration", "iterations", "residual"];

    const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

    // Round numbers between two values, about `count` of them.
    function ticks(low, high, count) {
        const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
        const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= rough * 0.999);
        const list = [];
        for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && list.length < 50; k++) list.push(k * step);
        return list;
    }

    class Plot {
        constructor(plots, spec) {
            Object.assign(this, { plots, spec });
            this.canvas = element("canvas", { className: "plot", id: `plot-${spec.id}`, "aria-label": spec.title, role: "img" });
            this.values = spec.series.map(() => element("b"));
            const keys = spec.series.map((series, k) => {
                const swatch = element("i");
                swatch.style.background = `var(--s${k + 1})`;
                return element("span", {}, swatch, series.title, " ", this.values[k]);
            });
            if (spec.stacked) keys.push(element("span", {}, element("i", { className: "slowest" }), "slowest step"));
            if (spec.tolerance) keys.push(element("span", {}, element("i", { className: "dashes" }), "tolerance"));
            if (spec.series.length === 1 && !spec.tolerance) keys[0].replaceChildren(this.values[0]);
            this.figure = element("figure", {},
                element("figcaption", {}, element("span", { className: "plot-title", textContent: spec.title }), element("span", { className: "keys" }, ...keys)),
                this.canvas);
            this.canvas.addEventListener("pointermove", (event) => plots.hover(this.timeAt(event)));
            this.canvas.addEventListener("pointerleave", () => plots.hover(null));
            this.canvas.addEventListener("click", (event) => plots.seek?.(this.timeAt(event)));
        }

        timeAt(event) {
            const frame = this.canvas.getBoundingClientRect();
            const share = (event.clientX - frame.left - MARGIN.left) / (frame.width - MARGIN.left - MARGIN.right);
            const [first, last] = this.plots.span();
            return first + Math.min(Math.max(share, 0), 1) * (last - first);
        }

        tell(row) {
            this.spec.series.forEach((series, k) => {
                const value = row && (series.tell ?? series.of)(row, this.plots);
                this.values[k].textContent = row && value !== undefined ? this.text(value) : "";
            });
        }

        text(value) {
            if (value === null || !Number.isFinite(value)) return "not finite";
            return this.spec.whole ? whole(value) : this.spec.log ? value.toExponential(1) : number(value, this.spec.unit);
        }

        // The curves as lists of numbers; stacked ones rise upon each other, and the slowest step above all.
        curves() {
            const { rows, bins } = this.plots;
            if (!this.spec.stacked) return this.spec.series.map((series) => rows.map((row) => series.of(row, this.plots)));
            const total = new Float64Array(bins.length);
            const stages = STAGES.map((_, k) => bins.map((bin, i) => (total[i] += bin.sums[k] / bin.count)));
            return [...stages, bins.map((bin) => bin.slowest)];
        }

        range(curves) {
            let low = Infinity, high = -Infinity;
            for (const curve of curves) {
                for (const value of curve) {
                    if (!Number.isFinite(value) || value === null || (this.spec.log && value <= 0)) continue;
                    low = Math.min(low, value);
                    high = Math.max(high, value);
                }
            }
            // One slow step must not press all others flat; its peak is cut off.
            if (this.spec.stacked) high = Math.min(high, 4 * Math.max(...curves[STAGES.length - 1]));
            const { tolerance } = this.plots;
            if (this.spec.tolerance && tolerance > 0) [low, high] = [Math.min(low, tolerance), Math.max(high, tolerance)];
            // Problems without contacts are solved to the last digit: that need not be seen to scale.
            if (this.spec.tolerance && tolerance > 0) low = Math.max(low, 1e-3 * tolerance);
            if (!(low <= high)) return this.spec.log ? [1e-6, 1] : [0, 1];
            if (this.spec.log) return [10 ** (Math.log10(low) - 0.3), 10 ** (Math.log10(high) + 0.3)];
            low = Math.min(low, 0);
            return high > low ? [low, high + 0.06 * (high - low)] : [low, low + 1];
        }

        draw() {
            const ratio = window.devicePixelRatio || 1, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
            if (!width || !height) return;
            this.canvas.width = width * ratio;
            this.canvas.height = height * ratio;
            const c = this.canvas.getContext("2d");
            c.scale(ratio, ratio);
            const curves = this.curves(), [low, high] = this.range(curves), [first, last] = this.plots.span();
            const bottom = height - MARGIN.bottom, right = width - MARGIN.right;
            const x = (time) => MARGIN.left + ((time - first) / (last - first)) * (right - MARGIN.left);
            const share = this.spec.log
                ? (value) => Math.log10(Math.max(value, low) / low) / Math.log10(high / low)
                : (value) => (value - low) / (high - low);
            const y = (value) => bottom - share(value) * (bottom - MARGIN.top);
            this.axes(c, { x, y, low, high, first, last, bottom, right });
            this.missed(c, x, bottom);
            c.save();
            c.beginPath();
            c.rect(MARGIN.left, 0, right - MARGIN.left, bottom + 1);
            c.clip();
            this.spec.stacked ? this.areas(c, curves, x, y) : this.lines(c, curves, x, y);
            if (this.spec.tolerance) this.toleranceLine(c, x, y, right);
            c.restore();
            this.cursors(c, x, bottom);
        }

        axes(c, { x, y, low, high, first, last, bottom, right }) {
            c.font = "11px system-ui, sans-serif";
            c.fillStyle = css("--muted");
            c.strokeStyle = css("--rule");
            c.lineWidth = 1;
            c.textAlign = "right";
            c.textBaseline = "middle";
            const marks = this.spec.log ? this.decades(low, high) : ticks(low, high, 4);
            for (const value of marks) {
                const at = Math.round(y(value)) + 0.5;
                c.beginPath();
                c.moveTo(MARGIN.left, at);
                c.lineTo(right, at);
                c.stroke();
                c.fillText(this.spec.log ? `1e${Math.round(Math.log10(value))}` : this.spec.whole ? whole(value) : number(value, this.spec.unit), MARGIN.left - 6, at);
            }
            c.textBaseline = "top";
            c.textAlign = "center";
            for (const time of ticks(first, last, Math.max(2, (right - MARGIN.left) / 90))) {
                if (x(time) < right - 12) c.fillText(number(time, "s"), x(time), bottom + 6);
            }
        }

        decades(low, high) {
            const from = Math.ceil(Math.log10(low)), to = Math.floor(Math.log10(high)), every = Math.max(1, Math.ceil((to - from + 1) / 5));
            const list = [];
            for (let k = from; k <= to; k += every) list.push(10 ** k);
            return list;
        }

        missed(c, x, bottom) {
            const ranges = this.plots.missedRanges();
            for (const [from, to] of ranges) {
                const left = x(from) - 1, wide = Math.max(x(to) - x(from), 0) + 2;
                c.fillStyle = css("--missed-band");
                c.fillRect(left, MARGIN.top, wide, bottom - MARGIN.top);
                c.fillStyle = css("--bad");
                c.fillRect(left, MARGIN.top - 5, wide, 5);
            }
        }

        lines(c, curves, x, y) {
            const { rows } = this.plots;
            curves.forEach((curve, k) => {
                c.strokeStyle = css(`--s${k + 1}`);
                c.lineWidth = 1.5;
                c.lineJoin = "round";
                c.beginPath();
                let pen = false;
                curve.forEach((value, i) => {
                    const there = value !== null && Number.isFinite(value);
                    if (there) c[pen ? "lineTo" : "moveTo"](x(rows[i].time), y(value));
                    pen = there;
                });
                c.stroke();
                if (rows.length === 1) c.fillRect(x(rows[0].time) - 2, y(curve[0]) - 2, 4, 4);
            });
            if (!this.spec.tolerance) return;
            c.fillStyle = css("--bad");
            rows.forEach((row, i) => {
                if (row.converged || !Number.isFinite(curves[0][i])) return;
                c.beginPath();
                c.arc(x(row.time), y(curves[0][i]), 2.6, 0, 7);
                c.fill();
            });
        }

        areas(c, curves, x, y) {
            const { bins } = this.plots;
            if (!bins.length) return;
            for (let k = STAGES.length - 1; k >= 0; k--) {
                c.fillStyle = css(`--s${k + 1}`);
                c.beginPath();
                c.moveTo(x(bins[0].time), y(0));
                bins.forEach((bin, i) => c.lineTo(x(bin.time), y(curves[k][i])));
                c.lineTo(x(bins[bins.length - 1].time), y(0));
                c.fill();
            }
            c.strokeStyle = css("--muted");
            c.lineWidth = 0.75;
            c.beginPath();
            bins.forEach((bin, i) => c[i ? "lineTo" : "moveTo"](x(bin.time), y(bin.slowest)));
            c.stroke();
        }

        toleranceLine(c, x, y, right) {
            const { tolerance } = this.plots;
            if (!(tolerance > 0)) return;
            c.strokeStyle = css("--text");
            c.setLineDash([5, 4]);
            c.lineWidth = 1.2;
            c.beginPath();
            c.moveTo(MARGIN.left, y(tolerance));
            c.lineTo(right, y(tolerance));
            c.stroke();
            c.setLineDash([]);
        }

        cursors(c, x, bottom) {
            const line = (time, colour, width) => {
                if (time === null || !Number.isFinite(time)) return;
                c.strokeStyle = colour;
                c.lineWidth = width;
                c.beginPath();
                c.moveTo(x(time), MARGIN.top - 4);
                c.lineTo(x(time), bottom);
                c.stroke();
            };
            line(this.plots.cursor, css("--accent"), 1.5);
            line(this.plots.hovered?.time ?? null, css("--muted"), 1);
        }
    }

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
            const first = this.rows[0]?.time ?? 0, last = this.rows[this.rows.length - 1]?.time ?? 1;
            return last > first ? [first, last] : [first - 0.5, first + 0.5];
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
