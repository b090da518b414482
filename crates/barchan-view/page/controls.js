"use strict";
// How to look: the panel beside the view, its legend, and what is told of a body that was clicked.
{
    const { element, number, whole } = barchan;

    function field(title, ...parts) {
        return element("div", { className: "field" }, element("span", { className: "label", textContent: title }), ...parts);
    }

    function check(id, text, checked, act) {
        const box = element("input", { type: "checkbox", id, checked });
        box.addEventListener("change", () => act(box.checked));
        return element("label", { className: "check" }, box, text);
    }

    function choice(name, title, options, chosen, act) {
        const group = element("div", { className: "choice", role: "radiogroup", "aria-label": title });
        for (const [value, text] of options) {
            const radio = element("input", { type: "radio", name, value, id: `${name}-${value || "off"}`, checked: value === chosen });
            radio.addEventListener("change", () => act(value));
            group.append(element("label", {}, radio, element("span", { textContent: text })));
        }
        return group;
    }

    function slider(id, title, value, act) {
        const range = element("input", { type: "range", id, min: 0, max: 1000, value: 1000 * value, "aria-label": title });
        range.addEventListener("input", () => act(range.value / 1000));
        return range;
    }

    function colourBy(viewer) {
        const select = element("select", { id: "colour-by", "aria-label": "Colour by" });
        select.addEventListener("change", () => {
            viewer.setQuantity(select.value);
            fixed.checked = false;
        });
        const keep = check("fix-range", "Keep the range of colours", false, (on) => {
            viewer.rangeFixed = on;
            viewer.recolour();
            viewer.changed();
        });
        const fixed = keep.firstChild;
        viewer.onChange(() => {
            const names = viewer.quantities();
            if (select.dataset.names === names.join()) return;
            select.dataset.names = names.join();
            select.replaceChildren(...names.map((value) => element("option", {
                value, textContent: barchan.QUANTITIES[value].title, selected: value === viewer.quantity,
            })));
        });
        return field("Colour by", select, keep);
    }

    function bodiesAndForces(viewer) {
        const bodies = [["solid", "Solid"], ["faint", "Faint"], ["hidden", "Hidden"]];
        const how = choice("bodies", "Bodies", bodies, "solid", (value) => viewer.setBodies(value));
        // The weakest forces of a bed are many and tell little. The slider cubed: most of it is for the weak.
        const least = slider("least-force", "Weakest force shown", 0, (share) => viewer.setChains(viewer.chains.mesh.visible, share ** 3));
        const leastRow = element("label", { className: "row", hidden: true }, "Only above", least);
        const chains = check("chains", "Force chains", false, (on) => {
            leastRow.hidden = !on;
            // Chains are inside: solid bodies would hide them.
            if (on && viewer.bodiesShown === "solid") {
                document.getElementById("bodies-faint").checked = true;
                viewer.setBodies("faint");
            }
            viewer.setChains(on);
        });
        return [field("Bodies", how), field("Forces and walls", chains, leastRow, check("walls", "Walls", true, (on) => viewer.setWalls(on)))];
    }

    function slicing(viewer) {
        const told = element("output", { className: "small", id: "slice-at" });
        const at = slider("slice", "Position of the slice", 0.5, (share) => viewer.setSlice({ share }));
        const flip = check("slice-flip", "The other side", false, (on) => viewer.setSlice({ flip: on }));
        const more = element("div", { hidden: true }, at, told, flip);
        const axes = choice("slice-axis", "Slice across an axis", [["", "Off"], ["x", "x"], ["y", "y"], ["z", "z"]], "", (axis) => {
            more.hidden = axis === "";
            viewer.setSlice({ axis });
        });
        viewer.onChange(() => {
            if (!viewer.slice.axis || !viewer.box) return;
            const sign = viewer.slice.flip ? "≥" : "≤";
            // To a thousandth of the scene: nothing finer can be meant.
            const unit = 10 ** Math.floor(Math.log10(viewer.extent().reach)) / 1000;
            told.textContent = `${viewer.slice.axis} ${sign} ${number(Math.round(viewer.slicePosition() / unit) * unit, "m")}`;
        });
        return field("Slice", axes, more);
    }

    function camera(viewer) {
        const button = (id, text, title, act) => {
            const made = element("button", { type: "button", id, textContent: text, title });
            made.addEventListener("click", act);
            return made;
        };
        const save = () => {
            const name = (barchan.config.name || "view").replace(/[^\w.-]+/g, "-");
            const step = viewer.frame ? `-step-${viewer.frame.step}` : "";
            element("a", { href: viewer.picture(), download: `${name}${step}.png` }).click();
        };
        const [front, side, top] = [[0, -1, 1e-3], [1, 0, 1e-3], [0, -1e-3, 1]].map((from) => () => viewer.resetView(from));
        const toggle = (id) => () => document.getElementById(id).click();
        barchan.addKeys(
            { keys: ["r"], shown: ["r"], what: "reset view: see everything", act: () => viewer.resetView() },
            { keys: ["1", "2", "3"], shown: ["1", "2", "3"], what: "view from the front, the side, the top", act: (key) => [front, side, top][key - 1]() },
            { keys: ["c"], shown: ["c"], what: "force chains", act: toggle("chains") },
            { keys: ["w"], shown: ["w"], what: "walls", act: toggle("walls") },
            { keys: ["Escape"], shown: ["Esc"], what: "close the card of a body", act: () => viewer.unpick() },
            { keys: ["?"], shown: ["?"], what: "this list", act: () => barchan.showHelp() },
        );
        const views = [
            button("reset-view", "Reset view", "The whole scene from the front (r)", () => viewer.resetView()),
            button("view-front", "Front", "Along y (1)", front),
            button("view-side", "Side", "Along x (2)", side),
            button("view-top", "Top", "From above (3)", top),
        ];
        const hint = element("p", {
            className: "small", textContent: "Drag to turn, wheel to zoom, right button or two fingers to move. Click a body to ask about it.",
        });
        return field("View", element("div", { className: "buttons" }, ...views, button("save", "Save picture", "As a PNG file", save), button("keys", "Keys", "What keys do (?)", () => barchan.showHelp())), hint);
    }

    function picked(viewer, host) {
        host.hidden = viewer.pickedId === null;
        if (host.hidden) return;
        const close = element("button", { type: "button", textContent: "×", title: "Close (Esc)", className: "close" });
        close.addEventListener("click", () => viewer.unpick());
        const rows = element("dl");
        const row = (name, text) => rows.append(element("dt", { textContent: name }), element("dd", { textContent: text }));
        row("id", String(viewer.pickedId));
        if (viewer.picked) {
            const { kind, index } = viewer.picked, { place, speed, contacts, rank, material, group } = kind.columns;
            row("shape", kind.kind);
            row("position", [0, 1, 2].map((k) => number(place.at(index, k), "", 4)).join(", ") + " m");
            row("speed", number(speed.at(index), "m/s"));
            row("radius", number(place.at(index, 3), "m"));
            row("contacts", String(contacts.at(index)));
            row("rank", String(rank.at(index)));
            row("material", barchan.QUANTITIES.material.names(material.at(index)));
            row("group", String(group.at(index)));
        } else {
            row("", "not in this frame");
        }
        host.replaceChildren(element("strong", { textContent: "Body" }), close, rows);
    }

    // What is not in the picture, said under it.
    function shown(viewer, host) {
        const { frame } = viewer, notes = [];
        if (!frame) return;
        if (frame.shown + frame.not_finite < frame.bodies) notes.push(`${whole(frame.shown)} of ${whole(frame.bodies)} bodies shown`);
        else notes.push(frame.bodies === 1 ? "1 body" : `${whole(frame.bodies)} bodies`);
        if (frame.not_finite) notes.push(`${whole(frame.not_finite)} not finite, left out`);
        if (viewer.chains.mesh.visible) {
            const { count, contacts } = frame.chains;
            notes.push(count < contacts ? `the strongest ${whole(count)} of ${whole(contacts)} forces` : `${whole(count)} forces`);
        }
        host.textContent = notes.join(" · ");
        host.classList.toggle("warn", frame.not_finite > 0);
    }

    barchan.buildControls = (viewer) => {
        const panel = document.getElementById("controls"), get = (id) => document.getElementById(id);
        panel.append(colourBy(viewer), ...bodiesAndForces(viewer), slicing(viewer), camera(viewer));
        viewer.onChange(() => {
            barchan.showLegend(viewer, get("legend"));
            picked(viewer, get("picked"));
            shown(viewer, get("shown"));
        });
    };
}
