// The page in a real browser, served with the headers of the real server.

import type { Server } from "node:http";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { doublePendulum, fourBar } from "../fixtures";
import { serve, type Served } from "../server";
import { OUT, difference, launch, open } from "./browser";

let browser: Browser;
const servers: Server[] = [];
beforeAll(async () => void (browser = await launch()));
afterAll(async () => {
  await browser.close();
  servers.forEach((s) => s.close());
});

async function show(runs: Served[], options: Parameters<typeof open>[2] = {}): Promise<Awaited<ReturnType<typeof open>> & { url: string }> {
  const { url, server } = await serve(runs);
  servers.push(server);
  return { url, ...(await open(browser, url, options)) };
}

const time = (page: Page) => page.evaluate(() => window.sarrus!.player.t);
const fixture = fourBar();
const run = { name: "four_bar", fixture };

describe("four-bar", () => {
  test("loads without an error, and asks its own server only, with the token", async () => {
    const { page, errors, requests, url } = await show([run]);
    expect(errors).toEqual([]);
    expect(requests.length).toBeGreaterThanOrEqual(6);
    expect(requests.filter((r) => !r.startsWith(url) && !r.startsWith("data:"))).toEqual([]);
    expect(await page.textContent("#title")).toBe("four_bar");
    expect(await page.textContent("#status")).toBe("certified");
    await page.close();
  });

  test("plays and pauses: time goes on, the picture changes, and then both stand", async () => {
    const { page } = await show([run]);
    const before = await page.locator("#view").screenshot();
    await page.keyboard.press(" ");
    await page.waitForTimeout(700);
    const during = await time(page);
    expect(during).toBeGreaterThan(0.1);
    await page.click("#play");
    const rest = await time(page);
    expect(difference(before, await page.locator("#view").screenshot())).toBeGreaterThan(0.005);
    await page.waitForTimeout(300);
    expect(await time(page)).toBe(rest);
    expect(fixture.samples.some((s) => s.t === rest)).toBe(true);
    await page.close();
  });

  test("scrubs by keyboard and by pointer", async () => {
    const { page } = await show([run]);
    for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
    expect(await time(page)).toBe(3 / 200);
    await page.focus("#scrub");
    await page.keyboard.press("ArrowLeft");
    expect(await time(page)).toBe(2 / 200);
    await page.keyboard.press("End");
    expect(await time(page)).toBe(2);
    await page.keyboard.press("Home");
    await page.keyboard.press("]");
    expect(await time(page)).toBeCloseTo(0.7, 9);
    const box = (await page.locator("#scrub").boundingBox())!;
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    expect(await time(page)).toBeCloseTo(1, 1);
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.75 * box.width, box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    expect(await time(page)).toBeCloseTo(1.5, 1);
    await page.focus(".mark.singular");
    await page.keyboard.press("Enter");
    expect(await time(page)).toBe(1.25);
    await page.close();
  });

  test("a joint is picked with the pointer and shows its numbers, those of the results", async () => {
    const { page } = await show([run]);
    await page.evaluate(() => window.sarrus!.player.seek(0.6));
    await page.waitForTimeout(300);
    const sample = fixture.samples[120]!, at = fixture.scene.joints![2]!;
    const where = await page.evaluate(([body, x]) => {
      const { view } = window.sarrus!, p = view.worlds[0]!.poses, q = 7 * body!;
      const angle = 2 * Math.atan2(p[q + 6]!, p[q + 3]!);
      const at = view.stage.project([p[q]! + x! * Math.cos(angle), p[q + 1]! + x! * Math.sin(angle), 0]);
      const rect = document.querySelector("#view")!.getBoundingClientRect();
      return { x: at.x + rect.left, y: at.y + rect.top };
    }, [at.bodies[0], at.on[0][0]]);
    await page.mouse.click(where.x, where.y);
    expect(await page.textContent("#object-name")).toBe("C");
    const shown = await page.$$eval(".numbers tr", (rows) => rows.map((row) => [row.querySelector("th")!.textContent, (row.querySelector(".value") as HTMLElement).title]));
    const column = (name: string) => String(sample.columns[fixture.scene.columns.findIndex((c) => c.name === name)]);
    expect(Object.fromEntries(shown)).toEqual({ angle: column("C.angle"), fx: column("C.fx"), fy: column("C.fy"), tz: column("C.tz") });
    await page.screenshot({ path: `${OUT}picked.png` });
    await page.mouse.click(where.x + 150, where.y + 300);
    expect(await page.evaluate(() => window.sarrus!.view.selected)).toBeNull();
    await page.close();
  });

  test("the numbers of a plot are those of the results, all and exactly", async () => {
    const { page } = await show([run]);
    await page.click(".chooser summary");
    await page.fill("#filter", "coupler.y");
    await page.check(".names input");
    await page.click(".against button");
    const c = fixture.scene.columns.findIndex((column) => column.name === "coupler.y");
    const plotted = await page.evaluate(() => {
      const s = window.sarrus!.plots.list.at(-1)!.series[0]!;
      return { x: Array.from(s.x), y: Array.from(s.y), column: s.column };
    });
    expect(plotted).toEqual({ column: "coupler.y", x: fixture.samples.map((s) => s.t), y: fixture.samples.map((s) => s.columns[c]) });
    await page.evaluate(() => window.sarrus!.player.seek(0.35));
    const value = page.locator(".plot", { hasText: "coupler.y" }).first().locator(".value");
    expect(await value.getAttribute("title")).toBe(String(fixture.samples[70]!.columns[c]));
    await page.close();
  });

  test("a drag in a plot goes to that time, and the line in the plot goes with the time", async () => {
    const { page } = await show([run]);
    const over = page.locator(".plot .u-over").first(), box = (await over.boundingBox())!;
    await page.mouse.move(box.x + 0.2 * box.width, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.6 * box.width, box.y + 30, { steps: 3 });
    await page.mouse.up();
    expect(await time(page)).toBeCloseTo(1.2, 1);
    await page.evaluate(() => window.sarrus!.player.seek(0.5));
    const line = (await page.locator(".plot .now").first().boundingBox())!;
    // 0.5 s of 2 s: a quarter of the way, to a pixel
    expect(Math.abs(line.x - (box.x + 0.25 * box.width))).toBeLessThan(1.5);
    await page.close();
  });

  test("columns are plotted against each other, and the reactions say that they are unique", async () => {
    const { page, errors } = await show([run]);
    await page.click(".chooser summary");
    await page.fill("#filter", "coupler.y");
    await page.check(".names input");
    await page.fill("#across", "coupler.x");
    await page.click(".against button");
    const xs = await page.evaluate(() => Array.from(window.sarrus!.plots.list.at(-1)!.series[0]!.x));
    expect(xs).toEqual(fixture.samples.map((s) => s.columns[fixture.scene.columns.findIndex((k) => k.name === "coupler.x")]));
    await page.click("[data-key=reactions]");
    expect(await page.locator(".plot").first().textContent()).toContain("Unique");
    await page.click("[data-key=sigma]");
    await page.click("[data-key=step]");
    expect(errors).toEqual([]);
    await page.close();
  });

  test("light and dark follow the system until switched", async () => {
    const { page } = await show([run], { dark: true });
    const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(await back()).toBe("rgb(20, 24, 29)");
    const before = await page.locator("#view").screenshot();
    await page.keyboard.press("d");
    expect(await back()).toBe("rgb(246, 247, 249)");
    await page.waitForTimeout(300);
    expect(difference(before, await page.locator("#view").screenshot())).toBeGreaterThan(0.9);
    await page.close();
  });

  test("fits a phone without scrolling sideways", async () => {
    const { page } = await show([run], { width: 360, height: 740, touch: true });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    for (const id of ["#play", "#scrub", "#loop", "#help-button"]) {
      const box = (await page.locator(id).boundingBox())!;
      expect([box.x >= 0, box.x + box.width <= 360, box.y + box.height <= 740]).toEqual([true, true, true]);
    }
    await page.screenshot({ path: `${OUT}phone.png` });
    await page.close();
  });

  test("keys switch what is shown, and help lists them", async () => {
    const { page } = await show([run]);
    for (const [key, name] of [["g", "grid"], ["r", "reactions"], ["a", "frames"], ["n", "names"], ["j", "joints"]] as const) {
      const was = await page.evaluate((n) => window.sarrus!.view.show[n], name);
      await page.keyboard.press(key);
      expect(await page.evaluate((n) => window.sarrus!.view.show[n], name)).toBe(!was);
    }
    await page.keyboard.press("l");
    expect(await page.getAttribute("#loop", "aria-pressed")).toBe("false");
    await page.keyboard.press("+");
    expect(await page.inputValue("#speed")).toBe("2");
    await page.keyboard.press("?");
    expect(await page.locator("dialog[open]").textContent()).toContain("play or pause");
    await page.keyboard.press("Escape");
    expect(await page.locator("dialog[open]").count()).toBe(0);
    await page.close();
  });
});

test("names from a model are text, never markup", async () => {
  const evil = '<img src=x onerror="window.hacked=1"><b>A</b>', bad = fourBar();
  bad.scene.joints![0]!.name = evil;
  bad.scene.bodies[0]!.name = evil;
  bad.scene.events![0]!.text = evil;
  bad.scene.columns[0]!.name = `${evil}.x`;
  bad.scene.report!["reason"] = evil;
  const { page, requests } = await show([{ name: evil, fixture: bad }]);
  await page.keyboard.press("n");
  await page.click("#tab-report");
  await page.click("#tab-object");
  await page.click(".objects button");
  await page.click("#tab-plots");
  await page.click(".chooser summary");
  expect(await page.textContent("#title")).toBe(evil);
  expect(await page.evaluate(() => [document.querySelectorAll("img, b").length, "hacked" in window])).toEqual([0, false]);
  expect(requests.filter((r) => r.endsWith("/x"))).toEqual([]);
  await page.close();
});

test("several runs are drawn and plotted over each other, in lines that differ without colour", async () => {
  const { page, errors } = await show([run, { name: "faster", fixture: fourBar(1.1) }]);
  const looks = await page.evaluate(() => window.sarrus!.plots.list.map((p) => p.series.map((s) => `${s.run.name} ${s.dash.join(",")}`)));
  for (const list of looks) expect(new Set(list.map((l) => l.split(" ")[1])).size).toBe(Math.min(6, list.length));
  expect(looks.flat().filter((l) => l.startsWith("faster")).length).toBe(looks.flat().length / 2);
  await page.keyboard.press("r");
  await page.evaluate(() => window.sarrus!.player.seek(1.2));
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${OUT}overlay.png` });
  expect(errors).toEqual([]);
  await page.close();
});

describe("a run that is going", () => {
  test("is drawn while it comes, can be scrubbed, goes on after a broken connection, and ends with its report", async () => {
    const { page } = await show([{ name: "live", fixture, live: { pause: 120, breakAfter: 100, end: { type: "end", report: fixture.scene.report! } } }]);
    expect(await page.textContent("#status")).toMatch(/^computing \d+ %/);
    const early = await page.evaluate(() => window.sarrus!.runs[0]!.frames.n);
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    expect(early).toBeLessThan(401);
    await page.waitForFunction(() => window.sarrus!.runs[0]!.status === "done", null, { timeout: 20000 });
    await page.waitForTimeout(400);
    expect(await page.evaluate(() => Array.from(window.sarrus!.runs[0]!.frames.t()))).toEqual(fixture.samples.map((s) => s.t));
    expect(await page.textContent("#status")).toBe("certified");
    expect(await page.locator(".mark").count()).toBe(2);
    await page.close();
  });

  test("that fails says why", async () => {
    const { page } = await show([{ name: "live", fixture, live: { pause: 1, end: { type: "failure", message: "no step at 2 s", hint: "take a smaller one" } } }]);
    await page.waitForFunction(() => document.querySelector("#status")!.textContent!.startsWith("failed"));
    expect(await page.textContent("#status")).toBe("failed: no step at 2 s (take a smaller one)");
    await page.close();
  });
});

test("a body is followed", async () => {
  const { page } = await show([{ name: "dp", fixture: doublePendulum() }]);
  const target = () => page.evaluate(() => window.sarrus!.view.stage.controls.target.toArray());
  await page.evaluate(() => window.sarrus!.view.setFollow(1));
  await page.waitForTimeout(200);
  const before = await target();
  await page.evaluate(() => window.sarrus!.player.seek(1));
  await page.waitForTimeout(300);
  const after = await target(), { samples } = doublePendulum();
  after.forEach((x, k) => expect(x - before[k]!).toBeCloseTo(samples[100]!.poses[7 + k]! - samples[0]!.poses[7 + k]!, 4));
  await page.close();
});
