// Frames: times, poses, columns and contact points of one run, and the decoder of their bytes (PROTOCOL.md, "Frames").

import type { Note } from "./protocol";

const HEADER = 32;
const BLOCK = 16;
/** No single block is larger; a longer one is a broken file, not a reason to allocate. */
const MOST = 1 << 30;

/** Numbers that grow at the end. */
class Growing {
  private data = new Float64Array(256);
  length = 0;

  append(values: Float64Array): void {
    const need = this.length + values.length;
    if (need > this.data.length) {
      const more = new Float64Array(Math.max(need, 2 * this.data.length));
      more.set(this.data.subarray(0, this.length));
      this.data = more;
    }
    this.data.set(values, this.length);
    this.length = need;
  }

  view(): Float64Array {
    return this.data.subarray(0, this.length);
  }
}

/** Numbers of several frames, one after the other. */
interface Numbers {
  first: number;
  count: number;
  data: Float32Array;
}

/** A contact point of a frame. */
export interface ContactPoint {
  contact: number;
  at: [number, number, number];
  force: [number, number, number];
}

export class Frames {
  /** How many frames there are. */
  n = 0;
  bodies = 0;
  columns = 0;
  private times = new Growing();
  private series: Growing[] = [];
  private poses: Numbers[] = [];
  private velocities: Numbers[] = [];
  private contactsOf = new Map<number, ContactPoint[]>();

  begin(bodies: number, columns: number): void {
    if (this.n > 0 && (bodies !== this.bodies || columns !== this.columns)) {
      throw new Error(`frames: ${bodies} bodies and ${columns} columns, where there were ${this.bodies} and ${this.columns}`);
    }
    this.bodies = bodies;
    this.columns = columns;
    while (this.series.length < columns) this.series.push(new Growing());
  }

  t(): Float64Array {
    return this.times.view();
  }

  /** All samples of a column. */
  column(c: number): Float64Array {
    return this.series[c]?.view() ?? new Float64Array(0);
  }

  /** Array and place where the poses of a frame begin. */
  pose(frame: number): [Float32Array, number] {
    const block = holding(this.poses, frame);
    if (!block) throw new Error("frames: there are none yet");
    return [block.data, (frame - block.first) * 7 * this.bodies];
  }

  /** Array and place where the velocities of a frame begin, if it has any. */
  rates(frame: number): [Float32Array, number] | undefined {
    const block = holding(this.velocities, frame);
    if (!block || frame < block.first || frame >= block.first + block.count) return undefined;
    return [block.data, (frame - block.first) * 6 * this.bodies];
  }

  contacts(frame: number): ContactPoint[] {
    return this.contactsOf.get(frame) ?? [];
  }

  /** Whether any frame has contact points. */
  get hasContacts(): boolean {
    return this.contactsOf.size > 0;
  }

  addFrames(first: number, count: number, payload: ArrayBuffer): void {
    const body = 7 * this.bodies;
    const size = 8 * count * (1 + this.columns) + 4 * count * body;
    if (payload.byteLength !== 8 * Math.ceil(size / 8)) {
      throw new Error(`frames: a block of ${payload.byteLength} bytes, where ${count} frames take ${8 * Math.ceil(size / 8)}`);
    }
    if (first > this.n) throw new Error(`frames: frame ${first} comes after frame ${this.n - 1}`);
    const skip = this.n - first;
    if (skip >= count) return;
    for (let c = -1; c < this.columns; c++) {
      const samples = new Float64Array(payload, 8 * count * (c + 1), count).subarray(skip);
      (c < 0 ? this.times : this.series[c]!).append(samples);
    }
    const data = new Float32Array(payload, 8 * count * (1 + this.columns), count * body).slice(skip * body);
    this.poses.push({ first: this.n, count: count - skip, data });
    this.n += count - skip;
  }

  addRates(first: number, count: number, payload: ArrayBuffer): void {
    const last = this.velocities.at(-1), have = last ? last.first + last.count : 0;
    // frames that come twice
    if (first < have) return;
    this.velocities.push({ first, count, data: new Float32Array(payload, 0, 6 * this.bodies * count) });
  }

  addContacts(first: number, count: number, payload: ArrayBuffer): void {
    const view = new DataView(payload);
    let at = 4 * count;
    for (let i = 0; i < count; i++) {
      const points: ContactPoint[] = [];
      for (let k = view.getUint32(4 * i, true); k > 0; k--, at += 28) {
        const f = (j: number) => view.getFloat32(at + 4 + 4 * j, true);
        points.push({ contact: view.getUint32(at, true), at: [f(0), f(1), f(2)], force: [f(3), f(4), f(5)] });
      }
      if (points.length) this.contactsOf.set(first + i, points);
    }
  }
}

/** The block that a frame is in, or the last one before it. */
function holding(blocks: Numbers[], frame: number): Numbers | undefined {
  let lo = 0, hi = blocks.length - 1;
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (blocks[mid]!.first <= frame) lo = mid;
    else hi = mid - 1;
  }
  return blocks[lo];
}

/** Turns bytes, in pieces of any size, into frames and notes. */
export class Decoder {
  private pieces: Uint8Array[] = [];
  private held = 0;
  private started = false;
  private block: { letters: string; bytes: number; first: number; count: number } | null = null;

  constructor(
    private readonly frames: Frames,
    private readonly onNote: (note: Note) => void = () => {},
  ) {}

  push(bytes: Uint8Array): void {
    if (bytes.length) this.pieces.push(bytes);
    this.held += bytes.length;
    for (;;) {
      const need = !this.started ? HEADER : this.block ? this.block.bytes : BLOCK;
      if (this.held < need) return;
      const taken = this.take(need);
      if (!this.started) this.header(taken);
      else if (this.block) this.payload(taken.buffer as ArrayBuffer);
      else this.heading(taken);
    }
  }

  /** Whether the bytes so far end between two blocks. */
  get complete(): boolean {
    return this.started && !this.block && this.held === 0;
  }

  private take(n: number): Uint8Array {
    const out = new Uint8Array(n);
    let at = 0;
    while (at < n) {
      const piece = this.pieces[0]!;
      const k = Math.min(piece.length, n - at);
      out.set(piece.subarray(0, k), at);
      at += k;
      if (k === piece.length) this.pieces.shift();
      else this.pieces[0] = piece.subarray(k);
    }
    this.held -= n;
    return out;
  }

  private header(bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer);
    if (letters(bytes) !== "SRSF") throw new Error("frames: these are not frames of Sarrus");
    const version = view.getUint32(4, true);
    if (version !== 1) throw new Error(`frames: version ${version}, where this page reads version 1`);
    this.frames.begin(view.getUint32(8, true), view.getUint32(12, true));
    this.started = true;
  }

  private heading(bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer);
    const size = view.getUint32(4, true);
    if (size > MOST || size % 8) throw new Error(`frames: a block of ${size} bytes`);
    this.block = { letters: letters(bytes), bytes: size, first: view.getUint32(8, true), count: view.getUint32(12, true) };
  }

  private payload(buffer: ArrayBuffer): void {
    const { letters, first, count } = this.block!;
    this.block = null;
    if (letters === "FRAM") this.frames.addFrames(first, count, buffer);
    else if (letters === "RATE") this.frames.addRates(first, count, buffer);
    else if (letters === "CONT") this.frames.addContacts(first, count, buffer);
    else if (letters === "NOTE") this.onNote(JSON.parse(new TextDecoder().decode(buffer)) as Note);
  }
}

function letters(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes.subarray(0, 4));
}
