// Bodies that are not spheres: in a report and on the live page, by their pixels.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { open, screenshot } from "./browser.js";
import { socketOf, view } from "./command.js";
import { look } from "./pixels.js";

// Looks at the body at a place alone, from along y: the box about its pixels, in metres about its middle, and which part of
// that box it fills.
async function alone(page, where) {
    return page.evaluate((where) => {
        const { viewer } = barchan, bodies = [...viewer.bodies.values()];
        const isThere = ({ place }) => where.every((x, k) => Math.abs(place.at(0, k) - x) < 1e-3);
        const one = bodies.find((each) => isThere(each.kind.columns));
        bodies.forEach((each) => (each.mesh.visible = each === one));
        viewer.walls.group.visible = false;
        const { place } = one.kind.columns, radius = place.at(0, 3), far = 40 * radius;
        const at = new THREE.Vector3(place.at(0, 0), place.at(0, 1), place.at(0, 2));
        viewer.camera.position.set(at.x, at.y - far, at.z);
        viewer.orbit.target.copy(at);
        viewer.camera.lookAt(at);
        const { fov } = viewer.camera;
        viewer.camera.fov = (2 * Math.atan(2 / 40) * 180) / Math.PI;
        viewer.render();
        const copy = new OffscreenCanvas(viewer.canvas.width, viewer.canvas.height), c = copy.getContext("2d");
        c.drawImage(viewer.canvas, 0, 0);
        const { data, width, height } = c.getImageData(0, 0, copy.width, copy.height);
        const metre = height / (4 * radius);
        let count = 0, low = [Infinity, Infinity], high = [-Infinity, -Infinity];
        for (let i = 0; i < data.length; i += 4) {
            if (Math.abs(data[i] - data[0]) + Math.abs(data[i + 1] - data[1]) + Math.abs(data[i + 2] - data[2]) <= 24) continue;
            const p = [((i / 4) % width) - width / 2, height / 2 - Math.floor(i / 4 / width)].map((x) => x / metre);
            count += 1;
            low = low.map((x, k) => Math.min(x, p[k]));
            high = high.map((x, k) => Math.max(x, p[k]));
        }
        const size = high.map((x, k) => x - low[k]), looks = barchan.isSolid(one.kind);
        const direction = new THREE.Vector3(0, 1, 0);
        const hit = one.hit(viewer.camera.position, direction, viewer.slicePlane());
        viewer.camera.fov = fov;
        bodies.forEach((each) => (each.mesh.visible = true));
        viewer.walls.group.visible = true;
        viewer.resetView();
        return { size, filled: count / metre ** 2 / (size[0] * size[1]), depth: far - hit.distance, looks };
    }, where);
}

// Where a body is, its sizes across x and z, the part of them that is filled, and how far the middle stands out towards the
// eye.
const EXPECTED = {
    box: { where: [0, 0], size: [0.2, 0.1], filled: [0.97, 1.03], depth: 0.15 },
    capsule: { where: [0.5, 0], size: [0.12, 0.36], filled: [0.88, 0.97], depth: 0.06 },
    mesh: { where: [1, 0], size: [0.4, 0.3], filled: [0.45, 0.55], depth: null },
    // Turned by 30 degrees about the line of sight.
    cylinder: { where: [0, 0.6], size: [0.2886, 0.3398], filled: [0.46, 0.52], depth: 0.08 },
    cone: { where: [0.5, 0.6], size: [0.24, 0.3], filled: [0.46, 0.54], depth: 0.09 },
    ellipsoid: { where: [1, 0.6], size: [0.2, 0.14], filled: [0.75, 0.82], depth: 0.15 },
    polyhedron: { where: [0, 1.2], size: [0.2, 0.4], filled: [0.46, 0.54], depth: 0.15 },
    composite: { where: [0.5, 1.2], size: [0.3, 0.24], filled: [0.37, 0.43], depth: 0.05 },
};

// The same shapes where no more triangles are to be drawn than must be: about as large, and about as full.
async function coarse(page, checks) {
    const triangles = () => page.evaluate(() => [...barchan.viewer.bodies.values()].reduce((sum, { drawn }) => sum + (drawn?.indices.length ?? 0) / 3, 0));
    const most = async (most) => {
        await page.evaluate((most) => {
            barchan.mostTriangles = most;
            barchan.viewer.show(barchan.viewer.frame);
        }, most);
        return triangles();
    };
    const fine = await triangles();
    const few = await most(0);
    checks.that(few < 0.2 * fine, "there are much fewer triangles where there are too many", [few, fine]);
    for (const [kind, { where, size, filled }] of Object.entries(EXPECTED)) {
        const seen = await alone(page, where);
        const isNear = (x, k) => Math.abs(x - size[k]) < 0.25 * Math.max(...size);
        checks.that(seen.size.every(isNear), `the coarse ${kind} has about its size`, seen);
        checks.that(seen.filled > 0.6 * filled[0] && seen.filled < 1.3 * filled[1], `the coarse ${kind} has about its outline`, seen);
    }
    await screenshot(page, "report-shapes-coarse");
    checks.that((await most(1e6)) === fine, "few bodies are fine");
}

async function shapes(page, checks) {
    for (const [kind, { where, size, filled, depth }] of Object.entries(EXPECTED)) {
        const seen = await alone(page, where);
        checks.that(seen.looks, `the ${kind} has a surface`);
        const near = (a, b) => Math.abs(a - b) < 0.04 * Math.max(...size);
        checks.that(seen.size.every((x, k) => near(x, size[k])), `the ${kind} has its size`, seen);
        checks.that(seen.filled > filled[0] && seen.filled < filled[1], `the ${kind} has its outline`, seen);
        if (depth !== null) checks.that(Math.abs(seen.depth - depth) < 0.01, `a ray meets the ${kind} where it is`, seen);
    }
}

// A report of bodies of many shapes that are fixed where they stand.
export async function shapesReport(browser, directory, checks) {
    const { page, troubles, close } = await open(browser, pathToFileURL(join(directory, "report.html")).href);
    const first = await look(page);
    checks.that(first.share > 0.005 && first.colours > 50, "the canvas shows bodies", first);
    await screenshot(page, "report-shapes");
    await shapes(page, checks);
    await coarse(page, checks);
    checks.that(troubles().length === 0, "no errors", troubles());
    await close();
}

// The same scene under way.
export async function shapesLive(browser, barchan, scene, checks) {
    const { address, end } = await view(barchan, scene, "--paused");
    const { page, troubles, close } = await open(browser, address, { allowed: (url) => url === socketOf(address) });
    await page.waitForFunction(() => barchan.live.frames > 0, null, { timeout: 30_000 });
    await shapes(page, checks);
    await screenshot(page, "live-shapes");
    checks.that(troubles().length === 0, "no errors", troubles());
    await close();
    await end();
}
