// The live page in a browser: a simulation that runs is watched, held, changed and sent back to its start; then a
// run directory is looked through.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { open, screenshot, settle } from "./browser.js";
import { socketOf, view } from "./command.js";
import { curves, drawn, look } from "./pixels.js";

// Steps until 300 spheres lie.
const FALL = 350;

// Waits until something is true of the last status, and gives it.
async function until(page, test) {
    for (let left = 600; ; left--) {
        const found = await status(page);
        if (found !== null && test(found)) return found;
        if (left === 0) throw new Error(`${test} did not come true; the last status is ${JSON.stringify(found)}`);
        await page.waitForTimeout(50);
    }
}

const status = (page) => page.evaluate(() => barchan.live.status);

// The last kinetic energy that was plotted.
const kinetic = (page) => page.evaluate(() => barchan.plots.rows.at(-1)?.kinetic);

async function slide(page, selector, value) {
    await page.locator(selector).evaluate((input, value) => {
        input.value = String(value);
        input.dispatchEvent(new Event("input", { bubbles: true }));
    }, value);
}

// A frame of a step that has not been seen yet.
async function newFrame(page, frames) {
    await page.waitForFunction((frames) => barchan.live.frames > frames, frames, { timeout: 30_000 });
    await settle(page);
}

const frames = (page) => page.evaluate(() => barchan.live.frames);

// A scene that runs.
export async function liveScene(browser, barchan, checks) {
    const { address, end } = await view(barchan, "sedimentation", "--set", "bodies=300", "--set", "time.end=1000");
    checks.that(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{32}$/.test(address), "the address is one of this machine, with a token", address);
    const socket = (url) => url === socketOf(address);
    const { page, troubles, close } = await open(browser, address, { allowed: socket });

    await until(page, (status) => status.state === "running" && status.step > 5);
    await newFrame(page, 0);
    const first = await look(page);
    checks.that(first.share > 0.01 && first.colours > 20, "the canvas shows bodies", first);
    const before = (await status(page)).step;
    await until(page, (status) => status.step > before + 30);
    await newFrame(page, await frames(page));
    const later = await look(page);
    checks.that(later.hash !== first.hash, "pixels differ between frames", { first, later });
    await screenshot(page, "live");

    await page.keyboard.press("Space");
    await until(page, (status) => status.state === "paused");
    const held = await status(page);
    await page.waitForTimeout(600);
    const still = await status(page);
    checks.that(still.step === held.step && still.time === held.time, "pause stops time", { held, still });
    await page.click("#live-step");
    await until(page, (status) => status.step === held.step + 1);
    checks.that(true, "a single step is one step");
    await page.keyboard.press("s");
    await until(page, (status) => status.step === held.step + 2);

    const reset = async () => {
        await page.click("#live-reset");
        await until(page, (status) => status.step === 0);
        await page.waitForFunction(() => barchan.plots.rows.length === 0);
        await settle(page);
    };
    await reset();
    const start = await status(page);
    checks.that(start.time === 0, "reset goes back to time 0", start);
    const blank = await drawn(page);
    checks.that(Object.values(blank).every((share) => share < 0.02), "and leaves the plots empty", blank);
    // As many steps as they take to fall and to come to lie on each other: every curve leaves its axis.
    await page.evaluate((count) => {
        for (let k = 0; k < count; k++) document.getElementById("live-step").click();
    }, FALL);
    await until(page, (status) => status.step === FALL);
    await page.waitForFunction((step) => barchan.plots.rows.at(-1)?.step === step, FALL);
    await settle(page);
    // On a busy machine a few steps take so long that the times of all others are hardly seen.
    await curves(page, checks, { seconds: 0.05 });
    await screenshot(page, "live-plots");

    // Falling spheres gain energy; without gravity, and before they touch, they keep it.
    await reset();
    const take = async (count) => {
        const { step } = await status(page);
        for (let k = 0; k < count; k++) await page.click("#live-step");
        await until(page, (status) => status.step === step + count);
        await page.waitForFunction((step) => barchan.plots.rows.at(-1)?.step === step, step + count);
        return kinetic(page);
    };
    const [a, b] = [await take(5), await take(5)];
    checks.that(b > 2 * a && a > 0, "what falls gains energy", [a, b]);
    await slide(page, "[id='knob-gravity.2']", 0);
    await until(page, (status) => status.parameters["gravity.2"] === 0);
    const c = await take(5);
    checks.that(Math.abs(c / b - 1) < 1e-9, "without gravity it does not", [b, c]);
    await slide(page, "[id='knob-gravity.2']", 9.81);
    await until(page, (status) => status.parameters["gravity.2"] > 9);
    const d = await take(5);
    checks.that(d < 0.5 * c, "with gravity turned round it loses energy", [c, d]);
    await keys(page, checks);
    await keep(page, barchan, checks);
    await page.selectOption("#live-speed", "");
    await until(page, (status) => status.speed === null);
    await page.click("#live-play");
    await until(page, (status) => status.state === "running" && status.pace > 0);
    await screenshot(page, "live-changed");
    checks.that(troubles().length === 0, "nothing went wrong in the page", troubles());

    const { code, lines } = await end();
    checks.that(code === 0 && lines.some((line) => line.startsWith("state hash")), "Ctrl-C ends it well", { code, lines });
    await page.waitForFunction(() => document.getElementById("live-connection").textContent.startsWith("connection lost"));
    checks.that(true, "the page says that the connection is lost");
    await close();
}

// Keys mean the same whatever has the focus, but for what a slider needs itself.
async function keys(page, checks) {
    const knob = page.locator("[id='knob-gravity.2']");
    await knob.focus();
    const { step } = await status(page);
    await page.keyboard.press("r");
    await page.keyboard.press(" ");
    await until(page, (status) => status.state === "running");
    await page.keyboard.press(" ");
    const held = await until(page, (status) => status.state === "paused");
    checks.that(held.step > step, "space holds and lets go while a slider has the focus, and r does not restart", [step, held.step]);
    checks.that(/^step \d+$/.test(await page.textContent("#live-rate")), "what stands still has no steps a second", await page.textContent("#live-rate"));
    const before = await knob.inputValue();
    await page.keyboard.press("ArrowLeft");
    checks.that((await knob.inputValue()) !== before, "arrows are for the slider then");
    await page.keyboard.press("?");
    const told = await page.textContent("#help");
    checks.that(await page.locator("#help").isVisible() && told.includes("restart run") && told.includes("reset view"), "? lists the keys", told);
    await page.keyboard.press("Escape");
    checks.that(!(await page.locator("#help").isVisible()), "and the escape key closes the list");
    await page.keyboard.press("b");
    await until(page, (status) => status.step === 0);
    checks.that(true, "b restarts the run");
}

// The scene with the numbers as they are now is a file that runs.
async function keep(page, barchan, checks) {
    await slide(page, "[id='knob-gravity.2']", -1.625);
    await until(page, (status) => status.parameters["gravity.2"] === -1.625);
    await page.waitForTimeout(200);
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("#live-save")]);
    checks.that(download.suggestedFilename() === "sedimentation.toml", "the scene is kept under its name", download.suggestedFilename());
    const path = await download.path();
    checks.that(readFileSync(path, "utf8").includes("-1.625"), "with the number that was set");
    const { status: code, stderr } = spawnSync(barchan, ["check", path], { encoding: "utf8" });
    checks.that(code === 0, "and can be run", stderr);
}

// A page of another origin must not get through, nor anybody without the token.
export async function foreignPage(browser, barchan, checks) {
    const { address, end } = await view(barchan, "bounce", "--paused");
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.setContent("<p>another page</p>");
    const outcome = await page.evaluate((address) => new Promise((done) => {
        const socket = new WebSocket(address);
        socket.onopen = () => done("open");
        socket.onerror = () => done("refused");
    }), socketOf(address));
    checks.that(outcome === "refused", "a page of another origin is refused", outcome);
    const answer = await page.goto(`${new URL(address).origin}/`);
    checks.that(answer.status() === 403, "without the token there is no page", answer.status());
    checks.that((await page.textContent("body")).includes("?token="), "and it says what is missing", await page.textContent("body"));
    await context.close();
    await end();
}

// A run that is written down.
export async function storedRun(browser, barchan, directory, checks) {
    const { address, end } = await view(barchan, directory);
    const socket = (url) => url === socketOf(address);
    const { page, troubles, close } = await open(browser, address, { allowed: socket });
    await until(page, (status) => status.state === "ended");
    await newFrame(page, 0);
    const { frames: count } = await status(page);
    checks.that((await page.textContent("#status")) === "finished", "a run at its end says so", await page.textContent("#status"));
    checks.that(count > 2, "all frames are there", count);
    const last = await look(page);
    checks.that(last.share > 0.01, "the last frame shows bodies", last);
    const seen = await frames(page);
    await slide(page, "#live-seek", 0);
    await until(page, (status) => status.frame === 0 && status.state === "paused");
    await newFrame(page, seen);
    const first = await look(page);
    checks.that(first.hash !== last.hash, "the slider shows another frame", { first, last });
    await settle(page);
    await curves(page, checks);
    await screenshot(page, "live-stored");
    checks.that(troubles().length === 0, "nothing went wrong in the page", troubles());
    checks.that((await end()).code === 0, "Ctrl-C ends it well");
    await close();
}
