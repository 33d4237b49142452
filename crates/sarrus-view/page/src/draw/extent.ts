// How large things are: bodies, the whole motion, glyphs.

import { add, norm, rotate, sub } from "../math";
import { GROUND, type Body, type Pose, type Scene, type Shape, type Vec } from "../protocol";
import type { Run } from "../run";

/** Points on a body that bound what is drawn of it. */
export function cornersOf(shapes: Shape[] | undefined): Vec[] {
  return (shapes ?? []).filter(isDrawn).flatMap((shape) => {
    const half = halfSize(shape);
    const points = shape.points ?? corners(shape.vertices) ?? (shape.kind === "sphere" ? axes(half[0]) : box(half));
    const pose = shape.pose;
    return pose ? points.map((p) => place(pose, 0, p)) : points;
  });
}

export function isDrawn(shape: Shape): boolean {
  return shape.role !== "mass";
}

function halfSize(s: Shape): Vec {
  const r = s.radius ?? 0;
  if (s.kind === "rod") return [(s.length ?? 0) / 2, r, r];
  if (s.kind === "capsule") return [(s.length ?? 0) / 2 + r, r, r];
  if (s.kind === "disc") return [r, r, (s.thickness ?? 0) / 2];
  if (s.kind === "box" && s.size) return [s.size[0] / 2, s.size[1] / 2, s.size[2] / 2];
  return [r, r, r];
}

function box(h: Vec): Vec[] {
  if (norm(h) === 0) return [];
  return [-1, 1].flatMap((x) => [-1, 1].flatMap((y) => [-1, 1].map((z): Vec => [x * h[0], y * h[1], z * h[2]])));
}

/** On a ball, whose box would reach too far when it turns. */
function axes(r: number): Vec[] {
  const d = r / Math.sqrt(3);
  return [[r, 0, 0], [-r, 0, 0], [0, r, 0], [0, -r, 0], [0, 0, r], [0, 0, -r], ...box([d, d, d])];
}

function corners(v: number[] | undefined): Vec[] | null {
  if (!v?.length) return null;
  const lo: Vec = [Infinity, Infinity, Infinity], hi: Vec = [-Infinity, -Infinity, -Infinity];
  v.forEach((x, i) => {
    lo[i % 3] = Math.min(lo[i % 3]!, x);
    hi[i % 3] = Math.max(hi[i % 3]!, x);
  });
  const middle: Vec = [(lo[0] + hi[0]) / 2, (lo[1] + hi[1]) / 2, (lo[2] + hi[2]) / 2];
  return box(sub(hi, middle)).map((p) => add(p, middle));
}

/** A point on a body, in the world; `b` is where its pose begins, negative for the ground. */
export function place(poses: ArrayLike<number>, b: number, on: Vec): Vec {
  if (b < 0) return on;
  const v = rotate(poses, b + 3, on);
  return [v[0] + poses[b]!, v[1] + poses[b + 1]!, v[2] + poses[b + 2]!];
}

const REACHED = new WeakMap<Scene, Vec[][]>();

/** Points by which each body reaches: its shapes, joints, links and traced points. */
export function reach(scene: Scene): Vec[][] {
  let points = REACHED.get(scene);
  if (!points) REACHED.set(scene, (points = findReach(scene)));
  return points;
}

function findReach(scene: Scene): Vec[][] {
  const points = scene.bodies.map((body: Body) => cornersOf(body.shapes));
  const on = (body: number, p: Vec) => points[body]?.push(p);
  for (const item of [...(scene.joints ?? []), ...(scene.links ?? [])]) item.bodies.forEach((b, k) => on(b, item.on[k]!));
  for (const t of scene.view?.trace ?? []) on(t.body, t.on);
  // markers tell the form of what has no shape
  scene.bodies.forEach((body, i) => body.shapes?.some(isDrawn) || (body.markers ?? []).forEach((m) => on(i, m.on)));
  for (const f of scene.flexible ?? []) {
    if (f.kind === "modal") f.nodes.forEach((p) => on(f.body, p));
  }
  // what has no shape is drawn by bars from its origin
  return points.map((list, i) => (scene.bodies[i]!.shapes?.some(isDrawn) ? list : [...list, [0, 0, 0]]));
}

/** A body's ends of joints and links that lie off all its shapes, since something must hold it to them, each with the point nearest to it of the boxes around these. */
export function loose(scene: Scene, body: number, room: number): { from: Vec; to: Vec }[] {
  const shapes = (scene.bodies[body]!.shapes ?? []).filter(isDrawn);
  const boxes = shapes.map((shape) => bounds(cornersOf([shape])));
  const ends = [...(scene.joints ?? []), ...(scene.links ?? [])].flatMap((item) => item.bodies.flatMap((b, k) => (b === body ? [item.on[k]!] : [])));
  return ends.flatMap((to) => {
    const near = boxes.map(([lo, hi]) => to.map((x, k) => Math.min(hi[k]!, Math.max(lo[k]!, x))) as Vec);
    const from = near.reduce((best, p) => (norm(sub(p, to)) < norm(sub(best, to)) ? p : best), near[0]!);
    return norm(sub(from, to)) > room ? [{ from, to }] : [];
  });
}

function bounds(points: Vec[]): [Vec, Vec] {
  const lo: Vec = [Infinity, Infinity, Infinity], hi: Vec = [-Infinity, -Infinity, -Infinity];
  for (const p of points) for (let k = 0; k < 3; k++) {
    lo[k] = Math.min(lo[k]!, p[k]!);
    hi[k] = Math.max(hi[k]!, p[k]!);
  }
  return [lo, hi];
}

export interface Extent {
  lo: Vec;
  hi: Vec;
  /** Its diagonal; never 0. */
  size: number;
  /** Points that were met, some thousands: what a camera must see. */
  points: Vec[];
  /** Height of a level floor, where the ground has one. */
  floor: number | null;
}

function floorOf(scene: Scene): number | null {
  const level = (scene.ground?.shapes ?? []).find((s) => (s.kind === "plane" || s.kind === "half_space") && Math.hypot(s.pose?.[4] ?? 0, s.pose?.[5] ?? 0) < 1e-6);
  return level ? (level.pose?.[2] ?? 0) : null;
}

/** Where nothing is known yet. */
export const UNKNOWN: Extent = { lo: [-1, -1, -1], hi: [1, 1, 1], size: 3.5, points: [[-1, -1, -1], [1, 1, 1]], floor: null };
/** How many points are kept, about. */
const KEEP = 4000;
/** Ways in which the farthest point is always kept: a stride may meet one side of every body alone. */
const DIRECTIONS: Vec[] = [-1, 0, 1].flatMap((x) => [-1, 0, 1].flatMap((y) => [-1, 0, 1].map((z): Vec => [x, y, z]))).filter((d) => norm(d) > 0);

/** The box around the whole motion, from as many frames as half a million points allow. */
export function extentOf(run: Run): Extent {
  const { scene, frames } = run;
  const points = reach(scene);
  const lo: Vec = [Infinity, Infinity, Infinity], hi: Vec = [-Infinity, -Infinity, -Infinity];
  const met: Vec[] = [], farthest = DIRECTIONS.map((): { far: number; p: Vec | null } => ({ far: -Infinity, p: null }));
  let stride = 1, seen = 0;
  const grow = (p: Vec) => {
    if (p.every(Number.isFinite)) {
      if (seen++ % stride === 0) met.push(p);
      DIRECTIONS.forEach((d, i) => {
        const far = d[0] * p[0] + d[1] * p[1] + d[2] * p[2];
        if (far > farthest[i]!.far) farthest[i] = { far, p };
      });
    }
    for (let k = 0; k < 3; k++) {
      if (!Number.isFinite(p[k])) continue;
      lo[k] = Math.min(lo[k]!, p[k]!);
      hi[k] = Math.max(hi[k]!, p[k]!);
    }
  };
  cornersOf(scene.ground?.shapes).forEach(grow);
  for (const joint of [...(scene.joints ?? []), ...(scene.links ?? [])]) {
    joint.bodies.forEach((b, k) => b === GROUND && grow(joint.on[k]!));
  }
  const total = points.reduce((n, list) => n + list.length, 0);
  const most = Math.max(3, Math.min(120, Math.floor(5e5 / Math.max(1, total)), frames.n));
  stride = Math.ceil((most * total) / KEEP);
  for (let k = 0; k < most && frames.n; k++) {
    const [poses, at] = frames.pose(Math.round((k * (frames.n - 1)) / Math.max(1, most - 1)));
    points.forEach((list, b) => {
      for (const p of list) grow(place(poses, at + 7 * b, p));
    });
  }
  if (!Number.isFinite(lo[0])) return UNKNOWN;
  met.push(...farthest.flatMap(({ p }) => (p ? [p] : [])));
  return { lo, hi, size: norm(sub(hi, lo)) || 1, points: met, floor: floorOf(scene) };
}

/** How long each body is, and how thick its bars are. */
export function bodySizes(scene: Scene): { length: number; radius: number }[] {
  return reach(scene).map((list, i) => {
    const lo = [Infinity, Infinity, Infinity], hi = [-Infinity, -Infinity, -Infinity];
    for (const p of [...list, [0, 0, 0]]) for (let k = 0; k < 3; k++) {
      lo[k] = Math.min(lo[k]!, p[k]!);
      hi[k] = Math.max(hi[k]!, p[k]!);
    }
    const bars = (scene.bodies[i]!.shapes ?? []).filter((s) => isDrawn(s) && (s.kind === "rod" || s.kind === "capsule"));
    return { length: Math.hypot(hi[0]! - lo[0]!, hi[1]! - lo[1]!, hi[2]! - lo[2]!), radius: Math.max(0, ...bars.map((s) => s.radius ?? 0)) };
  });
}

/** Size of the glyph of a joint between two bodies: by the shorter one, but seen in the whole, and thicker than its bars. */
export function glyphSize(bodies: [number, number], sizes: { length: number; radius: number }[], whole: number): number {
  const pair = bodies.map((b) => sizes[b]).filter((s) => s !== undefined);
  const lengths = pair.map((s) => s.length).filter((l) => l > 0);
  const wanted = lengths.length ? 0.075 * Math.min(...lengths) : 0.012 * whole;
  const seen = Math.min(0.003 * whole, lengths.length ? 0.12 * Math.min(...lengths) : Infinity);
  const clipped = Math.min(0.02 * whole, Math.max(seen, wanted));
  return Math.max(clipped, 1.35 * Math.max(0, ...pair.map((s) => Math.min(s.radius, 0.03 * whole))));
}

export const AT_ORIGIN: Pose = [0, 0, 0, 1, 0, 0, 0];
