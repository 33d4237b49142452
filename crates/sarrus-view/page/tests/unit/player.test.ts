import { expect, test } from "vitest";
import { Decoder } from "../../src/frames";
import { Player } from "../../src/player";
import { Run } from "../../src/run";
import { encode, fourBar, type Fixture } from "../fixtures";

function playerOf(fixture: Fixture, live = false, bytes = encode(fixture)): Player {
  const run = new Run("r", fixture.scene, live);
  run.status = live ? "computing" : "done";
  new Decoder(run.frames).push(bytes);
  return new Player([run]);
}

test("at rest the time is always that of a sample", () => {
  const player = playerOf(fourBar());
  player.seek(0.4037);
  expect(player.t).toBe(81 / 200);
  player.stepBy(1);
  expect(player.t).toBe(82 / 200);
  player.stepBy(-1000);
  expect(player.t).toBe(0);
  player.seek(99);
  expect(player.t).toBe(2);
});

test("playing goes by real time and speed, and loops or stops", () => {
  const player = playerOf(fourBar());
  player.toggle();
  player.advance(0.5);
  player.faster(1);
  expect(player.speed).toBe(2);
  player.advance(0.25);
  expect(player.t).toBeCloseTo(1, 12);
  player.advance(0.75);
  expect(player.t).toBeCloseTo(0.5, 12);
  player.loop = false;
  player.advance(5);
  expect([player.t, player.playing]).toEqual([2, false]);
  player.toggle();
  expect(player.t).toBe(0);
});

test("while a run is going, playing waits for what is not computed yet", () => {
  const fixture = fourBar();
  const player = playerOf({ ...fixture, samples: fixture.samples.slice(0, 101) }, true);
  expect(player.span).toEqual([0, 0.5]);
  expect(player.until).toBe(2);
  player.playing = true;
  player.advance(10);
  expect([player.t, player.playing]).toEqual([0.5, true]);
});

test("notes tell how far a run is and how it ended", () => {
  const run = new Run("r", fourBar().scene, true);
  run.note({ type: "progress", t: 0.3, t_end: 2 });
  expect([run.reached, run.until, run.ended]).toEqual([0.3, 2, false]);
  run.note({ type: "failure", message: "no step at 0.3 s", hint: "try a smaller one" });
  expect([run.status, run.failure]).toEqual(["failed", "no step at 0.3 s (try a smaller one)"]);
});
