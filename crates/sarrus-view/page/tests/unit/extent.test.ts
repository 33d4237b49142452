import { expect, test } from "vitest";
import { extentOf, loose } from "../../src/draw/extent";
import { frameBlocks, header, join } from "../../src/encode";
import { Decoder } from "../../src/frames";
import { FORMAT, type Scene } from "../../src/protocol";
import { Run } from "../../src/run";

/** A run whose bodies stand still, upright, at these places. */
function still(scene: Partial<Scene>, at: number[][], frames = 2): Run {
  const run = new Run("still", { format: FORMAT, name: "still", space: "spatial", bodies: [], columns: [], ...scene }, false);
  const poses = at.flatMap((p) => [...p, 1, 0, 0, 0]);
  const samples = Array.from({ length: frames }, (_, t) => ({ t, poses, columns: [] }));
  new Decoder(run.frames).push(join([header(at.length, 0), frameBlocks(0, samples)]));
  return run;
}

test("a body without shapes reaches from its origin to its joints, though these never move", () => {
  const top = still({ bodies: [{ name: "top" }], joints: [{ name: "O", kind: "spherical", bodies: [-1, 0], on: [[0, 0, 0], [0, -1, 0]], coordinates: [] }] }, [[0, 1, 0]]);
  const { lo, hi, size } = extentOf(top);
  expect([lo, hi, size]).toEqual([[0, 0, 0], [0, 1, 0], 1]);
});

test("the lowest of many balls is among the points that the camera must see, however many frames there are", () => {
  const bodies = Array.from({ length: 8 }, (_, i) => ({ name: `ball${i}`, shapes: [{ kind: "sphere", radius: 0.5 }] }));
  for (const frames of [2, 40, 97, 120]) {
    const run = still({ bodies }, bodies.map((_, i) => [i, 0, 3 + i]), frames), { points } = extentOf(run);
    expect(Math.min(...points.map((p) => p[2]))).toBeCloseTo(2.5, 6);
    expect(Math.max(...points.map((p) => p[0]))).toBeCloseTo(7.5, 6);
  }
});

test("joints off a body's shapes are told from those on them", () => {
  const scene = still({
    bodies: [{ name: "bob", shapes: [{ kind: "sphere", radius: 0.1 }] }],
    joints: [[0, 0, 1], [0.05, 0, 0.05], [0.105, 0, 0]].map((on, i) => ({ name: `J${i}`, kind: "revolute", bodies: [-1, 0], on: [[0, 0, 0], on as [number, number, number]], coordinates: [] })),
  }, [[0, 0, 0]]).scene;
  expect(loose(scene, 0, 0.01)).toEqual([{ from: [0, 0, 0.1], to: [0, 0, 1] }]);
});
