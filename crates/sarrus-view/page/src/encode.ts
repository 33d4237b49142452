// The bytes that `frames.ts` reads, written: for tests and their fixtures; the page itself writes none.

import type { ContactPoint } from "./frames";
import type { Note } from "./protocol";

export interface Sample {
  t: number;
  /** Seven numbers per body. */
  poses: ArrayLike<number>;
  columns: ArrayLike<number>;
  /** Velocities: six numbers per body. */
  rates?: ArrayLike<number>;
  contacts?: ContactPoint[];
}

export function header(bodies: number, columns: number): Uint8Array {
  const bytes = new Uint8Array(32), view = new DataView(bytes.buffer);
  bytes.set([0x53, 0x52, 0x53, 0x46]);
  view.setUint32(4, 1, true);
  view.setUint32(8, bodies, true);
  view.setUint32(12, columns, true);
  return bytes;
}

function block(letters: string, first: number, count: number, payload: Uint8Array, pad = 0): Uint8Array {
  const size = 8 * Math.ceil(payload.length / 8);
  const bytes = new Uint8Array(16 + size).fill(pad, 16);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < 4; i++) bytes[i] = letters.charCodeAt(i);
  view.setUint32(4, size, true);
  view.setUint32(8, first, true);
  view.setUint32(12, count, true);
  bytes.set(payload, 16);
  return bytes;
}

/** One block of frames, and one of velocities and one of contacts where there are any. */
export function frameBlocks(first: number, samples: Sample[]): Uint8Array {
  const n = samples.length, columns = samples[0]?.columns.length ?? 0, numbers = samples[0]?.poses.length ?? 0;
  const buffer = new ArrayBuffer(8 * n * (1 + columns) + 8 * Math.ceil((4 * n * numbers) / 8));
  const t = new Float64Array(buffer, 0, n), values = new Float64Array(buffer, 8 * n, n * columns);
  const poses = new Float32Array(buffer, 8 * n * (1 + columns), n * numbers);
  samples.forEach((sample, i) => {
    t[i] = sample.t;
    for (let c = 0; c < columns; c++) values[c * n + i] = sample.columns[c]!;
    poses.set(sample.poses, i * numbers);
  });
  let frames = block("FRAM", first, n, new Uint8Array(buffer));
  if (samples[0]?.rates) {
    const rates = Float32Array.from(samples.flatMap((s) => Array.from(s.rates!)));
    frames = join([frames, block("RATE", first, n, new Uint8Array(rates.buffer))]);
  }
  const points = samples.flatMap((s) => s.contacts ?? []);
  if (!points.length) return frames;

  const contacts = new DataView(new ArrayBuffer(4 * n + 28 * points.length));
  samples.forEach((s, i) => contacts.setUint32(4 * i, s.contacts?.length ?? 0, true));
  points.forEach((p, k) => {
    const at = 4 * n + 28 * k;
    contacts.setUint32(at, p.contact, true);
    [...p.at, ...p.force].forEach((x, j) => contacts.setFloat32(at + 4 + 4 * j, x, true));
  });
  return join([frames, block("CONT", first, n, new Uint8Array(contacts.buffer))]);
}

export function note(value: Note): Uint8Array {
  return block("NOTE", 0, 0, new TextEncoder().encode(JSON.stringify(value)), 0x20);
}

export function join(parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
