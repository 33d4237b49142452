// Names beside things, and the corner that shows which way the axes go.

import * as THREE from "three";
import { h, setText, svg } from "../dom";
import type { Stage } from "./stage";

export interface Label {
  text: string;
  at: [number, number, number];
  strong: boolean;
}

const MOST = 120;

export class Labels {
  private readonly pool: HTMLElement[] = [];

  constructor(private readonly host: HTMLElement, private readonly stage: Stage) {}

  /** Shows the labels that do not cover each other, the strong ones first. */
  update(labels: Label[]): void {
    const taken: { x: number; y: number; w: number }[] = [];
    let used = 0;
    for (const label of [...labels].sort((a, b) => Number(b.strong) - Number(a.strong))) {
      const { x, y, seen } = this.stage.project(label.at);
      const w = 8 + 7 * label.text.length;
      const outside = !seen || x < 0 || y < 16 || x + w + 10 > this.stage.width || y > this.stage.height - 4;
      if (outside || used >= MOST || taken.some((o) => Math.abs(o.y - y) < 17 && x < o.x + o.w && o.x < x + w)) continue;
      taken.push({ x, y, w });
      const element = this.element(used++);
      setText(element, label.text);
      element.classList.toggle("strong", label.strong);
      element.style.transform = `translate(${Math.round(x + 10)}px, ${Math.round(y - 20)}px)`;
    }
    for (let i = used; i < this.pool.length; i++) this.pool[i]!.hidden = true;
  }

  private element(i: number): HTMLElement {
    let element = this.pool[i];
    if (!element) {
      element = h("span", { class: "name" });
      this.pool.push(element);
      this.host.append(element);
    }
    element.hidden = false;
    return element;
  }
}

/** x, y and z as seen from the camera. */
export class Compass {
  private readonly axes: { line: SVGElement; text: SVGElement; v: THREE.Vector3 }[];
  private readonly root = svg("svg", { viewBox: "-36 -36 72 72", class: "compass", "aria-hidden": "true" });

  constructor(host: HTMLElement, private readonly stage: Stage) {
    this.axes = ["x", "y", "z"].map((name, k) => {
      const line = svg("line", { x1: 0, y1: 0, class: `axis ${name}` }), text = svg("text", { class: `axis ${name}` });
      text.textContent = name;
      this.root.append(line, text);
      return { line, text, v: new THREE.Vector3(...[0, 1, 2].map((i) => Number(i === k))) };
    });
    host.append(this.root);
  }

  update(): void {
    const turn = new THREE.Quaternion().copy(this.stage.camera.quaternion).invert();
    for (const { line, text, v } of this.axes) {
      const w = v.clone().applyQuaternion(turn), short = Math.hypot(w.x, w.y) < 0.12;
      for (const [element, x, y] of [[line, "x2", "y2"], [text, "x", "y"]] as const) {
        const r = element === line ? 22 : 29;
        element.setAttribute(x, (r * w.x).toFixed(1));
        element.setAttribute(y, (-r * w.y + (element === text ? 4 : 0)).toFixed(1));
        element.toggleAttribute("hidden", short);
        element.setAttribute("opacity", short ? "0" : "1");
      }
    }
  }
}
