// The command under test, as a process that serves a page.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

// Whatever becomes of the tests, nothing is left behind.
const children = [];
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

// Starts the command and gives the address that it tells, on any of its outputs, a way to end it, and what it said.
export async function serve(barchan, ...args) {
    const child = spawn(barchan, args, { stdio: ["ignore", "pipe", "pipe"] });
    const lines = [];
    const ended = new Promise((done) => child.on("exit", (code, signal) => done(code ?? signal)));
    children.push(child);
    const address = await new Promise((found, failed) => {
        for (const stream of [child.stdout, child.stderr]) {
            createInterface({ input: stream }).on("line", (line) => {
                lines.push(line);
                const told = line.match(/http:\/\/\S+/);
                if (told) found(told[0]);
            });
        }
        ended.then((code) => failed(new Error(`barchan ${args.join(" ")} ended with ${code}: ${lines.join("\n")}`)));
    });
    const end = async (signal = "SIGINT") => {
        child.kill(signal);
        return { code: await ended, lines };
    };
    return { address, end, ended };
}

// Where the page at this address has its socket, with the token.
export function socketOf(address) {
    const { host, search } = new URL(address);
    return `ws://${host}/socket${search}`;
}

// Starts `barchan view`.
export const view = (barchan, ...args) => serve(barchan, "view", ...args, "--no-open", "--threads", "1");

// Runs the command without looking at it until it is ended.
export function start(barchan, ...args) {
    const child = spawn(barchan, args, { stdio: "ignore" });
    const ended = new Promise((done) => child.on("exit", (code, signal) => done(code ?? signal)));
    children.push(child);
    return { end: (signal) => (child.kill(signal), ended), ended };
}
