import { expect, test } from "vitest";
import type { Sample } from "../../src/encode";
import { angleBetween, slerp } from "../../src/math";
import { thin } from "../../src/thin";
import { fourBar } from "../fixtures";

test("what is stated about a thinned run holds for every sample that was left out", () => {
  const { samples } = fourBar(), tolerance = { position: 1e-4, angle: 1e-3, columns: 1e-2 };
  const { kept, thinning } = thin(samples, tolerance);
  expect(thinning.of).toBe(401);
  expect(thinning.kept).toBe(kept.length);
  expect(kept.length).toBeLessThan(200);
  let position = 0, angle = 0;
  for (const sample of samples) {
    const j = Math.max(1, kept.findIndex((k) => k.t >= sample.t)), a = kept[j - 1]!, b = kept[j]!, s = (sample.t - a.t) / (b.t - a.t), q = [0, 0, 0, 0];
    for (let k = 0; k < 21; k += 7) {
      position = Math.max(position, Math.hypot(...[0, 1, 2].map((d) => (1 - s) * a.poses[k + d]! + s * b.poses[k + d]! - sample.poses[k + d]!)));
      slerp(q, 0, a.poses, k + 3, b.poses, k + 3, s);
      angle = Math.max(angle, angleBetween(q, 0, sample.poses, k + 3));
    }
  }
  expect(position).toBeLessThanOrEqual(thinning.position * (1 + 1e-9));
  expect(angle).toBeLessThanOrEqual(thinning.angle * (1 + 1e-9));
  expect(thinning.position).toBeLessThanOrEqual(tolerance.position);
  expect(thinning.position).toBeGreaterThan(0);
});

test("a smaller tolerance keeps more, as the square root of it", () => {
  const { samples } = fourBar();
  const count = (position: number) => thin(samples, { position, angle: 1, columns: 10 }).kept.length;
  // linear interpolation misses by h^2: a hundredth of the error takes ten times the samples, up to rounding of leaps
  expect(count(1e-4) / count(1e-2)).toBeGreaterThan(5);
  expect(count(1e-4) / count(1e-2)).toBeLessThan(15);
});

test("what stands still needs its ends alone, and a jump keeps both sides", () => {
  const still = (t: number, x: number): Sample => ({ t, poses: [x, 0, 0, 1, 0, 0, 0], columns: [] });
  const rest = Array.from({ length: 50 }, (_, i) => still(i, 1));
  expect(thin(rest, { position: 1e-9, angle: 1e-9, columns: 1 }).kept.map((s) => s.t)).toEqual([0, 49]);
  const jump = [still(0, 0), still(1, 0), still(1, 5), still(2, 5), still(3, 5)];
  expect(thin(jump, { position: 1e-9, angle: 1e-9, columns: 1 }).kept.map((s) => [s.t, s.poses[0]])).toEqual([[0, 0], [1, 0], [1, 5], [3, 5]]);
  // even one that the tolerance would let pass: what jumps in the run must not slide in the page
  const small = [still(0, 0), still(1, 0), still(1, 1e-4), still(2, 1e-4)];
  expect(thin(small, { position: 1e-3, angle: 1, columns: 1 }).kept.map((s) => s.t)).toEqual([0, 1, 1, 2]);
});
