// Runs that go on while they are watched, that pass singular positions, that lie over each other; and a report from disk.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OUT, difference, launch, open, statistics } from "../browser/browser";
import { csv, drawn, folder, look, sarrus, watch, type Watched } from "./sarrus";

let browser: Browser;
const viewers: Watched[] = [];
beforeAll(async () => void (browser = await launch()));
afterAll(async () => {
  await browser?.close();
  viewers.forEach((v) => v.stop());
});

async function started(...args: string[]): Promise<string> {
  const viewer = await watch(...args);
  viewers.push(viewer);
  return viewer.url;
}

function done(example: string, ...args: string[]): string {
  const dir = folder(), run = sarrus("run", `example:${example}`, ...args, "--out", dir);
  if (run.code) throw new Error(run.stderr);
  return dir;
}

test("a run is watched while it goes on, with its progress", async () => {
  // longer than any test waits
  const url = await started("run", "example:chain", "--set", "n=500", "--t-end", "50", "--every", "0.001", "--view");
  const { page, errors } = await look(browser, url);
  const state = () => page.evaluate(() => ({ n: window.sarrus!.runs[0]!.frames.n, end: window.sarrus!.player.span[1], status: document.querySelector("#status")!.textContent! }));
  const early = await state();
  expect(early.status).toMatch(/^computing \d+ %, t = /);
  await page.waitForFunction((n) => window.sarrus!.runs[0]!.frames.n > n + 5, early.n, { timeout: 20000 });
  const late = await state();
  expect(late.end).toBeGreaterThan(early.end);
  expect(await page.locator(".computed").isVisible()).toBe(true);
  // what there is can be looked at already
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  expect(await page.evaluate(() => window.sarrus!.player.t)).toBeGreaterThan(0);
  expect(errors).toEqual([]);
  await page.screenshot({ path: `${OUT}real_live.png` });
  await page.close();
  viewers.pop()!.stop();
});

test("a run that ends under the eyes has all its frames and its certificate", async () => {
  const dir = folder();
  const url = await started("run", "example:governor", "--t-end", "1", "--every", "0.01", "--out", dir, "--no-html", "--view");
  const { page } = await look(browser, url);
  await page.waitForFunction(() => window.sarrus!.runs[0]!.ended, null, { timeout: 30000 });
  await page.waitForFunction(() => document.querySelector("#status")!.textContent === "certified");
  const seen = await page.evaluate(() => {
    const run = window.sarrus!.runs[0]!;
    return { t: Array.from(run.frames.t()), z: Array.from(run.frames.column(run.index.get("sleeve.z")!)) };
  });
  expect(seen).toEqual({ t: csv(dir).column("t"), z: csv(dir).column("sleeve.z") });
  await page.close();
});

test("singular positions are marks on the time line, which lead there", async () => {
  const dir = done("n_four_bar", "--t-end", "1.5", "--no-html");
  const report = JSON.parse(readFileSync(join(dir, "report.json"), "utf8")) as { singular: { t: number }[] };
  expect(report.singular.length).toBeGreaterThanOrEqual(2);
  const { page } = await look(browser, await started("view", dir));
  const marks = page.locator(".mark.singular");
  expect(await marks.count()).toBe(report.singular.length);
  expect(await marks.first().getAttribute("title")).toContain("Singular position");
  // the mark stands where its time is on the line, to two pixels
  const line = (await page.locator(".marks").boundingBox())!, mark = (await marks.first().boundingBox())!;
  expect(Math.abs(mark.x + mark.width / 2 - (line.x + (report.singular[0]!.t / 1.5) * line.width))).toBeLessThan(2);
  await marks.nth(1).focus();
  await page.keyboard.press("Enter");
  // the sample next to it
  expect(Math.abs((await page.evaluate(() => window.sarrus!.player.t)) - report.singular[1]!.t)).toBeLessThanOrEqual(0.01);
  await page.screenshot({ path: `${OUT}real_singular.png` });
  await page.close();
});

test("several runs lie over each other in the picture and in the plots", async () => {
  const a = done("rolling_disc", "--t-end", "0.5", "--no-html"), b = done("rolling_disc", "--t-end", "0.5", "--set", "hurry=1.5", "--no-html");
  const { page, errors } = await look(browser, await started("view", a, b));
  expect(await page.locator("#runs .run").count()).toBe(2);
  const series = await page.evaluate(() => window.sarrus!.plots.list.flatMap((p) => p.series).filter((s) => s.column === "energy.kinetic").map((s) => Array.from(s.y)));
  expect(series).toEqual([csv(a).column("energy.kinetic"), csv(b).column("energy.kinetic")]);
  await page.evaluate(() => window.sarrus!.player.seek(0.4));
  await drawn(page);
  const both = await page.locator("#view").screenshot();
  await page.screenshot({ path: `${OUT}real_overlay.png` });
  await page.evaluate(() => {
    const { view } = window.sarrus!;
    view.worlds[1]!.group.visible = false;
    view.changed();
  });
  await drawn(page);
  expect(difference(both, await page.locator("#view").screenshot())).toBeGreaterThan(0.002);
  expect(errors).toEqual([]);
  await page.close();
});

test("report.html opens from disk, moves, and no request leaves it", async () => {
  const dir = done("four_bar", "--t-end", "1"), url = pathToFileURL(join(dir, "report.html")).href;
  const { page, errors, requests } = await open(browser, url);
  expect(requests.filter((r) => !r.startsWith("data:") && !r.startsWith("blob:"))).toEqual([url]);
  expect(errors).toEqual([]);
  const before = await page.locator("#view").screenshot();
  expect(statistics(before).colours).toBeGreaterThan(40);
  await page.keyboard.press(" ");
  await page.waitForFunction(() => window.sarrus!.player.t > 0.2);
  await page.keyboard.press(" ");
  expect(difference(before, await page.locator("#view").screenshot())).toBeGreaterThan(0.005);
  await page.click("#tab-report");
  expect(await page.textContent(".report")).toMatch(/samples/);
  expect(await page.evaluate(() => fetch("https://example.org/").then(() => "sent", () => "refused"))).toBe("refused");
  await page.screenshot({ path: `${OUT}real_report.png` });
  await page.close();
});
