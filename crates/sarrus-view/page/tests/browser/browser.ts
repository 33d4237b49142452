// Chromium with WebGL in software, and what tests ask of a page.

import { existsSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inflateSync } from "node:zlib";
import type { Player } from "../../src/player";
import type { Run } from "../../src/run";
import type { Plots } from "../../src/ui/plots";
import type { View } from "../../src/view";
import { chromium, type Browser, type Page } from "playwright-core";

/** What the page offers to tests and to the curious in the console. */
interface Handle {
  player: Player;
  view: View;
  plots: Plots;
  runs: Run[];
}
declare global {
  interface Window {
    sarrus?: Handle;
  }
}

export const OUT = fileURLToPath(new URL("../out/", import.meta.url));

export async function launch(): Promise<Browser> {
  mkdirSync(OUT, { recursive: true });
  const executablePath = process.env["CHROMIUM"] ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find(existsSync);
  if (!executablePath) throw new Error("no chromium: install it, or name it in CHROMIUM");
  return chromium.launch({ executablePath, args: ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"] });
}

export interface Look {
  width?: number;
  height?: number;
  dark?: boolean;
  touch?: boolean;
  /** What is done before the page is asked for. */
  prepare?: (page: Page) => Promise<void>;
}

/** A page whose errors, console errors and requests are written down. */
export async function open(browser: Browser, url: string, options: Look = {}): Promise<{ page: Page; errors: string[]; requests: string[] }> {
  const page = await browser.newPage({ viewport: { width: options.width ?? 1280, height: options.height ?? 800 }, colorScheme: options.dark ? "dark" : "light", hasTouch: options.touch ?? false });
  const errors: string[] = [], requests: string[] = [];
  page.on("pageerror", (e) => errors.push(String(e)));
  page.on("console", (m) => m.type() === "error" && errors.push(m.text()));
  page.on("request", (r) => requests.push(r.url()));
  await options.prepare?.(page);
  await page.goto(url);
  await page.waitForFunction(() => window.sarrus?.runs.every((r) => r.frames.n > 1 && r.status !== "loading") && window.sarrus.view.worlds.length > 0);
  await page.waitForTimeout(600);
  return { page, errors, requests };
}

/** Colours of a screenshot: how many differ, and the share of the commonest. */
export function statistics(png: Buffer): { colours: number; commonest: number } {
  const { data, size } = decode(png), counts = new Map<number, number>();
  for (let i = 0; i < data.length; i += size) {
    const key = ((data[i]! >> 3) << 10) | ((data[i + 1]! >> 3) << 5) | (data[i + 2]! >> 3);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return { colours: counts.size, commonest: Math.max(...counts.values()) / (data.length / size) };
}

/** Share of pixels that differ by more than a little. */
export function difference(a: Buffer, b: Buffer): number {
  const x = decode(a), y = decode(b);
  let n = 0;
  for (let i = 0; i < x.data.length; i += x.size) {
    if (Math.abs(x.data[i]! - y.data[i]!) + Math.abs(x.data[i + 1]! - y.data[i + 1]!) + Math.abs(x.data[i + 2]! - y.data[i + 2]!) > 30) n++;
  }
  return n / (x.data.length / x.size);
}

/** Pixels of a PNG with 8 bits per channel, as Chromium writes it. */
function decode(png: Buffer): { data: Uint8Array; size: number } {
  let at = 8, width = 0, height = 0, size = 3;
  const parts: Buffer[] = [];
  while (at < png.length) {
    const n = png.readUInt32BE(at), type = png.toString("latin1", at + 4, at + 8), body = png.subarray(at + 8, at + 8 + n);
    if (type === "IHDR") [width, height, size] = [body.readUInt32BE(0), body.readUInt32BE(4), body[9] === 6 ? 4 : 3];
    if (type === "IDAT") parts.push(body);
    at += n + 12;
  }
  const raw = inflateSync(Buffer.concat(parts)), row = width * size, data = new Uint8Array(row * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (row + 1)]!;
    for (let x = 0; x < row; x++) {
      const left = x >= size ? data[y * row + x - size]! : 0, up = y ? data[(y - 1) * row + x]! : 0, corner = x >= size && y ? data[(y - 1) * row + x - size]! : 0;
      const p = left + up - corner, [pa, pb, pc] = [Math.abs(p - left), Math.abs(p - up), Math.abs(p - corner)];
      const guess = [0, left, up, (left + up) >> 1, pa <= pb && pa <= pc ? left : pb <= pc ? up : corner][filter]!;
      data[y * row + x] = raw[y * (row + 1) + 1 + x]! + guess;
    }
  }
  return { data, size };
}
