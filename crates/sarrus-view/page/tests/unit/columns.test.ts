import { describe, expect, test } from "vitest";
import { columnsOf, matches, readyPanels, uniqueness } from "../../src/columns";
import { frameBlocks, header, join } from "../../src/encode";
import { exact, fittingSpeed, fmt, fmtLength, nice } from "../../src/format";
import { Decoder } from "../../src/frames";
import { Run } from "../../src/run";
import { fourBar } from "../fixtures";

describe("columns", () => {
  const { scene } = fourBar(), run = new Run("four_bar", scene, false);

  test("filters take words in any order, and stars", () => {
    expect(matches("crank.tip.x", "tip crank")).toBe(true);
    expect(matches("crank.tip.x", "CRANK")).toBe(true);
    expect(matches("crank.tip.x", "*.x")).toBe(true);
    expect(matches("crank.tip.vx", "*.x")).toBe(false);
    expect(matches("A.fx", "A.f*")).toBe(true);
    expect(matches("Axfx", "A.f*")).toBe(false);
    expect(matches("anything", "")).toBe(true);
    expect(matches("a(b", "a(*")).toBe(true);
  });

  test("an element has the columns of its own name, not of names that begin alike", () => {
    const columns = ["A", "A.fx", "AB.fx", "A.tip.x"].map((name) => ({ name, unit: "" }));
    expect(columnsOf(columns, "A").map((c) => c.name)).toEqual(["A", "A.fx", "A.tip.x"]);
    expect(columnsOf([{ name: "A.a1", unit: "", hidden: true }], "A")).toEqual([]);
  });

  test("ready panels name what there is, and say what is missing", () => {
    const panels = Object.fromEntries(readyPanels(run, "C").map((p) => [p.key, p]));
    expect(panels["reactions"]!.columns).toEqual(["C.fx", "C.fy", "C.tz"]);
    expect(panels["constraints"]!.columns.length).toBe(3);
    expect(panels["sigma"]!.columns).toEqual(["run.sigma"]);
    const without = new Run("x", { ...scene, columns: [], joints: [] }, false);
    for (const panel of readyPanels(without, null)) expect([panel.columns.length, panel.missing.length > 10]).toEqual([0, true]);
  });

  test("uniqueness is said either way", () => {
    expect(uniqueness(scene.joints![0])).toMatch(/^Unique/);
    expect(uniqueness({ ...scene.joints![0]!, not_unique: ["fx"] })).toMatch(/^Not unique: fx\./);
  });
});

test("values are shown in the unit of their column", () => {
  const { scene, samples } = fourBar(), columns = scene.columns.map((c, i) => (i === 0 ? { ...c, unit: "mm", scale: 1000 } : c));
  const run = new Run("x", { ...scene, columns }, false), name = columns[0]!.name;
  expect([run.scale(name), run.scale(columns[1]!.name), run.scale("nothing")]).toEqual([1000, 1, 1]);
  new Decoder(run.frames).push(join([header(samples[0]!.poses.length / 7, samples[0]!.columns.length), frameBlocks(0, samples)]));
  const t = samples[0]!.t;
  expect(run.shown(name, t)).toBeCloseTo(1000 * run.value(name, t), 9);
});

test("numbers are written with their digits", () => {
  expect([fmt(0), fmt(-1.5, 3), fmt(1e-13, 2), fmt(NaN), fmt(Infinity), fmt(123456, 3)]).toEqual(["0", "−1.50", "1.0e−13", "–", "∞", "1.23e5"]);
  for (const x of [0.1, 1 / 3, 1e-300, 123456789.123]) expect(Number(exact(x))).toBe(x);
  expect([nice(0.3), nice(7), nice(10), nice(0.02)]).toEqual([0.2, 5, 10, 0.02]);
  expect([fmtLength(0.1), fmtLength(2), fmtLength(2e-5)]).toEqual(["100 mm", "2 m", "20 µm"]);
  expect([fittingSpeed(10), fittingSpeed(0.02), fittingSpeed(4000)]).toEqual([1, 0.002, 500]);
});
