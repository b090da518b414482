// Runs that are written down while somebody looks: under way in another process, killed, too short to be seen, and
// a server that goes and comes back.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { open, screenshot } from "./browser.js";
import { serve, socketOf, start, view } from "./command.js";
import { Tunnel } from "./tunnel.js";
import { look } from "./pixels.js";

const at = (address) => ({ allowed: (url) => url === socketOf(address) });
const sign = (page) => page.textContent("#status");

// Waits for a text of the page.
async function until(page, selector, test, what) {
    for (let left = 400; left > 0; left--) {
        if (test((await page.textContent(selector)) ?? "")) return true;
        await page.waitForTimeout(50);
    }
    throw new Error(`${what} did not come; ${selector} says ${JSON.stringify(await page.textContent(selector))}`);
}

// A run that another process writes, which is killed then, and goes on.
export async function runUnderWay(browser, barchan, runs, checks) {
    const directory = join(runs, "under-way");
    const scene = ["sedimentation", "--set", "bodies=200", "--set", "output.frame_interval=0.02", "--time", "1000"];
    const run = start(barchan, "run", ...scene, "--out", directory, "--threads", "1", "--quiet", "--checkpoint-steps", "50");
    while (!existsSync(join(directory, "frames.pvd"))) await new Promise((done) => setTimeout(done, 20));
    const { address, end } = await view(barchan, directory);
    const { page, troubles, close } = await open(browser, address, at(address));
    await until(page, "#status", (text) => /^running · step .* of /.test(text), "a run under way");
    const frames = () => page.evaluate(() => barchan.live.status.frames);
    const before = await frames();
    await page.waitForFunction((before) => barchan.live.status.frames > before && barchan.live.frames > 1, before);
    checks.that((await look(page)).share > 0.01, "a run under way is shown as it comes", await look(page));
    await run.end("SIGKILL");
    await until(page, "#status", (text) => text === "stopped without a word", "the end of a run that was killed");
    const told = await page.textContent("#live-run");
    checks.that(told.includes(`barchan restart ${directory}`), "a run that was killed says how to go on", told);
    await screenshot(page, "live-killed");
    const again = start(barchan, "restart", directory, "--threads", "1", "--quiet");
    await until(page, "#status", (text) => text.startsWith("running"), "the run that goes on");
    await again.end("SIGINT");
    await until(page, "#status", (text) => text === "interrupted", "the end of a run that was stopped");
    checks.that(/stopped after step [\d\s]+\. `barchan restart /.test(await page.textContent("#live-run")), "one that goes on and is stopped says that");
    checks.that(troubles().length === 0, "nothing went wrong in the page", troubles());
    await end();
    await close();
}

// A run that is over before a browser has opened.
export async function shortRun(browser, barchan, runs, checks) {
    const directory = join(runs, "short");
    const { address, ended } = await serve(barchan, "run", "bounce", "--steps", "5", "--out", directory, "--view", "--threads", "1");
    const { page, troubles, close } = await open(browser, address, at(address));
    checks.that((await ended) === 0, "the run ends when its last frame was seen");
    await until(page, "#live-end", (text) => text.includes(join(directory, "report.html")), "the place of the report");
    await page.waitForFunction(() => barchan.viewer.frame !== null);
    const { step } = await page.evaluate(() => barchan.viewer.frame);
    checks.that(step === 5, "the last frame has come", step);
    await until(page, "#live-connection", (text) => text === "the run is over", "the end");
    checks.that((await sign(page)) === "finished", "and the page says that the run is over", await sign(page));
    await screenshot(page, "live-over");
    checks.that(troubles().length === 0, "nothing went wrong in the page", troubles());
    await close();
}

// A connection that goes and comes back, and then another server in the place of the first.
export async function comesBack(browser, barchan, checks) {
    const first = await view(barchan, "bounce", "--paused", "--port", "0");
    const tunnel = await Tunnel.to(first.address);
    const { page, close } = await open(browser, tunnel.address, at(tunnel.address));
    await page.waitForFunction(() => barchan.live.status?.state === "paused");
    await tunnel.cut();
    await until(page, "#live-connection", (text) => text.startsWith("connection lost"), "the loss of the connection");
    checks.that((await sign(page)) === "connection lost", "without a connection nobody says how it stands", await sign(page));
    await tunnel.open();
    await until(page, "#live-connection", (text) => text === "connected", "the connection");
    await until(page, "#status", (text) => text === "paused", "the state");
    checks.that(true, "the page connects by itself when the server is back");
    await tunnel.cut();
    await first.end();
    const second = await view(barchan, "bounce", "--paused", "--port", new URL(tunnel.address).port);
    await until(page, "#live-connection", (text) => text.startsWith("another server is here now"), "the other server");
    checks.that(true, "a server with another token says that it is another");
    await second.end();
    await close();
}
