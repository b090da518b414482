"use strict";
// Bodies that are not spheres: one surface for all that look alike, drawn at once, each with its own place, turn and
// factors on the axes.
{
    const VERTEX = /* glsl */ `
        in vec3 position, normal;
        in vec4 place, turn;
        in vec3 scale;
        in float value;
        uniform mat4 modelViewMatrix, projectionMatrix;
        uniform vec4 low, span;
        uniform float factor;
        uniform vec4 slice;
        uniform int picked;
        out vec3 hit, facing;
        flat out float shade;
        flat out int marked;
        vec3 turned(vec3 v) {
            return v + 2.0 * cross(turn.xyz, cross(turn.xyz, v) + turn.w * v);
        }
        void main() {
            vec4 world = low + span * place;
            vec3 sizes = factor * scale;
            shade = value;
            marked = picked == gl_InstanceID ? 1 : 0;
            // Beyond the slice: nothing to see.
            if (dot(slice.xyz, world.xyz) > slice.w) {
                gl_Position = vec4(0.0, 0.0, 2.0, 1.0);
                return;
            }
            vec3 side = vec3(1.0);
            #ifdef BOX
            // Of a box no more than the three faces are seen that the eye is on the side of.
            vec3 eye = transpose(mat3(modelViewMatrix)) * -modelViewMatrix[3].xyz - world.xyz;
            vec3 back = eye + 2.0 * cross(-turn.xyz, cross(-turn.xyz, eye) + turn.w * eye);
            side = vec3(back.x < 0.0 ? -1.0 : 1.0, back.y < 0.0 ? -1.0 : 1.0, back.z < 0.0 ? -1.0 : 1.0);
            #endif
            hit = (modelViewMatrix * vec4(world.xyz + turned(sizes * side * position), 1.0)).xyz;
            facing = mat3(modelViewMatrix) * turned(side * normal / max(sizes, vec3(1e-30)) * min(sizes.x, min(sizes.y, sizes.z)));
            gl_Position = projectionMatrix * vec4(hit, 1.0);
        }`;

    const FRAGMENT = /* glsl */ `
        precision highp float;
        in vec3 hit, facing;
        flat in float shade;
        flat in int marked;
        uniform sampler2D map;
        uniform float opacity;
        uniform int named;
        out vec4 colour;
        ${barchan.SHADING}
        void main() {
            vec3 sight = normalize(hit), normal = normalize(facing);
            if (dot(normal, sight) > 0.0) normal = -normal;
            colour = lit(normal, sight, shade, marked, 0.35);
        }`;

    // Surfaces by their numbers, as the server or the page has given them.
    const looks = new Map();
    barchan.addLooks = (buffer) => barchan.decodeLooks(buffer).forEach((look) => looks.set(look.id, look));
    barchan.isSolid = (kind) => looks.has(kind.look);

    // Chooses what is drawn of the bodies of a frame that have surfaces: less of each where they are many.
    barchan.chooseSurfaces = (kinds) => {
        const solid = kinds.filter((kind) => barchan.formOf(kind) === "solid");
        const drawn = barchan.coarsened(solid.map((kind) => ({ look: looks.get(kind.look), count: kind.count })));
        solid.forEach((kind, k) => (kind.drawn = drawn[k]));
    };

    class Solids {
        constructor(maps) {
            this.maps = maps;
            this.form = "solid";
            this.material = new THREE.RawShaderMaterial({
                glslVersion: THREE.GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT, side: THREE.DoubleSide,
                uniforms: {
                    low: { value: new THREE.Vector4() }, span: { value: new THREE.Vector4() }, factor: { value: 1 },
                    slice: { value: new THREE.Vector4(0, 0, 0, 1e30) }, picked: { value: -1 },
                    viewport: { value: [1, 1] }, map: { value: maps.viridis }, opacity: { value: 1 }, named: { value: 0 },
                },
            });
            this.mesh = new THREE.Mesh(new THREE.InstancedBufferGeometry(), this.material);
            this.mesh.frustumCulled = false;
        }

        show(kind) {
            this.kind = kind;
            const { place, orientation, scale } = kind.columns, { drawn } = kind;
            if (drawn.isHalfBox !== this.drawn?.isHalfBox) {
                this.material.defines = drawn.isHalfBox ? { BOX: 1 } : {};
                this.material.needsUpdate = true;
            }
            this.drawn = drawn;
            const geometry = new THREE.InstancedBufferGeometry();
            const instanced = (name, column, width, normalized) =>
                geometry.setAttribute(name, new THREE.InstancedBufferAttribute(column.array, width, normalized));
            // What is the same in every frame is on the graphics card already.
            drawn.position ??= new THREE.BufferAttribute(drawn.positions, 3);
            drawn.normal ??= new THREE.BufferAttribute(drawn.normals, 3);
            drawn.index ??= new THREE.BufferAttribute(drawn.indices, 1);
            geometry.setAttribute("position", drawn.position);
            geometry.setAttribute("normal", drawn.normal);
            geometry.setIndex(drawn.index);
            instanced("place", place, 4, place.type === "u16");
            instanced("turn", orientation, 4, true);
            instanced("scale", scale, 3, scale.type === "u16");
            this.values = new THREE.InstancedBufferAttribute(new Float32Array(kind.count), 1);
            geometry.setAttribute("value", this.values);
            geometry.instanceCount = kind.count;
            this.look = looks.get(kind.look);
            this.drop();
            this.mesh.geometry = geometry;
            this.material.uniforms.low.value.fromArray(place.low);
            this.material.uniforms.span.value.fromArray(place.span);
            this.material.uniforms.factor.value = scale.span[0];
        }

        colour(quantity, low, high) {
            barchan.colourValues(this, quantity, low, high);
        }

        set opacity(value) {
            const solid = value >= 1;
            this.material.uniforms.opacity.value = value;
            if (this.material.transparent === solid) {
                this.material.transparent = !solid;
                this.material.depthWrite = solid;
                this.material.needsUpdate = true;
            }
            this.mesh.visible = value > 0;
        }

        // The nearest body on a ray from `from` towards `to` (unit length): its index and how far it is.
        hit(from, to, slice) {
            const { place, orientation, scale } = this.kind.columns;
            const best = { index: -1, distance: Infinity };
            for (let i = 0; i < this.kind.count; i++) {
                const px = place.at(i, 0), py = place.at(i, 1), pz = place.at(i, 2);
                if (slice.x * px + slice.y * py + slice.z * pz > slice.w) continue;
                const away = [from.x - px, from.y - py, from.z - pz], r = place.at(i, 3);
                const along = -(away[0] * to.x + away[1] * to.y + away[2] * to.z);
                const inside = along * along - (away[0] ** 2 + away[1] ** 2 + away[2] ** 2) + r * r;
                if (inside < 0 || along + Math.sqrt(inside) < 0 || along - Math.sqrt(inside) > best.distance) continue;
                const back = [0, 1, 2, 3].map((k) => orientation.array[4 * i + k] / 32767);
                const sizes = [0, 1, 2].map((k) => scale.at(i, k));
                const local = (v) => turnedBack(back, v).map((x, k) => x / sizes[k]);
                const distance = this.meet(local(away), local([to.x, to.y, to.z]));
                if (distance < best.distance) Object.assign(best, { index: i, distance });
            }
            return best;
        }

        // How far along a ray the first triangle of the surface is (Möller and Trumbore).
        meet(from, to) {
            const { positions: p, indices } = this.look;
            let best = Infinity;
            for (let t = 0; t < indices.length; t += 3) {
                const [a, b, c] = [3 * indices[t], 3 * indices[t + 1], 3 * indices[t + 2]];
                const u = [p[b] - p[a], p[b + 1] - p[a + 1], p[b + 2] - p[a + 2]];
                const v = [p[c] - p[a], p[c + 1] - p[a + 1], p[c + 2] - p[a + 2]];
                const across = cross(to, v), volume = dot(u, across);
                if (volume === 0) continue;
                const w = [from[0] - p[a], from[1] - p[a + 1], from[2] - p[a + 2]];
                const s = dot(w, across) / volume, around = cross(w, u), q = dot(to, around) / volume;
                if (s < 0 || q < 0 || s + q > 1) continue;
                const distance = dot(v, around) / volume;
                if (distance > 0 && distance < best) best = distance;
            }
            return best;
        }

        find(id) {
            return barchan.findId(this.kind, id);
        }

        // Lets go of the last geometry, but not of the surface, which others share.
        drop() {
            const old = this.mesh.geometry;
            for (const name of ["position", "normal"]) old.deleteAttribute(name);
            old.setIndex(null);
            old.dispose();
        }

        dispose() {
            this.drop();
            this.material.dispose();
        }
    }

    const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    function turnedBack([x, y, z, w], v) {
        const q = [-x, -y, -z], inner = cross(q, v).map((c, k) => c + w * v[k]);
        return cross(q, inner).map((c, k) => v[k] + 2 * c);
    }

    barchan.Solids = Solids;
    // Rays meet the surface of bodies that others draw.
    barchan.asSolids = (bodies, look) => {
        const { hit, meet } = Solids.prototype;
        return Object.assign(bodies, { look: looks.get(look), hit, meet });
    };
}
