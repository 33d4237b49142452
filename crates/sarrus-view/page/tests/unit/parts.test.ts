import * as THREE from "three";
import { expect, test } from "vitest";
import { Decoder } from "../../src/frames";
import { Run } from "../../src/run";
import { travel } from "../../src/draw/joints";
import { encode, gallery } from "../fixtures";
import { cornersOf, glyphSize } from "../../src/draw/extent";
import { Parts, local } from "../../src/draw/parts";
import { apart, limits, powers, steps, ticks } from "../../src/ui/scale";

test("an instance stands at the pose of its body times its own", () => {
  const parts = new Parts(new THREE.MeshBasicMaterial());
  const own = local([0.1, -0.2, 0.3], [0.5, 0.5, -0.5, 0.5], [2, 3, 4]);
  const ref = { run: 0, kind: "body" as const, index: 1 };
  parts.add("box", () => new THREE.BoxGeometry(), 1, own, "metal", ref);
  parts.add("box", () => new THREE.BoxGeometry(), -1, own, "metal", ref);
  parts.build();
  const q = new THREE.Quaternion(0.1, -0.7, 0.3, 0.5).normalize();
  parts.update(Float32Array.from([9, 9, 9, 1, 0, 0, 0, 1, 2, 3, q.w, q.x, q.y, q.z]));
  expect([parts.instances, parts.meshes]).toEqual([2, 1]);
  const mesh = parts.group.children[0] as THREE.InstancedMesh, m = new THREE.Matrix4();
  const wanted = new THREE.Matrix4().compose(new THREE.Vector3(1, 2, 3), q, new THREE.Vector3(1, 1, 1)).multiply(own);
  for (const [i, want] of [[0, wanted], [1, own]] as const) {
    mesh.getMatrixAt(i, m);
    m.elements.forEach((x, k) => expect(x).toBeCloseTo(want.elements[k]!, 5));
  }
});

test("shapes that only have mass are not drawn, and glyphs are thicker than the bars they join", () => {
  expect(cornersOf([{ kind: "sphere", radius: 1, role: "mass" }])).toEqual([]);
  expect(Math.max(...cornersOf([{ kind: "rod", length: 2, radius: 0.1, pose: [5, 0, 0, 1, 0, 0, 0] }]).map((p) => p[0]))).toBe(6);
  const sizes = [{ length: 1, radius: 0.025 }, { length: 10, radius: 0.25 }];
  expect(glyphSize([0, 1], sizes, 20)).toBeGreaterThan(0.25);
  expect(glyphSize([0, -1], sizes, 20)).toBeGreaterThan(0.025);
  expect(glyphSize([0, -1], sizes, 20)).toBeLessThan(0.5);
});

test("numbers along an axis are round, few and different, however small or narrow it is", () => {
  expect(steps(0, 2, 4)).toEqual([0, 0.5, 1, 1.5, 2]);
  expect(steps(-0.31, 0.29, 3)).toEqual([-0.2, 0, 0.2]);
  expect(powers(1e-18, 1e-3, 7)).toEqual([1e-18, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3]);
  for (const [lo, hi] of [[61.685027506710405, 61.686966301551166], [0, 1e-34], apart(12.3, 12.3), apart(0, 0)] as const) {
    const all = steps(lo, hi, 5);
    expect(all.length).toBeGreaterThan(1);
    expect(all.length).toBeLessThan(12);
    expect(new Set(ticks(null as never, all)).size).toBe(all.length);
  }
  for (const [lo, hi] of [[1e-298, 1e-280], [4.7e-34, 1e-12], [2, 3]] as const) expect(powers(lo, hi, 7).length).toBeGreaterThan(1);
});

test("limits of a plot leave room, and on a logarithmic scale look at what is positive", () => {
  expect(limits([Float64Array.from([1, NaN, 3])], false, true)).toEqual({ min: 1, max: 3 });
  expect(limits([Float64Array.from([0, 2e-13, 5e-9])], true, false)).toEqual({ min: 1e-13, max: 1e-8 });
  expect(limits([Float64Array.from([0, 0])], true, false).min).toBeGreaterThan(0);
  expect(limits([Float64Array.from([5, 5])], false, false)).toEqual({ min: 4.5, max: 5.5 });
  expect(limits([Float64Array.from([5e-324, 1])], true, false)).toEqual({ min: 1e-18, max: 1 });
  // a column that only rounding moves: an axis cannot be finer than its numbers
  for (const [lo, hi] of [[12.3, 12.3 * (1 + 2 ** -52)], [0, 0], [-1e-300, 1e-300], [1e300, 1e300]] as const) {
    const [a, b] = apart(lo, hi);
    expect(a + (b - a) / 10).toBeGreaterThan(a);
    expect(b - (b - a) / 10).toBeLessThan(b);
  }
});

test("a rail is as long as its joint slides, measured on the first body", () => {
  const { scene, samples } = gallery(), run = new Run("gallery", scene, false);
  new Decoder(run.frames).push(encode({ scene, samples }));
  const [lo, hi] = travel(scene.joints![1]!, run.frames);
  // 0.2 x 0.5 sin t over 0 … 4 s, seen in 60 frames
  expect(hi).toBeCloseTo(0.1, 3);
  expect(lo).toBeCloseTo(0.1 * Math.sin(4), 5);
  expect(travel(scene.joints![0]!, run.frames)).toEqual([0, 0]);
});
