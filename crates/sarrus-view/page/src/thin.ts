// Fewer samples that say the same: keeps those between which interpolation misses no other by more than a tolerance.
//
// Greedy from the left: each kept sample is followed by the farthest one, up to a longest leap, for which all between
// pass. Cost: samples x longest leap x numbers. So a writer without velocities thins, for tests; the page itself never
// does, it only says what was stated.

import type { Sample } from "./encode";
import { angleBetween, slerp } from "./math";
import type { Thinning } from "./protocol";

export interface Tolerance {
  /** m */
  position: number;
  /** rad */
  angle: number;
  /** Relative to each column's largest absolute value. */
  columns: number;
}

/** The kept samples and by how much the others are missed. */
export function thin(samples: Sample[], tolerance: Tolerance, leap = 64): { kept: Sample[]; thinning: Thinning } {
  const scale = scales(samples);
  const thinning: Thinning = { kept: 0, of: samples.length, position: 0, angle: 0, columns: 0 };
  const kept = samples.slice(0, 1);
  for (let i = 0; i < samples.length - 1; ) {
    let best = i + 1, found = [0, 0, 0];
    for (let j = i + 2; j < Math.min(samples.length, i + leap + 1); j++) {
      const miss = worst(samples, i, j, scale);
      if (miss[0]! > tolerance.position || miss[1]! > tolerance.angle || miss[2]! > tolerance.columns) break;
      [best, found] = [j, miss];
    }
    thinning.position = Math.max(thinning.position, found[0]!);
    thinning.angle = Math.max(thinning.angle, found[1]!);
    thinning.columns = Math.max(thinning.columns, found[2]!);
    kept.push(samples[best]!);
    i = best;
  }
  thinning.kept = kept.length;
  return { kept, thinning };
}

function scales(samples: Sample[]): number[] {
  const n = samples[0]?.columns.length ?? 0;
  return Array.from({ length: n }, (_, c) => samples.reduce((m, s) => Math.max(m, Math.abs(s.columns[c]!) || 0), 0) || 1);
}

/** Largest miss in position, angle and columns of the samples between i and j. */
function worst(samples: Sample[], i: number, j: number, scale: number[]): number[] {
  const a = samples[i]!, b = samples[j]!, q = [0, 0, 0, 0];
  let position = 0, angle = 0, columns = 0;
  // two samples at one time are a jump: nothing may be drawn across
  if (!(b.t > a.t)) return [Infinity, Infinity, Infinity];
  for (let m = i + 1; m < j; m++) {
    const mid = samples[m]!, s = (mid.t - a.t) / (b.t - a.t);
    if (mid.t === a.t || mid.t === b.t) return [Infinity, Infinity, Infinity];
    for (let k = 0; k < mid.poses.length; k += 7) {
      let square = 0;
      for (let d = k; d < k + 3; d++) square += ((1 - s) * a.poses[d]! + s * b.poses[d]! - mid.poses[d]!) ** 2;
      position = Math.max(position, Math.sqrt(square));
      slerp(q, 0, a.poses, k + 3, b.poses, k + 3, s);
      angle = Math.max(angle, angleBetween(q, 0, mid.poses, k + 3));
    }
    for (let c = 0; c < scale.length; c++) {
      const miss = Math.abs((1 - s) * a.columns[c]! + s * b.columns[c]! - mid.columns[c]!) / scale[c]!;
      if (miss > columns) columns = miss;
    }
  }
  return [position, angle, columns];
}
