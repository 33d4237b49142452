// 10 000 bodies by the real program: what building the scene and drawing a frame cost. Numbers are printed, not asserted: they belong to
// the machine. `render` is the time to submit a frame; with WebGL in software the driver's own work follows it, and is in `shown`.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OUT, launch, statistics } from "../browser/browser";
import { look, watch } from "../real/sarrus";

const CASES: [string, string[]][] = [
  ["chain, 10 000 links on ball joints", ["example:chain", "--set", "n=10000", "--integrator", "rk4", "--step", "1e-5", "--t-end", "1e-4", "--every", "1e-5"]],
  ["pile, 22³ = 10 648 balls in a box", ["example:pile", "--set", "n=22", "--t-end", "0.004", "--every", "0.001"]],
];

let browser: Browser;
beforeAll(async () => void (browser = await launch()));
afterAll(async () => browser?.close());

const median = (list: number[]) => [...list].sort((a, b) => a - b)[list.length >> 1]!;

test.each(CASES)("%s", async (name, args) => {
  const viewer = await watch("run", ...args, "--view");
  try {
    const { page, errors } = await look(browser, `${viewer.url}#t=0`);
    await page.waitForFunction(() => window.sarrus!.runs.every((r) => r.ended), null, { timeout: 240000 });
    await page.waitForTimeout(1000);
    const cost = await page.evaluate(async () => {
      const { view, player, runs } = window.sarrus!;
      player.playing = false;
      const [start, end] = player.span, update: number[] = [], render: number[] = [], shown: number[] = [];
      for (let i = 0; i < 25; i++) {
        const begin = performance.now();
        player.seek(start + ((i + 0.5) / 25) * (end - start), false);
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        shown.push(performance.now() - begin);
        update.push(view.cost.update);
        render.push(view.cost.render);
      }
      const { render: drawn } = view.stage.renderer.info;
      return { build: view.cost.build, update, render, shown, calls: drawn.calls, triangles: drawn.triangles, bodies: runs[0]!.scene.bodies.length, frames: runs[0]!.frames.n, counts: view.worlds[0]!.counts };
    });
    console.log([
      `${name}: ${cost.bodies} bodies, ${cost.frames} frames`,
      `  scene built in ${cost.build.toFixed(0)} ms: ${cost.counts.instances} instances in ${cost.counts.meshes} meshes`,
      `  a frame: ${median(cost.update).toFixed(1)} ms to move, ${median(cost.render).toFixed(1)} ms to submit, ${cost.calls} draw calls, ${cost.triangles} triangles`,
      `  shown after ${median(cost.shown).toFixed(0)} ms with WebGL in software`,
    ].join("\n"));
    // instancing: draw calls do not grow with the bodies
    expect(cost.bodies).toBeGreaterThanOrEqual(10000);
    expect(cost.calls).toBeLessThan(30);
    expect(statistics(await page.locator("#view").screenshot()).colours).toBeGreaterThan(20);
    await page.screenshot({ path: `${OUT}bench_${name.split(",")[0]}.png` });
    expect(errors).toEqual([]);
    await page.close();
  } finally {
    viewer.stop();
  }
}, 400000);
