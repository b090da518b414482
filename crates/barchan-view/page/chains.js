"use strict";
// Force chains: a rod between the two ends of each contact, thick and bright where the force is large.
{
    const VERTEX = /* glsl */ `
        in vec3 position;
        in vec3 start;
        in vec3 finish;
        in float force;
        uniform mat4 modelViewMatrix, projectionMatrix;
        uniform vec3 low, span;
        uniform vec4 slice;
        uniform float width, least, strongest;
        out float across;
        flat out float strength;
        void main() {
            vec3 a = low + span * start, b = low + span * finish;
            float share = force / strongest;
            vec3 eye_a = (modelViewMatrix * vec4(a, 1.0)).xyz, eye_b = (modelViewMatrix * vec4(b, 1.0)).xyz;
            across = position.x;
            strength = clamp(share, 0.0, 1.0);
            if (share < least || dot(slice.xyz, a) > slice.w || dot(slice.xyz, b) > slice.w || eye_a.z > 0.0 || eye_b.z > 0.0) {
                gl_Position = vec4(0.0, 0.0, 2.0, 1.0);
                return;
            }
            vec3 eye = position.y < 0.5 ? eye_a : eye_b;
            vec3 side = cross(eye_b - eye_a, eye);
            float size = length(side);
            // The cross section carries the force.
            float half_width = width * sqrt(strength);
            if (size > 0.0) eye += side / size * half_width * position.x;
            gl_Position = projectionMatrix * vec4(eye, 1.0);
        }`;

    const FRAGMENT = /* glsl */ `
        precision highp float;
        in float across;
        flat in float strength;
        uniform sampler2D map;
        out vec4 colour;
        void main() {
            vec3 base = texture(map, vec2(sqrt(strength) * (255.0 / 256.0) + 0.5 / 256.0, 0.5)).rgb;
            colour = vec4(base * (0.6 + 0.4 * sqrt(1.0 - across * across)), 1.0);
        }`;

    class Chains {
        constructor(maps) {
            this.material = new THREE.RawShaderMaterial({
                glslVersion: THREE.GLSL3, vertexShader: VERTEX, fragmentShader: FRAGMENT, side: THREE.DoubleSide,
                uniforms: {
                    low: { value: new THREE.Vector3() }, span: { value: new THREE.Vector3() },
                    slice: { value: new THREE.Vector4(0, 0, 0, 1e30) }, width: { value: 0.01 }, least: { value: 0 },
                    strongest: { value: 1 }, map: { value: maps.ember },
                },
            });
            this.mesh = new THREE.Mesh(new THREE.InstancedBufferGeometry(), this.material);
            this.mesh.frustumCulled = false;
            this.mesh.visible = false;
        }

        // `width`: radius of the rod of the largest force.
        show(chains, width) {
            const { ends, force, count } = chains;
            const geometry = new THREE.InstancedBufferGeometry();
            geometry.setAttribute("position", new THREE.Float32BufferAttribute([-1, 0, 0, 1, 0, 0, 1, 1, 0, -1, 1, 0], 3));
            geometry.setIndex([0, 1, 2, 0, 2, 3]);
            const whole = ends.type === "u16";
            const both = new THREE.InstancedInterleavedBuffer(ends.array, 6);
            geometry.setAttribute("start", new THREE.InterleavedBufferAttribute(both, 3, 0, whole));
            geometry.setAttribute("finish", new THREE.InterleavedBufferAttribute(both, 3, 3, whole));
            geometry.setAttribute("force", new THREE.InstancedBufferAttribute(force.array, 1, true));
            geometry.instanceCount = count;
            this.mesh.geometry.dispose();
            this.mesh.geometry = geometry;
            const uniforms = this.material.uniforms;
            uniforms.low.value.fromArray(ends.low);
            uniforms.span.value.fromArray(ends.span);
            uniforms.width.value = width;
            // A single impact must not make all others thin: all beyond the 99th of a hundred look alike.
            const sorted = Uint16Array.from(force.array).sort();
            const strongest = sorted.length ? sorted[Math.floor(0.99 * (sorted.length - 1))] / 65535 : 1;
            uniforms.strongest.value = Math.max(strongest, 1e-5);
            this.strongest = uniforms.strongest.value * chains.force_max;
        }
    }

    barchan.Chains = Chains;
}
