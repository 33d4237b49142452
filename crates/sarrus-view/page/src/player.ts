// The one clock of the page: everything shown is shown at its time.

import type { Run } from "./run";
import { nearest } from "./sample";
import { SPEEDS, fittingSpeed } from "./format";

export class Player {
  t = 0;
  playing = false;
  loop = true;
  speed = 1;
  private chosen = false;
  private listeners: (() => void)[] = [];

  constructor(readonly runs: Run[]) {}

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  changed(): void {
    for (const listener of this.listeners) listener();
  }

  /** First and last time of all runs. */
  get span(): [number, number] {
    const spans = this.runs.filter((r) => r.frames.n > 0).map((r) => r.span);
    if (!spans.length) return [0, 0];
    return [Math.min(...spans.map((s) => s[0])), Math.max(...spans.map((s) => s[1]))];
  }

  /** Where the time line ends: later than the last frame while a run is going. */
  get until(): number {
    const asked = this.runs.filter((r) => r.status === "computing").map((r) => r.until ?? 0);
    return Math.max(this.span[1], ...asked);
  }

  /** Time between frames, on the whole. */
  get step(): number {
    const t = this.runs[0]?.frames.t();
    return t && t.length > 1 ? (t[t.length - 1]! - t[0]!) / (t.length - 1) : 0.01;
  }

  /** New frames: the speed fits them until somebody chooses one. */
  grown(): void {
    if (!this.chosen) this.speed = fittingSpeed(this.until - this.span[0]);
    this.t = Math.min(Math.max(this.t, this.span[0]), this.span[1]);
    this.changed();
  }

  /** Goes to a time; at rest to the nearest sample, so that what is shown are the results' own numbers. */
  seek(t: number, snap = true): void {
    const [start, end] = this.span;
    t = Math.min(end, Math.max(start, t));
    const run = this.runs[0];
    if (snap && !this.playing && run && run.frames.n && !run.scene.thinning) {
      const times = run.frames.t();
      if (t <= times[times.length - 1]!) t = times[nearest(times, t)]!;
    }
    this.t = t;
    this.changed();
  }

  /** So many frames on, stopping. */
  stepBy(frames: number): void {
    const times = this.runs[0]?.frames.t();
    if (!times?.length) return;
    this.playing = false;
    const i = Math.min(times.length - 1, Math.max(0, nearest(times, this.t) + frames));
    this.seek(times[i]!);
  }

  toggle(): void {
    this.playing = !this.playing;
    if (this.playing && this.t >= this.span[1] && !this.computing) this.t = this.span[0];
    if (!this.playing) this.seek(this.t);
    this.changed();
  }

  get computing(): boolean {
    return this.runs.some((r) => r.status === "computing");
  }

  setSpeed(speed: number): void {
    this.chosen = true;
    this.speed = speed;
    this.changed();
  }

  /** The next speed up or down the list. */
  faster(by: 1 | -1): void {
    const next = by > 0 ? SPEEDS.find((s) => s > this.speed * 1.001) : SPEEDS.findLast((s) => s < this.speed * 0.999);
    if (next) this.setSpeed(next);
  }

  /** So many seconds of real time went by. */
  advance(seconds: number): void {
    if (!this.playing) return;
    const [start, end] = this.span;
    let t = this.t + seconds * this.speed;
    if (t >= end) {
      if (this.computing) t = end;
      else if (this.loop && end > start) t = start + ((t - start) % (end - start));
      else {
        this.playing = false;
        t = end;
      }
    }
    this.t = t;
    this.changed();
  }
}
