// Colours, light and dark. Bodies have the palette of Okabe and Ito, toned down so that forces stand out.

export interface Theme {
  background: number;
  grid: number;
  gridMain: number;
  ground: number;
  floor: number;
  metal: number;
  pin: number;
  accent: number;
  force: number;
  torque: number;
  contact: number;
  load: number;
  sky: number;
  earth: number;
  ink: string;
  faint: string;
  rule: string;
}

const LIGHT: Theme = {
  background: 0xf6f7f9, grid: 0xd9dee4, gridMain: 0xb4bcc6, ground: 0x9aa3ad, floor: 0xeceff2, metal: 0x3d4752, pin: 0xf0f2f4, accent: 0xff8c00,
  force: 0xc2185b, torque: 0x7b3fb5, contact: 0xd55e00, load: 0x00735c, sky: 0xffffff, earth: 0xaab2bd,
  ink: "#1d232a", faint: "#5c6773", rule: "#dfe3e8",
};

const DARK: Theme = {
  background: 0x14181d, grid: 0x262d35, gridMain: 0x46515d, ground: 0x67727e, floor: 0x1f262d, metal: 0xaab4bf, pin: 0x20262d, accent: 0xffb347,
  force: 0xff6fa3, torque: 0xc39bf0, contact: 0xff9a4d, load: 0x46d3b0, sky: 0xdfe8f2, earth: 0x3a444f,
  ink: "#e6eaee", faint: "#9aa6b2", rule: "#2b333c",
};

/** Of bodies, in turn. */
const BODIES_LIGHT = [0x3b7fb5, 0xd98a3d, 0x3c9d7f, 0xb8799f, 0x6f8fa3, 0xc9a227, 0x74acd1, 0x8a6d9e];
const BODIES_DARK = [0x5fa3d9, 0xe8a660, 0x58bd9c, 0xd598bd, 0x90aec0, 0xdcbf55, 0x93c6e6, 0xab90c0];

/** Of lines in plots, and their dashes: no pair looks alike in grey. */
const LINES_LIGHT = ["#0072b2", "#c25100", "#007d5c", "#b0508a", "#1d232a", "#a87400", "#4a9cc9", "#6f6f6f"];
const LINES_DARK = ["#5fb3ea", "#ff9a57", "#41c79e", "#e99bc9", "#e6eaee", "#e3b341", "#9bd3f5", "#a9a9a9"];
export const DASHES: number[][] = [[], [8, 4], [2, 3], [9, 3, 2, 3], [15, 4], [9, 3, 2, 3, 2, 3]];

export type Name = "light" | "dark";

export function themeOf(name: Name): Theme {
  return name === "dark" ? DARK : LIGHT;
}

export function bodyColor(i: number, name: Name): number {
  const list = name === "dark" ? BODIES_DARK : BODIES_LIGHT;
  return list[i % list.length]!;
}

export function lineColor(i: number, name: Name): string {
  const list = name === "dark" ? LINES_DARK : LINES_LIGHT;
  return list[i % list.length]!;
}

/** What the system prefers, until somebody switches; then that, for this visit. */
export class ThemeSwitch {
  name: Name;
  private chosen = false;
  private readonly query = matchMedia("(prefers-color-scheme: dark)");

  constructor(private readonly changed: (name: Name) => void, asked: Name | null = null) {
    this.chosen = asked !== null;
    this.name = asked ?? (this.query.matches ? "dark" : "light");
    document.documentElement.dataset["theme"] = this.name;
    this.query.addEventListener("change", () => {
      if (!this.chosen) this.set(this.query.matches ? "dark" : "light");
    });
  }

  toggle(): void {
    this.chosen = true;
    this.set(this.name === "dark" ? "light" : "dark");
  }

  private set(name: Name): void {
    this.name = name;
    document.documentElement.dataset["theme"] = name;
    this.changed(name);
  }
}
