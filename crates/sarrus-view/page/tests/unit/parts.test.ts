import * as THREE from "three";
import { expect, test } from "vitest";
import { cornersOf, glyphSize } from "../../src/draw/extent";
import { Parts, local } from "../../src/draw/parts";
import { limits } from "../../src/ui/plot";

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

test("limits of a plot leave room, and on a logarithmic scale look at what is positive", () => {
  expect(limits([Float64Array.from([1, NaN, 3])], false, true)).toEqual({ min: 1, max: 3 });
  expect(limits([Float64Array.from([0, 2e-13, 5e-9])], true, false)).toEqual({ min: 1e-13, max: 1e-8 });
  expect(limits([Float64Array.from([0, 0])], true, false).min).toBeGreaterThan(0);
  expect(limits([Float64Array.from([5, 5])], false, false)).toEqual({ min: 4.5, max: 5.5 });
});
