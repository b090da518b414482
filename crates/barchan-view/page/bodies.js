"use strict";
// Bodies as impostors: a square for each, on which every point is a ray to a ball, lit and at the right depth.
// A million squares are drawn where as many meshes could not be. Few bodies are squares of two triangles, however
// near; many are points, which cost a vertex each but may not be larger than the graphics card allows.
{
    const MANY = 5000;

    const VERTEX = /* glsl */ `
        #ifdef POINTS
        in vec4 position;
        #define place position
        #else
        in vec3 position;
        in vec4 place;
        #endif
        in float value;
        uniform mat4 modelViewMatrix, projectionMatrix;
        uniform vec4 low, span;
        uniform vec4 slice;
        uniform int picked;
        uniform vec2 viewport;
        flat out vec4 ball;
        flat out float shade;
        flat out int marked;
        void main() {
            vec4 world = low + span * place;
            vec3 centre = (modelViewMatrix * vec4(world.xyz, 1.0)).xyz;
            float radius = world.w, far = length(centre);
            ball = vec4(centre, radius);
            shade = value;
            #ifdef POINTS
            marked = picked == gl_VertexID ? 1 : 0;
            gl_PointSize = 1.0;
            #else
            marked = picked == gl_InstanceID ? 1 : 0;
            #endif
            // Beyond the slice, behind the eye, or about it: nothing to see.
            if (dot(slice.xyz, world.xyz) > slice.w || centre.z > -radius * 0.5 || far <= radius * 1.001) {
                gl_Position = vec4(0.0, 0.0, 2.0, 1.0);
                return;
            }
            #ifdef POINTS
            // The outline is longest away from the middle of the view.
            float reach = radius / -centre.z * (far / -centre.z) * 1.05;
            gl_PointSize = viewport.y * projectionMatrix[1][1] * reach + 2.0;
            gl_Position = projectionMatrix * vec4(centre, 1.0);
            #else
            // A square across the line of sight that just holds the outline.
            vec3 sight = centre / far;
            vec3 side = normalize(cross(sight, abs(sight.y) < 0.99 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0)));
            vec3 up = cross(side, sight);
            float reach = 1.02 * radius * inversesqrt(1.0 - radius * radius / (far * far));
            gl_Position = projectionMatrix * vec4(centre + (side * position.x + up * position.y) * reach, 1.0);
            #endif
        }`;

    const FRAGMENT = /* glsl */ `
        precision highp float;
        flat in vec4 ball;
        flat in float shade;
        flat in int marked;
        uniform mat4 projectionMatrix;
        uniform vec2 viewport;
        uniform sampler2D map;
        uniform float opacity;
        uniform int named;
        out vec4 colour;
        void main() {
            vec2 screen = 2.0 * gl_FragCoord.xy / viewport - 1.0;
            vec3 sight = normalize(vec3(screen / vec2(projectionMatrix[0][0], projectionMatrix[1][1]), -1.0));
            float along = dot(sight, ball.xyz);
            float inside = along * along - dot(ball.xyz, ball.xyz) + ball.w * ball.w;
            // The outline fades over the width of a pixel.
            float edge = inside / (ball.w * ball.w);
            float cover = clamp(edge / max(fwidth(edge), 1e-6) + 0.5, 0.0, 1.0);
            if (cover <= 0.0) discard;
            vec3 hit = sight * (along - sqrt(max(inside, 0.0)));
            vec3 normal = (hit - ball.xyz) / ball.w;
            vec4 clip = projectionMatrix * vec4(hit, 1.0);
            gl_FragDepth = clamp(0.5 * clip.z / clip.w + 0.5, 0.0, 1.0);
            vec3 base = named == 1
                ? texelFetch(map, ivec2(int(mod(shade + 0.5, 256.0)), 0), 0).rgb
                : texture(map, vec2(clamp(shade, 0.0, 1.0) * (255.0 / 256.0) + 0.5 / 256.0, 0.5)).rgb;
            // A light over the left shoulder, sky above, and darker rims that set neighbours apart.
            float facing = clamp(-dot(normal, sight), 0.0, 1.0);
            float key = clamp(dot(normal, normalize(vec3(-0.45, 0.65, 0.62))), 0.0, 1.0);
            float sky = 0.5 + 0.5 * normal.y;
            vec3 half_way = normalize(normalize(vec3(-0.45, 0.65, 0.62)) - sight);
            float gloss = pow(clamp(dot(normal, half_way), 0.0, 1.0), 40.0);
            vec3 lit = base * (0.36 + 0.16 * sky + 0.62 * key) * mix(0.55, 1.0, smoothstep(0.0, 0.5, facing));
            lit += 0.10 * gloss;
            if (marked == 1) lit = mix(lit, vec3(1.0, 0.35, 0.25), facing < 0.55 ? 1.0 : 0.25);
            colour = vec4(lit, (marked == 1 ? 1.0 : opacity) * cover);
        }`;

    // What can be told of a body as a colour.
    const QUANTITIES = {
        speed: { title: "Speed", unit: "m/s", low: 0 },
        id: { title: "Id" },
        radius: { title: "Radius", unit: "m" },
        contacts: { title: "Contacts", low: 0 },
        rank: { title: "Rank", names: (k) => `rank ${k}` },
        material: { title: "Material", names: (k) => barchan.config.scene?.materials?.[k] ?? `material ${k}` },
        group: { title: "Group", names: (k) => `group ${k}` },
    };

    function reader(kind, quantity) {
        const { place } = kind.columns;
        return quantity === "radius" ? (i) => place.at(i, 3) : kind.columns[quantity].at;
    }

    // The bodies of one kind of shape. A kind that this page has no form for is shown by the ball that holds it.
    class Bodies {
        constructor(maps, many) {
            this.maps = maps;
            this.many = many;
            this.material = new THREE.RawShaderMaterial({
                glslVersion: THREE.GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT, side: THREE.DoubleSide, alphaToCoverage: true,
                defines: many ? { POINTS: 1 } : {},
                uniforms: {
                    low: { value: new THREE.Vector4() }, span: { value: new THREE.Vector4() },
                    slice: { value: new THREE.Vector4(0, 0, 0, 1e30) }, picked: { value: -1 },
                    viewport: { value: [1, 1] }, map: { value: maps.viridis }, opacity: { value: 1 }, named: { value: 0 },
                },
            });
            this.mesh = many ? new THREE.Points(new THREE.BufferGeometry(), this.material)
                : new THREE.Mesh(new THREE.InstancedBufferGeometry(), this.material);
            this.mesh.frustumCulled = false;
        }

        show(kind) {
            this.kind = kind;
            const { place } = kind.columns;
            const geometry = this.many ? this.points(place) : this.squares(place, kind.count);
            const Attribute = this.many ? THREE.BufferAttribute : THREE.InstancedBufferAttribute;
            this.values = new Attribute(new Float32Array(kind.count), 1);
            geometry.setAttribute("value", this.values);
            this.mesh.geometry.dispose();
            this.mesh.geometry = geometry;
            this.material.uniforms.low.value.fromArray(place.low);
            this.material.uniforms.span.value.fromArray(place.span);
        }

        points(place) {
            const geometry = new THREE.BufferGeometry();
            geometry.setAttribute("position", new THREE.BufferAttribute(place.array, 4, place.type === "u16"));
            return geometry;
        }

        squares(place, count) {
            const geometry = new THREE.InstancedBufferGeometry();
            geometry.setAttribute("position", new THREE.Float32BufferAttribute([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0], 3));
            geometry.setIndex([0, 1, 2, 0, 2, 3]);
            geometry.setAttribute("place", new THREE.InstancedBufferAttribute(place.array, 4, place.type === "u16"));
            geometry.instanceCount = count;
            return geometry;
        }

        colour(quantity, low, high) {
            const read = reader(this.kind, quantity), array = this.values.array;
            const named = QUANTITIES[quantity].names !== undefined;
            const scale = named ? 1 : high > low ? 1 / (high - low) : 0, shift = named ? 0 : low;
            for (let i = 0; i < array.length; i++) array[i] = (read(i) - shift) * scale;
            this.values.needsUpdate = true;
            const uniforms = this.material.uniforms;
            uniforms.named.value = named ? 1 : 0;
            uniforms.map.value = named ? this.maps.distinct : this.maps.viridis;
        }

        set opacity(value) {
            const solid = value >= 1;
            this.material.uniforms.opacity.value = value;
            if (this.material.transparent === solid) {
                this.material.transparent = !solid;
                this.material.depthWrite = this.material.alphaToCoverage = solid;
                this.material.needsUpdate = true;
            }
            this.mesh.visible = value > 0;
        }

        // The nearest body on a ray from `from` towards `to` (unit length): its index and how far it is.
        hit(from, to, slice) {
            const { place } = this.kind.columns;
            let best = { index: -1, distance: Infinity };
            for (let i = 0; i < this.kind.count; i++) {
                const px = place.at(i, 0), py = place.at(i, 1), pz = place.at(i, 2);
                if (slice.x * px + slice.y * py + slice.z * pz > slice.w) continue;
                const x = px - from.x, y = py - from.y, z = pz - from.z, r = place.at(i, 3);
                const along = x * to.x + y * to.y + z * to.z;
                const inside = along * along - (x * x + y * y + z * z) + r * r;
                if (inside < 0 || along < 0) continue;
                const distance = along - Math.sqrt(inside);
                if (distance < best.distance) best = { index: i, distance };
            }
            return best;
        }

        find(id) {
            const ids = this.kind.columns.id;
            for (let i = 0; i < this.kind.count; i++) if (ids.at(i) === id) return i;
            return -1;
        }

        dispose() {
            this.mesh.geometry.dispose();
            this.material.dispose();
        }
    }

    barchan.QUANTITIES = QUANTITIES;
    barchan.Bodies = Bodies;
    barchan.areMany = (kind) => kind.count > MANY;
    barchan.bodyReader = reader;
}
