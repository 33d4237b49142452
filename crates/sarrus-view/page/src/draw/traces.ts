// Traces of points: the whole path faint, the part gone so far strong. Lines with a width, in pixels.

import * as THREE from "three";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import { between } from "../between";
import type { Run } from "../run";
import { locate } from "../sample";
import { lineColor, type Name } from "../theme";
import { place } from "./extent";

/** Points of a trace, at most. */
const MOST = 4000;
/** Points between two frames, at most, and poses that they are computed from. */
const PARTS = 8, POSES = 200_000;

export class Traces {
  readonly group = new THREE.Group();
  private lines: { whole: Line2; gone: Line2; tip: THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>; perFrame: number }[] = [];
  private frames = -1;
  private name: Name = "light";

  constructor(private readonly run: Run, private readonly place: number, private readonly size: number) {}

  get any(): boolean {
    return (this.run.scene.view?.trace ?? []).length > 0;
  }

  paint(name: Name): void {
    this.name = name;
    this.lines.forEach(({ whole, gone, tip }, i) => {
      for (const line of [whole, gone, tip]) line.material.color.set(lineColor(1 + i + this.place, name));
    });
  }

  resize(width: number, height: number): void {
    for (const { whole, gone } of this.lines) for (const l of [whole, gone]) l.material.resolution.set(width, height);
  }

  update(poses: Float32Array, t: number, width: number, height: number): void {
    const { frames } = this.run;
    if (!this.any || frames.n < 2) return;
    if (frames.n !== this.frames) {
      this.build();
      this.resize(width, height);
    }
    const [i, s] = locate(frames.t(), t);
    this.lines.forEach(({ gone, tip, perFrame }, k) => {
      const { body, on } = this.run.scene.view!.trace![k]!;
      gone.geometry.instanceCount = Math.max(0, Math.floor((i + s) * perFrame));
      tip.position.set(...place(poses, 7 * body, on));
    });
  }

  private build(): void {
    const { frames, scene } = this.run;
    this.frames = frames.n;
    this.group.clear();
    for (const { whole, gone } of this.lines) {
      whole.geometry.dispose();
      gone.geometry.dispose();
    }
    const stride = Math.ceil(frames.n / MOST);
    // frames are far apart where velocities say what is between them
    const parts = Math.max(1, Math.min(PARTS, Math.floor(Math.min(MOST / frames.n, POSES / (frames.n * frames.bodies)))));
    const traced = scene.view?.trace ?? [], paths: number[][] = traced.map(() => []), poses = new Float32Array(7 * frames.bodies);
    for (let f = 0; f < frames.n; f += stride) {
      for (let part = 0; part < (f + 1 < frames.n ? parts : 1); part++) {
        if (part === 0) poses.set(frames.pose(f)[0].subarray(frames.pose(f)[1], frames.pose(f)[1] + poses.length));
        else between(frames, f, part / parts, poses);
        traced.forEach((trace, k) => paths[k]!.push(...place(poses, trace.body < 0 ? -1 : 7 * trace.body, trace.on)));
      }
    }
    this.lines = paths.map((points) => {
      const line = (linewidth: number, opacity: number) => {
        const geometry = new LineGeometry();
        geometry.setPositions(points);
        const made = new Line2(geometry, new LineMaterial({ linewidth, transparent: opacity < 1, opacity }));
        made.frustumCulled = false;
        made.raycast = () => {};
        this.group.add(made);
        return made;
      };
      const tip = new THREE.Mesh(new THREE.SphereGeometry(0.006 * this.size, 14, 8), new THREE.MeshBasicMaterial());
      this.group.add(tip);
      return { whole: line(1.2, 0.35), gone: line(2.4, 1), tip, perFrame: parts / stride };
    });
    this.paint(this.name);
  }
}
