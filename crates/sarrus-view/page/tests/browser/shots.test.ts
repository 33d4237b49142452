// A picture of each fixture, not blank; they are meant to be looked at (tests/out).

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bare, contacts, doublePendulum, flexible, fourBar, gallery, type Fixture } from "../fixtures";
import { serve } from "../server";
import { OUT, launch, open, statistics } from "./browser";

let browser: Browser;
beforeAll(async () => void (browser = await launch()));
afterAll(async () => browser.close());

const FIXTURES: [string, () => Fixture, string[]][] = [
  ["four_bar", fourBar, []],
  ["double_pendulum", doublePendulum, ["r"]],
  ["flexible", flexible, []],
  ["contacts", contacts, []],
  ["gallery", gallery, ["r", "n"]],
  ["bare", bare, ["a"]],
];

test.each(FIXTURES)("%s is drawn", async (name, make, keys) => {
  const { url, server } = await serve([{ name, fixture: make() }]);
  for (const dark of [false, true]) {
    const { page, errors } = await open(browser, url, { dark });
    for (const key of keys) await page.keyboard.press(key);
    await page.evaluate(() => window.sarrus!.player.seek(0.42 * window.sarrus!.player.span[1]));
    await page.waitForTimeout(400);
    await page.screenshot({ path: `${OUT}${name}${dark ? "_dark" : ""}.png` });
    const stats = statistics(await page.locator("#view").screenshot());
    expect(stats.colours).toBeGreaterThan(40);
    expect(stats.commonest).toBeLessThan(0.98);
    expect(errors).toEqual([]);
    await page.close();
  }
  server.close();
});
