// Springs, actuators, constraints between two points, and the way that joints have slid.

import * as THREE from "three";
import { norm, sub, unit } from "../math";
import type { Joint, Link, Scene } from "../protocol";
import { place, type Extent } from "./extent";
import * as make from "./geometry";
import { solid } from "./parts";
import { Segments } from "./segments";

const SLIDING = ["prismatic", "cylindrical", "screw", "planar"];

/** Those with a body of their own. */
const DRAWN = ["spring", "damper", "actuator"];
/** From so many on they are drawn coarsely. */
const MANY = 200;

export class Links {
  readonly group = new THREE.Group();
  private readonly coils: Segments;
  private readonly tubes: Segments;
  private readonly bars: Segments;
  private readonly knobs: Segments;
  private readonly links: Link[];
  private readonly sliding: { joint: Joint; index: number }[];

  constructor(scene: Scene, private readonly run: number, private readonly extent: Extent) {
    this.links = scene.links ?? [];
    // halves of a sliding joint that have moved apart are tied by a thin line
    this.sliding = (scene.joints ?? []).map((joint, index) => ({ joint, index })).filter(({ joint }) => SLIDING.includes(joint.kind));
    const material = solid(run > 0), many = this.links.length > MANY;
    const along = () => make.rod(12).translate(0.5, 0, 0);
    this.coils = new Segments(make.coil(8, 0.16, many ? 8 : 20), material, "load", this.group);
    this.tubes = new Segments(along(), material, "metal", this.group);
    this.bars = new Segments(along(), material, "pin", this.group);
    this.knobs = new Segments(make.ball(many ? 6 : 14), material, "metal", this.group);
  }

  get all(): Segments[] {
    return [this.coils, this.tubes, this.bars, this.knobs];
  }

  update(poses: Float32Array): void {
    const size = this.extent.size;
    this.all.forEach((s) => s.begin());
    this.links.forEach((link, index) => {
      const a = place(poses, 7 * link.bodies[0], link.on[0]), b = place(poses, 7 * link.bodies[1], link.on[1]);
      const d = sub(b, a), length = norm(d), x = unit(d);
      if (!(length > 0)) return;
      const ref = { run: this.run, kind: "link" as const, index };
      const wide = Math.min(0.013 * size, 0.1 * length);
      // where it is held
      if (DRAWN.includes(link.kind)) for (const end of [a, b]) this.knobs.push(end, x, 0.5 * wide, 0.5 * wide, ref);
      if (link.kind === "spring") this.coils.push(a, x, length, wide, ref);
      else if (link.kind === "damper" || link.kind === "actuator") {
        this.tubes.push(a, x, 0.55 * length, 0.6 * wide, ref);
        this.bars.push([a[0] + 0.5 * d[0], a[1] + 0.5 * d[1], a[2] + 0.5 * d[2]], x, 0.5 * length, 0.3 * wide, ref);
      } else this.tubes.push(a, x, length, Math.min(0.2 * wide, 0.003 * size), ref);
    });
    for (const { joint, index } of this.sliding) {
      const a = place(poses, 7 * joint.bodies[0], joint.on[0]), d = sub(place(poses, 7 * joint.bodies[1], joint.on[1]), a), length = norm(d);
      if (length > 1e-3 * size) this.tubes.push(a, unit(d), length, 0.0022 * size, { run: this.run, kind: "joint", index });
    }
    this.all.forEach((s) => s.end());
  }
}
