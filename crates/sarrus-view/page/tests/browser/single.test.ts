// One file, opened from disk: everything works, and no request leaves it.

import { statSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { thin } from "../../src/thin";
import { fourBar } from "../fixtures";
import { singleFile } from "../server";
import { OUT, difference, launch, open, statistics } from "./browser";

let browser: Browser;
beforeAll(async () => void (browser = await launch()));
afterAll(async () => browser.close());

test("a single file opens from disk, plays, says how it was thinned, and asks for nothing", async () => {
  const whole = fourBar();
  whole.scene.bodies[0]!.name = "</script><script>window.hacked=1</script>";
  const { kept, thinning } = thin(whole.samples, { position: 1e-3, angle: 1e-2, columns: 0.05 });
  const path = `${OUT}report.html`;
  writeFileSync(path, singleFile("four_bar", { samples: kept, scene: { ...whole.scene, thinning } }));
  const { page, errors, requests } = await open(browser, pathToFileURL(path).href);
  expect(requests.filter((r) => !r.startsWith("data:") && !r.startsWith("blob:"))).toEqual([pathToFileURL(path).href]);
  expect(errors).toEqual([]);
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  const before = await page.locator("#view").screenshot();
  expect(statistics(before).colours).toBeGreaterThan(40);
  await page.keyboard.press(" ");
  await page.waitForTimeout(700);
  await page.keyboard.press(" ");
  expect(difference(before, await page.locator("#view").screenshot())).toBeGreaterThan(0.005);
  await page.click("#tab-report");
  expect(await page.textContent(".report")).toContain(`${kept.length} of 401 samples`);
  // what the file forbids itself
  expect(await page.evaluate(() => fetch("https://example.org/").then(() => "sent", () => "refused"))).toBe("refused");
  console.log(`report.html: ${statSync(path).size} bytes, ${kept.length} of 401 samples`);
  await page.screenshot({ path: `${OUT}single.png` });
  await page.close();
});
