// A picture of every model that comes with the program (tests/out/examples): not blank, and something moves in it.

import { mkdirSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OUT, difference, launch } from "../browser/browser";
import { drawn, examples, look, watch } from "./sarrus";

/** Those whose whole run takes more than a moment [s]. */
const SHORTER: Record<string, number> = { crane: 0.5, spinning_blade: 6, beam_pendulum: 0.4, governor: 1.5, trolley: 5 };

let browser: Browser;
beforeAll(async () => {
  mkdirSync(`${OUT}examples`, { recursive: true });
  browser = await launch();
});
afterAll(async () => browser?.close());

test.each(examples())("%s is seen, and moves", async (name) => {
  const shorter = SHORTER[name] ? ["--t-end", String(SHORTER[name])] : [];
  const viewer = await watch("run", `example:${name}`, ...shorter, "--view");
  try {
    const { page, errors } = await look(browser, `${viewer.url}#t=0`, { width: 1000, height: 640 });
    await page.waitForFunction(() => window.sarrus!.runs.every((r) => r.ended));
    await page.waitForFunction(() => document.querySelector("#status")!.textContent === "certified");
    const seek = async (share: number) => {
      await page.evaluate((s) => {
        const { player } = window.sarrus!, [start, end] = player.span;
        player.seek(start + s * (end - start));
      }, share);
      await drawn(page);
      return page.locator("#view").screenshot();
    };
    const first = await seek(0), later = await seek(0.37);
    await page.screenshot({ path: `${OUT}examples/${name}.png` });
    // without bodies and joints something is missing: what is seen is the mechanism, not the grid
    await page.evaluate(() => {
      const { view } = window.sarrus!;
      Object.assign(view.show, { grid: false, traces: false });
      view.changed();
    });
    const whole = await seek(0.37);
    await page.evaluate(() => {
      const { view } = window.sarrus!;
      view.worlds.forEach((w) => (w.group.visible = false));
      view.changed();
    });
    const empty = await seek(0.37);
    expect(difference(whole, empty)).toBeGreaterThan(0.0005);
    expect(difference(first, later)).toBeGreaterThan(0.0005);
    expect(errors).toEqual([]);
    await page.close();
  } finally {
    viewer.stop();
  }
});
