// The picture: all runs on one stage, at the player's time. Draws only when something changed.

import * as THREE from "three";
import { el, setText } from "./dom";
import { UNKNOWN, extentOf, place, type Extent } from "./draw/extent";
import { Grid } from "./draw/grid";
import { Compass, Labels, type Label } from "./draw/labels";
import { sameRef, type Ref } from "./draw/parts";
import { pick } from "./draw/pick";
import { Stage } from "./draw/stage";
import { World, type Show } from "./draw/world";
import { fmt, fmtLength } from "./format";
import type { Player } from "./player";
import type { Vec } from "./protocol";
import { themeOf, type Name } from "./theme";

/** Pointer travel [px] up to which a press is a click. */
const STILL = 5;

export class View {
  readonly stage: Stage;
  readonly show: Show = {
    bodies: true, joints: true, reactions: false, forces: true, traces: true, frames: false, grid: true, names: false, deformation: 1, arrows: 1,
  };
  worlds: World[] = [];
  selected: Ref | null = null;
  /** What one frame cost, apart from the graphics driver [ms], and the making of all meshes. */
  readonly cost = { build: 0, update: 0, render: 0 };
  private extent: Extent = UNKNOWN;
  private grid: Grid | null = null;
  private readonly labels: Labels;
  private readonly compass: Compass;
  private readonly scale = document.createElement("p");
  private follow: number | null = null;
  private followed: Vec | null = null;
  private dirty = true;
  private looked = 0;

  constructor(private readonly player: Player, private name: Name, private readonly picked: (ref: Ref | null) => void) {
    const host = el("view");
    this.stage = new Stage(host, player.runs[0]?.scene.space === "planar", () => (this.dirty = true));
    this.labels = new Labels(el("labels"), this.stage);
    this.compass = new Compass(el("corner"), this.stage);
    el("corner").append(this.scale);
    player.onChange(() => (this.dirty = true));
    new ResizeObserver(() => (this.dirty = true)).observe(host);
    this.listen();
  }

  private listen(): void {
    const canvas = this.stage.renderer.domElement;
    let down: [number, number] | null = null;
    canvas.addEventListener("pointerdown", (e) => (down = [e.clientX, e.clientY]));
    canvas.addEventListener("pointerup", (e) => {
      if (!down || Math.hypot(e.clientX - down[0], e.clientY - down[1]) > STILL) return;
      const rect = canvas.getBoundingClientRect();
      this.picked(pick(this.stage, this.worlds, e.clientX - rect.left, e.clientY - rect.top, this.extent.size));
    });
  }

  /** Makes everything anew: at the start, and when the motion has outgrown what was seen. */
  private build(extent: Extent): void {
    this.extent = extent;
    for (const old of [...this.worlds.map((w) => w.group), ...(this.grid ? [this.grid.group] : [])]) this.stage.drop(old);
    this.worlds = this.player.runs.map((run, i) => new World(run, i, this.extent));
    this.grid = new Grid(this.extent, this.stage.planar);
    this.stage.scene.add(this.grid.group, ...this.worlds.map((w) => w.group));
    this.paint(this.name);
  }

  /** More frames came: a motion that left the box is fitted again, as long as nobody has moved the camera. */
  grown(): void {
    // looking at all of it costs as much as there is: again only after a tenth more, and at the end
    const frames = this.player.runs.reduce((n, r) => n + r.frames.n, 0), ended = this.player.runs.every((r) => r.ended);
    if (frames === this.looked || (frames < 1.1 * this.looked && !ended)) return;
    this.looked = frames;
    const begin = performance.now();
    const now = this.player.runs.filter((r) => r.frames.n > 0).map(extentOf);
    if (!now.length) return;
    const all = now.reduce(joined), room = 0.02 * this.extent.size;
    const outgrown = [0, 1, 2].some((k) => all.lo[k]! < this.extent.lo[k]! - room || all.hi[k]! > this.extent.hi[k]! + room);
    if (outgrown || !this.worlds.length) {
      this.build(all);
      if (!this.stage.touched) this.home();
      this.cost.build = performance.now() - begin;
    }
    this.dirty = true;
  }

  /** The camera that the model asks for, or one that sees all of the motion. */
  home(): void {
    this.stage.resize();
    const camera = this.player.runs[0]?.scene.view?.camera;
    if (camera) {
      const to = new THREE.Vector3(...camera.to);
      if (this.stage.planar) this.stage.fit(this.extent);
      else this.stage.lookFrom(new THREE.Vector3(...camera.from), to, this.extent.size);
    } else this.fit();
    this.setFollow(this.player.runs[0]?.scene.view?.follow ?? null);
  }

  fit(): void {
    this.stage.resize();
    this.stage.fit(this.extent);
    this.followed = null;
    this.dirty = true;
  }

  get following(): number | null {
    return this.follow;
  }

  setFollow(body: number | null): void {
    this.follow = body;
    this.followed = null;
    this.dirty = true;
  }

  select(ref: Ref | null): void {
    this.selected = ref;
    this.paint(this.name);
  }

  paint(name: Name): void {
    this.name = name;
    this.stage.paint(themeOf(name));
    this.grid?.paint(themeOf(name));
    this.worlds.forEach((w) => w.paint(name, this.selected));
    this.dirty = true;
  }

  changed(): void {
    this.dirty = true;
  }

  /** Draws, if there is reason to. */
  frame(): boolean {
    if (this.stage.resize()) this.dirty = true;
    if (!this.dirty || !this.worlds.length) return false;
    this.dirty = false;
    const begin = performance.now();
    if (this.grid) this.grid.group.visible = this.show.grid;
    for (const world of this.worlds) world.update(this.player.t, this.show, this.stage.width, this.stage.height);
    this.goAlong();
    const middle = performance.now();
    this.stage.render();
    this.cost.update = middle - begin;
    this.cost.render = performance.now() - middle;
    this.labels.update(this.texts());
    this.compass.update();
    setText(this.scale, this.legend());
    return true;
  }

  private goAlong(): void {
    const poses = this.worlds[0]?.poses;
    if (this.follow === null || !poses) return;
    const now: Vec = [poses[7 * this.follow]!, poses[7 * this.follow + 1]!, poses[7 * this.follow + 2]!];
    if (this.followed) this.stage.shift([now[0] - this.followed[0], now[1] - this.followed[1], now[2] - this.followed[2]]);
    this.followed = now;
  }

  private legend(): string {
    const parts = this.show.grid && this.grid ? [`grid ${fmtLength(this.grid.spacing)}`] : [];
    const world = this.worlds[0];
    const scene = world?.run.scene;
    const arrows = this.show.reactions || (this.show.forces && ((scene?.loads?.length ?? 0) > 0 || (scene?.contacts?.length ?? 0) > 0));
    if (world && arrows && this.grid) {
      const { force } = world.forces.perMetre();
      parts.push(`an arrow as long as a grid square: ${fmt((force * this.grid.spacing) / this.show.arrows, 3)} N`);
    }
    if (this.show.deformation !== 1) parts.push(`deformation × ${+this.show.deformation.toPrecision(2)}`);
    return parts.join(" · ");
  }

  private texts(): Label[] {
    return this.worlds.slice(0, 1).flatMap((world) => {
      const { scene } = world.run, labels: Label[] = [];
      const add = (text: string, at: Vec, ref: Ref) => {
        const strong = sameRef(ref, this.selected);
        if (strong || this.show.names) labels.push({ text, at, strong });
      };
      (scene.joints ?? []).forEach((j, index) => add(j.name, place(world.poses, 7 * j.bodies[0], j.on[0]), { run: 0, kind: "joint", index }));
      scene.bodies.forEach((b, index) => b.part_of || add(b.name, place(world.poses, 7 * index, [0, 0, 0]), { run: 0, kind: "body", index }));
      if (this.show.frames) {
        scene.bodies.forEach((b, index) => (b.markers ?? []).forEach((m) => add(`${b.name}.${m.name}`, place(world.poses, 7 * index, m.on), { run: 0, kind: "body", index: NaN })));
        (scene.ground?.markers ?? []).forEach((m) => add(m.name, m.on, { run: 0, kind: "body", index: NaN }));
      }
      return labels.length > 600 ? labels.filter((l, i) => l.strong || i < 600) : labels;
    });
  }
}

function joined(a: Extent, b: Extent): Extent {
  const lo = a.lo.map((x, k) => Math.min(x, b.lo[k]!)) as Vec, hi = a.hi.map((x, k) => Math.max(x, b.hi[k]!)) as Vec;
  return { lo, hi, size: Math.hypot(hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]) || 1, points: [...a.points, ...b.points], floor: a.floor ?? b.floor };
}
