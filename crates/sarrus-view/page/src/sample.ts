// What a run is at a time between its frames: poses by their velocities, columns linearly.

import { between } from "./between";
import type { ContactPoint, Frames } from "./frames";

/** The frame at or before `t`, and how far to the next, 0 … 1. Where two frames share a time, the later one. */
export function locate(times: Float64Array, t: number): [number, number] {
  const n = times.length;
  if (n === 0) return [0, 0];
  if (!(t > times[0]!)) return [last(times, times[0]!, 0), 0];
  if (t >= times[n - 1]!) return [n - 1, 0];
  let lo = 0, hi = n - 1;
  while (hi - lo > 1) {
    const mid = (lo + hi) >> 1;
    if (times[mid]! <= t) lo = mid;
    else hi = mid;
  }
  return [lo, (t - times[lo]!) / (times[lo + 1]! - times[lo]!)];
}

function last(times: Float64Array, t: number, i: number): number {
  while (i + 1 < times.length && times[i + 1] === t) i++;
  return i;
}

/** The frame nearest to `t`. */
export function nearest(times: Float64Array, t: number): number {
  const [i, s] = locate(times, t);
  return s > 0.5 ? i + 1 : i;
}

/** Poses of all bodies at `t`, seven numbers each, into `out`. */
export function posesAt(frames: Frames, t: number, out: Float32Array): void {
  const [i, s] = locate(frames.t(), t);
  const [a, at] = frames.pose(i);
  const n = 7 * frames.bodies;
  if (s === 0) {
    out.set(a.subarray(at, at + n));
    return;
  }
  between(frames, i, s, out);
}

/** A column at `t`; exactly the sample where there is one. */
export function columnAt(frames: Frames, column: number, t: number): number {
  const values = frames.column(column);
  const [i, s] = locate(frames.t(), t);
  if (values.length === 0) return NaN;
  return s === 0 ? values[i]! : (1 - s) * values[i]! + s * values[i + 1]!;
}

/** Contact points of the frame nearest to `t`: they come and go, so there is nothing between. */
export function contactsAt(frames: Frames, t: number): ContactPoint[] {
  return frames.n && frames.hasContacts ? frames.contacts(nearest(frames.t(), t)) : [];
}
