// Makes `models/pictures/NAME.webp`: every model that comes with the program, run by the real program and drawn by the real page; and
// drawings that papers have of their models.
//
// `GALLERY_ONLY=a,b` makes these alone, `GALLERY_OUT` puts all of them elsewhere.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, statistics } from "../browser/browser";
import { fresh, watch } from "../real/sarrus";

const ROOT = fileURLToPath(new URL("../../../../../", import.meta.url));
const only = process.env["GALLERY_ONLY"]?.split(","), elsewhere = process.env["GALLERY_OUT"];
const SIZE = { width: 600, height: 400 };
const QUALITY = 0.82;

/** When a model looks most like itself, as a share of its time, and what else the address asks for. */
const LOOKS: Record<string, { at?: number; more?: string }> = {
  beam_pendulum: { at: 0.12 },
  chain: { at: 0.85 },
  crane: { at: 0.2 },
  deployment: { at: 0.17 },
  double_pendulum: { at: 0.12 },
  governor: { at: 0.395 },
  heavy_top: { at: 0.62 },
  newton_cradle: { at: 0.05 },
  pendulum: { at: 0.15 },
  pile: { at: 0.5 },
  rolling_ball: { at: 0.8 },
  rolling_disc: { at: 0.5 },
  trolley: { at: 0.12 },
  two_arm_robot: { at: 0.3 },
};

/** Name, model and picture, from the top of the repository. */
const LIST: [string, string, string][] = [
  ...readdirSync(`${ROOT}models`).filter((file) => file.endsWith(".toml")).map((file): [string, string, string] => {
    const name = file.replace(/\.toml$/, "");
    return [name, `models/${file}`, `models/pictures/${name}.webp`];
  }),
  ["rod", "papers/hajzman2007/rod.toml", "papers/hajzman2007/figures/figure4.webp"],
];

let browser: Browser, painter: Page;
beforeAll(async () => {
  browser = await launch();
  painter = await browser.newPage();
});
afterAll(async () => browser.close());

test.each(LIST.filter(([name]) => only?.includes(name) ?? true))("%s has its picture", async (name, model, picture) => {
  const { at = 0.37, more = "" } = LOOKS[name] ?? {};
  const viewer = await watch("run", `${ROOT}${model}`, "--view");
  const context = await browser.newContext({ viewport: SIZE, deviceScaleFactor: 2, colorScheme: "light", reducedMotion: "reduce" });
  const page = await context.newPage();
  try {
    await fresh(page);
    await page.goto(`${viewer.url}#picture=1${more}`);
    await page.waitForFunction(() => window.sarrus?.runs.every((r) => r.ended) && window.sarrus.view.worlds.length > 0, null, { timeout: 50000 });
    await page.evaluate((share) => {
      const { player, view } = window.sarrus!, [start, end] = player.span;
      player.seek(start + share * (end - start));
      view.grown();
    }, at);
    await page.waitForTimeout(400);
    const png = await page.locator("#view").screenshot();
    expect(statistics(png).colours).toBeGreaterThan(12);
    const to = elsewhere ? join(elsewhere, `${name}.webp`) : ROOT + picture;
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, await packed(png));
  } finally {
    await context.close();
    viewer.stop();
  }
});

/** At half the size, as WebP, by the browser itself. */
async function packed(png: Buffer): Promise<Buffer> {
  const text = await painter.evaluate(async ({ data, width, height, quality }) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
    const canvas = Object.assign(document.createElement("canvas"), { width, height }), at = canvas.getContext("2d")!;
    at.imageSmoothingQuality = "high";
    at.drawImage(image, 0, 0, width, height);
    return canvas.toDataURL("image/webp", quality);
  }, { data: png.toString("base64"), ...SIZE, quality: QUALITY });
  return Buffer.from(text.split(",")[1]!, "base64");
}
