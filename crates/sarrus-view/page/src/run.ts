// One run: its scene, its frames, and where it stands.

import { Frames } from "./frames";
import type { Happening, Note, Report, Scene } from "./protocol";
import { columnAt } from "./sample";

export type Status = "loading" | "computing" | "done" | "failed" | "cut off";

export class Run {
  readonly frames = new Frames();
  readonly index = new Map<string, number>();
  status: Status = "loading";
  /** What went wrong, in words. */
  failure = "";
  report: Report | null;
  events: Happening[];
  /** Time that the computation reached, and that asked for. */
  reached: number | null = null;
  until: number | null = null;

  constructor(
    readonly name: string,
    readonly scene: Scene,
    readonly live: boolean,
  ) {
    scene.columns.forEach((column, i) => this.index.set(column.name, i));
    this.report = scene.report ?? null;
    this.events = [...(scene.events ?? [])];
    if (scene.t) this.until = scene.t[1];
  }

  note(note: Note): void {
    if (note.type === "progress") {
      this.reached = note.t;
      this.until = note.t_end;
    } else if (note.type === "event") {
      this.events.push(note.event);
    } else {
      this.report = note.report ?? this.report;
      this.status = note.type === "end" ? "done" : "failed";
      if (note.type === "failure") this.failure = note.hint ? `${note.message} (${note.hint})` : note.message;
    }
  }

  /** Whether the run has said that it ended, well or not. */
  get ended(): boolean {
    return this.status === "done" || this.status === "failed";
  }

  /** First and last time there is. */
  get span(): [number, number] {
    const t = this.frames.t();
    return t.length ? [t[0]!, t[t.length - 1]!] : (this.scene.t ?? [0, 0]);
  }

  /** A column by name at a time; NaN where there is none. */
  value(name: string, t: number): number {
    const i = this.index.get(name);
    return i === undefined ? NaN : columnAt(this.frames, i, t);
  }

  /** The same in the unit in which it is shown. */
  shown(name: string, t: number): number {
    return this.value(name, t) * this.scale(name);
  }

  /** What values of a column in SI are multiplied by to be shown. */
  scale(name: string): number {
    const i = this.index.get(name);
    return (i === undefined ? undefined : this.scene.columns[i]?.scale) ?? 1;
  }
}
