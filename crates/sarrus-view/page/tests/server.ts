// A server for tests: the built page under a token, with the headers that the real one sends, and runs as the protocol says.

import { createServer, type Server } from "node:http";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { deflateRawSync } from "node:zlib";
import { frameBlocks, header, note } from "../src/encode";
import type { Note, RunEntry } from "../src/protocol";
import { encode, type Fixture } from "./fixtures";

export const TOKEN = "0123456789abcdef";
export const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const DIST = new URL("../dist/", import.meta.url);
const TYPES: Record<string, string> = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css" };

export interface Served {
  name: string;
  fixture: Fixture;
  /** Sends frames bit by bit, with so many milliseconds between, and this at the end. */
  live?: { pause: number; end: Note; breakAfter?: number };
}

export async function serve(runs: Served[]): Promise<{ url: string; server: Server }> {
  let broken = false;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const answer = (type: string, body: string | Uint8Array, status = 200) => response.writeHead(status, { "Content-Type": type, "Content-Security-Policy": CSP, "X-Content-Type-Options": "nosniff" }).end(body);
    if (!url.pathname.startsWith(`/${TOKEN}/`)) return void answer("text/plain", "wrong token", 403);
    const path = url.pathname.slice(TOKEN.length + 2);
    if (path === "" || path === "app.js" || path === "app.css") {
      const name = path || "index.html";
      return void answer(TYPES[name.split(".").pop()!]!, readFileSync(new URL(name, DIST)));
    }
    if (path === "view.json") {
      const list: RunEntry[] = runs.map((r, i) => ({ name: r.name, scene: `run/${i}/scene.json`, frames: `run/${i}/frames.bin`, live: !!r.live }));
      return void answer("application/json", JSON.stringify({ format: "sarrus-view/1", runs: list }));
    }
    const [, index, file] = /^run\/(\d+)\/(scene\.json|frames\.bin)$/.exec(path) ?? [];
    const run = runs[Number(index)];
    if (!run || !file) return void answer("text/plain", "not found", 404);
    if (file === "scene.json") return void answer("application/json", JSON.stringify(run.live ? { ...run.fixture.scene, report: null, events: [] } : run.fixture.scene));
    if (!run.live) return void answer("application/octet-stream", encode(run.fixture));
    void stream(run);

    async function stream({ fixture: { scene, samples }, live }: Served): Promise<void> {
      response.writeHead(200, { "Content-Type": "application/octet-stream", "Content-Security-Policy": CSP });
      response.write(header(scene.bodies.length, scene.columns.length));
      for (let i = Number(url.searchParams.get("from") ?? 0); i < samples.length; i += 20) {
        response.write(frameBlocks(i, samples.slice(i, i + 20)));
        response.write(note({ type: "progress", t: samples[i]!.t, t_end: scene.t![1], steps: i }));
        for (const event of scene.events ?? []) if (samples[i]!.t <= event.t && event.t < samples[i]!.t + 0.1) response.write(note({ type: "event", event }));
        if (live!.breakAfter && i >= live!.breakAfter && !broken) {
          broken = true;
          return void response.destroy();
        }
        await new Promise((resolve) => setTimeout(resolve, live!.pause));
      }
      response.end(note(live!.end));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${TOKEN}/`, server };
}

/** `single.html` with a run inside, as the writer of `report.html` makes it. */
export function singleFile(name: string, fixture: Fixture): string {
  const run: RunEntry = { name, scene: fixture.scene, frames: deflateRawSync(encode(fixture), { level: 9 }).toString("base64"), encoding: "deflate-raw" };
  const data = JSON.stringify({ format: "sarrus-view/1", runs: [run] }).replaceAll("<", "\\u003c");
  const page = readFileSync(new URL("single.html", DIST), "utf8");
  const place = '<script type="application/json" id="sarrus-data">null</script>';
  if (!page.includes(place)) throw new Error("single.html has no place for the data");
  return page.replace(place, () => place.replace("null", () => data));
}
