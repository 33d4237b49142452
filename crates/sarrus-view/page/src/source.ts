// Where runs come from: the server, or the page itself.

import { Decoder } from "./frames";
import { FORMAT, type Manifest, type RunEntry, type Scene } from "./protocol";
import { Run } from "./run";

/** How often a broken connection is tried again. */
const TRIES = 5;

/** The data inside this file, or null where it comes from a server. */
export function inlineData(): Manifest | null {
  const text = document.getElementById("sarrus-data")?.textContent?.trim();
  return text ? (JSON.parse(text) as Manifest | null) : null;
}

export async function loadManifest(): Promise<Manifest> {
  const manifest = inlineData() ?? ((await (await get("view.json")).json()) as Manifest);
  if (manifest.format !== FORMAT) throw new Error(`this page reads ${FORMAT}, not ${String(manifest.format)}`);
  return manifest;
}

/** The scene of a run; its frames follow by [`fill`]. */
export async function openRun(entry: RunEntry): Promise<Run> {
  const scene = typeof entry.scene === "string" ? ((await (await get(entry.scene)).json()) as Scene) : entry.scene;
  if (scene.format !== FORMAT) throw new Error(`this page reads ${FORMAT}, not ${String(scene.format)}`);
  return new Run(entry.name, scene, entry.live ?? false);
}

/** Reads all frames; `changed` is called whenever there is more. */
export async function fill(run: Run, entry: RunEntry, changed: () => void): Promise<void> {
  run.status = run.live ? "computing" : "loading";
  const inline = typeof entry.scene !== "string";
  for (let attempt = 0; ; attempt++) {
    const before = run.frames.n;
    try {
      const body = inline ? embedded(entry) : (await get(from(entry.frames, before))).body;
      if (!body) throw new Error("the answer is empty");
      await decode(run, body, changed);
    } catch (error) {
      if (!run.live) throw error;
      run.failure = String(error instanceof Error ? error.message : error);
    }
    if (run.ended) break;
    if (!run.live) {
      run.status = "done";
      break;
    }
    if (run.frames.n > before) attempt = 0;
    if (attempt >= TRIES) {
      run.status = "cut off";
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 300 * (attempt + 1)));
  }
  changed();
}

async function decode(run: Run, body: ReadableStream<Uint8Array>, changed: () => void): Promise<void> {
  const decoder = new Decoder(run.frames, (note) => run.note(note));
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    decoder.push(value);
    changed();
  }
  const { bodies, columns } = run.frames;
  if (bodies !== run.scene.bodies.length || columns !== run.scene.columns.length) {
    throw new Error(`the frames have ${bodies} bodies and ${columns} columns, the scene ${run.scene.bodies.length} and ${run.scene.columns.length}`);
  }
  if (!decoder.complete && !run.live) throw new Error("the frames end in the middle of a block");
}

function embedded(entry: RunEntry): ReadableStream<Uint8Array> {
  const text = atob(entry.frames);
  const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream();
  return entry.encoding ? stream.pipeThrough(new DecompressionStream(entry.encoding)) : stream;
}

function from(address: string, frame: number): string {
  return frame ? `${address}?from=${frame}` : address;
}

/** Asks this server, and no other. */
async function get(address: string): Promise<Response> {
  const url = new URL(address, document.baseURI);
  if (url.origin !== new URL(document.baseURI).origin) throw new Error(`${address} is on another server`);
  const answer = await fetch(url, { cache: "no-store", credentials: "omit" });
  if (!answer.ok) throw new Error(`${address}: the server answered ${answer.status} ${answer.statusText}`);
  return answer;
}
