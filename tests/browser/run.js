// Opens Barchan's pages in a real browser and checks what a person would see. One file a page: to add one, write
// a file with functions that take (browser, ..., checks) and call them here.
//
//   BARCHAN=COMMAND node run.js DIRECTORY     DIRECTORY holds the runs that scripts/browser.sh makes
import { join } from "node:path";
import { launch, pictures } from "./browser.js";
import { Checks } from "./check.js";
import { comesBack, runUnderWay, shortRun } from "./follow.js";
import { foreignPage, liveScene, storedRun } from "./live.js";
import { missedReport, nastyReport, oddReport, wholeReport } from "./report.js";
import { shapesLive, shapesReport } from "./shapes.js";

const runs = process.argv[2], barchan = process.env.BARCHAN;
if (!runs || !barchan) {
    console.error("usage: BARCHAN=COMMAND node run.js DIRECTORY");
    process.exit(2);
}

const PAGES = [
    ["a report", (browser, checks) => wholeReport(browser, join(runs, "whole"), checks)],
    ["a report with missed steps", (browser, checks) => missedReport(browser, join(runs, "missed"), checks)],
    ["a report of a killed run", (browser, checks) => nastyReport(browser, join(runs, "nasty"), checks)],
    ...["frameless", "stepless", "not-finite", "one-body", "no-contacts"].map((name) =>
        [`a report (${name})`, (browser, checks) => oddReport(browser, join(runs, name), checks)]),
    ["a report of shapes", (browser, checks) => shapesReport(browser, join(runs, "shapes"), checks)],
    ["the live page of shapes", (browser, checks) => shapesLive(browser, barchan, join(runs, "shapes.toml"), checks)],
    ["the live page", (browser, checks) => liveScene(browser, barchan, checks)],
    ["the live page and a foreign one", (browser, checks) => foreignPage(browser, barchan, checks)],
    ["the live page of a run directory", (browser, checks) => storedRun(browser, barchan, join(runs, "whole"), checks)],
    ["the live page of a run under way", (browser, checks) => runUnderWay(browser, barchan, runs, checks)],
    ["the live page of a short run", (browser, checks) => shortRun(browser, barchan, runs, checks)],
    ["the live page of a server that goes", (browser, checks) => comesBack(browser, barchan, checks)],
];

let passed = 0, failed = 0;
const browser = await launch();
try {
    for (const [title, test] of PAGES) {
        const checks = new Checks(title), start = performance.now();
        try {
            await test(browser, checks);
        } catch (error) {
            checks.that(false, "runs to its end", error.stack);
        }
        console.log(`${title}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
        passed += checks.passed;
        failed += checks.failed;
    }
} finally {
    await browser.close();
}
console.log(`screenshots in ${pictures}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
