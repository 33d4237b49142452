// 10 000 bodies on 10 000 joints. Times are printed, not asserted: they belong to the machine.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { many } from "../fixtures";
import { serve } from "../server";
import { OUT, launch, open, statistics } from "./browser";

let browser: Browser;
beforeAll(async () => void (browser = await launch()));
afterAll(async () => browser.close());

test("10 000 bodies take a handful of meshes", async () => {
  const { url, server } = await serve([{ name: "many", fixture: many(10000) }]);
  const { page, errors } = await open(browser, url);
  const { counts, build, updates, renders } = await page.evaluate(async () => {
    const { view, player } = window.sarrus!;
    const updates: number[] = [], renders: number[] = [];
    const build = view.cost.build;
    for (let i = 0; i < 8; i++) {
      player.seek(0.05 + 0.07 * i, false);
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      updates.push(view.cost.update);
      renders.push(view.cost.render);
    }
    return { counts: view.worlds[0]!.counts, build, updates, renders };
  });
  const median = (list: number[]) => [...list].sort((a, b) => a - b)[list.length >> 1]!.toFixed(1);
  console.log(`10 000 bodies: ${counts.instances} instances in ${counts.meshes} meshes; build ${build.toFixed(0)} ms; per frame ${median(updates)} ms to move, ${median(renders)} ms to submit (software WebGL)`);
  expect(counts.instances).toBeGreaterThan(20000);
  expect(counts.meshes).toBeLessThanOrEqual(6);
  const box = (await page.locator("#view").boundingBox())!;
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  expect(statistics(await page.locator("#view").screenshot()).colours).toBeGreaterThan(40);
  await page.screenshot({ path: `${OUT}many.png` });
  expect(errors).toEqual([]);
  await page.close();
  server.close();
});
