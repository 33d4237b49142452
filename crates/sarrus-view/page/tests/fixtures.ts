// Scenes and motions with known answers, made here so that the page is tested without a simulator. Kinematics are exact;
// forces and energies are smooth made-up numbers where a test only asks whether they are drawn.

import { frameBlocks, header, join, note, type Sample } from "../src/encode";
import type { ContactPoint } from "../src/frames";
import { fromAxes, product, rotate, zTo } from "../src/math";
import type { Body, Column, Joint, Quat, Report, Scene, Shape, Vec } from "../src/protocol";

export interface Fixture {
  scene: Scene;
  samples: Sample[];
}

const FORMAT = "sarrus-view/1";
const about = (axis: Vec, a: number): Quat => [Math.cos(a / 2), ...(axis.map((x) => x * Math.sin(a / 2)) as Vec)];
const aboutZ = (a: number): Quat => about([0, 0, 1], a);

/** All frames as bytes, in blocks. */
export function encode(fixture: Fixture, per = 64, end = true): Uint8Array {
  const { scene, samples } = fixture;
  const parts = [header(scene.bodies.length, scene.columns.length)];
  for (let i = 0; i < samples.length; i += per) parts.push(frameBlocks(i, samples.slice(i, i + per)));
  if (end) parts.push(note({ type: "end", report: scene.report ?? null }));
  return join(parts);
}

/** Columns beside the samples, built up by name. */
class Table {
  readonly columns: Column[] = [];
  private readonly rules: ((t: number) => number)[] = [];
  add(name: string, unit: string, rule: (t: number) => number, hidden = false): void {
    this.columns.push(hidden ? { name, unit, hidden } : { name, unit });
    this.rules.push(rule);
  }
  at(t: number): number[] {
    return this.rules.map((rule) => rule(t));
  }
  usual(): void {
    this.add("energy.kinetic", "J", (t) => 3 + 2 * Math.sin(3 * t));
    this.add("energy.potential", "J", (t) => 1 - 2 * Math.sin(3 * t));
    this.add("energy.dissipated", "J", () => 0);
    this.add("energy.work", "J", () => 0);
    this.add("energy.balance", "J", (t) => 3e-9 * t);
    this.add("violation.position", "", (t) => 1e-13 * (1.2 + Math.sin(40 * t)));
    this.add("violation.velocity", "", (t) => 3e-12 * (1.2 + Math.sin(31 * t)));
    this.add("violation.acceleration", "", (t) => 5e-10 * (1.2 + Math.sin(27 * t)));
    this.add("run.step", "s", (t) => 1e-3 * (1.5 + Math.cos(3 * t)));
    this.add("run.sigma", "", (t) => 0.02 + 0.4 * Math.sin(2 * t) ** 2);
  }
}

export function reportOf(name: string, notUnique: string[] = []): Report {
  const item = (value: number, limit: number) => ({ value, limit, passed: value <= limit });
  return {
    model: name, version: "0.1.0", status: "completed", reason: "the end of the run was reached", t_start: 0, t_end: 2,
    method: { formulation: "proximal", stabilization: "projection", integrator: "dop853", rtol: 1e-8, atol: 1e-10, step: null,
      why: ["the 8 constraint rows are independent now but need not stay so", "drift is removed at every step"] },
    counts: { steps: 499, rejected: 118, rhs: 8503 }, wall_s: 0.0188, dof: 1, size: { bodies: 3, joints: 4 },
    constraints: { rows: 8, rank: 8, redundant: notUnique.length ? 1 : 0, rank_margin: 3.88e9, rank_method: "singular values" },
    reactions: { not_unique: notUnique }, energy: { initial: 6.23, max_drift: 3.8e-7 },
    certificate: { passed: true, position: item(3e-13, 1e-8), velocity: item(4.3e-15, 1e-7), energy: item(2e-9, 1e-6) },
    events: [{ t: 0.7, name: "half", actions: ["set mode"] }], singular: [{ t: 1.25, outcome: "passed", elements: ["A", "B"] }], notes: [],
  };
}

function rod(length: number, radius: number): Shape[] {
  return [{ kind: "rod", length, radius }];
}

/** Crank and rocker with ground pins at 0 and 1: the coupler closes the loop exactly. `faster`: the same, driven otherwise. */
export function fourBar(faster = 1): Fixture {
  const [l1, l2, l3, ground] = [0.3, 0.9, 0.6, 1];
  const solve = (t: number) => {
    const a = 0.8 + faster * Math.PI * t, B: Vec = [l1 * Math.cos(a), l1 * Math.sin(a), 0];
    const dx = ground - B[0], dy = -B[1], d = Math.hypot(dx, dy);
    const x = (d * d + l2 * l2 - l3 * l3) / (2 * d), y = Math.sqrt(l2 * l2 - x * x);
    const C: Vec = [B[0] + (x * dx - y * dy) / d, B[1] + (x * dy + y * dx) / d, 0];
    return { a, B, C, b: Math.atan2(C[1] - B[1], C[0] - B[0]), c: Math.atan2(C[1], C[0] - ground) };
  };
  const names = ["crank", "coupler", "rocker"], lengths = [l1, l2, l3];
  const bodies: Body[] = names.map((name, i) => ({ name, shapes: rod(lengths[i]!, lengths[i]! / 40) }));
  const z: [Vec, Vec] = [[0, 0, 1], [0, 0, 1]];
  const joint = (name: string, a: number, b: number, p: Vec, q: Vec): Joint => ({ name, kind: "revolute", bodies: [a, b], on: [p, q], axis_on: z, coordinates: ["angle"] });
  const table = new Table();
  names.forEach((name, i) => {
    const pose = (t: number) => poses(t).slice(7 * i, 7 * i + 7);
    table.add(`${name}.x`, "m", (t) => pose(t)[0]!);
    table.add(`${name}.y`, "m", (t) => pose(t)[1]!);
    table.add(`${name}.angle`, "rad", (t) => [solve(t).a, solve(t).b, solve(t).c][i]!);
  });
  ["A", "B", "C", "D"].forEach((name, k) => {
    table.add(`${name}.angle`, "rad", (t) => solve(t).a * (k + 1));
    table.add(`${name}.fx`, "N", (t) => 40 * Math.cos(3 * t + k));
    table.add(`${name}.fy`, "N", (t) => 30 * Math.sin(4 * t + k) + 10);
    table.add(`${name}.tz`, "N m", () => 0);
  });
  table.usual();
  function poses(t: number): number[] {
    const { a, B, C, b, c } = solve(t);
    return [B[0] / 2, B[1] / 2, 0, ...aboutZ(a), (B[0] + C[0]) / 2, (B[1] + C[1]) / 2, 0, ...aboutZ(b), (C[0] + ground) / 2, C[1] / 2, 0, ...aboutZ(c)];
  }
  const samples = Array.from({ length: 401 }, (_, i) => ({ t: i / 200, poses: poses(i / 200), columns: table.at(i / 200) }));
  const scene: Scene = {
    format: FORMAT, name: "four_bar", space: "planar", gravity: [0, -9.81, 0], t: [0, 2], bodies,
    joints: [joint("A", -1, 0, [0, 0, 0], [-l1 / 2, 0, 0]), joint("B", 0, 1, [l1 / 2, 0, 0], [-l2 / 2, 0, 0]),
      joint("C", 1, 2, [l2 / 2, 0, 0], [l3 / 2, 0, 0]), joint("D", -1, 2, [ground, 0, 0], [-l3 / 2, 0, 0])],
    view: { trace: [{ name: "coupler.mid", body: 1, on: [0, 0.15, 0] }] }, columns: table.columns, report: reportOf("four_bar"),
    events: [{ t: 0.7, name: "half", kind: "event", text: "set mode" }, { t: 1.25, name: "singular", kind: "singular", text: "passed; A, B take part" }],
  };
  return { scene, samples };
}

/** Two rods on ball joints. */
export function doublePendulum(): Fixture {
  const down = (tilt: number, turn: number): Vec => [Math.sin(tilt) * Math.cos(turn), Math.sin(tilt) * Math.sin(turn), -Math.cos(tilt)];
  const alongX = (d: Vec): Quat => product(zTo(d), about([0, 1, 0], -Math.PI / 2));
  const table = new Table();
  for (const name of ["O", "P"]) for (const [k, r] of ["fx", "fy", "fz"].entries()) table.add(`${name}.${r}`, "N", (t) => 12 * Math.sin(2 * t + k) + (k === 2 ? 20 : 0));
  table.usual();
  const at = (t: number) => {
    const u = down(0.8 + 0.3 * Math.sin(2 * t), t), l = down(0.6 + 0.5 * Math.sin(3 * t + 1), 1.3 * t);
    return [u[0] / 2, u[1] / 2, u[2] / 2, ...alongX(u), u[0] + l[0] / 2, u[1] + l[1] / 2, u[2] + l[2] / 2, ...alongX(l)];
  };
  const samples = Array.from({ length: 501 }, (_, i) => ({ t: i / 100, poses: at(i / 100), columns: table.at(i / 100) }));
  const scene: Scene = {
    format: FORMAT, name: "double_pendulum", space: "spatial", gravity: [0, 0, -9.81], t: [0, 5],
    bodies: ["upper", "lower"].map((name) => ({ name, shapes: rod(1, 0.05) })),
    joints: [{ name: "O", kind: "spherical", bodies: [-1, 0], on: [[0, 0, 0], [-0.5, 0, 0]] }, { name: "P", kind: "spherical", bodies: [0, 1], on: [[0.5, 0, 0], [-0.5, 0, 0]] }],
    view: { trace: [{ name: "lower.tip", body: 1, on: [0.5, 0, 0] }], follow: null }, columns: table.columns, report: reportOf("double_pendulum"),
  };
  return { scene, samples };
}

/** A clamped beam of four elements that swings, and a frame of two members that vibrates in its modes. */
export function flexible(): Fixture {
  const n = 5, l = 1;
  const shape = (x: number, a: number): [Vec, Quat] => [[x, 0, a * x * x], about([0, 1, 0], -Math.atan(2 * a * x))];
  const table = new Table();
  table.add("frame.a1", "m", (t) => 0.02 * Math.sin(6 * t), true);
  table.add("frame.a2", "m", (t) => 0.01 * Math.sin(17 * t), true);
  table.add("arm.end.z", "m", (t) => 0.12 * Math.sin(4 * t));
  table.usual();
  const nodes = Array.from({ length: n }, (_, i) => (i * l) / (n - 1));
  const samples = Array.from({ length: 301 }, (_, i) => {
    const t = i / 100, poses = nodes.flatMap((x) => { const [p, q] = shape(x, 0.12 * Math.sin(4 * t)); return [...p, ...q]; });
    return { t, poses: [...poses, 0, 0.8, 0, ...about([0, 0, 1], 0.4 * t)], columns: table.at(t) };
  });
  const frameNodes: Vec[] = [0, 0.25, 0.5, 0.75, 1].flatMap((s): Vec[] => [[s, 0, 0]]).concat([0.2, 0.4, 0.6].map((s): Vec => [1, 0, s]));
  const mode = (f: (p: Vec) => Vec) => frameNodes.map(f);
  const scene: Scene = {
    format: FORMAT, name: "flexible", space: "spatial", gravity: [0, 0, -9.81], t: [0, 3],
    bodies: [...nodes.map((_, i) => ({ name: `arm.node${i}`, part_of: "arm" })), { name: "frame", part_of: "frame" }],
    joints: [{ name: "clamp", kind: "fixed", bodies: [-1, 0], on: [[0, 0, 0], [0, 0, 0]] },
      { name: "post", kind: "revolute", bodies: [-1, 5], on: [[0, 0.8, 0], [0, 0, 0]], axis_on: [[0, 0, 1], [0, 0, 1]] }],
    flexible: [
      { name: "arm", kind: "beam", nodes: [0, 1, 2, 3, 4], rest: nodes.map((x) => [x, 0, 0, 1, 0, 0, 0]), section: { kind: "rectangle", width: 0.06, height: 0.02 }, about: "start" },
      { name: "frame", kind: "modal", body: 5, nodes: frameNodes, lines: [[0, 1, 2, 3, 4], [4, 5, 6, 7]], section: { kind: "tube", radius: 0.02, wall: 0.003 },
        modes: [mode((p) => [0, p[0] ** 2 + p[2], 0]), mode((p) => [p[2], 0, Math.sin(3 * p[0])])], amplitudes: ["frame.a1", "frame.a2"] },
    ],
    view: { trace: [{ name: "arm.end", body: 4, on: [0, 0, 0] }] }, columns: table.columns, report: reportOf("flexible"),
  };
  return { scene, samples };
}

/** Balls that bounce on a plane, with contact points while they touch. */
export function contacts(): Fixture {
  const radius = 0.1, table = new Table();
  for (let k = 0; k < 3; k++) table.add(`ball${k}.z`, "m", (t) => height(k, t));
  table.usual();
  function height(k: number, t: number): number {
    return radius - 0.006 + (0.5 - 0.1 * k) * Math.abs(Math.cos(4 * t + k)) ** 1.2;
  }
  const samples = Array.from({ length: 301 }, (_, i) => {
    const t = i / 100, touching: ContactPoint[] = [];
    const poses = [0, 1, 2].flatMap((k) => {
      const z = height(k, t), x = 0.4 * k + 0.1 * t;
      if (z < radius) touching.push({ contact: 0, at: [x, 0, 0], force: [5, 0, 4000 * (radius - z) + 6] });
      return [x, 0, z, ...about([0, 1, 0], t / radius / 10)];
    });
    return { t, poses, columns: table.at(t), contacts: touching };
  });
  const scene: Scene = {
    format: FORMAT, name: "contacts", space: "spatial", gravity: [0, 0, -9.81], t: [0, 3],
    ground: { shapes: [{ kind: "half_space" }] }, bodies: [0, 1, 2].map((k) => ({ name: `ball${k}`, shapes: [{ kind: "sphere", radius }] })),
    contacts: [{ name: "floor", between: "*, ground" }], columns: table.columns, report: reportOf("contacts"),
  };
  return { scene, samples };
}

/** One of each joint in a row, springs and loads; the first two joints share their reactions. */
export function gallery(): Fixture {
  const kinds = ["revolute", "prismatic", "cylindrical", "screw", "spherical", "universal", "planar", "fixed"];
  const table = new Table();
  kinds.forEach((kind, i) => ["fx", "fy", "fz", "tx", "ty", "tz"].forEach((r, k) => table.add(`${kind}.${r}`, k < 3 ? "N" : "N m", (t) => (k === 2 ? 20 : 6) * Math.sin(t + i + k))));
  table.add("push.fy", "N", (t) => 15 * Math.sin(2 * t));
  table.add("twist.tz", "N m", () => 4);
  table.usual();
  const bodies: Body[] = kinds.map((kind, i): Body => ({ name: `${kind}_body`, shapes: i % 3 === 0 ? [{ kind: "box", size: [0.4, 0.12, 0.08], pose: [0.25, 0, 0, 1, 0, 0, 0] }] : i % 3 === 1 ? [{ kind: "capsule", length: 0.4, radius: 0.03, pose: [0.25, 0, 0, 1, 0, 0, 0] }] : [{ kind: "disc", radius: 0.16, thickness: 0.04, pose: [0.3, 0, 0, 1, 0, 0, 0] }] }));
  const at = (i: number): Vec => [0.9 * (i % 4), 0.9 * Math.floor(i / 4), 0.3];
  const axis: Vec[] = [[0, 0, 1], [1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1]];
  const samples = Array.from({ length: 201 }, (_, k) => {
    const t = k / 50;
    const poses = kinds.flatMap((kind, i) => {
      const p = at(i), s = 0.5 * Math.sin(t), slides = ["prismatic", "cylindrical", "screw", "planar"].includes(kind);
      const turn = ["revolute", "spherical", "planar"].includes(kind) ? aboutZ(s) : kind === "universal" ? product(aboutZ(s), about([1, 0, 0], 0.4)) : ["cylindrical", "screw"].includes(kind) ? about([1, 0, 0], 2 * s) : aboutZ(0);
      return [p[0] + (slides ? 0.2 * s : 0), p[1], p[2], ...turn];
    });
    return { t, poses, columns: table.at(t) };
  });
  const scene: Scene = {
    format: FORMAT, name: "gallery", space: "spatial", gravity: [0, 0, -9.81], t: [0, 4], bodies,
    joints: kinds.map((kind, i) => ({ name: kind, kind, bodies: [-1, i], on: [at(i), [0, 0, 0]], axis_on: [axis[i]!, axis[i]!], ...(kind === "universal" ? { axis2_on: [[1, 0, 0], [1, 0, 0]] as [Vec, Vec] } : {}), ...(i < 2 ? { not_unique: ["fx", "fy", "fz", "tz"] } : {}) })),
    links: [{ name: "coil", kind: "spring", bodies: [-1, 0], on: [[0.45, 0.45, 0], [0.4, 0, 0]] }, { name: "piston", kind: "actuator", bodies: [-1, 5], on: [[1.2, 1.5, 0], [0.3, 0, 0]] }, { name: "strut", kind: "distance", bodies: [6, 7], on: [[0.3, 0, 0], [0, 0, 0]] }],
    loads: [{ name: "push", kind: "force", body: 2, on: [0.45, 0, 0], vector: ["", "push.fy", ""] }, { name: "twist", kind: "torque", body: 4, on: [0.3, 0, 0.04], vector: ["", "", "twist.tz"] }],
    columns: table.columns, report: reportOf("gallery", ["revolute.fx", "prismatic.fx"]),
  };
  return { scene, samples };
}

/** Bodies without shapes, as in a model that gives inertias alone. */
export function bare(): Fixture {
  const fixture = fourBar();
  fixture.scene.bodies.forEach((body) => delete body.shapes);
  fixture.scene.name = "bare";
  return fixture;
}

/** n short capsules in swinging curtains, each pinned to the one before. */
export function many(n: number, frames = 8): Fixture {
  const per = 100, length = 0.1, table = new Table();
  table.add("energy.kinetic", "J", (t) => t);
  const at = (t: number) => {
    const poses = new Float32Array(7 * n);
    for (let c = 0; c * per < n; c++) {
      let x = 0.15 * (c % 10), y = 0.6 * Math.floor(c / 10), z = 0;
      for (let k = 0; k < per && c * per + k < n; k++) {
        const a = 0.7 * Math.sin(2 * t - 0.05 * k + 0.2 * c), d: Vec = [0, Math.sin(a), -Math.cos(a)];
        const q = fromAxes(d, [1, 0, 0], [0, d[2], -d[1]]);
        poses.set([x, y + (d[1] * length) / 2, z + (d[2] * length) / 2, ...q], 7 * (c * per + k));
        y += d[1] * length;
        z += d[2] * length;
      }
    }
    return poses;
  };
  const samples = Array.from({ length: frames }, (_, i) => ({ t: i / 10, poses: at(i / 10), columns: table.at(i / 10) }));
  const scene: Scene = {
    format: FORMAT, name: `many_${n}`, space: "spatial", t: [0, (frames - 1) / 10],
    bodies: Array.from({ length: n }, (_, i) => ({ name: `link${i}`, shapes: [{ kind: "capsule", length, radius: 0.012 }] })),
    joints: Array.from({ length: n }, (_, i): Joint => ({ name: `J${i}`, kind: "spherical", bodies: [i % per ? i - 1 : -1, i],
      on: [i % per ? [length / 2, 0, 0] : [0.15 * (Math.floor(i / per) % 10), 0.6 * Math.floor(i / per / 10), 0], [-length / 2, 0, 0]] })),
    columns: table.columns,
  };
  return { scene, samples };
}

/** Where a point on a body is in a sample. */
export function worldPoint(sample: Sample, body: number, on: Vec): Vec {
  const v = rotate(sample.poses, 7 * body + 3, on);
  return [0, 1, 2].map((k) => sample.poses[7 * body + k]! + v[k]!) as Vec;
}
