// Poses between two frames: cubic in time, with the velocities at both ends, so that joints stay closed to the fourth order of the
// time between frames. `src/between.rs` is the same in Rust: by it frames are chosen. Nothing is allocated per body.

import type { Frames } from "./frames";
import { slerp } from "./math";

/** Rotations beyond which positions go straight (rad): there a cubic follows no arc. */
const FAR = 2;

/** The poses of all bodies the part `s` of the way from frame `i` to the next, seven numbers each, into `out`. */
export function between(frames: Frames, i: number, s: number, out: Float32Array): void {
  const times = frames.t(), h = times[i + 1]! - times[i]!;
  const [a, at] = frames.pose(i), [b, bt] = frames.pose(i + 1);
  const first = frames.rates(i), next = frames.rates(i + 1);
  for (let body = 0; body < frames.bodies; body++) {
    const k = 7 * body, r = 6 * body;
    if (!first || !next || !known(first[0], first[1] + r) || !known(next[0], next[1] + r)) {
      for (let d = 0; d < 3; d++) out[k + d] = (1 - s) * a[at + k + d]! + s * b[bt + k + d]!;
      slerp(out, k + 3, a, at + k + 3, b, bt + k + 3, s);
      continue;
    }
    const [va, wa, vb, wb] = [first[1] + r, first[1] + r + 3, next[1] + r, next[1] + r + 3];
    const far = turn(out, k + 3, a, at + k + 3, first[0], wa, b, bt + k + 3, next[0], wb, h, s);
    for (let d = 0; d < 3; d++) {
      const x = a[at + k + d]!, y = b[bt + k + d]!;
      out[k + d] = far ? (1 - s) * x + s * y : cubic(x, h * first[0][va + d]!, y, h * next[0][vb + d]!, s);
    }
  }
}

/** Whether six numbers are all there. */
function known(data: Float32Array, at: number): boolean {
  return Number.isFinite(data[at]! + data[at + 1]! + data[at + 2]! + data[at + 3]! + data[at + 4]! + data[at + 5]!);
}

/** The cubic with values `a`, `b` and slopes `da`, `db` at 0 and 1. */
function cubic(a: number, da: number, b: number, db: number, u: number): number {
  const v = 1 - u;
  return v * v * ((1 + 2 * u) * a + u * da) + u * u * ((1 + 2 * v) * b - v * db);
}

/**
 * The orientation between `a[i]` and `b[j]`, with the angular velocities `wa[k]` and `wb[l]` in world axes, into `out[o]`: a cubic rotation
 * vector from the first. Returns whether it goes farther than `FAR`.
 */
function turn(
  out: Float32Array, o: number, a: Float32Array, i: number, wa: Float32Array, k: number, b: Float32Array, j: number, wb: Float32Array, l: number, h: number, s: number,
): boolean {
  // the shortest rotation vector: of b a*
  const aw = a[i]!, ax = a[i + 1]!, ay = a[i + 2]!, az = a[i + 3]!, bw = b[j]!, bx = b[j + 1]!, by = b[j + 2]!, bz = b[j + 3]!;
  const w = bw * aw + bx * ax + by * ay + bz * az;
  let x = -bw * ax + bx * aw - by * az + bz * ay, y = -bw * ay + bx * az + by * aw - bz * ax, z = -bw * az - bx * ay + by * ax + bz * aw;
  const sine = Math.sqrt(x * x + y * y + z * z), sign = w < 0 ? -1 : 1;
  let angle = 2 * Math.atan2(sine, Math.abs(w));
  const scale = sine > 1e-12 ? (sign * angle) / sine : 2 * sign;
  x *= scale, y *= scale, z *= scale;

  // that of the same rotation which is nearest to the mean of the angular velocities: by how many revolutions it goes
  const ux = h * wa[k]!, uy = h * wa[k + 1]!, uz = h * wa[k + 2]!, vx = h * wb[l]!, vy = h * wb[l + 1]!, vz = h * wb[l + 2]!;
  const mx = (ux + vx) / 2, my = (uy + vy) / 2, mz = (uz + vz) / 2, mean = Math.sqrt(mx * mx + my * my + mz * mz);
  if (angle > 1e-3 || mean >= Math.PI) {
    const own = angle > 1e-3, n = 1 / (own ? angle : mean);
    const ex = (own ? x : mx) * n, ey = (own ? y : my) * n, ez = (own ? z : mz) * n;
    angle += 2 * Math.PI * Math.round((mx * ex + my * ey + mz * ez - angle) / (2 * Math.PI));
    x = ex * angle, y = ey * angle, z = ez * angle;
    angle = Math.abs(angle);
  }

  // its derivative at the end: w - 1/2 phi x w + c phi x (phi x w)
  const far = angle > FAR;
  let dx = vx, dy = vy, dz = vz;
  if (!far) {
    const c = angle < 1e-2 ? 1 / 12 : (1 - (angle * (1 + Math.cos(angle))) / (2 * Math.sin(angle))) / (angle * angle);
    const px = y * vz - z * vy, py = z * vx - x * vz, pz = x * vy - y * vx;
    dx += c * (y * pz - z * py) - px / 2;
    dy += c * (z * px - x * pz) - py / 2;
    dz += c * (x * py - y * px) - pz / 2;
  }
  x = cubic(0, ux, x, dx, s), y = cubic(0, uy, y, dy, s), z = cubic(0, uz, z, dz, s);

  // and the first orientation rotated by it
  const half = Math.sqrt(x * x + y * y + z * z) / 2, f = half > 1e-12 ? Math.sin(half) / (2 * half) : 0.5, c = Math.cos(half);
  x *= f, y *= f, z *= f;
  out[o] = c * aw - x * ax - y * ay - z * az;
  out[o + 1] = c * ax + x * aw + y * az - z * ay;
  out[o + 2] = c * ay - x * az + y * aw + z * ax;
  out[o + 3] = c * az + x * ay - y * ax + z * aw;
  return far;
}
