"use strict";
// The player: the frames that stand in the page, unpacked when they are needed.
{
    const { element, number, whole } = barchan;
    const PACES = [1, 5, 10, 20, 30], START = 10;
    // Unpacked frames that are kept, in bytes.
    const KEEP = 400e6;

    function bytes(text) {
        if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
        const letters = atob(text), made = new Uint8Array(letters.length);
        for (let i = 0; i < letters.length; i++) made[i] = letters.charCodeAt(i);
        return made;
    }

    function inflate(packed) {
        return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
    }

    class Player {
        constructor(viewer, plots) {
            Object.assign(this, { viewer, plots, index: -1, playing: false, kept: new Map() });
            this.frames = [...document.querySelectorAll("script.frame")].map((script) => ({
                script, step: Number(script.dataset.step), time: Number(script.dataset.time),
            }));
            const get = (id) => document.getElementById(id);
            [this.button, this.slider, this.clock] = [get("play"), get("seek"), get("clock")];
            get("player").hidden = this.frames.length < 2;
            this.slider.max = Math.max(this.frames.length - 1, 0);
            this.button.addEventListener("click", () => this.toggle());
            this.slider.addEventListener("input", () => {
                this.pause();
                this.show(Number(this.slider.value));
            });
            get("pace").append(...PACES.map((pace) => element("option", { value: pace, textContent: `${pace}/s`, selected: pace === START })));
            get("pace").addEventListener("change", () => (this.pace = Number(get("pace").value)));
            this.pace = START;
            if (this.frames.length > 1) this.addKeys();
            this.face();
        }

        async load(index) {
            if (this.kept.has(index)) return this.kept.get(index);
            await (this.looks ??= this.loadLooks());
            const buffer = await inflate(bytes(this.frames[index].script.textContent));
            let size = buffer.byteLength;
            for (const kept of this.kept.values()) size += kept.byteLength;
            for (const oldest of this.kept.keys()) {
                if (size <= KEEP) break;
                size -= this.kept.get(oldest).byteLength;
                this.kept.delete(oldest);
            }
            this.kept.set(index, buffer);
            return buffer;
        }

        // What bodies look like stands in the page once for all frames.
        async loadLooks() {
            const script = document.getElementById("looks");
            if (script) barchan.addLooks(await inflate(bytes(script.textContent)));
        }

        async show(index) {
            index = Math.min(Math.max(index, 0), this.frames.length - 1);
            this.index = index;
            const buffer = await this.load(index);
            // The user may have gone on in the meantime.
            if (this.index !== index) return;
            this.viewer.showFrame(buffer);
            const { step, time } = this.frames[index];
            this.slider.value = index;
            this.clock.textContent = `${number(time, "s", 4)} · step ${whole(step)} · frame ${index + 1} of ${this.frames.length}`;
            this.plots.setCursor(time);
        }

        // The frame that is nearest in time.
        seek(time) {
            if (!this.frames.length) return;
            this.pause();
            let best = 0;
            this.frames.forEach((frame, k) => {
                if (Math.abs(frame.time - time) < Math.abs(this.frames[best].time - time)) best = k;
            });
            this.show(best);
        }

        toggle() {
            if (this.playing) this.pause();
            else this.play();
        }

        async play() {
            if (this.playing || this.frames.length < 2) return;
            this.playing = true;
            this.face();
            if (this.index >= this.frames.length - 1) this.index = -1;
            while (this.playing && this.index < this.frames.length - 1) {
                const start = performance.now();
                await this.show(this.index + 1);
                // Drawn before the next one is unpacked, however slow the machine.
                await new Promise((done) => requestAnimationFrame(done));
                await new Promise((done) => setTimeout(done, Math.max(0, 1000 / this.pace - (performance.now() - start))));
            }
            this.pause();
        }

        pause() {
            this.playing = false;
            this.face();
        }

        face() {
            this.button.textContent = this.playing ? "❚❚" : "▶";
            this.button.setAttribute("aria-label", this.playing ? "Pause" : "Play");
        }

        addKeys() {
            barchan.addKeys(
                { keys: [" "], shown: ["space"], what: "play or pause", act: () => this.toggle() },
                { keys: ["ArrowLeft", "ArrowRight"], shown: ["←", "→"], what: "frame before, next frame", repeats: true, act: (key) => this.go(key === "ArrowLeft" ? -1 : 1) },
                { keys: ["Home", "End"], shown: ["Home", "End"], what: "first frame, last frame", act: (key) => this.go(key === "Home" ? -Infinity : Infinity) },
            );
        }

        go(by) {
            this.pause();
            this.show(this.index + by);
        }
    }

    barchan.Player = Player;
}
