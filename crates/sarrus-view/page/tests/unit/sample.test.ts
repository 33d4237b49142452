import { describe, expect, test } from "vitest";
import { frameBlocks, header, join, type Sample } from "../../src/encode";
import { Decoder, Frames } from "../../src/frames";
import { angleBetween, fromAxes, rotate, slerp, zTo } from "../../src/math";
import type { Quat, Vec } from "../../src/protocol";
import { columnAt, locate, nearest, posesAt } from "../../src/sample";

const about = (axis: Vec, a: number): Quat => [Math.cos(a / 2), ...(axis.map((x) => x * Math.sin(a / 2)) as Vec)];

function framesOf(samples: Sample[]): Frames {
  const frames = new Frames();
  new Decoder(frames).push(join([header(samples[0]!.poses.length / 7, samples[0]!.columns.length), frameBlocks(0, samples)]));
  return frames;
}

describe("slerp", () => {
  const axis: Vec = [2 / 3, -1 / 3, 2 / 3];
  test.each([1e-6, 0.01, 0.5, 2, 3])("turns evenly about one axis, by %s rad", (angle) => {
    for (const s of [0, 0.25, 0.5, 0.9, 1]) {
      const q = [0, 0, 0, 0];
      slerp(q, 0, about(axis, 0.4), 0, about(axis, 0.4 + angle), 0, s);
      // the chord below 0.03 rad is off by less than angle^3 / 100
      expect(angleBetween(q, 0, about(axis, 0.4 + s * angle), 0)).toBeLessThan(1e-7);
    }
  });

  test("goes the short way where the signs differ", () => {
    const q = [0, 0, 0, 0], end = about([0, 0, 1], 0.6).map((x) => -x);
    slerp(q, 0, about([0, 0, 1], 0), 0, end, 0, 0.5);
    expect(angleBetween(q, 0, about([0, 0, 1], 0.3), 0)).toBeLessThan(1e-12);
  });
});

test("frames of axes turn x, y and z there", () => {
  for (const z of [[0, 0, 1], [0, 0, -1], [1, 0, 0], [0.6, 0, -0.8], [-0.36, 0.48, -0.8]] as Vec[]) {
    rotate(zTo(z), 0, [0, 0, 1]).forEach((x, k) => expect(x).toBeCloseTo(z[k]!, 12));
  }
  for (const [x, y, z] of [[[0, 1, 0], [0, 0, 1], [1, 0, 0]], [[-1, 0, 0], [0, -1, 0], [0, 0, 1]], [[1, 0, 0], [0, -1, 0], [0, 0, -1]], [[-1, 0, 0], [0, 1, 0], [0, 0, -1]]] as [Vec, Vec, Vec][]) {
    const q = fromAxes(x, y, z);
    [[x, [1, 0, 0]], [y, [0, 1, 0]], [z, [0, 0, 1]]].forEach(([to, from]) => rotate(q, 0, from as Vec).forEach((v, k) => expect(v).toBeCloseTo(to![k]!, 12)));
  }
});

describe("between frames", () => {
  const times = Float64Array.from([0, 1, 1, 3]);
  test("the frame before is found, and of two at one time the later", () => {
    expect(locate(times, -5)).toEqual([0, 0]);
    expect(locate(times, 0.25)).toEqual([0, 0.25]);
    expect(locate(times, 1)).toEqual([2, 0]);
    expect(locate(times, 2)).toEqual([2, 0.5]);
    expect(locate(times, 9)).toEqual([3, 0]);
    expect([nearest(times, 0.4), nearest(times, 2.5)]).toEqual([0, 3]);
    expect(locate(Float64Array.from([0, 0, 1]), 0)).toEqual([1, 0]);
  });

  const frames = framesOf([
    { t: 0, poses: [0, 0, 0, ...about([0, 0, 1], 0), 1, 1, 1, 1, 0, 0, 0], columns: [0.1] },
    { t: 2, poses: [4, 2, 0, ...about([0, 0, 1], 1), 1, 1, 1, 1, 0, 0, 0], columns: [0.3] },
  ]);

  test("positions go straight and orientations turn", () => {
    const out = new Float32Array(14);
    posesAt(frames, 0.5, out);
    expect(Array.from(out.subarray(0, 3))).toEqual([1, 0.5, 0]);
    expect(angleBetween(out, 3, about([0, 0, 1], 0.25), 0)).toBeLessThan(1e-6);
    expect(Array.from(out.subarray(7))).toEqual([1, 1, 1, 1, 0, 0, 0]);
  });

  test("columns are exactly the samples where there are any", () => {
    expect([columnAt(frames, 0, 0), columnAt(frames, 0, 2), columnAt(frames, 0, 7)]).toEqual([0.1, 0.3, 0.3]);
    expect(columnAt(frames, 0, 1)).toBeCloseTo(0.2, 15);
    expect(columnAt(frames, 5, 1)).toBeNaN();
  });
});

describe("with velocities", () => {
  const wheel = (rate: number, radius: number): Frames => framesOf([0, 1].map((t) => ({
    t,
    poses: [radius * Math.cos(rate * t), radius * Math.sin(rate * t), 0, ...about([0, 0, 1], rate * t)],
    rates: [-radius * rate * Math.sin(rate * t), radius * rate * Math.cos(rate * t), 0, 0, 0, rate],
    columns: [],
  })));

  test("arcs are followed to the fourth order", () => {
    for (const angle of [0.5, 0.9]) {
      const out = new Float32Array(7);
      posesAt(wheel(angle, 1), 0.5, out);
      const miss = Math.hypot(out[0]! - Math.cos(angle / 2), out[1]! - Math.sin(angle / 2)), exact = angle ** 4 / 384;
      expect(Math.abs(miss / exact - 1)).toBeLessThan(0.1);
      expect(angleBetween(out, 3, about([0, 0, 1], angle / 2), 0)).toBeLessThan(1e-6);
    }
  });

  test.each([3, 3.3, 0.7, -2.5])("a body that rotates by %s revolutions between two frames is seen to", (turns) => {
    const out = new Float32Array(7), rate = 2 * Math.PI * turns;
    posesAt(wheel(rate, 0), 0.25, out);
    expect(angleBetween(out, 3, about([0, 0, 1], rate / 4), 0)).toBeLessThan(1e-5);
  });

  test("a pin between two bodies stays closed", () => {
    // two bars of 1 m: the second hangs on the end of the first
    const a = (t: number) => 1.3 * Math.sin(2 * t), b = (t: number) => 2 - 3 * t;
    const da = (t: number) => 2.6 * Math.cos(2 * t), db = -3;
    const samples = Array.from({ length: 11 }, (_, i) => {
      const t = 0.1 * i, end = [Math.cos(a(t)), Math.sin(a(t))];
      return {
        t,
        poses: [0, 0, 0, ...about([0, 0, 1], a(t)), end[0]! + Math.cos(b(t)), end[1]! + Math.sin(b(t)), 0, ...about([0, 0, 1], b(t))],
        rates: [0, 0, 0, 0, 0, da(t), -end[1]! * da(t) - Math.sin(b(t)) * db, end[0]! * da(t) + Math.cos(b(t)) * db, 0, 0, 0, db],
        columns: [],
      };
    });
    const gap = (frames: Frames) => {
      let widest = 0;
      const out = new Float32Array(14);
      for (let t = 0; t < 1; t += 0.007) {
        posesAt(frames, t, out);
        const p = rotate(out, 3, [1, 0, 0]), q = rotate(out, 10, [-1, 0, 0]);
        widest = Math.max(widest, Math.hypot(p[0] - out[7]! - q[0], p[1] - out[8]! - q[1]));
      }
      return widest;
    };
    expect(gap(framesOf(samples))).toBeLessThan(1e-4);
    // what straight lines leave open
    expect(gap(framesOf(samples.map(({ rates: _, ...sample }) => sample)))).toBeGreaterThan(1e-2);
  });
});
