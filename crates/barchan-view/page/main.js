"use strict";
// Puts the page together. What it shows comes as `barchan.config`:
//   mode         "report" or "live"
//   name, description
//   status       { kind: "finished" | "interrupted" | "failed" | "incomplete" | "running", text }
//   notes        sentences for the reader
//   summary      as in summary.json, or what is known of it
//   scene        { step, end, steps, gravity, seed, solver, tolerance, materials }
//   steps        { columns, rows, stages, total, missed, missed_ranges }
//   frames       { stored, total, bounds }
// Any of them may be missing. A live page fills in the rest by `barchan.viewer` and `barchan.plots`.
{
    const { element, whole } = barchan;
    const get = (id) => document.getElementById(id);
    const config = (barchan.config = JSON.parse(get("config").textContent));

    function heading() {
        get("name").textContent = config.name;
        get("description").textContent = config.description ?? "";
        const { kind, text } = config.status ?? {};
        barchan.setStatus(kind, text);
        const notes = [...(config.notes ?? [])], { stored, total } = config.frames ?? {};
        if (total > stored) {
            const advice = stored > 0 ? "; barchan report --megabytes N makes room for more." : ".";
            notes.push(`${whole(stored)} of the ${whole(total)} stored frames are in this page${advice}`);
        }
        get("notes").replaceChildren(...notes.map((note) => element("li", { textContent: note })));
        get("notes").hidden = notes.length === 0;
        const version = config.summary?.version;
        get("footer").textContent = `Made by Barchan${version ? ` ${version}` : ""}. This page is one file and asks nobody for anything.`;
        if (config.mode === "live") get("footer").textContent = "Barchan, live.";
    }

    // The sign in the heading: a word, and a sentence when one points at it.
    barchan.setStatus = (kind, text, sentence = text) => {
        const host = get("status");
        host.hidden = !kind;
        host.className = `status ${kind ?? ""}`;
        host.textContent = kind === "finished" ? kind : text ?? kind ?? "";
        host.title = sentence ?? "";
    };

    function message(text) {
        get("loading").textContent = text;
        get("loading").hidden = false;
    }

    async function start() {
        heading();
        const plots = (barchan.plots = new barchan.Plots(get("plots")));
        barchan.showNumbers(config, get("numbers"));
        plots.setTolerance(config.summary?.solver?.tolerance ?? config.scene?.tolerance);
        if (config.steps) plots.setTable(config.steps, config.summary?.solver?.residual_max);
        let viewer;
        try {
            viewer = barchan.viewer = new barchan.Viewer(get("view"));
        } catch (error) {
            message("This browser cannot draw in three dimensions: WebGL 2 is missing or switched off.");
            return;
        }
        barchan.buildControls(viewer);
        const player = (barchan.player = new barchan.Player(viewer, plots));
        plots.seek = (time) => player.seek(time);
        if (player.frames.length) {
            await player.show(player.frames.length - 1);
            get("loading").hidden = true;
        } else {
            message(config.mode === "live" ? "Waiting for the first frame …" : "This run has no frames to show.");
            viewer.onChange(() => (get("loading").hidden = viewer.frame !== null));
        }
        if (config.mode === "live") get("numbers").closest("section").hidden = !config.summary;
    }

    // For whoever waits until everything stands: the live page's script, and tests.
    barchan.ready = start().then(() => (document.documentElement.dataset.ready = "yes"));
}
