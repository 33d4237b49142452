// Traces of points: the whole path faint, the part gone so far strong. Lines with a width, in pixels.

import * as THREE from "three";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import type { Run } from "../run";
import { locate } from "../sample";
import { lineColor, type Name } from "../theme";
import { place } from "./extent";

/** Points of a trace, at most. */
const MOST = 4000;

export class Traces {
  readonly group = new THREE.Group();
  private lines: { whole: Line2; gone: Line2; tip: THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>; stride: number }[] = [];
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
    const [i] = locate(frames.t(), t);
    this.lines.forEach(({ gone, tip, stride }, k) => {
      const { body, on } = this.run.scene.view!.trace![k]!;
      gone.geometry.instanceCount = Math.max(0, Math.floor(i / stride));
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
    this.lines = (scene.view?.trace ?? []).map((trace) => {
      const points: number[] = [];
      for (let f = 0; f < frames.n; f += stride) {
        const [poses, at] = frames.pose(f);
        points.push(...place(poses, trace.body < 0 ? -1 : at + 7 * trace.body, trace.on));
      }
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
      return { whole: line(1.2, 0.35), gone: line(2.4, 1), tip, stride };
    });
    this.paint(this.name);
  }
}
