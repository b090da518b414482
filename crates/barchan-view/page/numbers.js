"use strict";
// The run in numbers.
{
    const { element, number, whole, seconds, STAGES } = barchan;

    // A list of names and values; what is not known is left out.
    function list(title, rows) {
        const known = rows.filter(([, value]) => value !== null && value !== undefined && value !== "");
        if (!known.length) return "";
        const made = element("dl");
        for (const [name, value, kind] of known) {
            made.append(element("dt", { textContent: name }), element("dd", { textContent: value, className: kind ?? "" }));
        }
        return element("div", { className: "card" }, element("h3", { textContent: title }), made);
    }

    function memory(bytes) {
        return bytes > 0 ? number(bytes, "B") : null;
    }

    // What a run spends beside its steps.
    const WHOLE = [...STAGES, "start", "other"];

    function stages(all) {
        const sum = WHOLE.reduce((total, stage) => total + (all[stage] || 0), 0);
        if (!(sum > 0)) return "";
        const bar = element("div", { className: "stages" }), rows = element("dl");
        WHOLE.forEach((stage, k) => {
            if (!(all[stage] > 0)) return;
            const part = element("i", { title: `${stage} ${seconds(all[stage])}` }), swatch = element("i", { className: "swatch" });
            part.style.width = `${(100 * all[stage]) / sum}%`;
            part.style.background = swatch.style.background = `var(--s${k + 1})`;
            bar.append(part);
            rows.append(element("dt", {}, swatch, stage), element("dd", { textContent: `${seconds(all[stage])} · ${Math.round((100 * all[stage]) / sum)} %` }));
        });
        if (all.total > 0) rows.append(element("dt", { textContent: "start to end" }), element("dd", { textContent: seconds(all.total) }));
        return element("div", { className: "card" }, element("h3", { textContent: "Time by stage" }), bar, rows);
    }

    function taken(solver) {
        const entries = Object.entries(solver.taken ?? {});
        return entries.length > 1 ? entries.map(([name, steps]) => `${name} ${whole(steps)}`).join(", ") : null;
    }

    // The length of steps: one number, or those between which it was chosen.
    function length(step, lengths) {
        if (typeof step === "number") return number(step, "s", 3);
        return lengths ? `${number(lengths.shortest, "s", 2)} to ${number(lengths.longest, "s", 2)} (auto)` : `${step}`;
    }

    const some = (value, tell) => (value === null || value === undefined ? null : tell(value));

    barchan.showNumbers = (config, host) => {
        const { summary, scene } = config;
        if (!summary) {
            host.replaceChildren(element("p", { textContent: "There is no step to tell of yet." }));
            return;
        }
        const { solver = {}, energy = {} } = summary, missed = summary.steps - solver.steps_converged;
        const planned = scene?.steps && scene.steps !== summary.steps ? ` of ${whole(scene.steps)}` : "";
        host.replaceChildren(
            list("Run", [
                ["bodies", some(summary.bodies, whole)],
                ["steps", whole(summary.steps) + planned],
                ["simulated time", some(summary.time, (t) => number(t, "s", 4))],
                ["length of a step", some(scene?.step, (t) => length(t, summary.stepping?.lengths))],
                ["ranks", some(summary.ranks, whole)],
                ["threads a rank", some(summary.threads, whole)],
                ["imbalance of bodies", some(summary.by_rank?.imbalance_bodies, (x) => number(x))],
                ["memory", memory(summary.peak_rss_bytes)],
                ["version", summary.version],
            ]),
            list("Solver", [
                ["solver", solver.name],
                ["took", taken(solver)],
                ["tolerance", some(solver.tolerance, (x) => number(x, "", 2))],
                ["worst residual", number(solver.residual_max, "", 2), missed > 0 ? "bad" : ""],
                ["missed steps", whole(missed), missed > 0 ? "bad" : "good"],
                ["deepest overlap", `${number(100 * (summary.worst_overlap?.radii ?? 0), "", 2)} % of a radius`, (summary.worst_overlap?.radii ?? 0) > 0.05 ? "bad" : ""],
                ["stepping", summary.stepping ? `${length(summary.stepping.step, summary.stepping.lengths)}, ${summary.stepping.integrator}, ${summary.stepping.friction}` : "", ""],
                ["iterations a step", some(solver.iterations_mean, (x) => number(x))],
                ["at most", some(solver.iterations_max, whole)],
                ["operator applications", some(solver.operator_applications, whole)],
            ]),
            list("State at the end", [
                ["contacts", some(summary.contacts, whole)],
                ["kinetic energy", number(energy.kinetic, "J", 4)],
                ["potential energy", number(energy.potential, "J", 4)],
                ["deepest penetration", number(summary.max_penetration, "m")],
                ["mean penetration", number(summary.mean_penetration, "m")],
                ["state hash", summary.state_hash, "mono"],
            ]),
            stages(summary.seconds ?? {}),
        );
    };
}
