import { describe, expect, test } from "vitest";
import { frameBlocks, header, join, note } from "../../src/encode";
import { Decoder, Frames } from "../../src/frames";
import type { Note } from "../../src/protocol";
import { contacts, encode, fourBar } from "../fixtures";

function decode(pieces: Uint8Array[]): { frames: Frames; notes: Note[]; decoder: Decoder } {
  const frames = new Frames(), notes: Note[] = [];
  const decoder = new Decoder(frames, (n) => notes.push(n));
  pieces.forEach((piece) => decoder.push(piece));
  return { frames, notes, decoder };
}

describe("decoding", () => {
  const fixture = fourBar(), bytes = encode(fixture);

  test("gives back times, columns and poses to the last bit", () => {
    const { frames, notes, decoder } = decode([bytes]);
    expect(decoder.complete).toBe(true);
    expect(Array.from(frames.t())).toEqual(fixture.samples.map((s) => s.t));
    fixture.scene.columns.forEach((_, c) => expect(Array.from(frames.column(c))).toEqual(fixture.samples.map((s) => s.columns[c])));
    fixture.samples.forEach((sample, i) => {
      const [data, at] = frames.pose(i);
      expect(Array.from(data.subarray(at, at + 21))).toEqual(Array.from(Float32Array.from(sample.poses)));
    });
    expect(notes).toEqual([{ type: "end", report: fixture.scene.report }]);
  });

  test("does not depend on how the bytes are cut", () => {
    const cut = [1, 7, 64, 1000].map((n) => Array.from({ length: Math.ceil(bytes.length / n) }, (_, i) => bytes.slice(i * n, (i + 1) * n)));
    for (const pieces of cut) {
      const { frames, decoder } = decode(pieces);
      expect(frames.n).toBe(401);
      expect(frames.column(3)[400]).toBe(fixture.samples[400]!.columns[3]);
      expect(decoder.complete).toBe(true);
    }
  });

  test("knows when the bytes end in the middle of a block", () => {
    expect(decode([bytes.slice(0, -1)]).decoder.complete).toBe(false);
  });

  test("takes frames that come twice only once", () => {
    const { scene, samples } = fixture;
    const start = [header(3, scene.columns.length), frameBlocks(0, samples.slice(0, 50))];
    const { frames } = decode([join([...start, frameBlocks(30, samples.slice(30, 80)), frameBlocks(10, samples.slice(10, 20))])]);
    expect(Array.from(frames.t())).toEqual(samples.slice(0, 80).map((s) => s.t));
    const [data, at] = frames.pose(60);
    expect(data[at]).toBe(Math.fround(samples[60]!.poses[0]!));
  });

  test("skips blocks that it does not know", () => {
    const strange = note({ type: "end" });
    strange.set([0x4e, 0x45, 0x57, 0x21]);
    const { frames, notes } = decode([join([header(3, fixture.scene.columns.length), strange, frameBlocks(0, fixture.samples.slice(0, 2))])]);
    expect([frames.n, notes.length]).toEqual([2, 0]);
  });

  test("says what is wrong with bytes that are none of ours", () => {
    expect(() => decode([new TextEncoder().encode("<!doctype html><html lang=en></html>")])).toThrow("not frames of Sarrus");
    const newer = header(1, 1);
    newer[4] = 2;
    expect(() => decode([newer])).toThrow("version 2");
    expect(() => decode([join([header(2, 0), frameBlocks(0, fixture.samples.slice(0, 3))])])).toThrow("where 3 frames take");
    expect(() => decode([join([header(3, fixture.scene.columns.length), frameBlocks(5, fixture.samples.slice(5, 8))])])).toThrow("frame 5 comes after");
  });

  test("keeps velocities with their frames, also where these come twice", () => {
    const samples = [0, 1, 2, 3].map((t) => ({ t, poses: [t, 0, 0, 1, 0, 0, 0], rates: [1, 0, 0, 0, 0, t], columns: [] }));
    const bytes = [header(1, 0), frameBlocks(0, samples.slice(0, 2)), frameBlocks(0, samples.slice(0, 2)), frameBlocks(2, samples.slice(2))];
    const { frames } = decode([join(bytes)]);
    expect([0, 1, 2, 3].map((i) => { const [data, at] = frames.rates(i)!; return data[at + 5]; })).toEqual([0, 1, 2, 3]);
    expect(frames.rates(4)).toBeUndefined();
    expect(decode([bytes[0]!, frameBlocks(0, samples.map(({ rates: _, ...s }) => s))]).frames.rates(0)).toBeUndefined();
  });

  test("keeps contact points with their frames", () => {
    const balls = contacts(), { frames } = decode([encode(balls)]);
    const touching = balls.samples.map((s, i) => [i, s.contacts!] as const).filter(([, c]) => c.length);
    expect(touching.length).toBeGreaterThan(10);
    for (const [i, points] of touching) {
      expect(frames.contacts(i).length).toBe(points.length);
      expect(frames.contacts(i)[0]!.force[2]).toBe(Math.fround(points[0]!.force[2]));
    }
    expect(frames.contacts(balls.samples.findIndex((s) => !s.contacts!.length))).toEqual([]);
  });
});
