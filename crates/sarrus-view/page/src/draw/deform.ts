// Deformation made larger: a beam's nodes, or a modal body's, moved away from the rest shape by a factor.
//
// The rest shape is first carried rigidly to where the member is (R, d): by the pose of one end, or so that both ends'
// chord fits. What is left, u = p - (R r + d) and the turn Q (R q)^-1, is multiplied.

import { add, conjugate, cross, dot, fromAxes, norm, product, rotate, sub, unit } from "../math";
import type { Beam, Modal, Quat, Vec } from "../protocol";
import { place } from "./extent";

const vec = (a: ArrayLike<number>, i: number): Vec => [a[i]!, a[i + 1]!, a[i + 2]!];
const quat = (a: ArrayLike<number>, i: number): Quat => [a[i]!, a[i + 1]!, a[i + 2]!, a[i + 3]!];

/** Nodes of a beam, deformed by `factor` times what they are, into positions and section frames. */
export function beamNodes(beam: Beam, poses: Float32Array, factor: number, p: Float32Array, q: Float32Array): void {
  const carried = factor === 1 ? null : rigid(beam, poses);
  beam.nodes.forEach((body, i) => {
    let at = vec(poses, 7 * body), turn = quat(poses, 7 * body + 3);
    if (carried) {
      const rest = beam.rest[i]!;
      const home = add(rotate(carried.turn, 0, vec(rest, 0)), carried.shift);
      at = add(home, sub(at, home), factor);
      const straight = product(carried.turn, quat(rest, 3));
      turn = product(steeper(product(turn, conjugate(straight)), factor), straight);
    }
    const frame = beam.frames?.[i];
    p.set(at, 3 * i);
    q.set(frame ? product(turn, frame) : turn, 4 * i);
  });
}

/** The rigid motion from the rest shape to where the beam is. */
function rigid(beam: Beam, poses: Float32Array): { turn: Quat; shift: Vec } {
  const last = beam.nodes.length - 1;
  const end = beam.about === "end" ? last : 0, body = 7 * beam.nodes[end]!, rest = beam.rest[end]!;
  let turn = product(quat(poses, body + 3), conjugate(quat(rest, 3)));
  if (beam.about !== "start" && beam.about !== "end") {
    const chord = sub(vec(beam.rest[last]!, 0), vec(rest, 0));
    const now = sub(vec(poses, 7 * beam.nodes[last]!), vec(poses, body));
    if (norm(chord) > 0 && norm(now) > 0) turn = product(between(rotate(turn, 0, chord), now), turn);
  }
  return { turn, shift: sub(vec(poses, body), rotate(turn, 0, vec(rest, 0))) };
}

/** The shortest turn from one direction to another. */
function between(a: Vec, b: Vec): Quat {
  const [x, y] = [unit(a), unit(b)];
  const c = cross(x, y), w = 1 + dot(x, y);
  if (w < 1e-9) return [0, ...unit(cross(x, Math.abs(x[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]))];
  const n = Math.hypot(w, ...c);
  return [w / n, c[0] / n, c[1] / n, c[2] / n];
}

/** A turn about the same axis whose tangent is `factor` times as large: so slopes go with displacements, which are. */
function steeper(q: Quat, factor: number): Quat {
  const s = q[0] < 0 ? -1 : 1, sine = Math.hypot(q[1], q[2], q[3]);
  if (sine < 1e-12) return [1, 0, 0, 0];
  const angle = 2 * Math.atan2(sine, s * q[0]);
  const half = Math.atan2(factor * Math.sin(angle), Math.cos(angle)) / 2;
  const k = (s * Math.sin(half)) / sine;
  return [Math.cos(half), k * q[1], k * q[2], k * q[3]];
}

/** Nodes of a modal body in the world: rest + factor x sum of amplitude x mode, carried by its frame. */
export function modalNodes(modal: Modal, amplitudes: number[], poses: Float32Array, factor: number): Vec[] {
  return modal.nodes.map((rest, n) => {
    let at = rest;
    amplitudes.forEach((a, k) => {
      const u = modal.modes[k]?.[n];
      if (u && Number.isFinite(a)) at = add(at, u, factor * a);
    });
    return place(poses, 7 * modal.body, at);
  });
}

/** Frames along a chain of points, x along it, each turned as little as can be from the one before. */
export function chainFrames(points: Vec[], up: Vec, p: Float32Array, q: Float32Array): void {
  let z = up;
  points.forEach((at, i) => {
    const x = unit(sub(points[Math.min(points.length - 1, i + 1)]!, points[Math.max(0, i - 1)]!));
    let y = cross(z, x);
    if (norm(y) < 1e-6) y = cross(Math.abs(x[2]) < 0.9 ? [0, 0, 1] : [0, 1, 0], x);
    y = unit(y);
    z = cross(x, y);
    p.set(at, 3 * i);
    q.set(fromAxes(x, y, z), 4 * i);
  });
}
