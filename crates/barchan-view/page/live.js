// The live page's own script, after all others. It talks to the server and hands frames and rows on:
// barchan.viewer.showFrame(buffer), barchan.plots.addRows(rows), barchan.plots.clear(). Its controls go
// into #live. docs/live.md describes what is said over the socket.
(() => {
    "use strict";

    const PROTOCOL = 1;
    const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20];
    // Time between two words on a slider that is being dragged.
    const DRAG = 50;
    // Time between two frames for a page that nobody sees.
    const HIDDEN = 1000;
    // Time until the next attempt to connect, at first and at most.
    const RETRY = [500, 8000];

    const root = document.getElementById("live");
    const live = (barchan.live = { connected: false, frames: 0, status: null, hello: null, over: null });

    let socket = null;
    let retry = RETRY[0];

    const make = barchan.element;
    function send(message) {
        if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    }

    // Numbers as people read them.
    function short(x) {
        if (x === null || x === undefined || !Number.isFinite(x)) return "–";
        if (x === 0) return "0";
        const size = Math.abs(x);
        if (size >= 1e5 || size < 1e-3) return x.toExponential(2);
        return String(Number(x.toPrecision(4)));
    }

    const style = make("style", {
        textContent: `
#live { margin-bottom: 14px; padding: 10px 14px; background: var(--card); border: 1px solid var(--rule); border-radius: 12px; box-shadow: var(--shadow); }
#live .bar, #live .facts { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; }
#live .bar button { min-width: 68px; }
#live .bar select { width: auto; }
#live .facts { margin-top: 8px; font-size: 13px; color: var(--muted); }
#live .knobs { display: flex; flex-wrap: wrap; gap: 10px 26px; margin-top: 10px; }
#live .knobs:empty { display: none; }
#live .knob { display: grid; grid-template-columns: auto auto; gap: 2px 10px; font-size: 13px; }
#live .knob input { grid-column: 1 / 3; width: 230px; max-width: 80vw; }
#live .knob output { justify-self: end; color: var(--muted); }
#live .connection { margin-left: auto; font-size: 13px; }
#live .connection::before { content: "●"; margin-right: 5px; color: var(--good); }
#live.lost .connection, #live.lost .connection::before, #live .missed, #live .failure { color: var(--bad); font-weight: 600; }
#live.lost button, #live.lost .knobs, #live.over button, #live button:disabled { opacity: 0.45; }
#live .run, #live .end { flex-basis: 100%; color: var(--text); overflow-wrap: anywhere; }
#live .facts span:empty { display: none; }
#live .end { font-weight: 600; user-select: text; }
#live.over .connection::before { color: var(--muted); }
#live .seek { flex: 1 1 200px; }
`,
    });

    const play = make("button", { id: "live-play", type: "button", textContent: "Pause", title: "Hold it or let it go on (space)" });
    const step = make("button", { id: "live-step", type: "button", textContent: "Step", title: "One step, then hold (s)" });
    const reset = make("button", { id: "live-reset", type: "button", textContent: "Restart run", title: "Back to the start (b)" });
    const save = make("button", { id: "live-save", type: "button", textContent: "Save scene", title: "A scene file with the numbers as they are now, for barchan run", hidden: true });
    const speed = make("select", { id: "live-speed", ariaLabel: "Simulated seconds a second, at most" });
    for (const value of SPEEDS) speed.append(make("option", { value: String(value), textContent: `${value} ×` }));
    speed.append(make("option", { value: "", textContent: "as fast as it can" }));
    const seek = make("input", { id: "live-seek", type: "range", min: "0", max: "0", value: "0", step: "1", className: "seek", ariaLabel: "Frame" });
    const connection = make("span", { id: "live-connection", className: "connection", textContent: "connecting" });
    const facts = {};
    const fact = (name) => (facts[name] = make("span", { id: `live-${name}` }));
    const factList = make("div", { className: "facts" }, fact("run"), fact("end"), fact("state"), fact("time"), fact("pace"), fact("rate"), fact("fps"), fact("frame"), fact("missed"), fact("failure"));
    facts.missed.className = "missed";
    facts.run.className = "run";
    facts.end.className = "end";
    facts.end.setAttribute("role", "status");
    facts.failure.className = "failure";
    const speedLabel = make("label", {}, "Speed ", speed);
    const bar = make("div", { className: "bar" }, play, step, reset, speedLabel, seek, save, connection);
    const knobList = make("div", { id: "live-knobs", className: "knobs" });
    root.replaceChildren(style, bar, factList, knobList);
    root.setAttribute("aria-label", "Controls of the simulation");

    const isHeld = () => live.status !== null && live.status.state !== "running";
    const togglePlay = () => send({ type: isHeld() ? "resume" : "pause" });
    const takeStep = () => live.hello?.controls.step && send({ type: "step" });
    const goBack = () => live.hello?.controls.reset && send({ type: "reset" });
    // The server has it under this name, with the numbers that viewers have set.
    const saveScene = () => make("a", { href: `scene.toml${location.search}`, download: "" }).click();
    for (const [button, act] of [[play, togglePlay], [step, takeStep], [reset, goBack], [save, saveScene]]) button.addEventListener("click", act);
    speed.addEventListener("change", () => send({ type: "speed", value: speed.value === "" ? null : Number(speed.value) }));

    // At most one message in a while, and always the last.
    function gently(act) {
        let due = 0;
        let timer = null;
        return (...values) => {
            clearTimeout(timer);
            const wait = due - performance.now();
            const go = () => {
                due = performance.now() + DRAG;
                act(...values);
            };
            if (wait <= 0) go();
            else timer = setTimeout(go, wait);
        };
    }
    seek.addEventListener("input", gently(() => send({ type: "seek", frame: Number(seek.value) })));

    // Keys for what this run can do, once that is known.
    const seekTo = (frame) => send({ type: "seek", frame: Math.max(0, Math.min(Number(seek.max), frame)) });
    function addKeys({ step, reset, seek }) {
        if (reset) barchan.addKeys({ keys: ["b"], shown: ["b"], what: seek ? "back to the first frame" : "restart run: back to the start", act: goBack });
        if (seek) {
            barchan.addKeys(
                { keys: ["ArrowLeft", "ArrowRight"], shown: ["←", "→"], what: "frame before, next frame", repeats: true, act: (key) => seekTo(live.status?.frame + (key === "ArrowLeft" ? -1 : 1)) },
                { keys: ["Home", "End"], shown: ["Home", "End"], what: "first frame, last frame", act: (key) => seekTo(key === "Home" ? 0 : Infinity) },
            );
        }
        if (step) barchan.addKeys({ keys: ["s"], shown: ["s"], what: seek ? "one frame, then hold" : "one step, then hold", repeats: true, act: takeStep });
        barchan.addKeys({ keys: [" "], shown: ["space"], what: "hold it, or let it go on", act: togglePlay });
    }

    // A slider for each number that may be changed.
    const knobs = new Map();
    function makeKnobs(parameters) {
        knobs.clear();
        knobList.replaceChildren();
        for (const { key, label, min, max, value } of parameters) {
            const id = `knob-${key}`;
            const input = make("input", { id, type: "range", min: String(min), max: String(max), step: "any", value: String(value) });
            const output = make("output", { textContent: short(value) });
            output.htmlFor = id;
            const name = make("label", { htmlFor: id, textContent: label, title: `${key}; double-click for ${short(value)}` });
            const tell = gently((number) => send({ type: "set", key, value: number }));
            const knob = { input, output, touched: 0 };
            const change = () => {
                const number = Math.min(max, Math.max(min, Number(input.value)));
                knob.touched = performance.now();
                output.textContent = short(number);
                tell(number);
            };
            input.addEventListener("input", change);
            name.addEventListener("dblclick", () => {
                input.value = String(value);
                change();
            });
            knobs.set(key, knob);
            knobList.append(make("div", { className: "knob" }, name, output, input));
        }
    }

    const NAMES = { running: "running", paused: "paused", ended: "at its end", failed: "failed", waiting: "waiting for the next frame" };
    // What is stored is played as a film.
    const FILM = { ...NAMES, running: "playing", ended: "at the last frame" };
    const KINDS = { running: "running", paused: "interrupted", ended: "finished", failed: "failed", waiting: "running" };
    // What has become of a run that is written down.
    const FATES = { killed: "stopped without a word", gone: "no longer there" };

    // The sign in the heading.
    function showSign({ state, run, over }) {
        const word = run ?? over;
        if (!word?.state) return barchan.setStatus?.(KINDS[state], NAMES[state]);
        const progress = word.state === "running" && word.steps ? ` · step ${barchan.whole(word.step)} of ${barchan.whole(word.steps)}` : "";
        barchan.setStatus?.(word.state in FATES ? "incomplete" : word.state, (FATES[word.state] ?? word.state) + progress, word.text);
    }

    // The run is over for good, and the server goes: where its page is can still be told.
    function showEnd(over) {
        live.over = over ?? null;
        root.classList.toggle("over", live.over !== null);
        speed.disabled = live.over !== null;
        if (!over) return (facts.end.textContent = "");
        const page = over.report ? ` Its page is ${over.report}` : "";
        const text = (over.text ?? "").replace(/[^.]$/, "$&.");
        facts.end.textContent = `The run is over. ${text}${page}`;
    }

    function showStatus(status) {
        live.status = status;
        root.dataset.state = status.state;
        const stored = live.hello?.about.kind === "stored", running = status.state === "running";
        showSign(status);
        showEnd(status.over);
        play.textContent = isHeld() ? "Play" : "Pause";
        // At its end a film begins anew; a simulation has to be sent back to its start.
        play.disabled = step.disabled = !stored && ["ended", "failed"].includes(status.state);
        // A restart may have given a stored run a later end.
        const end = status.end ?? live.hello?.about.end;
        facts.run.textContent = status.run && !["running", "finished"].includes(status.run.state) ? status.run.text : "";
        facts.state.textContent = (stored ? FILM : NAMES)[status.state] ?? status.state;
        facts.time.textContent = `time ${status.time.toFixed(4)} s${end ? ` of ${short(end)} s` : ""}`;
        // What stands still has no speed.
        facts.pace.textContent = running && status.pace !== undefined ? `${short(status.pace)} simulated s a second` : "";
        facts.rate.textContent = running && status.rate !== undefined ? `${short(status.rate)} steps a second, step ${status.step}` : `step ${status.step}`;
        if (!running) facts.fps.textContent = "";
        facts.missed.textContent = status.missed > 0 ? `${status.missed} steps missed the tolerance` : "";
        facts.failure.textContent = status.message ?? "";
        if (document.activeElement !== speed) chooseSpeed(status.speed);
        judge(status);
        for (const [key, value] of Object.entries(status.parameters ?? {})) {
            const knob = knobs.get(key);
            // What is being dragged is not pulled back by what was true a moment ago.
            if (knob === undefined || performance.now() - knob.touched < 1000) continue;
            knob.input.value = String(value);
            knob.output.textContent = short(value);
        }
        if (status.frames !== undefined) {
            seek.max = String(Math.max(0, status.frames - 1));
            if (document.activeElement !== seek || status.state === "running") seek.value = String(status.frame);
            barchan.plots?.setCursor(status.frames > 0 ? status.time : null);
            facts.frame.textContent = status.frames > 0 ? `frame ${status.frame + 1} of ${status.frames}` : "no frames yet";
        }
    }

    // Rows of a long run stand for several steps each; the server has counted them all.
    function judge({ judged, missed }) {
        const { plots } = barchan;
        if (!plots?.judge || (plots.total === judged && plots.missedCount === missed)) return;
        Object.assign(plots, { total: judged, missedCount: missed });
        plots.judge();
    }

    function chooseSpeed(value) {
        const text = value === null || value === undefined ? "" : String(value);
        if (![...speed.options].some((option) => option.value === text)) {
            speed.prepend(make("option", { value: text, textContent: `${text} ×` }));
        }
        speed.value = text;
    }

    function greet(hello) {
        // Another server, or another run, has come where the last one was: its page is another, too.
        if (live.hello && JSON.stringify(live.hello) !== JSON.stringify(hello)) return location.reload();
        const first = live.hello === null;
        live.hello = hello;
        if (hello.protocol !== PROTOCOL) {
            connection.textContent = "the server speaks another language: reload this page";
            return;
        }
        if (first) addKeys(hello.controls);
        if (barchan.plots) barchan.plots.seek = hello.controls.seek ? (value) => send({ type: "time", value }) : null;
        save.hidden = !hello.controls.save;
        if (hello.controls.seek) reset.textContent = "First frame";
        step.hidden = !hello.controls.step;
        reset.hidden = !hello.controls.reset;
        seek.hidden = !hello.controls.seek;
        makeKnobs(hello.parameters);
    }

    // The time of each of the last frames.
    let drawn = [];
    // Asks for the next frame, unless that is done.
    let ask = null;
    function showFrame(buffer) {
        live.frames += 1;
        try {
            barchan.viewer?.showFrame(buffer);
        } catch (error) {
            facts.failure.textContent = String(error);
        }
        const now = performance.now();
        drawn = [...drawn.filter((time) => now - time < 2000), now];
        if (live.status?.state === "running") {
            facts.fps.textContent = `${((drawn.length - 1) / Math.max(0.001, (now - drawn[0]) / 1000)).toFixed(drawn.length > 20 ? 0 : 1)} frames a second`;
        }
        // Drawn first, then the next: a browser that is slow gets fewer. What is not seen asks now and then, so that it
        // has the last frame when somebody looks.
        const mine = socket;
        ask = () => {
            ask = null;
            if (mine === socket) send({ type: "ready" });
        };
        const asking = ask, unlessAsked = () => asking === ask && ask();
        if (document.hidden) setTimeout(unlessAsked, HIDDEN);
        else requestAnimationFrame(unlessAsked);
    }
    // Nothing is drawn any more from here on.
    document.addEventListener("visibilitychange", () => document.hidden && ask?.());

    // What bodies of the frames to come look like.
    function showLooks(buffer) {
        try {
            barchan.addLooks(buffer);
        } catch (error) {
            facts.failure.textContent = String(error);
        }
    }

    function hear(event) {
        if (event.data instanceof ArrayBuffer) return barchan.areLooks(event.data) ? showLooks(event.data) : showFrame(event.data);
        const message = JSON.parse(event.data);
        if (message.type === "hello") greet(message);
        else if (message.type === "status") showStatus(message);
        else if (message.type === "rows") {
            if (message.restart) barchan.plots?.clear();
            const { columns } = live.hello;
            const row = (numbers) => Object.fromEntries(columns.map((name, k) => [name, numbers[k]]));
            if (message.rows.length > 0) barchan.plots?.addRows(message.rows.map(row));
        }
    }

    function connect() {
        const scheme = location.protocol.replace("http", "ws");
        // The query of the page has the token, which the server asks of everybody.
        socket = new WebSocket(`${scheme}//${location.host}/socket${location.search}`);
        socket.binaryType = "arraybuffer";
        socket.addEventListener("open", () => {
            retry = RETRY[0];
            live.connected = true;
            root.classList.remove("lost");
            connection.textContent = "connected";
            send({ type: "ready" });
        });
        socket.addEventListener("message", hear);
        socket.addEventListener("close", async () => {
            const cameIn = live.connected;
            live.connected = false;
            if (live.over) {
                connection.textContent = "the run is over";
                return;
            }
            root.classList.add("lost");
            // Nobody knows how it stands now.
            barchan.setStatus?.("incomplete", "connection lost");
            for (const name of ["state", "pace", "rate", "fps"]) facts[name].textContent = "";
            if (live.status) facts.state.textContent = `last heard of at step ${live.status.step}`;
            if (!cameIn && (await isAnother())) {
                connection.textContent = "another server is here now: open the address that it has printed";
                return;
            }
            tryAgain(retry);
            retry = Math.min(RETRY[1], 2 * retry);
        });
    }

    // Whether a server is there that does not know the token of this page.
    async function isAnother() {
        try {
            return (await fetch(location.href, { method: "HEAD", cache: "no-store" })).status === 403;
        } catch {
            return false;
        }
    }

    // Waits, says how long, and connects.
    function tryAgain(wait) {
        if (wait <= 0) {
            connection.textContent = "connection lost, trying again …";
            return connect();
        }
        connection.textContent = `connection lost, trying again in ${Math.ceil(wait / 1000)} s`;
        const part = Math.min(1000, wait);
        setTimeout(() => tryAgain(wait - part), part);
    }
    // When everything else stands.
    Promise.resolve(barchan.ready).finally(connect);
})();
