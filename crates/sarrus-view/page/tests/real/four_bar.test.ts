// The four-bar in a real browser, served by the real program: what is shown are the numbers of its trajectory.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OUT, difference, launch, statistics, type Look } from "../browser/browser";
import { csv, drawn, folder, look, sarrus, watch, type Watched } from "./sarrus";

const dir = folder();
let browser: Browser, viewer: Watched;
beforeAll(async () => {
  const run = sarrus("run", "example:four_bar", "--t-end", "1", "--every", "0.005", "--no-html", "--out", dir);
  if (run.code) throw new Error(run.stderr);
  viewer = await watch("view", dir);
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  viewer?.stop();
});

const show = (options: Look = {}, hash = "") => look(browser, viewer.url + hash, options);
const time = (page: Page) => page.evaluate(() => window.sarrus!.player.t);
const picture = (page: Page) => page.locator("#view").screenshot();

test("it loads without an error, under a strict policy, and asks its own server alone", async () => {
  const { page, errors, requests } = await show();
  expect(errors).toEqual([]);
  expect(requests.filter((r) => !r.startsWith(viewer.url) && !r.startsWith("data:"))).toEqual([]);
  const policy = (await page.request.get(viewer.url)).headers()["content-security-policy"]!;
  for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"]) expect(policy).toContain(rule);
  expect(policy).not.toContain("unsafe");
  // the policy holds: an inline script does not run
  await page.evaluate(() => document.body.append(Object.assign(document.createElement("script"), { textContent: "window.inline = 1" })));
  expect(await page.evaluate(() => "inline" in window)).toBe(false);
  expect(await page.textContent("#status")).toBe("certified");
  expect(await page.evaluate(() => Array.from(window.sarrus!.runs[0]!.frames.t()))).toEqual(csv(dir).column("t"));
  await page.close();
});

test("it plays and pauses, and rests on a sample of the trajectory", async () => {
  const { page } = await show();
  const before = await picture(page);
  await page.keyboard.press(" ");
  await page.waitForFunction(() => window.sarrus!.player.t > 0.1);
  await page.click("#play");
  const rest = await time(page);
  await page.waitForTimeout(300);
  expect(await time(page)).toBe(rest);
  expect(csv(dir).column("t")).toContain(rest);
  expect(difference(before, await picture(page))).toBeGreaterThan(0.005);
  await page.close();
});

test("it is scrubbed by pointer and by keys", async () => {
  const { page } = await show();
  const t = csv(dir).column("t"), box = (await page.locator("#scrub").boundingBox())!;
  await page.mouse.move(box.x + 0.3 * box.width, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.5 * box.width, box.y + box.height / 2, { steps: 3 });
  await page.mouse.up();
  expect(await time(page)).toBeCloseTo(t.at(-1)! / 2, 1);
  await page.keyboard.press("Home");
  for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowRight");
  expect(await time(page)).toBe(t[4]);
  await page.keyboard.press("End");
  expect(await time(page)).toBe(t.at(-1));
  await page.close();
});

test("a joint that is clicked shows its numbers: those of that row of the trajectory", async () => {
  const { page } = await show();
  const { names, rows, column } = csv(dir);
  for (const [joint, body, row] of [["B", "crank", 60], ["C", "coupler", 140]] as const) {
    await page.evaluate((t) => window.sarrus!.player.seek(t), column("t")[row]!);
    await drawn(page);
    // where it is on the canvas, from the results themselves
    const [x, y, angle] = ["x", "y", "angle"].map((c) => column(`${body}.${c}`)[row]!) as [number, number, number];
    const where = await page.evaluate(({ x, y, angle, joint, body }) => {
      const { view, runs } = window.sarrus!, { joints, bodies } = runs[0]!.scene;
      const j = joints!.find((j) => j.name === joint)!, [u, v] = j.on[j.bodies.indexOf(bodies.findIndex((b) => b.name === body)) as 0 | 1];
      const p = view.stage.project([x + u * Math.cos(angle) - v * Math.sin(angle), y + u * Math.sin(angle) + v * Math.cos(angle), 0]);
      const rect = document.querySelector("#view")!.getBoundingClientRect();
      return { x: p.x + rect.left, y: p.y + rect.top };
    }, { x, y, angle, joint, body });
    await page.mouse.click(where.x, where.y);
    expect(await page.textContent("#object-name")).toBe(joint);
    const shown = Object.fromEntries(await page.$$eval(".numbers tr", (list) => list.map((tr) => [tr.querySelector("th")!.textContent!.split(" ")[0]!, Number((tr.querySelector(".value") as HTMLElement).title)])));
    const wanted = Object.fromEntries(names.flatMap((n, k) => (n.startsWith(`${joint}.`) ? [[n.slice(joint.length + 1), rows[row]![k]!]] : [])));
    expect(Object.keys(wanted).length).toBeGreaterThan(3);
    expect(shown).toEqual(wanted);
  }
  await page.screenshot({ path: `${OUT}real_picked.png` });
  await page.close();
});

test("the numbers of a plot are those of the trajectory, all and exactly", async () => {
  const { page } = await show();
  await page.click(".chooser summary");
  await page.fill("#filter", "coupler.y");
  await page.check(".names input");
  await page.click(".against button");
  const plotted = await page.evaluate(() => {
    const s = window.sarrus!.plots.list.at(-1)!.series[0]!;
    return { column: s.column, x: Array.from(s.x), y: Array.from(s.y) };
  });
  expect(plotted).toEqual({ column: "coupler.y", x: csv(dir).column("t"), y: csv(dir).column("coupler.y") });
  // and so are the ready-made panels
  const ready = await page.evaluate(() => window.sarrus!.plots.list.flatMap((p) => p.series.map((s) => ({ name: s.column, y: Array.from(s.y) }))));
  expect(ready.map((s) => s.name)).toEqual(expect.arrayContaining(["energy.kinetic", "violation.position"]));
  for (const { name, y } of ready) expect(y, name).toEqual(csv(dir).column(name));
  await page.close();
});

describe("everywhere", () => {
  test("by keyboard alone: play, step, switch, pick, help", async () => {
    const { page } = await show();
    for (const [key, name] of [["g", "grid"], ["r", "reactions"], ["a", "frames"], ["n", "names"]] as const) {
      const was = await page.evaluate((n) => window.sarrus!.view.show[n], name);
      await page.keyboard.press(key);
      expect(await page.evaluate((n) => window.sarrus!.view.show[n], name)).toBe(!was);
    }
    await page.focus("#tab-plots");
    await page.keyboard.press("ArrowRight");
    await page.locator(".objects button", { hasText: "rocker" }).focus();
    await page.keyboard.press("Enter");
    expect(await page.textContent("#object-name")).toBe("rocker");
    await page.keyboard.press("?");
    expect(await page.locator("dialog[open]").count()).toBe(1);
    await page.keyboard.press("Escape");
    expect(await page.locator("dialog[open]").count()).toBe(0);
    await page.close();
  });

  test("at the width of a phone: nothing sticks out, and every control can be reached", async () => {
    const { page, errors } = await show({ width: 360, height: 740, touch: true });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    for (const id of ["#play", "#scrub", "#speed", "#loop", "#side-button", "#theme-button", "#help-button", "#fit-button"]) {
      const box = (await page.locator(id).boundingBox())!;
      expect([id, box.x >= 0, box.x + box.width <= 360, box.y >= 0, box.y + box.height <= 740]).toEqual([id, true, true, true, true]);
    }
    await page.tap("#play");
    await page.waitForFunction(() => window.sarrus!.player.playing);
    await page.tap("#tab-object");
    expect(statistics(await picture(page)).colours).toBeGreaterThan(30);
    expect(errors).toEqual([]);
    await page.screenshot({ path: `${OUT}real_phone.png` });
    await page.close();
  });

  test("in light and dark, as the system has it and as it is switched", async () => {
    const back = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const { page } = await show({ dark: true });
    const dark = await picture(page);
    expect(await back(page)).toBe("rgb(20, 24, 29)");
    await page.screenshot({ path: `${OUT}real_dark.png` });
    await page.keyboard.press("d");
    expect(await back(page)).toBe("rgb(246, 247, 249)");
    await drawn(page);
    expect(difference(dark, await picture(page))).toBeGreaterThan(0.9);
    await page.close();
  });

  test("as the address asks", async () => {
    const { page } = await show({}, "#t=0.4&show=reactions,names&hide=grid&panel=0&theme=dark");
    expect(await time(page)).toBe(csv(dir).column("t").reduce((a, b) => (Math.abs(b - 0.4) < Math.abs(a - 0.4) ? b : a)));
    const { reactions, names, grid } = await page.evaluate(() => window.sarrus!.view.show);
    expect({ reactions, names, grid }).toEqual({ reactions: true, names: true, grid: false });
    expect(await page.locator("#side").isVisible()).toBe(false);
    expect(await page.evaluate(() => document.documentElement.dataset["theme"])).toBe("dark");
    await page.close();
    const wrong = await show({}, "#t=soon&colour=red");
    expect(await wrong.page.textContent("#message")).toContain("t=soon, colour=red");
    await wrong.page.close();
    const bare = await show({ width: 480, height: 320 }, "#picture=1");
    expect(await bare.page.locator("#view").boundingBox()).toEqual({ x: 0, y: 0, width: 480, height: 320 });
    await bare.page.close();
  });
});
