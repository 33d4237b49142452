// Small vector and quaternion arithmetic on plain arrays. Quaternions are scalar first: w x y z.

import type { Quat, Vec } from "./protocol";

type Numbers = ArrayLike<number>;

export function sub(a: Vec, b: Vec): Vec {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

export function add(a: Vec, b: Vec, s = 1): Vec {
  return [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
}

export function dot(a: Vec, b: Vec): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

export function cross(a: Vec, b: Vec): Vec {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

export function norm(a: Vec): number {
  return Math.hypot(a[0], a[1], a[2]);
}

/** The unit vector along `a`, or `otherwise` where `a` has no length. */
export function unit(a: Vec, otherwise: Vec = [1, 0, 0]): Vec {
  const n = norm(a);
  return n > 0 ? [a[0] / n, a[1] / n, a[2] / n] : otherwise;
}

/** `v` turned by the quaternion at place `i` of `q`. */
export function rotate(q: Numbers, i: number, v: Vec): Vec {
  const w = q[i]!, x = q[i + 1]!, y = q[i + 2]!, z = q[i + 3]!;
  const tx = 2 * (y * v[2] - z * v[1]), ty = 2 * (z * v[0] - x * v[2]), tz = 2 * (x * v[1] - y * v[0]);
  return [
    v[0] + w * tx + y * tz - z * ty,
    v[1] + w * ty + z * tx - x * tz,
    v[2] + w * tz + x * ty - y * tx,
  ];
}

export function product(a: Quat, b: Quat): Quat {
  return [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
  ];
}

export function conjugate(q: Quat): Quat {
  return [q[0], -q[1], -q[2], -q[3]];
}

/** Slerp the short way from the quaternion at `a[i]` to that at `b[j]`, into `out[k]`. */
export function slerp(out: Float32Array | number[], k: number, a: Numbers, i: number, b: Numbers, j: number, s: number): void {
  let c = a[i]! * b[j]! + a[i + 1]! * b[j + 1]! + a[i + 2]! * b[j + 2]! + a[i + 3]! * b[j + 3]!;
  const sign = c < 0 ? -1 : 1;
  c *= sign;
  let u = 1 - s, v = s;
  // below 3e-2 rad the chord is as good as the arc, once it has length 1 again
  if (c < 0.9999) {
    const angle = Math.acos(Math.min(1, c)), sine = Math.sin(angle);
    u = Math.sin((1 - s) * angle) / sine;
    v = Math.sin(s * angle) / sine;
  }
  v *= sign;
  const w = u * a[i]! + v * b[j]!, x = u * a[i + 1]! + v * b[j + 1]!;
  const y = u * a[i + 2]! + v * b[j + 2]!, z = u * a[i + 3]! + v * b[j + 3]!;
  const n = 1 / (Math.hypot(w, x, y, z) || 1);
  out[k] = w * n;
  out[k + 1] = x * n;
  out[k + 2] = y * n;
  out[k + 3] = z * n;
}

/** Angle between two orientations. */
export function angleBetween(a: Numbers, i: number, b: Numbers, j: number): number {
  // by the chord, which keeps its digits where the cosine loses them
  let minus = 0, plus = 0;
  for (let k = 0; k < 4; k++) {
    minus += (a[i + k]! - b[j + k]!) ** 2;
    plus += (a[i + k]! + b[j + k]!) ** 2;
  }
  return 4 * Math.asin(Math.min(1, Math.sqrt(Math.min(minus, plus)) / 2));
}

/** The quaternion of the frame whose axes are x, y, z: unit vectors at right angles. */
export function fromAxes(x: Vec, y: Vec, z: Vec): Quat {
  const trace = x[0] + y[1] + z[2];
  if (trace > 0) {
    const s = 2 * Math.sqrt(1 + trace);
    return [s / 4, (y[2] - z[1]) / s, (z[0] - x[2]) / s, (x[1] - y[0]) / s];
  }
  if (x[0] > y[1] && x[0] > z[2]) {
    const s = 2 * Math.sqrt(1 + x[0] - y[1] - z[2]);
    return [(y[2] - z[1]) / s, s / 4, (y[0] + x[1]) / s, (z[0] + x[2]) / s];
  }
  if (y[1] > z[2]) {
    const s = 2 * Math.sqrt(1 + y[1] - x[0] - z[2]);
    return [(z[0] - x[2]) / s, (y[0] + x[1]) / s, s / 4, (z[1] + y[2]) / s];
  }
  const s = 2 * Math.sqrt(1 + z[2] - x[0] - y[1]);
  return [(x[1] - y[0]) / s, (z[0] + x[2]) / s, (z[1] + y[2]) / s, s / 4];
}

/** The shortest turn that brings z to `axis`. */
export function zTo(axis: Vec): Quat {
  const a = unit(axis, [0, 0, 1]);
  if (a[2] < -0.999999) return [0, 1, 0, 0];
  const w = Math.sqrt((1 + a[2]) / 2);
  return [w, -a[1] / (2 * w), a[0] / (2 * w), 0];
}
