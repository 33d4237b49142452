// One run, drawn.

import * as THREE from "three";
import type { Vec } from "../protocol";
import type { Run } from "../run";
import { posesAt } from "../sample";
import type { Name } from "../theme";
import { addBodies } from "./bodies";
import { bodySizes, type Extent } from "./extent";
import { Flexible } from "./flexible";
import { Forces } from "./forces";
import { triad } from "./grid";
import { addJoints } from "./joints";
import { Links } from "./links";
import { Parts, local, solid, type Ref } from "./parts";
import { Traces } from "./traces";

/** What is shown, and how large. */
export interface Show {
  bodies: boolean;
  joints: boolean;
  reactions: boolean;
  forces: boolean;
  traces: boolean;
  frames: boolean;
  grid: boolean;
  names: boolean;
  /** Factor on deformations, and on arrows. */
  deformation: number;
  arrows: number;
}

export class World {
  readonly group = new THREE.Group();
  readonly poses: Float32Array;
  readonly flexible: Flexible;
  readonly forces: Forces;
  readonly traces: Traces;
  private readonly bodies: Parts;
  private readonly joints: Parts;
  private readonly links: Links;
  private triads: Parts | null = null;
  private selected: Ref | null = null;
  private name: Name = "light";

  constructor(readonly run: Run, private readonly place: number, private readonly extent: Extent) {
    const { scene } = run;
    this.poses = new Float32Array(7 * scene.bodies.length);
    const material = solid(place > 0);
    this.bodies = new Parts(material);
    this.joints = new Parts(material);
    addBodies(this.bodies, scene, place, extent);
    addJoints(this.joints, run, place, extent);
    this.bodies.build();
    this.joints.build();
    this.flexible = new Flexible(run, place, extent.size);
    this.links = new Links(scene, place, extent);
    this.forces = new Forces(run, place, extent);
    this.traces = new Traces(run, place, extent.size);
    this.group.add(this.bodies.group, this.joints.group, this.flexible.group, this.links.group, this.traces.group);
    this.group.add(this.forces.reactions, this.forces.others);
  }

  /** How many instances are drawn by how many meshes. */
  get counts(): { instances: number; meshes: number } {
    return { instances: this.bodies.instances + this.joints.instances, meshes: this.bodies.meshes + this.joints.meshes };
  }

  update(t: number, show: Show, width: number, height: number): void {
    if (this.run.frames.n === 0) return;
    posesAt(this.run.frames, t, this.poses);
    this.bodies.group.visible = show.bodies;
    this.joints.group.visible = show.joints;
    this.traces.group.visible = show.traces;
    this.bodies.update(this.poses);
    if (show.joints) this.joints.update(this.poses);
    this.flexible.update(this.poses, t, show.deformation);
    this.links.update(this.poses);
    this.forces.update(this.poses, t, { reactions: show.reactions, others: show.forces, size: show.arrows });
    if (show.traces) this.traces.update(this.poses, t, width, height);
    if (show.frames && !this.triads) this.addTriads();
    if (this.triads) {
      this.triads.group.visible = show.frames;
      if (show.frames) this.triads.update(this.poses);
    }
  }

  private addTriads(): void {
    this.triads = new Parts(new THREE.MeshBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
    const sizes = bodySizes(this.run.scene);
    const add = (body: number, l: number, at: Vec = [0, 0, 0]) =>
      this.triads!.add("triad", triad, body, local(at, [1, 0, 0, 0], [l, l, l]), { hex: 0xffffff }, { run: this.place, kind: "body", index: body });
    sizes.forEach((s, i) => add(i, Math.min(0.06 * this.extent.size, Math.max(0.015 * this.extent.size, 0.3 * s.length))));
    add(-1, 0.08 * this.extent.size);
    // markers as smaller ones
    const markers = [this.run.scene.ground ?? {}, ...this.run.scene.bodies].map((b) => b.markers ?? []);
    markers.forEach((list, i) => list.forEach((m) => add(i - 1, 0.012 * this.extent.size, m.on)));
    this.triads.build();
    this.triads.group.renderOrder = 2;
    this.triads.paint(this.name, null);
    this.group.add(this.triads.group);
  }

  paint(name: Name, selected: Ref | null): void {
    this.name = name;
    this.selected = selected;
    this.bodies.paint(name, this.selected);
    this.joints.paint(name, this.selected);
    this.triads?.paint(name, null);
    this.flexible.paint(name, selected);
    this.traces.paint(name);
    for (const segments of [...this.links.all, ...this.forces.all]) segments.paint(name, selected);
  }
}
