// Shapes of bodies and of the ground. A body without any is drawn as bars from its origin to its joints.

import * as THREE from "three";
import { norm, product, sub, unit, zTo } from "../math";
import { GROUND, type Quat, type Scene, type Shape, type Vec } from "../protocol";
import { AT_ORIGIN, isDrawn, loose, reach, type Extent } from "./extent";
import * as make from "./geometry";
import { local, type Paint, type Parts, type Ref } from "./parts";

const SAME: Quat = [1, 0, 0, 0];
/** z to x. */
const ALONG_X: Quat = [Math.SQRT1_2, 0, Math.SQRT1_2, 0];

/** Least radius of bars, of the whole. */
const THIN = 0.0008;
/** From so many bodies on, shapes stand alone. */
const MANY = 500;

export function addBodies(parts: Parts, scene: Scene, run: number, extent: Extent): void {
  const drawing = new Drawing(parts, scene.space === "planar", extent, make.fineness(scene.bodies.length));
  const ends = reach(scene);
  const members = new Set((scene.flexible ?? []).flatMap((f) => (f.kind === "beam" ? f.nodes : [f.body])));
  scene.bodies.forEach((body, i) => {
    const ref: Ref = { run, kind: "body", index: i };
    const shapes = (body.shapes ?? []).filter(isDrawn);
    shapes.forEach((shape) => drawing.shape(shape, i, paintOf(shape, { body: i }), ref));
    if (members.has(i)) return;
    if (!shapes.length) drawing.sticks(i, ends[i]!, ref);
    else if (scene.bodies.length <= MANY) loose(scene, i, 0.01 * extent.size).forEach(({ from, to }) => drawing.stem(from, to, i, ref));
  });
  for (const shape of (scene.ground?.shapes ?? []).filter(isDrawn)) {
    drawing.shape(shape, GROUND, paintOf(shape, "ground"), { run, kind: "body", index: GROUND });
  }
}

function paintOf(shape: Shape, otherwise: Paint): Paint {
  return shape.color && /^#[0-9a-f]{6}$/i.test(shape.color) ? { hex: parseInt(shape.color.slice(1), 16) } : otherwise;
}

class Drawing {
  private meshes = 0;

  constructor(
    private readonly parts: Parts,
    private readonly planar: boolean,
    private readonly extent: Extent,
    private readonly n: number,
  ) {}

  /** Bars from the origin to the points, and a ball at the origin. */
  sticks(body: number, points: Vec[], ref: Ref): void {
    const r = 0.006 * this.extent.size;
    const far = points.filter((p) => norm(p) > 2 * r);
    far.forEach((p) => this.bar([0, 0, 0], p, r, body, { body }, ref));
    this.parts.add("sphere", () => make.sphere(this.n), body, local([0, 0, 0], SAME, [2 * r, 2 * r, 2 * r]), { body }, ref);
  }

  /** A thin bar from a shape to a joint that none of the body's shapes reaches. */
  stem(from: Vec, to: Vec, body: number, ref: Ref): void {
    this.bar(from, to, 0.0035 * this.extent.size, body, { body }, ref);
  }

  private bar(a: Vec, b: Vec, radius: number, body: number, paint: Paint, ref: Ref): void {
    const d = sub(b, a), middle: Vec = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2];
    const turn = product(zTo(unit(d)), [Math.SQRT1_2, 0, -Math.SQRT1_2, 0]);
    this.parts.add("rod", () => make.rod(this.n), body, local(middle, turn, [norm(d), radius, radius]), paint, ref);
  }

  shape(s: Shape, body: number, paint: Paint, ref: Ref): void {
    const p = s.pose ?? AT_ORIGIN, at: Vec = [p[0], p[1], p[2]], q: Quat = [p[3], p[4], p[5], p[6]];
    const l = s.length ?? 0, size = this.extent.size;
    // a bar is seen however thin it is: about a pixel where the whole fits the window
    const r = s.kind === "rod" || s.kind === "capsule" ? Math.max(s.radius ?? 0, THIN * size) : (s.radius ?? 0);
    const unbounded = s.kind === "plane" || s.kind === "half_space";
    if (unbounded && !s.color && body === GROUND) paint = "floor";
    const put = (key: string, g: () => THREE.BufferGeometry, m: THREE.Matrix4) => this.parts.add(key, g, body, m, paint, ref);
    const frame = local(at, q, [1, 1, 1]);
    const inside = (where: Vec, turn: Quat, scale: Vec) => frame.clone().multiply(local(where, turn, scale));
    const rod = () => make.rod(this.n), sphere = () => make.sphere(this.n), box = make.box;
    // what has no thickness gets a little, the larger the farther back, so that smaller things show
    const layer = this.planar ? -0.02 * Math.min(1, r / size || norm(s.size ?? [0, 0, 0]) / size) * size - 1e-5 * size * (body + 1) : 0;
    const thin = 0.004 * size, infinite = 1.6 * size;
    switch (s.kind) {
      case "rod":
        return put("rod", rod, local(at, q, [l, r, r]));
      case "capsule":
        put("rod", rod, local(at, q, [l, r, r]));
        return [-l / 2, l / 2].forEach((x) => put("ball", () => make.ball(this.n), inside([x, 0, 0], SAME, [r, r, r])));
      case "disc":
        return put("disc", () => make.disc(this.n), inside([0, 0, s.thickness ? 0 : layer], SAME, [r, r, s.thickness || thin]));
      case "sphere":
        return put("sphere", sphere, local(at, q, [r, r, r]));
      case "box": {
        const [x, y, z] = s.size ?? [0, 0, 0];
        return put("box", box, inside([0, 0, z ? 0 : layer], SAME, [x, y, z || thin]));
      }
      case "ends":
        return (s.points ?? []).forEach((point) => put("sphere", sphere, inside(point, SAME, [r, r, r])));
      case "plane":
      case "half_space": {
        // solid ground is seen from outside it alone: walls between the eye and what they hold hide nothing
        if (s.kind === "half_space" && !this.planar) return put("side", make.side, local(at, q, [2.4 * size, 2.4 * size, 1]));
        const depth = this.planar ? 3 * thin : 2 * thin;
        const [where, scale]: [Vec, Vec] = this.planar
          ? [[0, -depth / 2, -0.03 * size], [2 * infinite, depth, thin]]
          : [[0, 0, -depth / 2], [2.4 * size, 2.4 * size, depth]];
        // in the plane solid ground is filled, a wall is not
        if (this.planar && s.kind === "half_space") put("box", box, inside([0, -infinite / 2, -0.04 * size], SAME, [2 * infinite, infinite, thin]));
        if (this.planar && paint === "floor") paint = "ground";
        return put("box", box, inside(where, SAME, scale));
      }
      case "channel": {
        const w = s.width ?? 0, wall = 0.012 * size;
        if (s.tube) return put(`tube${(w / 2 / (w / 2 + wall)).toFixed(3)}`, () => make.ring(w / 2 / (w / 2 + wall), 48), inside([0, 0, 0], SAME, [w / 2 + wall, w / 2 + wall, 2 * infinite]));
        return [-1, 1].forEach((side) => put("box", box, inside([(side * (w + wall)) / 2, 0, this.planar ? -0.03 * size : 0], SAME,
          this.planar ? [wall, 2 * infinite, thin] : [wall, infinite, 2 * infinite])));
      }
      case "mesh":
      case "convex":
        return put(`mesh${ref.run}.${this.meshes++}`, () => make.triangles(s.vertices ?? [], s.triangles ?? []), frame);
      default:
        // a kind that this page does not know: shown where it is, as a small box
        return put("box", box, local(at, product(q, ALONG_X), [0.02 * size, 0.02 * size, 0.02 * size]));
    }
  }
}
