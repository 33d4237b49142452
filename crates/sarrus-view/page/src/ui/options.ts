// What is shown: a list of switches, and factors for deformations and arrows.

import { h, setText } from "../dom";
import type { Show } from "../draw/world";

export type Switch = Exclude<keyof Show, "deformation" | "arrows">;

export const SWITCHES: { key: Switch; letter: string; text: string }[] = [
  { key: "bodies", letter: "b", text: "Bodies" },
  { key: "joints", letter: "j", text: "Joints" },
  { key: "reactions", letter: "r", text: "Reactions" },
  { key: "forces", letter: "c", text: "Loads and contacts" },
  { key: "traces", letter: "t", text: "Traces" },
  { key: "frames", letter: "a", text: "Frames of bodies" },
  { key: "names", letter: "n", text: "Names" },
  { key: "grid", letter: "g", text: "Grid" },
];

export class Options {
  private readonly boxes = new Map<Switch, HTMLInputElement>();

  constructor(host: HTMLElement, private readonly show: Show, private readonly changed: () => void, flexible: boolean) {
    for (const { key, letter, text } of SWITCHES) {
      const box = h("input", { type: "checkbox", id: `show-${key}`, change: () => this.set(key, box.checked) });
      this.boxes.set(key, box);
      host.append(h("label", {}, box, text, h("kbd", {}, letter)));
    }
    host.append(this.slider("arrows", "Arrows", -1, 1));
    if (flexible) host.append(this.slider("deformation", "Deformation", 0, 3));
    this.update();
  }

  /** A factor, by powers of ten. */
  private slider(key: "arrows" | "deformation", text: string, lo: number, hi: number): HTMLElement {
    const value = h("output", {}, `${+this.show[key].toPrecision(2)} ×`);
    const input = h("input", { type: "range", id: `show-${key}`, min: lo, max: hi, step: 0.05, value: Math.log10(this.show[key]), "aria-label": `${text}, factor`, input: () => {
      this.show[key] = 10 ** Number(input.value);
      setText(value, `${+this.show[key].toPrecision(2)} ×`);
      this.changed();
    } });
    return h("label", { class: "slider" }, h("span", {}, text), value, input);
  }

  toggle(key: Switch): void {
    this.set(key, !this.show[key]);
  }

  private set(key: Switch, on: boolean): void {
    this.show[key] = on;
    this.update();
    this.changed();
  }

  private update(): void {
    for (const [key, box] of this.boxes) box.checked = this.show[key];
  }
}
