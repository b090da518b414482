// A browser for the tests: Debian's Chromium without a window, drawing in software.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const FLAGS = [
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

export async function launch() {
    const args = process.getuid?.() === 0 ? [...FLAGS, "--no-sandbox"] : FLAGS;
    return chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true, args });
}

// Where screenshots go.
export const pictures = process.env.BARCHAN_PICTURES || mkdtempSync(join(tmpdir(), "barchan-browser-"));

// Opens an address in a window of its own and keeps what goes wrong there: errors, and requests to anywhere but
// the page itself. `allowed` says which requests are in order.
export async function open(browser, address, { allowed = () => false, ...options } = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    const troubles = [];
    page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
    page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) troubles.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
        const url = request.url();
        if (url !== address && !url.startsWith("data:") && !url.startsWith("blob:") && !allowed(url)) troubles.push(`request: ${url}`);
    });
    const start = performance.now();
    await page.goto(address);
    await page.waitForFunction(() => document.documentElement.dataset.ready === "yes", null, { timeout: 60_000 });
    await settle(page);
    return { page, troubles: () => troubles.filter(isOfThePage), seconds: (performance.now() - start) / 1000, close: () => context.close() };
}

// Drawing in software and reading pixels make the browser complain about speed, which is the tests' doing.
function isOfThePage(text) {
    return !/GPU stall due to ReadPixels|software WebGL|swiftshader|willReadFrequently/i.test(text);
}

// Until what was asked for is on the screen.
export async function settle(page) {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)))));
}

// Keeps a picture of the whole page.
export async function screenshot(page, name) {
    await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
}
