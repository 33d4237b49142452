// Arrows: reactions of joints (hatched where not unique), loads, contact points and forces.
//
// All forces of a run share one scale, all torques another: the 95th percentile of what occurs is drawn 0.16 of the
// scene's size long, and nothing longer than twice that, so that one impact does not make all else vanish.

import * as THREE from "three";
import { REACTIONS } from "../columns";
import { norm } from "../math";
import type { Joint, Vec } from "../protocol";
import type { Run } from "../run";
import { contactsAt } from "../sample";
import { place, type Extent } from "./extent";
import { ball, turnArrow } from "./geometry";
import { Arrows, Segments, hatched, overlay } from "./segments";

const LONG = 0.16;
/** The same where there are many joints, whose arrows would cover each other. */
const LONG_OF_MANY = 0.1;
const MANY = 12;
/** Forces and torques smaller than this, compared by the scene's size, are rounding and not drawn. */
const ROUNDING = 1e-6;
/** Frames and joints that the scale is found from, at most. */
const LOOK = 100;

export class Forces {
  readonly reactions = new THREE.Group();
  readonly others = new THREE.Group();
  private readonly unique: Arrows;
  private readonly shared: Arrows;
  private readonly loads: Arrows;
  private readonly contact: Arrows;
  private readonly turns: Segments;
  private readonly sharedTurns: Segments;
  private readonly loadTurns: Segments;
  private readonly points: Segments;
  private readonly columns: { joint: Joint; index: number; at: number[] }[];
  private scale = { force: 0, torque: 0, frames: -1 };

  constructor(private readonly run: Run, private readonly place: number, private readonly extent: Extent) {
    // the turn goes about x of a segment
    const turn = () => turnArrow(28).rotateY(Math.PI / 2);
    const ghost = place > 0, plain = overlay(ghost);
    this.unique = new Arrows("force", this.reactions, ghost);
    this.shared = new Arrows("force", this.reactions, ghost, true);
    this.loads = new Arrows("load", this.others, ghost);
    this.contact = new Arrows("contact", this.others, ghost);
    this.turns = new Segments(turn(), plain, "torque", this.reactions);
    this.sharedTurns = new Segments(turn(), hatched(ghost), "torque", this.reactions);
    this.loadTurns = new Segments(turn(), plain, "load", this.others);
    this.points = new Segments(ball(12), plain, "contact", this.others);
    this.columns = (run.scene.joints ?? []).map((joint, index) => ({
      joint, index, at: REACTIONS.map((r) => run.index.get(`${joint.name}.${r}`) ?? -1),
    }));
  }

  get all(): Segments[] {
    const arrows = [this.unique, this.shared, this.loads, this.contact].flatMap((a) => a.all);
    return [...arrows, this.turns, this.sharedTurns, this.loadTurns, this.points];
  }

  /** N and N m that are drawn as long as one metre. */
  perMetre(): { force: number; torque: number } {
    this.findScale();
    const long = this.long * this.extent.size;
    return { force: this.scale.force / long, torque: this.scale.torque / long };
  }

  private get long(): number {
    return this.columns.length > MANY ? LONG_OF_MANY : LONG;
  }

  private findScale(): void {
    const { frames } = this.run;
    // again only when there is much more to look at
    if (this.scale.frames >= 0 && frames.n < 2 * this.scale.frames) return;
    const forces: number[] = [], torques: number[] = [];
    const stride = Math.max(1, Math.floor(frames.n / LOOK)), every = Math.max(1, Math.floor(this.columns.length / LOOK));
    for (let f = 0; f < frames.n; f += stride) {
      for (let j = 0; j < this.columns.length; j += every) {
        const at = this.columns[j]!.at.map((c) => (c < 0 ? 0 : frames.column(c)[f]!));
        forces.push(Math.hypot(at[0]!, at[1]!, at[2]!));
        torques.push(Math.hypot(at[3]!, at[4]!, at[5]!));
      }
      for (const c of frames.contacts(f)) forces.push(norm(c.force));
      for (const load of this.run.scene.loads ?? []) {
        const v = load.vector.map((name) => { const c = this.run.index.get(name); return c === undefined ? 0 : frames.column(c)[f]!; });
        (load.kind === "torque" ? torques : forces).push(Math.hypot(v[0]!, v[1]!, v[2]!));
      }
    }
    const [force, torque] = [high(forces), high(torques)], size = this.extent.size;
    this.scale = { force: Math.max(force, (ROUNDING * torque) / size) || 1, torque: Math.max(torque, ROUNDING * force * size) || 1, frames: Math.max(8, frames.n) };
  }

  update(poses: Float32Array, t: number, show: { reactions: boolean; others: boolean; size: number }): void {
    this.findScale();
    this.all.forEach((s) => s.begin());
    const size = this.extent.size * show.size, thick = 0.0035 * this.extent.size * Math.sqrt(show.size);
    const length = (v: Vec, reference: number): Vec => {
      const n = norm(v);
      if (!(n > 1e-3 * reference)) return [0, 0, 0];
      const k = (this.long * size * Math.min(2, n / reference)) / n;
      return [v[0] * k, v[1] * k, v[2] * k];
    };
    if (show.reactions) this.drawReactions(poses, t, length, thick);
    if (show.others) this.drawOthers(poses, t, length, thick);
    this.all.forEach((s) => s.end());
  }

  private drawReactions(poses: Float32Array, t: number, length: (v: Vec, r: number) => Vec, thick: number): void {
    for (const { joint, index, at } of this.columns) {
      const value = (k: number) => (at[k]! < 0 ? 0 : this.run.value(`${joint.name}.${REACTIONS[k]}`, t) || 0);
      const ref = { run: this.place, kind: "joint" as const, index };
      const where = place(poses, 7 * joint.bodies[1], joint.on[1]);
      const shared = (letter: string) => (joint.not_unique ?? []).some((name) => name.startsWith(letter));
      (shared("f") ? this.shared : this.unique).push(where, length([value(0), value(1), value(2)], this.scale.force), thick, ref);
      this.turn(shared("t") ? this.sharedTurns : this.turns, where, length([value(3), value(4), value(5)], this.scale.torque), ref);
    }
  }

  /** A torque: a bent arrow about its vector, as wide as it is large. */
  private turn(segments: Segments, at: Vec, v: Vec, ref: Parameters<Segments["push"]>[4]): void {
    const n = norm(v);
    if (n > 0.002 * this.extent.size) segments.push(at, [v[0] / n, v[1] / n, v[2] / n], 0.3 * n, 0.3 * n, ref);
  }

  private drawOthers(poses: Float32Array, t: number, length: (v: Vec, r: number) => Vec, thick: number): void {
    (this.run.scene.loads ?? []).forEach((load, index) => {
      const v = load.vector.map((name) => (name ? this.run.value(name, t) || 0 : 0)) as Vec;
      const at = place(poses, 7 * load.body, load.on), ref = { run: this.place, kind: "load" as const, index };
      if (load.kind === "torque") this.turn(this.loadTurns, at, length(v, this.scale.torque), ref);
      else this.loads.push(at, length(v, this.scale.force), thick, ref);
    });
    for (const c of contactsAt(this.run.frames, t)) {
      const ref = { run: this.place, kind: "contact" as const, index: c.contact };
      this.points.push(c.at, [1, 0, 0], 2 * thick, 2 * thick, ref);
      this.contact.push(c.at, length(c.force, this.scale.force), thick, ref);
    }
  }
}

/** The 95th percentile of those that are not nothing; 0 where there are none. */
function high(values: number[]): number {
  const sorted = values.filter((x) => x > 0 && Number.isFinite(x)).sort((a, b) => a - b);
  return sorted[Math.floor(0.95 * (sorted.length - 1))] ?? 0;
}
