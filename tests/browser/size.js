// How large a report is and how long a browser takes to open it: tells, and judges nothing.
//
//   node size.js REPORT.HTML...
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, open } from "./browser.js";
import { look } from "./pixels.js";

const browser = await launch();
for (const file of process.argv.slice(2)) {
    const { page, seconds, troubles, close } = await open(browser, pathToFileURL(resolve(file)).href);
    const { frames, bodies } = await page.evaluate(() => ({ frames: barchan.player.frames.length, bodies: barchan.viewer.frame.shown }));
    const start = performance.now();
    const { share } = await look(page);
    const again = (performance.now() - start) / 1000;
    console.log(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB, ${frames} frames, ${bodies} bodies, open after ${seconds.toFixed(1)} s, ` +
        `drawn again in ${again.toFixed(2)} s, ${(100 * share).toFixed(0)} % of the view filled`);
    troubles().forEach((trouble) => console.log(`  ${trouble}`));
    await close();
}
await browser.close();
