// The real program: runs it, watches what it serves, reads what it wrote.
//
// `SARRUS_BIN` names the binary; else the newest one under `target`. `SARRUS_DIST=1` shows `dist/` in place of the page inside the
// binary, which spares a build of it while the page is worked on.

import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { open, type Look } from "../browser/browser";

const ROOT = fileURLToPath(new URL("../../../../../", import.meta.url));
const DIST = fileURLToPath(new URL("../../dist/", import.meta.url));

export function binary(): string {
  const given = process.env["SARRUS_BIN"];
  if (given) return given;
  const target = process.env["CARGO_TARGET_DIR"] ?? join(ROOT, "target");
  const built = ["release", "debug"].map((kind) => join(target, kind, "sarrus")).filter(existsSync);
  const newest = built.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
  if (!newest) throw new Error("there is no binary: `cargo build -p sarrus-cli`, or name one in SARRUS_BIN");
  return newest;
}

/** Runs it to its end. */
export function sarrus(...args: string[]): { code: number; stdout: string; stderr: string } {
  const done = spawnSync(binary(), args, { encoding: "utf8", timeout: 120000 });
  return { code: done.status ?? -1, stdout: done.stdout, stderr: done.stderr };
}

export interface Watched {
  url: string;
  stop(): void;
}

const running = new Set<ChildProcess>();
process.on("exit", () => running.forEach((child) => child.kill()));

/** Starts it as a viewer, `view …` or `run … --view`, and waits for its address. */
export async function watch(...args: string[]): Promise<Watched> {
  const child = spawn(binary(), [...args, "--no-open", "--port", "0"], { stdio: ["ignore", "ignore", "pipe"] });
  running.add(child);
  const talk: string[] = [];
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr! }).on("line", (line) => {
      talk.push(line);
      const found = /^view: (http:\S+)/.exec(line);
      if (found) resolve(found[1]!);
    });
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`sarrus ${args.join(" ")} ended with ${code}:\n${talk.join("\n")}`)));
  });
  return {
    url,
    stop: () => {
      running.delete(child);
      child.kill("SIGKILL");
    },
  };
}

/** A folder that goes away with the tests. */
export function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "sarrus-"));
  process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Columns of a trajectory, as numbers. */
export function csv(dir: string): { names: string[]; rows: number[][]; column(name: string): number[] } {
  const [head, ...lines] = readFileSync(join(dir, "trajectory.csv"), "utf8").trim().split("\n");
  const names = head!.split(","), rows = lines.map((line) => line.split(",").map(Number));
  const column = (name: string) => {
    const k = names.indexOf(name);
    if (k < 0) throw new Error(`the trajectory has no column ${name}`);
    return rows.map((row) => row[k]!);
  };
  return { names, rows, column };
}

/** Names of the models that come with the program. */
export function examples(): string[] {
  const list = JSON.parse(sarrus("examples", "--json").stdout) as { examples: { name: string }[] };
  return list.examples.map((e) => e.name);
}

/** The page of a viewer, with its errors and requests. */
export function look(browser: Browser, url: string, options: Look = {}): ReturnType<typeof open> {
  return open(browser, url, { ...options, prepare: fresh });
}

/** Waits until what was asked for is drawn, however slow the machine is. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

/** Puts what was built last in place of the page in the binary, where that is asked for. */
export async function fresh(page: Page): Promise<void> {
  if (!process.env["SARRUS_DIST"]) return;
  const kinds = { "app.js": "text/javascript", "app.css": "text/css" };
  for (const [file, type] of Object.entries(kinds)) {
    await page.route(`**/${file}`, (route) => route.fulfill({ path: join(DIST, file), contentType: type }));
  }
}
