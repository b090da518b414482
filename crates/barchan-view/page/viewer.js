"use strict";
// The view: camera, what is drawn and how, and which body was clicked. Draws when something has changed only.
{
    const SAMPLE = 20000;
    const FAINT = 0.1;

    function texture(data) {
        const made = new THREE.DataTexture(data, barchan.colours.SIZE, 1);
        made.magFilter = made.minFilter = THREE.LinearFilter;
        made.needsUpdate = true;
        return made;
    }

    function cssColour(name) {
        return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    }

    // A box about nearly all bodies: a few that flew away do not make the others small.
    function mostly(frame) {
        const axes = [[], [], []];
        let radius = 0;
        for (const { count, columns: { place } } of frame.kinds) {
            const stride = Math.max(1, Math.floor(count / SAMPLE));
            for (let i = 0; i < count; i += stride) {
                axes.forEach((axis, k) => axis.push(place.at(i, k)));
                radius = Math.max(radius, place.at(i, 3));
            }
        }
        if (!axes[0].length) return null;
        const [low, high] = frame.bounds;
        const ranges = axes.map((axis, k) => {
            axis.sort((a, b) => a - b);
            const at = (share) => axis[Math.round(share * (axis.length - 1))];
            const slack = at(0.98) - at(0.02) + 4 * radius;
            return [Math.max(low[k], at(0.02) - slack), Math.min(high[k], at(0.98) + slack)];
        });
        return { low: ranges.map((r) => r[0]), high: ranges.map((r) => r[1]) };
    }

    function union(a, b) {
        if (!a || !b) return a || b;
        return { low: a.low.map((x, k) => Math.min(x, b.low[k])), high: a.high.map((x, k) => Math.max(x, b.high[k])) };
    }

    class Viewer {
        constructor(host) {
            this.host = host;
            this.frame = null;
            this.quantity = "speed";
            this.range = null;
            this.rangeFixed = false;
            this.slice = { axis: "", share: 0.5, flip: false };
            this.pickedId = null;
            this.listeners = [];
            this.renderer = new THREE.WebGLRenderer({ antialias: true, powerPreference: "high-performance" });
            this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
            this.canvas = this.renderer.domElement;
            this.canvas.setAttribute("role", "img");
            this.canvas.setAttribute("aria-label", "The bodies, in three dimensions");
            host.prepend(this.canvas);
            // A graphics card that was away, or a machine that slept, has forgotten the picture.
            this.canvas.addEventListener("webglcontextrestored", () => this.theme());
            this.maps = { viridis: texture(barchan.colours.viridis), ember: texture(barchan.colours.ember), distinct: texture(barchan.colours.distinct) };
            this.scene = new THREE.Scene();
            this.camera = new THREE.PerspectiveCamera(38, 1, 0.01, 100);
            this.camera.up.set(0, 0, 1);
            this.orbit = new THREE.OrbitControls(this.camera, this.canvas);
            this.orbit.zoomToCursor = true;
            this.orbit.addEventListener("change", () => this.draw());
            this.bodies = new Map();
            this.chains = new barchan.Chains(this.maps);
            this.walls = new barchan.Walls();
            this.scene.add(this.walls.group, this.chains.mesh);
            this.bodiesShown = "solid";
            new ResizeObserver(() => this.resize()).observe(host);
            matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.theme());
            this.listenToClicks();
            this.theme();
            this.resize();
        }

        // Calls `listener(viewer)` after every new frame or setting.
        onChange(listener) {
            this.listeners.push(listener);
        }

        changed() {
            this.listeners.forEach((listener) => listener(this));
            this.draw();
        }

        // Shows a frame as bytes of the wire format.
        showFrame(buffer) {
            this.show(barchan.decode(buffer));
        }

        show(frame) {
            this.frame = frame;
            const box = mostly(frame);
            if (box && !this.box) {
                // The box stays from then on: a view that moves by itself is hard to look at.
                const foreseen = barchan.config?.frames?.bounds;
                this.box = foreseen ? this.within(box, foreseen) : box;
                this.resetView();
            }
            const nameOf = (kind) => kind.look ?? kind.kind;
            for (const [name, bodies] of this.bodies) {
                if (frame.kinds.some((kind) => nameOf(kind) === name && barchan.formOf(kind) === bodies.form)) continue;
                this.scene.remove(bodies.mesh);
                bodies.dispose();
                this.bodies.delete(name);
            }
            barchan.chooseSurfaces(frame.kinds);
            for (const kind of frame.kinds) {
                const name = nameOf(kind);
                if (!this.bodies.has(name)) {
                    const bodies = barchan.bodiesOf(kind, this.maps);
                    this.bodies.set(name, bodies);
                    this.scene.add(bodies.mesh);
                }
                this.bodies.get(name).show(kind);
            }
            this.chains.show(frame.chains, 0.3 * this.typicalRadius());
            this.showWalls();
            this.recolour();
            this.mark();
            this.setBodies(this.bodiesShown);
        }

        // What most of this frame fills, and what other frames fill around it within reason.
        within(box, [low, high]) {
            const slack = 1.5 * Math.max(...box.high.map((x, k) => x - box.low[k]));
            const foreseen = {
                low: low.map((x, k) => Math.max(x, box.low[k] - slack)), high: high.map((x, k) => Math.min(x, box.high[k] + slack)),
            };
            return union(box, foreseen);
        }

        typicalRadius() {
            const radii = [];
            for (const { count, columns: { place } } of this.frame.kinds) {
                const stride = Math.max(1, Math.floor(count / 500));
                for (let i = 0; i < count; i += stride) radii.push(place.at(i, 3));
            }
            return radii.length ? radii.sort((a, b) => a - b)[radii.length >> 1] : 1;
        }

        showWalls() {
            const { centre, reach } = this.extent();
            this.walls.show(this.frame.walls, centre, 1.25 * reach, { wall: cssColour("--wall"), edge: cssColour("--edge") });
        }

        // What there is to colour by: a quantity that is the same everywhere tells nothing.
        quantities() {
            const kinds = this.frame?.kinds ?? [];
            const varies = (name) => kinds.some((kind) => kind.columns[name].constant === undefined) ||
                new Set(kinds.map((kind) => kind.columns[name].constant)).size > 1;
            return Object.keys(barchan.QUANTITIES).filter((name) => !["material", "group"].includes(name) || varies(name));
        }

        setQuantity(quantity) {
            this.quantity = quantity;
            this.rangeFixed = false;
            this.recolour();
            this.changed();
        }

        recolour() {
            if (!this.frame) return;
            if (!this.rangeFixed || !this.range) this.range = this.measure();
            for (const bodies of this.bodies.values()) bodies.colour(this.quantity, this.range.low, this.range.high);
        }

        // The range of the colours. A few that are far above the others share the last colour.
        measure() {
            const values = [];
            for (const kind of this.frame.kinds) {
                const read = barchan.bodyReader(kind, this.quantity), stride = Math.max(1, Math.floor(kind.count / SAMPLE));
                for (let i = 0; i < kind.count; i += stride) values.push(read(i));
            }
            if (!values.length) return { low: 0, high: 1, capped: false };
            values.sort((a, b) => a - b);
            const last = values[values.length - 1], most = values[Math.floor(0.995 * (values.length - 1))];
            const capped = this.quantity === "speed" && last > 1.5 * most;
            return { low: barchan.QUANTITIES[this.quantity].low ?? values[0], high: capped ? most : last, capped };
        }

        setBodies(how) {
            this.bodiesShown = how;
            for (const bodies of this.bodies.values()) bodies.opacity = { solid: 1, faint: FAINT, hidden: 0 }[how];
            this.setSlice({});
        }

        setChains(on, least = this.chains.material.uniforms.least.value) {
            this.chains.mesh.visible = on;
            this.chains.material.uniforms.least.value = least;
            this.changed();
        }

        setWalls(on) {
            this.walls.group.visible = on;
            this.changed();
        }

        // Hides what lies beyond a plane across an axis, at a share of the way through the scene.
        setSlice(change) {
            Object.assign(this.slice, change);
            const plane = this.slicePlane();
            for (const bodies of this.bodies.values()) bodies.material.uniforms.slice.value.copy(plane);
            this.chains.material.uniforms.slice.value.copy(plane);
            this.changed();
        }

        slicePlane() {
            const k = ["x", "y", "z"].indexOf(this.slice.axis);
            if (k < 0 || !this.box) return new THREE.Vector4(0, 0, 0, 1e30);
            const at = this.slicePosition(), sign = this.slice.flip ? -1 : 1;
            const plane = new THREE.Vector4(0, 0, 0, sign * at);
            plane.setComponent(k, sign);
            return plane;
        }

        slicePosition() {
            const k = ["x", "y", "z"].indexOf(this.slice.axis);
            return this.box.low[k] + this.slice.share * (this.box.high[k] - this.box.low[k]);
        }

        extent() {
            const box = this.box ?? { low: [-1, -1, -1], high: [1, 1, 1] };
            const low = new THREE.Vector3(...box.low), high = new THREE.Vector3(...box.high);
            return { centre: low.clone().add(high).multiplyScalar(0.5), reach: Math.max(low.distanceTo(high) / 2, 1e-9) };
        }

        // Looks at everything; by default from the front and a little above.
        resetView(from = [0.55, -1, 0.42]) {
            const { centre, reach } = this.extent();
            const half = (this.camera.fov * Math.PI) / 360;
            const narrow = Math.atan(Math.tan(half) * Math.min(this.camera.aspect, 1));
            const direction = new THREE.Vector3(...from).normalize();
            this.camera.position.copy(centre).addScaledVector(direction, (1.06 * reach) / Math.sin(narrow));
            this.orbit.target.copy(centre);
            this.orbit.update();
            this.draw();
        }

        theme() {
            this.renderer.setClearColor(new THREE.Color(cssColour("--view") || "#ffffff"));
            if (this.frame) this.showWalls();
            this.draw();
        }

        resize() {
            const { clientWidth: width, clientHeight: height } = this.host;
            if (!width || !height) return;
            this.renderer.setSize(width, height);
            this.camera.aspect = width / height;
            this.draw();
        }

        draw() {
            if (this.waiting) return;
            this.waiting = true;
            requestAnimationFrame(() => {
                this.waiting = false;
                this.render();
            });
        }

        render() {
            const { centre, reach } = this.extent(), far = this.camera.position.distanceTo(centre);
            this.camera.near = Math.max((far - 4 * reach) * 0.9, far * 2e-3, reach * 1e-4);
            this.camera.far = far + 8 * reach;
            this.camera.updateProjectionMatrix();
            for (const bodies of this.bodies.values()) bodies.material.uniforms.viewport.value = [this.canvas.width, this.canvas.height];
            this.renderer.render(this.scene, this.camera);
        }

        // The picture as it is, with its legend, as an address that can be saved.
        picture() {
            this.render();
            const copy = document.createElement("canvas"), c = copy.getContext("2d");
            [copy.width, copy.height] = [this.canvas.width, this.canvas.height];
            c.drawImage(this.canvas, 0, 0);
            barchan.drawLegend(this, c, this.renderer.getPixelRatio());
            return copy.toDataURL("image/png");
        }

        listenToClicks() {
            let start = null;
            this.canvas.addEventListener("pointerdown", (event) => (start = [event.clientX, event.clientY]));
            this.canvas.addEventListener("pointerup", (event) => {
                if (!start || event.button !== 0) return;
                const moved = Math.hypot(event.clientX - start[0], event.clientY - start[1]);
                start = null;
                if (moved < 5) this.pick(event.clientX, event.clientY);
            });
        }

        pick(clientX, clientY) {
            if (!this.frame) return;
            const frame = this.canvas.getBoundingClientRect();
            const x = ((clientX - frame.left) / frame.width) * 2 - 1, y = 1 - ((clientY - frame.top) / frame.height) * 2;
            const direction = new THREE.Vector3(x, y, 0.5).unproject(this.camera).sub(this.camera.position).normalize();
            let best = { distance: Infinity };
            for (const bodies of this.bodies.values()) {
                if (!bodies.mesh.visible) continue;
                const hit = bodies.hit(this.camera.position, direction, this.slicePlane());
                if (hit.distance < best.distance) best = { ...hit, id: bodies.kind.columns.id.at(hit.index) };
            }
            this.pickedId = best.id ?? null;
            this.mark();
            this.changed();
        }

        unpick() {
            this.pickedId = null;
            this.mark();
            this.changed();
        }

        // Finds the body that was clicked in this frame: it is followed by its id.
        mark() {
            this.picked = null;
            for (const bodies of this.bodies.values()) {
                const index = this.pickedId === null ? -1 : bodies.find(this.pickedId);
                bodies.material.uniforms.picked.value = index;
                if (index >= 0) this.picked = { kind: bodies.kind, index };
            }
        }
    }

    barchan.Viewer = Viewer;
}
