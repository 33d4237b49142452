// Scales of plots: limits, and where the numbers along an axis stand.

import type uPlot from "uplot";
import { fmt } from "../format";

/** Decades that a logarithmic scale shows at most: what is smaller still is rounding. */
const MOST_DECADES = 18;

const power = (p: number) => Number(`1e${p}`);

/** Least and largest, with room; on a logarithmic scale powers of ten around the positive ones. */
export function limits(lists: Float64Array[], log: boolean, tight: boolean): { min: number; max: number } {
  let lo = Infinity, hi = -Infinity;
  for (const list of lists) for (const v of list) {
    if (!Number.isFinite(v) || (log && v <= 0)) continue;
    if (v < lo) lo = v;
    if (v > hi) hi = v;
  }
  if (!Number.isFinite(lo)) return log ? { min: 1e-16, max: 1 } : { min: 0, max: 1 };
  if (log) {
    const top = Math.min(300, Math.max(-280, Math.ceil(Math.log10(hi))));
    return { min: power(Math.min(top - 1, Math.max(top - MOST_DECADES, Math.floor(Math.log10(lo))))), max: power(top) };
  }
  const room = hi > lo ? (tight ? 0 : 0.06 * (hi - lo)) : Math.abs(hi) * 0.1 || 1;
  const [min, max] = apart(lo - room, hi + room);
  return { min, max };
}

/** The same limits, or ones that are far enough apart for numbers along the axis to differ. */
export function apart(lo: number, hi: number): [number, number] {
  const least = 1e-7 * Math.max(Math.abs(lo), Math.abs(hi)) || 1e-280;
  if (hi - lo >= least) return [lo, hi];
  const middle = lo / 2 + hi / 2;
  return [middle - least / 2, middle + least / 2];
}

/** About so many numbers from lo to hi, 1, 2 or 5 times a power of ten apart. */
export function steps(lo: number, hi: number, count: number): number[] {
  const rough = (hi - lo) / count;
  if (!(rough > 0) || !Number.isFinite(rough)) return [lo];
  const p = Math.floor(Math.log10(rough)), m = rough / 10 ** p;
  const [factor, exponent] = m < 1.5 ? [1, p] : m < 3.5 ? [2, p] : m < 7.5 ? [5, p] : [1, p + 1];
  const step = Number(`${factor}e${exponent}`);
  const first = Math.ceil(lo / step - 1e-9), last = Math.floor(hi / step + 1e-9);
  return Array.from({ length: Math.min(100, last - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(14)));
}

/** Powers of ten from lo to hi, at most so many. */
export function powers(lo: number, hi: number, most: number): number[] {
  const first = Math.ceil(Math.log10(lo) - 1e-9), last = Math.floor(Math.log10(hi) + 1e-9);
  const stride = Math.max(1, Math.ceil((last - first + 1) / most));
  const all: number[] = [];
  for (let p = last; p >= first; p -= stride) all.unshift(power(p));
  // zoomed in between two powers: then as on any scale
  return all.length > 1 ? all : steps(lo, hi, 4).filter((v) => v > 0);
}

export function ticks(_u: uPlot, splits: (number | null)[]): string[] {
  return splits.map((v) => {
    if (v === null) return "";
    if (v !== 0 && (Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3)) return fmt(v, 2).replace(/\.0e/, "e");
    return String(+v.toPrecision(9)).replace("-", "−");
  });
}
