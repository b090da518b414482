"use strict";
// Keys: each means one thing on every page. What they do is said once, by whoever adds them; "?" lists them.
{
    const { element } = barchan;
    const list = [];

    // Adds keys: { keys: names as events have them, shown: as people know them, what, act, repeats: when held down }.
    // Those that are added last are listed first: they are about time, and the others about the view.
    barchan.addKeys = (...keys) => list.unshift(...keys);

    const ARROWS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"];

    // Whether the control that has the focus needs the key itself.
    function isTaken({ target, key }) {
        const within = (selector) => target.closest?.(selector) !== null && target.closest !== undefined;
        if (within("input[type=range]")) return ARROWS.includes(key);
        if (within("input[type=radio]")) return ARROWS.includes(key) || key === " ";
        if (within("button, input[type=checkbox], summary, a")) return key === " " || key === "Enter";
        return within("select, input, textarea");
    }

    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || help.open || isTaken(event)) return;
        const found = list.find(({ keys }) => keys.includes(event.key));
        if (found === undefined) return;
        event.preventDefault();
        if (!event.repeat || found.repeats) found.act(event.key);
    });

    // Whoever clicks goes on with keys that are for the page; whoever walks by keys stays where they are.
    let byPointer = false;
    document.addEventListener("pointerdown", () => (byPointer = true), true);
    document.addEventListener("keydown", () => (byPointer = false), true);
    const leave = () => {
        if (byPointer && document.activeElement?.matches("button, select, input[type=checkbox], input[type=radio]")) document.activeElement.blur();
    };
    document.addEventListener("click", ({ target }) => target.closest?.("select") || leave());
    document.addEventListener("change", leave);

    const help = element("dialog", { id: "help", className: "help", "aria-label": "Keys" });
    // A click beside it closes it.
    help.addEventListener("click", (event) => event.target === help && help.close());

    barchan.showHelp = () => {
        const rows = element("dl");
        for (const { shown, what } of list) {
            rows.append(element("dt", {}, ...shown.map((key) => element("kbd", { textContent: key }))), element("dd", { textContent: what }));
        }
        const close = element("button", { type: "button", textContent: "Close" });
        close.addEventListener("click", () => help.close());
        help.replaceChildren(element("div", {}, element("h2", { textContent: "Keys" }), rows, close));
        if (!help.isConnected) document.body.append(help);
        if (!help.open) help.showModal();
    };
}
