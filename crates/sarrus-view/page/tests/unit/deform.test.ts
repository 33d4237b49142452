import { describe, expect, test } from "vitest";
import { beamNodes, modalNodes } from "../../src/draw/deform";
import { hermite } from "../../src/draw/sweep";
import { product, rotate } from "../../src/math";
import type { Beam, Modal, Pose, Quat, Vec } from "../../src/protocol";

const about = (axis: Vec, a: number): Quat => [Math.cos(a / 2), ...(axis.map((x) => x * Math.sin(a / 2)) as Vec)];
const nodes = [0, 1, 2, 3], rest = nodes.map((x): Pose => [x, 0, 0, 1, 0, 0, 0]);
const beam = (about: NonNullable<Beam["about"]>): Beam => ({ name: "b", kind: "beam", nodes, rest, section: { kind: "circle", radius: 0.1 }, about });

function drawn(b: Beam, poses: number[], factor: number): { p: Vec[]; x: Vec[] } {
  const p = new Float32Array(12), q = new Float32Array(16);
  beamNodes(b, Float32Array.from(poses), factor, p, q);
  return { p: nodes.map((i) => [p[3 * i]!, p[3 * i + 1]!, p[3 * i + 2]!]), x: nodes.map((i) => rotate(q, 4 * i, [1, 0, 0])) };
}

const near = (a: ArrayLike<number>, b: ArrayLike<number>, digits = 5) => Array.from(a).forEach((v, k) => expect(v).toBeCloseTo(b[k]!, digits));

describe("amplified deformation", () => {
  const turn = product(about([0, 0, 1], 0.7), about([1, 0, 0], 0.3));
  const moved = rest.flatMap((r) => [...rotate(turn, 0, [r[0], r[1], r[2]]).map((v, k) => v + [5, -2, 1][k]!), ...turn]);
  // z = 0.02 x^2, nodes turned by the slope
  const bent = nodes.flatMap((x) => [x, 0, 0.02 * x * x, ...about([0, 1, 0], -Math.atan(0.04 * x))]);

  test.each(["start", "end", "chord"] as const)("a rigid motion stays as it is, about the %s", (which) => {
    const { p } = drawn(beam(which), moved, 100);
    p.forEach((v, i) => near(v, moved.slice(7 * i, 7 * i + 3), 3));
  });

  test("by one is what the bodies are", () => {
    drawn(beam("chord"), bent, 1).p.forEach((v, i) => near(v, bent.slice(7 * i, 7 * i + 3)));
  });

  test("about the start it is that much of the deflection, with slopes that fit", () => {
    const { p, x } = drawn(beam("start"), bent, 5);
    nodes.forEach((s) => {
      near(p[s]!, [s, 0, 0.1 * s * s]);
      expect(x[s]![2] / x[s]![0]).toBeCloseTo(0.2 * s, 5);
    });
  });

  test("about the chord both ends keep their places", () => {
    const { p } = drawn(beam("chord"), bent, 5);
    near(p[0]!, [0, 0, 0]);
    // the chord is longer than the beam was by 3 / cos - 3 = 0.0054, and that is amplified too, along it
    expect(p[3]![2] / p[3]![0]).toBeCloseTo(0.06, 4);
    expect(p[1]![2]).toBeLessThan(0.02 - 0.1);
  });

  test("modes add up, times the factor, on the body's frame", () => {
    const modal: Modal = { name: "m", kind: "modal", body: 0, nodes: [[0, 0, 0], [1, 0, 0]], lines: [[0, 1]], section: { kind: "circle", radius: 1 },
      modes: [[[0, 0, 0], [0, 1, 0]], [[0, 0, 0], [0, 0, 2]]], amplitudes: ["a", "b"] };
    const pose = Float32Array.from([10, 0, 0, ...about([0, 0, 1], Math.PI / 2)]);
    const [first, second] = modalNodes(modal, [0.1, 0.2], pose, 3);
    near(first!, [10, 0, 0]);
    near(second!, [10 - 0.3, 1, 1.2]);
  });
});

test("the swept line follows an arc to fourth order", () => {
  const worst = (n: number): number => {
    const p = new Float32Array(3 * (n + 1)), q = new Float32Array(4 * (n + 1));
    for (let i = 0; i <= n; i++) {
      const a = (Math.PI * i) / n;
      p.set([Math.sin(a), 1 - Math.cos(a), 0], 3 * i);
      q.set(about([0, 0, 1], a), 4 * i);
    }
    let miss = 0;
    for (let e = 0; e < n; e++) for (const s of [0.25, 0.5, 0.75]) {
      const [x, y] = hermite(p, q, e, s);
      miss = Math.max(miss, Math.abs(Math.hypot(x, y - 1) - 1));
    }
    return miss;
  };
  // tangents as long as the chord: the radius is missed by h^4 / 384 and some
  expect(worst(4)).toBeLessThan(5e-3);
  expect(worst(4) / worst(8)).toBeGreaterThan(12);
});
