"use strict";
// One plot over time: curves on a canvas, with steps that missed the tolerance in red.
{
    const { element, number, whole, scale } = barchan;
    const MARGIN = { left: 58, right: 10, top: 10, bottom: 22 };
    // Decades below the highest value that a plot goes down to if it is told to be logarithmic.
    const DEPTH = 1e-9;

    const STAGES = ["exchange", "broad", "narrow", "solve", "integrate", "output", "checkpoint"];
    const column = (name, title = name) => ({ title, of: (row) => row[name] });
    // `log`: always so; `logs`: on request; `cuts`: peaks are cut off at first, if they are this
    // many times as high as this share of all values.
    const PLOTS = [
        {
            id: "energy", title: "Energy", unit: "J", logs: true,
            series: [
                column("kinetic"),
                { title: "potential above its least", of: (row, plots) => row.potential - plots.leastPotential, tell: (row) => row.potential, told: "potential" },
                { title: "sum", of: (row, plots) => row.kinetic + row.potential - plots.leastPotential, tell: (row) => row.kinetic + row.potential },
            ],
        },
        { id: "contacts", title: "Contacts", whole: true, series: [column("contacts")] },
        {
            id: "penetration", title: "Penetration", unit: "m", logs: true, cuts: { times: 8, share: 0.99 },
            series: [column("max_penetration", "deepest"), column("mean_penetration", "mean")],
        },
        { id: "iterations", title: "Iterations of the solver", whole: true, logs: true, cuts: { times: 8, share: 0.99 }, series: [column("iterations")] },
        { id: "residual", title: "Residual against tolerance", log: true, tolerance: true, series: [column("residual")] },
        { id: "seconds", title: "Time a stage", unit: "s", stacked: true, cuts: { times: 4, share: 0.95 }, series: STAGES.map((stage) => column(`seconds_${stage}`, stage)) },
    ];

    const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

    class Plot {
        constructor(plots, spec) {
            Object.assign(this, { plots, spec, log: spec.log ?? false, cuts: Boolean(spec.cuts) });
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
                element("figcaption", {},
                    element("span", { className: "plot-title", textContent: spec.title }),
                    element("span", { className: "keys" }, ...keys), this.buttons()),
                this.canvas);
            this.canvas.addEventListener("pointermove", (event) => plots.hover(this.timeAt(event)));
            this.canvas.addEventListener("pointerleave", () => plots.hover(null));
            this.canvas.addEventListener("click", (event) => plots.seek?.(this.timeAt(event)));
        }

        // How the values are scaled is the reader's choice.
        buttons() {
            const { spec } = this;
            const button = (name, text, title) => {
                const made = element("button", { type: "button", textContent: text, title, "aria-pressed": "false" });
                made.addEventListener("click", () => {
                    this[name] = !this[name];
                    made.setAttribute("aria-pressed", String(this[name]));
                    this.draw();
                });
                return made;
            };
            const list = element("span", { className: "scales" });
            if (spec.cuts) {
                this.peaks = button("cuts", "cut peaks", "A few values far above the others are cut off, and marked at the edge");
                this.peaks.setAttribute("aria-pressed", "true");
                this.peaks.hidden = true;
                list.append(this.peaks);
            }
            if (spec.logs) list.append(button("log", "log", "Logarithmic"));
            return list;
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

        // The part of the values that is shown, and the highest of all if it lies above that.
        range(curves) {
            let low = Infinity, high = -Infinity;
            for (const curve of curves) {
                for (const value of curve) {
                    if (!Number.isFinite(value) || value === null || (this.log && value <= 0)) continue;
                    low = Math.min(low, value);
                    high = Math.max(high, value);
                }
            }
            const { tolerance } = this.plots;
            if (this.spec.tolerance && tolerance > 0) [low, high] = [Math.min(low, tolerance), Math.max(high, tolerance)];
            // Problems without contacts are solved to the last digit: that need not be seen to scale.
            if (this.spec.tolerance && tolerance > 0) low = Math.max(low, 1e-3 * tolerance);
            if (!(low <= high)) return this.log ? [1e-6, 1] : [0, 1];
            if (this.log) return [10 ** (Math.log10(Math.max(low, DEPTH * high)) - 0.3), 10 ** (Math.log10(high) + 0.3)];
            low = Math.min(low, 0);
            // Stages are scaled by their means: the slowest steps are there to be cut.
            const at = this.spec.cuts ? scale.cut(curves[this.spec.stacked ? STAGES.length - 1 : 0], high, this.spec.cuts) : null;
            if (this.peaks) this.peaks.hidden = at === null;
            if (this.cuts && at !== null) return [low, at, high];
            return high > low ? [low, high + 0.06 * (high - low)] : [low, low + 1];
        }

        draw() {
            const ratio = window.devicePixelRatio || 1, width = this.canvas.clientWidth, height = this.canvas.clientHeight;
            if (!width || !height) return;
            this.canvas.width = width * ratio;
            this.canvas.height = height * ratio;
            const c = this.canvas.getContext("2d");
            c.scale(ratio, ratio);
            if (this.peaks && this.log) this.peaks.hidden = true;
            const curves = this.curves(), [low, high, peak] = this.range(curves), [first, last] = this.plots.span();
            const bottom = height - MARGIN.bottom, right = width - MARGIN.right;
            const x = (time) => MARGIN.left + ((time - first) / (last - first)) * (right - MARGIN.left);
            const share = this.log
                ? (value) => Math.log10(Math.max(value, low) / low) / Math.log10(high / low)
                : (value) => (value - low) / (high - low);
            const y = (value) => bottom - share(value) * (bottom - MARGIN.top);
            this.axes(c, { x, y, low, high, first, last, bottom, right });
            this.missed(c, x, bottom);
            c.save();
            c.beginPath();
            c.rect(MARGIN.left, MARGIN.top, right - MARGIN.left, bottom + 1 - MARGIN.top);
            c.clip();
            this.spec.stacked ? this.areas(c, curves, x, y) : this.lines(c, curves, x, y);
            if (this.spec.tolerance) this.toleranceLine(c, x, y, right);
            c.restore();
            if (peak !== undefined) this.cutPeaks(c, curves, { x, high, peak, right });
            this.cursors(c, x, bottom);
        }

        axes(c, { x, y, low, high, first, last, bottom, right }) {
            c.font = "11px system-ui, sans-serif";
            c.fillStyle = css("--muted");
            c.strokeStyle = css("--rule");
            c.lineWidth = 1;
            c.textAlign = "right";
            c.textBaseline = "middle";
            let marks = this.log ? scale.decades(low, high) : scale.ticks(low, high, 4);
            // There is no half of a contact.
            if (this.spec.whole) marks = marks.filter((value) => Number.isInteger(value));
            const same = scale.texts(marks, this.spec.unit);
            marks.forEach((value, k) => {
                const at = Math.round(y(value)) + 0.5;
                c.beginPath();
                c.moveTo(MARGIN.left, at);
                c.lineTo(right, at);
                c.stroke();
                const text = this.spec.whole ? whole(value) : this.spec.log ? value.toExponential(0).replace("+", "") : this.log ? number(value, this.spec.unit) : same[k];
                c.fillText(text, MARGIN.left - 6, at);
            });
            c.textBaseline = "top";
            c.textAlign = "center";
            const times = scale.ticks(first, last, Math.max(2, (right - MARGIN.left) / 90)), texts = scale.texts(times, "s");
            times.forEach((time, k) => {
                if (x(time) < right - 12) c.fillText(texts[k], x(time), bottom + 6);
            });
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
                c.fillStyle = c.strokeStyle;
                if (rows.length === 1 && Number.isFinite(curve[0])) c.fillRect(x(rows[0].time) - 2, y(curve[0]) - 2, 4, 4);
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
            // A single step is as wide as can be seen.
            const [left, right] = [x(bins[0].time) - (bins.length === 1 ? 2 : 0), x(bins[bins.length - 1].time) + (bins.length === 1 ? 2 : 0)];
            for (let k = STAGES.length - 1; k >= 0; k--) {
                c.fillStyle = css(`--s${k + 1}`);
                c.beginPath();
                c.moveTo(left, y(0));
                c.lineTo(left, y(curves[k][0]));
                bins.forEach((bin, i) => c.lineTo(x(bin.time), y(curves[k][i])));
                c.lineTo(right, y(curves[k][bins.length - 1]));
                c.lineTo(right, y(0));
                c.fill();
            }
            c.strokeStyle = css("--muted");
            c.globalAlpha = 0.55;
            c.lineWidth = 0.75;
            c.beginPath();
            bins.forEach((bin, i) => c[i ? "lineTo" : "moveTo"](x(bin.time), y(bin.slowest)));
            c.stroke();
            c.globalAlpha = 1;
        }

        // An arrow at the edge for each peak beyond it, and how high the highest is.
        cutPeaks(c, curves, { x, high, peak, right }) {
            const { rows, bins } = this.plots, times = this.spec.stacked ? bins : rows, columns = new Set();
            for (const curve of curves) {
                curve.forEach((value, i) => {
                    if (value > high) columns.add(Math.round(x(times[i].time) / 4) * 4);
                });
            }
            c.fillStyle = css("--text");
            for (const at of columns) {
                c.beginPath();
                c.moveTo(at - 3, MARGIN.top);
                c.lineTo(at, MARGIN.top - 5);
                c.lineTo(at + 3, MARGIN.top);
                c.fill();
            }
            c.textAlign = "right";
            c.textBaseline = "top";
            const text = `peaks up to ${this.text(peak)}`, wide = c.measureText(text).width;
            c.globalAlpha = 0.85;
            c.fillStyle = css("--card");
            c.fillRect(right - wide - 8, MARGIN.top + 1, wide + 8, 16);
            c.globalAlpha = 1;
            c.fillStyle = css("--text");
            c.fillText(text, right - 4, MARGIN.top + 4);
        }

        toleranceLine(c, x, y, right) {
            const { tolerance } = this.plots;
            if (!(tolerance > 0)) return;
            c.strokeStyle = css("--text");
            c.setLineDash([5, 4]);
            c.lineWidth = 1;
            c.beginPath();
            const at = Math.round(y(tolerance)) + 0.5;
            c.moveTo(MARGIN.left, at);
            c.lineTo(right, at);
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

    Object.assign(barchan, { Plot, PLOTS, STAGES });
}
