"use strict";
// Fewer triangles for bodies that are not spheres, where there are many: a hundred thousand rounded boxes of 300 triangles
// each take half a minute a frame where no graphics card helps.
//
// What is known by its lengths is made anew with fewer segments and with the normals of the true surface, so that light
// falls on it as on the fine one. Of other surfaces, corners that are near to each other become one.
{
    // The shapes with numbers that are always the same.
    const BOX = 1, CYLINDER = 3;
    // So many triangles are drawn of all bodies together, as far as it can be done.
    barchan.mostTriangles = 1e6;

    // The half of a box that is drawn of each: the faces at +x, +y and +z, which the shader turns to the eye.
    function halfBox([x, y, z]) {
        const corners = [[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1], [-1, 1, -1], [-1, 1, 1], [1, 1, 1], [1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]];
        return {
            isHalfBox: true,
            positions: new Float32Array(corners.flatMap((p) => [p[0] * x, p[1] * y, p[2] * z])),
            normals: new Float32Array(corners.flatMap((_, k) => [0, 1, 2].map((axis) => (axis === k >> 2 ? 1 : 0)))),
            indices: new Uint16Array([0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7, 8, 9, 10, 8, 10, 11]),
        };
    }

    // A box with edges that are cut at 45 degrees, and shaded as round. Corner (s, k) is on face k, on the sides s.
    function cutBox(half, edge) {
        const positions = [], normals = [], indices = [], SIGNS = [-1, 1];
        const at = (s, k) => 3 * (4 * (s[0] > 0) + 2 * (s[1] > 0) + (s[2] > 0)) + k;
        for (const x of SIGNS) for (const y of SIGNS) for (const z of SIGNS) for (let k = 0; k < 3; k++) {
            const s = [x, y, z];
            positions.push(...s.map((side, j) => side * (half[j] - (j === k ? 0 : edge))));
            normals.push(...s.map((side, j) => (j === k ? side : 0)));
        }
        const four = (a, b, c, d) => indices.push(a, b, c, a, c, d);
        const sides = (k, value, i, first, j, second) => {
            const s = [0, 0, 0];
            [s[k], s[i], s[j]] = [value, first, second];
            return s;
        };
        for (let k = 0; k < 3; k++) {
            const i = (k + 1) % 3, j = (k + 2) % 3;
            for (const side of SIGNS) {
                const round = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([a, b]) => at(sides(k, side, i, a, j, b), k));
                four(...round);
            }
            // The four edges along axis k, between faces i and j.
            for (const a of SIGNS) for (const b of SIGNS) {
                const low = sides(k, -1, i, a, j, b), high = sides(k, 1, i, a, j, b);
                four(at(low, i), at(high, i), at(high, j), at(low, j));
            }
        }
        for (const x of SIGNS) for (const y of SIGNS) for (const z of SIGNS) indices.push(...[0, 1, 2].map((k) => at([x, y, z], k)));
        return surface(positions, normals, indices);
    }

    // What a profile of (r, z, normal's r, normal's z) is when it is turned about the z axis. Each corner has a number of its own
    // all around, on the axis too, where light would else fall from one side only.
    function revolved(profile, around) {
        const positions = [], normals = [], indices = [];
        for (const [r, z, nr, nz] of profile) {
            for (let k = 0; k < around; k++) {
                const x = Math.cos((2 * Math.PI * k) / around), y = Math.sin((2 * Math.PI * k) / around);
                positions.push(r * x, r * y, z);
                normals.push(nr * x, nr * y, nz);
            }
        }
        for (let i = 0; i + 1 < profile.length; i++) {
            const [[r, z], [q, y]] = [profile[i], profile[i + 1]];
            if (r === q && z === y) continue;
            for (let k = 0; k < around; k++) {
                const [a, b] = [i * around + k, i * around + ((k + 1) % around)];
                if (r > 0) indices.push(a, b, a + around);
                if (q > 0) indices.push(b, b + around, a + around);
            }
        }
        return surface(positions, normals, indices);
    }

    // A cylinder with edges rounded by a radius, or none: capsules and balls are such.
    function roundCylinder(radius, half, edge, steps) {
        const above = [];
        if (radius > edge) above.push([0, half, 0, 1]);
        for (let k = 0; k <= steps; k++) {
            const across = k === 0 ? 0 : Math.sin((Math.PI * k) / 2 / steps), along = k === steps ? 0 : Math.cos((Math.PI * k) / 2 / steps);
            above.push([radius - edge + edge * across, half - edge + edge * along, across, along]);
        }
        return [...above.map(([r, z, nr, nz]) => [r, -z, nr, -nz]), ...above.reverse()];
    }

    // A surface whose corners that share a cell of a grid about it have become one, at that which is farthest out.
    function clustered({ positions, normals, indices }, cells) {
        const [low, high] = bounds(positions), middle = low.map((x, k) => 0.5 * (x + high[k]));
        const found = new Map(), corners = [], kept = new Set(), triangles = [];
        const cornerOf = Array.from({ length: positions.length / 3 }, (_, i) => {
            const at = [0, 1, 2].map((k) => positions[3 * i + k]);
            const key = at.map((x, k) => Math.min(cells - 1, Math.floor((cells * (x - low[k])) / (high[k] - low[k] || 1)))).join();
            if (!found.has(key)) {
                found.set(key, corners.length);
                corners.push({ at, far: -1, normal: [0, 0, 0] });
            }
            const corner = corners[found.get(key)];
            const far = Math.hypot(...at.map((x, k) => (x - middle[k]) / (high[k] - low[k] || 1)));
            if (far > corner.far) Object.assign(corner, { at, far });
            corner.normal.forEach((_, k) => (corner.normal[k] += normals[3 * i + k]));
            return found.get(key);
        });
        for (let t = 0; t < indices.length; t += 3) {
            const [a, b, c] = [0, 1, 2].map((k) => cornerOf[indices[t + k]]);
            const key = [a, b, c].sort((x, y) => x - y).join();
            if (a === b || b === c || c === a || kept.has(key)) continue;
            kept.add(key);
            triangles.push(a, b, c);
        }
        return surface(
            corners.flatMap(({ at }) => at),
            corners.flatMap(({ normal }) => normal.map((x) => x / (Math.hypot(...normal) || 1))), triangles,
        );
    }

    // Whether a surface is still about as long and as full as another one.
    function isLike(one, other) {
        const [[low, high], [under, over]] = [bounds(one.positions), bounds(other.positions)];
        const isLong = high.every((x, k) => x - low[k] >= 0.85 * (over[k] - under[k]));
        return isLong && Math.abs(volume(one)) > 0.7 * Math.abs(volume(other));
    }

    function volume({ positions: p, indices }) {
        let sum = 0;
        for (let t = 0; t < indices.length; t += 3) {
            const [a, b, c] = [0, 1, 2].map((k) => 3 * indices[t + k]);
            sum += p[a] * (p[b + 1] * p[c + 2] - p[b + 2] * p[c + 1]) + p[a + 1] * (p[b + 2] * p[c] - p[b] * p[c + 2]) + p[a + 2] * (p[b] * p[c + 1] - p[b + 1] * p[c]);
        }
        return sum / 6;
    }

    function surface(positions, normals, indices) {
        return { positions: new Float32Array(positions), normals: new Float32Array(normals), indices: new Uint32Array(indices) };
    }

    function bounds(positions) {
        const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
        positions.forEach((x, i) => {
            low[i % 3] = Math.min(low[i % 3], x);
            high[i % 3] = Math.max(high[i % 3], x);
        });
        return [low, high];
    }

    // How each shape is made coarser, step by step. Margins of what is rounded are one, where all factors are.
    const STEPS = {
        box: [(look, half) => cutBox(half, 1), (look, half) => halfBox(half)],
        cylinder: [12, 8, 6].map((around) => ({ id }, [r, , h]) => revolved(roundCylinder(r, h, id === CYLINDER ? 0 : 1, id === CYLINDER ? 1 : 2), around)),
        capsule: [[12, 3], [8, 2], [6, 2], [5, 1]].map(([around, steps]) => (look, [r, , h]) => revolved(roundCylinder(r, h, r, steps), around)),
        ellipsoid: [[12, 3], [8, 2], [6, 2], [5, 1]].map(([around, steps]) => (look, [r]) => revolved(roundCylinder(r, r, r, steps), around)),
        cone: [12, 8, 6].map((around) => (look, [r], [, , z], [, , top]) => {
            const long = Math.hypot(r, top - z), slope = [(top - z) / long, r / long];
            return revolved([[0, z, 0, -1], [r, z, 0, -1], [r, z, ...slope], [0, top, ...slope]], around);
        }),
        other: [10, 6, 4, 3, 2].map((cells) => (look) => clustered(look, cells)),
    };

    // What is drawn of a look at a level, of which 0 is the finest; none beyond the coarsest.
    function level(look, k) {
        look.levels ??= [look.id === BOX ? halfBox([1, 1, 1]) : look];
        const steps = look.id === BOX ? [] : STEPS[look.name] ?? STEPS.other;
        while (look.levels.length <= k && look.levels.length <= steps.length) {
            const [low, high] = bounds(look.positions), last = look.levels.at(-1);
            const next = steps[look.levels.length - 1](look, high, low, high);
            // A step that saves nothing, or loses the shape, is the one before.
            const isBetter = next.indices.length < last.indices.length && (steps !== STEPS.other || isLike(next, look));
            look.levels.push(isBetter ? next : last);
        }
        return look.levels[k];
    }

    // What is drawn of each of the bodies of some looks: [{ look, count }] gives surfaces in the same order. As long as there are
    // too many triangles, what has most of them becomes coarser.
    barchan.coarsened = (kinds) => {
        const drawn = kinds.map(({ look, count }) => ({ look, count, at: 0, isLast: false }));
        const triangles = ({ look, count, at }) => (level(look, at).indices.length / 3) * count;
        for (;;) {
            const rest = drawn.filter((each) => !each.isLast);
            if (rest.length === 0 || drawn.reduce((sum, each) => sum + triangles(each), 0) <= barchan.mostTriangles) break;
            const most = rest.reduce((a, b) => (triangles(b) > triangles(a) ? b : a));
            if (level(most.look, most.at + 1)) most.at += 1;
            else most.isLast = true;
        }
        return drawn.map(({ look, at }) => level(look, at));
    };
}
