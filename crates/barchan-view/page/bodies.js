"use strict";
// Bodies as impostors: a square for each, on which every point is a ray to a ball, lit and at the right depth.
// A million squares are drawn where as many meshes could not be. Few bodies are squares of two triangles, however
// near; many are points, which cost a vertex each but may not be larger than the graphics card allows.
{
    const MANY = 5000;

    // The colour of a point: a light over the left shoulder, sky above, and darker rims that set neighbours apart.
    // What is marked has a red rim, as wide as `rim`.
    const SHADING = /* glsl */ `
        vec4 lit(vec3 normal, vec3 sight, float shade, int marked, float rim) {
            vec3 base = named == 1
                ? texelFetch(map, ivec2(int(mod(shade + 0.5, 256.0)), 0), 0).rgb
                : texture(map, vec2(clamp(shade, 0.0, 1.0) * (255.0 / 256.0) + 0.5 / 256.0, 0.5)).rgb;
            vec3 lamp = normalize(vec3(-0.45, 0.65, 0.62));
            float facing = clamp(-dot(normal, sight), 0.0, 1.0);
            float key = clamp(dot(normal, lamp), 0.0, 1.0);
            float sky = 0.5 + 0.5 * normal.y;
            float gloss = pow(clamp(dot(normal, normalize(lamp - sight)), 0.0, 1.0), 40.0);
            vec3 lit = base * (0.36 + 0.16 * sky + 0.62 * key) * mix(0.55, 1.0, smoothstep(0.0, 0.5, facing));
            lit += 0.10 * gloss;
            if (marked == 1) lit = mix(lit, vec3(1.0, 0.35, 0.25), facing < rim ? 1.0 : 0.25 + 0.55 - rim);
            return vec4(lit, marked == 1 ? 1.0 : opacity);
        }`;
    barchan.SHADING = SHADING;

    const VERTEX = /* glsl */ `
        #ifdef POINTS
        in vec4 position;
        #define place position
        #else
        in vec3 position;
        in vec4 place;
        #endif
        uniform mat4 modelViewMatrix, projectionMatrix;
        in float value;
        #ifdef BOX
        in vec4 turn;
        in vec3 scale;
        uniform float factor;
        flat out vec3 axes[3];
        flat out vec3 sizes;
        vec3 turned(vec3 v) {
            return mat3(modelViewMatrix) * (v + 2.0 * cross(turn.xyz, cross(turn.xyz, v) + turn.w * v));
        }
        #endif
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
            #ifdef BOX
            axes[0] = turned(vec3(1.0, 0.0, 0.0));
            axes[1] = turned(vec3(0.0, 1.0, 0.0));
            axes[2] = turned(vec3(0.0, 0.0, 1.0));
            sizes = factor * scale;
            #endif
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
        #ifdef BOX
        flat in vec3 axes[3];
        flat in vec3 sizes;
        #endif
        uniform mat4 projectionMatrix;
        uniform vec2 viewport;
        uniform sampler2D map;
        uniform float opacity;
        uniform int named;
        out vec4 colour;
        ${SHADING}
        void main() {
            vec2 screen = 2.0 * gl_FragCoord.xy / viewport - 1.0;
            vec3 sight = normalize(vec3(screen / vec2(projectionMatrix[0][0], projectionMatrix[1][1]), -1.0));
            #ifdef BOX
            // Where the ray enters the last of the three slabs whose meeting the box is.
            vec3 from = -vec3(dot(axes[0], ball.xyz), dot(axes[1], ball.xyz), dot(axes[2], ball.xyz));
            vec3 along = vec3(dot(axes[0], sight), dot(axes[1], sight), dot(axes[2], sight));
            along = mix(along, vec3(1e-9), lessThan(abs(along), vec3(1e-9)));
            vec3 enter = (-sign(along) * sizes - from) / along, leave = (sign(along) * sizes - from) / along;
            float first = max(enter.x, max(enter.y, enter.z));
            if (first > min(leave.x, min(leave.y, leave.z)) || first < 0.0) discard;
            vec3 hit = sight * first;
            vec3 normal = first == enter.x ? axes[0] : first == enter.y ? axes[1] : axes[2];
            if (dot(normal, sight) > 0.0) normal = -normal;
            float cover = 1.0;
            #else
            float along = dot(sight, ball.xyz);
            float inside = along * along - dot(ball.xyz, ball.xyz) + ball.w * ball.w;
            // The outline fades over the width of a pixel.
            float edge = inside / (ball.w * ball.w);
            float cover = clamp(edge / max(fwidth(edge), 1e-6) + 0.5, 0.0, 1.0);
            if (cover <= 0.0) discard;
            vec3 hit = sight * (along - sqrt(max(inside, 0.0)));
            vec3 normal = (hit - ball.xyz) / ball.w;
            #endif
            vec4 clip = projectionMatrix * vec4(hit, 1.0);
            gl_FragDepth = clamp(0.5 * clip.z / clip.w + 0.5, 0.0, 1.0);
            colour = lit(normal, sight, shade, marked, 0.55);
            colour.a *= cover;
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

    // Bodies as balls, or many as boxes.
    class Bodies {
        constructor(maps, many, form = many ? "points" : "squares") {
            this.maps = maps;
            this.many = many;
            this.form = form;
            this.material = new THREE.RawShaderMaterial({
                glslVersion: THREE.GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT, side: THREE.DoubleSide, alphaToCoverage: true,
                defines: { ...(many ? { POINTS: 1 } : {}), ...(form === "boxes" ? { BOX: 1 } : {}) },
                uniforms: {
                    low: { value: new THREE.Vector4() }, span: { value: new THREE.Vector4() }, factor: { value: 1 },
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
            const { place, orientation, scale } = kind.columns;
            const geometry = this.many ? this.points(place) : this.squares(place, kind.count);
            const Attribute = this.many ? THREE.BufferAttribute : THREE.InstancedBufferAttribute;
            this.values = new Attribute(new Float32Array(kind.count), 1);
            geometry.setAttribute("value", this.values);
            if (this.form === "boxes") {
                geometry.setAttribute("turn", new THREE.BufferAttribute(orientation.array, 4, true));
                geometry.setAttribute("scale", new THREE.BufferAttribute(scale.array, 3, scale.type === "u16"));
                this.material.uniforms.factor.value = scale.span[0];
            }
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
            barchan.colourValues(this, quantity, low, high);
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
            return barchan.findId(this.kind, id);
        }

        dispose() {
            this.mesh.geometry.dispose();
            this.material.dispose();
        }
    }

    // Colours bodies of any form by a quantity.
    barchan.colourValues = ({ kind, values, material, maps }, quantity, low, high) => {
        const read = reader(kind, quantity), array = values.array;
        const named = QUANTITIES[quantity].names !== undefined;
        const scale = named ? 1 : high > low ? 1 / (high - low) : 0, shift = named ? 0 : low;
        for (let i = 0; i < array.length; i++) array[i] = (read(i) - shift) * scale;
        values.needsUpdate = true;
        material.uniforms.named.value = named ? 1 : 0;
        material.uniforms.map.value = named ? maps.distinct : maps.viridis;
    };

    // The index of the body with this id.
    barchan.findId = ({ count, columns: { id: ids } }, id) => {
        for (let i = 0; i < count; i++) if (ids.at(i) === id) return i;
        return -1;
    };

    // How bodies are drawn, and what draws them. What has a look that is not there is shown by the ball that holds it.
    // Many boxes with sharp edges, whose look is the first, are points like many balls.
    const BOX = 1;
    barchan.formOf = (kind) => {
        const many = kind.count > MANY;
        if (barchan.isSolid(kind)) return many && kind.look === BOX ? "boxes" : "solid";
        return many ? "points" : "squares";
    };
    barchan.bodiesOf = (kind, maps) => {
        const form = barchan.formOf(kind);
        if (form === "boxes") return barchan.asSolids(new Bodies(maps, true, form), kind.look);
        return form === "solid" ? new barchan.Solids(maps) : new Bodies(maps, form === "points");
    };

    barchan.QUANTITIES = QUANTITIES;
    barchan.Bodies = Bodies;
    barchan.bodyReader = reader;
}
