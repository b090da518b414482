// report.html in a browser: opened as a file, looked at, clicked through.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { screenshot, open, settle } from "./browser.js";
import { curves, look } from "./pixels.js";

// Sets a control as a user would and waits for the picture.
async function choose(page, selector, value) {
    await page.selectOption(selector, value);
    await settle(page);
}

async function slide(page, selector, value) {
    await page.locator(selector).evaluate((input, value) => {
        input.value = value;
        input.dispatchEvent(new Event("input", { bubbles: true }));
    }, value);
    await settle(page);
}

async function click(page, selector) {
    await page.locator(selector).evaluate((element) => element.click());
    await settle(page);
}

// The player shows a frame after it is unpacked.
async function frame(page, index) {
    await slide(page, "#seek", index);
    await page.waitForFunction((index) => document.getElementById("clock").textContent.includes(`frame ${index + 1} of`), index);
    await settle(page);
}

// A run with frames: everything that can be looked at.
export async function wholeReport(browser, directory, checks) {
    const address = pathToFileURL(join(directory, "report.html")).href;
    const { page, troubles, close } = await open(browser, address);
    const shot = (name) => screenshot(page, name);

    const first = await look(page);
    checks.that(first.share > 0.02 && first.colours > 50, "the canvas shows bodies", first);
    await shot("report");
    checks.that((await page.textContent("h1")).length > 0, "the run has its name");
    checks.that((await page.textContent("#numbers")).includes("state hash"), "the numbers are there");
    await plots(page, checks);
    await verdict(page, checks, false);

    const frames = await page.evaluate(() => barchan.player.frames.length);
    checks.that(frames > 2, "the player has frames", frames);
    await frame(page, 0);
    const begin = await look(page);
    checks.that(begin.hash !== first.hash && begin.share > 0.02, "the first frame is another picture than the last", begin);
    await shot("report-first");
    await page.locator("#view").focus();
    await page.keyboard.press("End");
    await page.waitForFunction(() => barchan.player.index === barchan.player.frames.length - 1);
    await page.waitForFunction(() => document.getElementById("clock").textContent.includes(`frame ${barchan.player.frames.length} of`));
    await settle(page);
    checks.that((await look(page)).hash === first.hash, "the last frame is the same picture again");
    await page.keyboard.press("Home");
    await page.keyboard.press(" ");
    await page.waitForFunction(() => barchan.player.index > 1, null, { timeout: 30_000 });
    await page.keyboard.press(" ");
    const stopped = await page.evaluate(() => barchan.player.index);
    await page.waitForTimeout(400);
    const later = await page.evaluate(() => ({ index: barchan.player.index, playing: barchan.player.playing }));
    checks.that(!later.playing && later.index <= stopped + 1, "the space bar plays and pauses", later);

    await frame(page, frames - 1);
    const seen = new Map([["speed", (await look(page)).hash]]);
    for (const quantity of ["id", "radius", "contacts", "rank"]) {
        await choose(page, "#colour-by", quantity);
        const now = await look(page);
        checks.that(![...seen.values()].includes(now.hash), `colours by ${quantity} are others`, quantity);
        checks.that((await page.textContent("#legend")).toLowerCase().includes(quantity), `the legend tells of ${quantity}`);
        seen.set(quantity, now.hash);
    }
    await shot("report-rank");
    await choose(page, "#colour-by", "speed");

    await click(page, "#walls");
    const bare = await look(page);
    await click(page, "#slice-axis-x");
    await slide(page, "#slice", 300);
    const sliced = await look(page);
    checks.that(sliced.differ < 0.8 * bare.differ && sliced.share > 0.01, "a slice hides bodies", [bare, sliced]);
    await click(page, "#slice-flip");
    checks.that((await look(page)).hash !== sliced.hash, "its other side is another picture");
    await shot("report-slice");
    await click(page, "#walls");
    await click(page, "#slice-axis-off");
    checks.that((await look(page)).hash === first.hash, "without the slice all is as before");

    await click(page, "#chains");
    const chains = await look(page);
    checks.that(chains.hash !== first.hash, "force chains show");
    await click(page, "#bodies-hidden");
    const alone = await look(page);
    checks.that(alone.hash !== chains.hash && alone.colours > 20, "and alone, with bodies hidden", alone);
    await shot("report-chains");
    await slide(page, "#least-force", 700);
    checks.that((await look(page)).hash !== alone.hash, "weak forces can be left out");
    await click(page, "#chains");
    await click(page, "#walls");
    checks.that((await look(page)).differ < 0.1 * first.differ, "without bodies, forces and walls nothing is there", await look(page));
    await click(page, "#walls");
    await click(page, "#bodies-solid");

    await twins(page, checks);
    await pick(page, checks);
    await camera(page, checks);
    checks.that(troubles().length === 0, "no errors, no requests", troubles());
    await close();

    const dark = await open(browser, address, { colorScheme: "dark", viewport: { width: 420, height: 800 } });
    await screenshot(dark.page, "report-dark-small");
    const width = await dark.page.evaluate(() => document.documentElement.scrollWidth);
    checks.that(width <= 420, "a small window has no bar to scroll sideways", width);
    checks.that(dark.troubles().length === 0, "no errors in the dark", dark.troubles());
    await dark.close();
}

async function plots(page, checks) {
    await curves(page, checks);
    await page.locator("#plot-energy").scrollIntoViewIfNeeded();
    const box = await page.locator("#plot-energy").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await settle(page);
    checks.that(/\d+.*J/.test(await page.locator("#plots figure").first().textContent()), "a pointer over a plot tells values");
}

async function verdict(page, checks, missed) {
    const told = await page.textContent("#verdict"), loud = await page.locator("#verdict.bad").count();
    const red = await page.locator("#plot-residual").evaluate((canvas) => {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        let red = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && data[i] > 170 && data[i + 1] < 90 && data[i + 2] < 90) red += 1;
        return red;
    });
    if (missed) {
        checks.that(loud === 1 && /missed the tolerance/.test(told) && /^\d/.test(told), "missed steps are told loudly", told);
        checks.that(red > 50, "and are red in the plots", red);
    } else {
        checks.that(loud === 0 && /^All .* reached the tolerance/.test(told), "it says that no step was missed", told);
        checks.that(red === 0, "and nothing is red in the plots", red);
    }
}

// Many bodies are drawn as points, few as squares: the picture is the same but for a few edges.
async function twins(page, checks) {
    const squares = await look(page);
    const rule = (many) => page.evaluate((many) => {
        barchan.usual ??= barchan.areMany;
        barchan.areMany = many ? () => true : barchan.usual;
        barchan.viewer.show(barchan.viewer.frame);
    }, many);
    await rule(true);
    const points = await look(page);
    checks.that(Math.abs(points.differ / squares.differ - 1) < 0.01, "points look as squares do", [squares.differ, points.differ]);
    await rule(false);
    checks.that((await look(page)).hash === squares.hash, "and squares come back");
}

// A click on a body tells of it: the middle of the view has one.
async function pick(page, checks) {
    const place = await page.evaluate(() => {
        const { viewer } = barchan, place = viewer.frame.kinds[0].columns.place, v = new THREE.Vector3();
        // The body nearest to the eye is hidden by no other.
        let best = 0, nearest = Infinity;
        for (let i = 0; i < viewer.frame.kinds[0].count; i++) {
            const far = v.set(place.at(i, 0), place.at(i, 1), place.at(i, 2)).distanceTo(viewer.camera.position);
            if (far < nearest) [best, nearest] = [i, far];
        }
        v.set(place.at(best, 0), place.at(best, 1), place.at(best, 2)).project(viewer.camera);
        const box = viewer.canvas.getBoundingClientRect();
        return { x: box.left + ((v.x + 1) / 2) * box.width, y: box.top + ((1 - v.y) / 2) * box.height, id: viewer.frame.kinds[0].columns.id.at(best) };
    });
    await page.mouse.click(place.x, place.y);
    await settle(page);
    const told = await page.textContent("#picked");
    checks.that(await page.locator("#picked").isVisible(), "a click on a body opens its card");
    checks.that(told.includes(`id${place.id}`) && told.includes("position") && told.includes("speed"), "with id, position and speed", told);
    await page.keyboard.press("Escape");
    checks.that(!(await page.locator("#picked").isVisible()), "and the escape key closes it");
}

async function camera(page, checks) {
    const before = await look(page), box = await page.locator("#view canvas").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 120, box.y + box.height / 2 + 30, { steps: 3 });
    await page.mouse.up();
    await settle(page);
    const turned = await look(page);
    checks.that(turned.hash !== before.hash && turned.share > 0.02, "dragging turns the view");
    await page.mouse.wheel(0, -400);
    await settle(page);
    checks.that((await look(page)).hash !== turned.hash, "the wheel zooms");
    await click(page, "#reset-view");
    checks.that((await look(page)).hash === before.hash, "and reset brings it back");
    const [picture] = await Promise.all([page.waitForEvent("download"), page.click("#save")]);
    const bytes = readFileSync(await picture.path());
    checks.that(/^sedimentation-step-\d+\.png$/.test(picture.suggestedFilename()) && bytes.subarray(1, 4).toString() === "PNG" && bytes.length > 5000,
        "the picture can be saved", [picture.suggestedFilename(), bytes.length]);
}

// A run whose solver was not allowed to converge.
export async function missedReport(browser, directory, checks) {
    const { page, troubles, close } = await open(browser, pathToFileURL(join(directory, "report.html")).href);
    await verdict(page, checks, true);
    await screenshot(page, "report-missed");
    checks.that(troubles().length === 0, "no errors, no requests", troubles());
    await close();
}

// Runs of which something is missing or not a number: each opens, and everything can be pressed.
export async function oddReport(browser, directory, checks) {
    const { page, troubles, close } = await open(browser, pathToFileURL(join(directory, "report.html")).href);
    await page.evaluate(() => {
        for (const control of document.querySelectorAll("button:not(#save), input[type=checkbox], input[type=radio]")) control.click();
        document.getElementById("help").close();
        for (const select of document.querySelectorAll("select")) {
            select.selectedIndex = select.options.length - 1;
            select.dispatchEvent(new Event("change"));
        }
        barchan.plots.hover(0.01);
    });
    await settle(page);
    // What is not a number is not drawn as one.
    const wild = await page.evaluate(() => barchan.plots.list.flatMap((plot) => plot.range(plot.curves())).filter((x) => !Number.isFinite(x)));
    checks.that(wild.length === 0, "the plots have scales", wild);
    checks.that(troubles().length === 0, "no errors, no requests", troubles());
    await close();
}

// A run that says evil things about itself, and whose summary is lost.
export async function nastyReport(browser, directory, checks) {
    const { page, troubles, close } = await open(browser, pathToFileURL(join(directory, "report.html")).href);
    checks.that((await page.textContent("#description")).includes("</script><script>"), "markup in a description is text");
    checks.that((await page.evaluate(() => globalThis.evil)) === undefined, "and nothing of it runs");
    checks.that((await page.textContent("#status")).includes("no summary"), "a run without a summary says so", await page.textContent("#status"));
    checks.that((await look(page)).share > 0.001, "and shows what there is", await look(page));
    await screenshot(page, "report-nasty");
    checks.that(troubles().length === 0, "no errors, no requests", troubles());
    await close();
}
