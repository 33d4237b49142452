// Who the real server answers: its own page, and nobody else.

import { createServer, request, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch } from "../browser/browser";
import { watch, type Watched } from "./sarrus";

let viewer: Watched, at: URL;
beforeAll(async () => {
  viewer = await watch("run", "example:pendulum", "--t-end", "0.1", "--view");
  at = new URL(viewer.url);
});
afterAll(() => viewer?.stop());

function ask(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: at.hostname, port: at.port, path, method, headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part) => (text += part)).on("end", () => resolve({ status: answer.statusCode!, headers: answer.headers, text }));
    });
    sent.on("error", reject);
    sent.end();
  });
}

test("with the token the page comes, under a policy that lets nothing in", async () => {
  const page = await ask(at.pathname);
  expect(page.status).toBe(200);
  expect(page.headers["content-security-policy"]).toMatch(/^default-src 'none';/);
  expect(page.headers["x-content-type-options"]).toBe("nosniff");
  expect((await ask(`${at.pathname}view.json`)).status).toBe(200);
});

test("a wrong token, none, and ways out of the folder are refused", async () => {
  const wrong = at.pathname.replace(/[0-9a-f]/g, (c) => (c === "0" ? "1" : "0"));
  for (const path of [wrong, `${wrong}view.json`, "/", "/view.json", at.pathname.slice(0, -8)]) expect((await ask(path)).status, path).toBe(403);
  for (const path of ["../", "..%2f..%2fetc/passwd", "run/../../etc/passwd", "run/9/scene.json", "run/-1/frames.bin", "nothing"]) {
    const { status, text } = await ask(at.pathname + path);
    expect(status, path).toBeGreaterThanOrEqual(400);
    expect(text, path).not.toContain("root:");
  }
});

test("other names, other pages and other verbs are refused", async () => {
  expect((await ask(at.pathname, { Host: `evil.example:${at.port}` })).status).toBe(403);
  expect((await ask(at.pathname, { Host: "127.0.0.1" })).status).toBe(403);
  expect((await ask(`${at.pathname}view.json`, { Origin: "http://evil.example" })).status).toBe(403);
  expect((await ask(`${at.pathname}view.json`, { Origin: "null" })).status).toBe(403);
  expect((await ask(`${at.pathname}view.json`, { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors" })).status).toBe(403);
  expect((await ask(`${at.pathname}view.json`, {}, "POST")).status).toBe(405);
});

test("a page from elsewhere can neither read the results nor frame the viewer, though it knows the address", async () => {
  const other = createServer((_, answer) => answer.setHeader("Content-Type", "text/html").end("<!doctype html><title>other</title><body>"));
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
    const read = await page.evaluate((url) => Promise.all(["cors", "no-cors"].map((mode) => fetch(`${url}view.json`, { mode: mode as RequestMode }).then((r) => r.text(), () => "refused"))), viewer.url);
    expect(read.join("")).not.toContain("runs");
    const framed = await page.evaluate((url) => new Promise<boolean>((resolve) => {
      const frame = Object.assign(document.createElement("iframe"), { src: url });
      frame.onload = () => resolve(frame.contentDocument !== null);
      document.body.append(frame);
      setTimeout(() => resolve(false), 2000);
    }), viewer.url);
    expect(framed).toBe(false);
    const inside = page.frames().find((f) => f !== page.mainFrame());
    expect(await inside?.evaluate(() => document.querySelector("#timeline") !== null).catch(() => false)).toBe(false);
  } finally {
    await browser.close();
    other.close();
  }
});
