// Joints as glyphs by kind: one half moves with the first body, the other with the second, so that their motion is seen.

import type * as THREE from "three";
import type { Frames } from "../frames";
import { cross, dot, fromAxes, product, rotate, sub, unit, zTo } from "../math";
import { GROUND, type Joint, type Quat, type Vec } from "../protocol";
import type { Run } from "../run";
import { bodySizes, glyphSize, place, type Extent } from "./extent";
import * as make from "./geometry";
import { local, type Paint, type Parts, type Ref } from "./parts";

/** z to x, for what is made along z and lies along an axis x. */
const Z_TO_X: Quat = [Math.SQRT1_2, 0, Math.SQRT1_2, 0];

const SLIDING = ["prismatic", "cylindrical", "screw"];
/** Frames that travel is found from. */
const LOOK = 60;
/** From so many joints on, each is drawn by one piece. */
const MANY = 2000;

export function addJoints(parts: Parts, { scene, frames }: Run, run: number, extent: Extent): void {
  const many = (scene.joints?.length ?? 0) > MANY;
  const sizes = bodySizes(scene), n = many ? 6 : Math.min(28, 2 * make.fineness(scene.joints?.length ?? 0));
  (scene.joints ?? []).forEach((joint, index) => {
    const size = glyphSize(joint.bodies, sizes, extent.size);
    const glyph = new Glyph(parts, joint, size, { run, kind: "joint", index }, scene.space === "planar", n, many ? [0, 0] : travel(joint, frames));
    if (many) glyph.simple();
    else glyph.draw();
  });
}

/** How far a joint slides along its axis over the run: least and largest, from some tens of frames. */
export function travel(joint: Joint, frames: Frames): [number, number] {
  let lo = 0, hi = 0;
  if (!SLIDING.includes(joint.kind) || !frames.n) return [lo, hi];
  const axis = joint.axis_on?.[0] ?? [0, 0, 1], [a, b] = joint.bodies;
  for (let k = 0; k < LOOK; k++) {
    const [poses, at] = frames.pose(Math.round((k * (frames.n - 1)) / (LOOK - 1)));
    const from = a < 0 ? -1 : at + 7 * a, to = b < 0 ? -1 : at + 7 * b;
    const d = sub(place(poses, to, joint.on[1]), place(poses, from, joint.on[0]));
    const s = dot(d, from < 0 ? axis : rotate(poses, from + 3, axis));
    if (Number.isFinite(s)) [lo, hi] = [Math.min(lo, s), Math.max(hi, s)];
  }
  return [lo, hi];
}

class Glyph {
  constructor(
    private readonly parts: Parts,
    private readonly joint: Joint,
    private readonly size: number,
    private readonly ref: Ref,
    private readonly planar: boolean,
    private readonly n: number,
    private readonly slid: [number, number],
  ) {}

  /** A piece along the axis of the first body, as long as the joint slides and some more. */
  private rail(key: string, geometry: () => THREE.BufferGeometry, across: number, paint: Paint, more = 5): void {
    const [lo, hi] = this.slid.map((s) => s / this.size) as [number, number];
    this.put(0, key, geometry, [across, across, hi - lo + more], paint, [0, 0, (lo + hi) / 2]);
  }

  /** A piece on body 0 or 1, scaled, in a frame whose z is the axis there and x the second axis, if there is one. */
  private put(side: 0 | 1, key: string, geometry: () => THREE.BufferGeometry, scale: Vec, paint: Paint, shift: Vec = [0, 0, 0], turn?: Quat): void {
    const { joint, size } = this;
    const frame = this.frame(side);
    const q = turn ? product(frame, turn) : frame;
    const s: Vec = [scale[0] * size, scale[1] * size, scale[2] * size];
    const m = local(joint.on[side], frame, [1, 1, 1]).multiply(local([shift[0] * size, shift[1] * size, shift[2] * size], [1, 0, 0, 0], [1, 1, 1]));
    m.multiply(local([0, 0, 0], product([frame[0], -frame[1], -frame[2], -frame[3]], q), s));
    this.parts.add(key, geometry, joint.bodies[side], m, paint, this.ref);
  }

  private frame(side: 0 | 1): Quat {
    const z = unit(this.joint.axis_on?.[side] ?? [0, 0, 1], [0, 0, 1]);
    const second = this.joint.axis2_on?.[side];
    if (!second) return zTo(z);
    const y = unit(cross(z, second), [0, 0, 0]);
    return y[0] || y[1] || y[2] ? fromAxes(cross(y, z), y, z) : zTo(z);
  }

  /** One piece alone. */
  simple(): void {
    const { kind } = this.joint;
    if (kind === "revolute" || kind === "cylindrical") this.put(0, "pin", () => make.pin(this.n), [0.8, 0.8, 1.8], "metal");
    else if (kind === "spherical" || kind === "universal") this.put(0, "ball", () => make.ball(this.n), [1, 1, 1], "metal");
    else this.put(0, "box", make.box, [1.2, 1.2, 1.8], "metal");
  }

  draw(): void {
    const { n } = this;
    const ring = () => make.ring(0.55, n), pin = () => make.pin(n), ball = () => make.ball(n);
    switch (this.joint.kind) {
      case "revolute":
        this.put(0, "ring", ring, [1, 1, 1.5], "metal");
        this.put(1, "pin", pin, [0.5, 0.5, 1.9], "pin");
        if (!this.planar) this.put(0, "pin", pin, [0.12, 0.12, 5], "metal");
        return this.foot();
      case "prismatic":
        this.rail("box", make.box, 0.5, "metal");
        this.put(1, "box", make.box, this.planar ? [1.3, 1.3, 3.8] : [1.25, 1.25, 2.2], "pin");
        return;
      case "cylindrical":
        this.rail("pin", pin, 0.42, "metal");
        this.put(1, "ring", ring, [0.85, 0.85, 2.2], "pin");
        return;
      case "screw":
        this.rail("pin", pin, 0.36, "metal");
        this.rail("thread", () => make.thread(12, n), 0.4, "metal", 4.6);
        this.put(1, "nut", () => make.pin(6), [0.95, 0.95, 1.1], "pin");
        return;
      case "spherical":
        this.put(0, "cup", () => make.cup(n), [1.12, 1.12, 1.12], "metal");
        this.put(1, "ball", ball, [0.92, 0.92, 0.92], "pin");
        return;
      case "universal":
        this.put(0, "pin", pin, [0.34, 0.34, 3.6], "metal");
        this.put(1, "pin", pin, [0.34, 0.34, 3.6], "pin", [0, 0, 0], Z_TO_X);
        this.put(0, "ball", ball, [0.62, 0.62, 0.62], "metal");
        return;
      case "planar":
        this.put(0, "box", make.box, [5, 5, 0.16], "metal");
        this.put(1, "pin", pin, [0.9, 0.9, 0.9], "pin");
        this.put(0, "pin", pin, [0.1, 0.1, 3], "metal", [0, 0, 1.5]);
        return;
      case "fixed":
        this.put(0, "box", make.box, [1.3, 1.3, 1.3], "metal");
        return;
      default:
        this.put(0, "ball", ball, [0.7, 0.7, 0.7], "metal");
    }
  }

  /** What is pinned to the ground in the plane stands on a bearing block. */
  private foot(): void {
    const side = this.joint.bodies.indexOf(GROUND);
    if (!this.planar || side < 0) return;
    const s = this.size;
    const [x, y, z] = this.joint.on[side as 0 | 1];
    this.parts.add("pedestal", make.pedestal, GROUND, local([x, y, z - 1.2 * s], [1, 0, 0, 0], [s, s, 0.5 * s]), "ground", this.ref);
  }
}
