// The ground grid, and frames of bodies as three coloured axes.

import * as THREE from "three";
import { nice } from "../format";
import type { Theme } from "../theme";
import type { Extent } from "./extent";

/** Lines in the plane x y of the world, or of the drawing; every fifth is stronger. */
export class Grid {
  readonly group = new THREE.Group();
  readonly spacing: number;
  private readonly minor: THREE.LineBasicMaterial;
  private readonly major: THREE.LineBasicMaterial;

  constructor(extent: Extent, planar: boolean) {
    const { lo, hi, size } = extent;
    this.spacing = nice(size / 12);
    const s = this.spacing, middle = [0, 1].map((k) => s * 5 * Math.round((lo[k]! + hi[k]!) / 2 / s / 5));
    const half = 5 * Math.ceil(((planar ? 1.6 : 1.0) * size) / s / 5);
    // spatial: on the model's own floor, else below the motion, or at 0 if that is where it stands
    const stands = lo[2] >= -1e-3 * size && lo[2] < 0.25 * size;
    // far enough below for the glyphs of joints
    const floor = extent.floor !== null ? extent.floor + 0.003 * size : stands ? 0 : lo[2] - 0.05 * size;
    this.minor = new THREE.LineBasicMaterial();
    this.major = new THREE.LineBasicMaterial();
    const lines = (take: (i: number) => boolean, material: THREE.LineBasicMaterial) => {
      const points: number[] = [];
      for (let i = -half; i <= half; i++) {
        if (!take(i)) continue;
        const [x, y] = [middle[0]! + i * s, middle[1]! + i * s];
        points.push(x, middle[1]! - half * s, 0, x, middle[1]! + half * s, 0);
        points.push(middle[0]! - half * s, y, 0, middle[0]! + half * s, y, 0);
      }
      const geometry = new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
      this.group.add(new THREE.LineSegments(geometry, material));
    };
    lines((i) => i % 5 !== 0, this.minor);
    lines((i) => i % 5 === 0, this.major);
    this.group.position.z = planar ? -0.06 * size : floor;
    this.group.traverse((o) => (o.raycast = () => {}));
  }

  paint(theme: Theme): void {
    this.minor.color.setHex(theme.grid);
    this.major.color.setHex(theme.gridMain);
    this.minor.transparent = this.major.transparent = true;
    this.minor.opacity = 0.8;
    this.major.opacity = 0.75;
  }
}

/** Three bars of length 1, red green blue: a frame. */
export function triad(): THREE.BufferGeometry {
  const parts: { g: THREE.BufferGeometry; color: [number, number, number] }[] = [
    { g: new THREE.CylinderGeometry(0.03, 0.03, 1, 8).rotateZ(-Math.PI / 2).translate(0.5, 0, 0), color: [0.85, 0.18, 0.18] },
    { g: new THREE.CylinderGeometry(0.03, 0.03, 1, 8).translate(0, 0.5, 0), color: [0.15, 0.62, 0.2] },
    { g: new THREE.CylinderGeometry(0.03, 0.03, 1, 8).rotateX(Math.PI / 2).translate(0, 0, 0.5), color: [0.16, 0.38, 0.9] },
  ];
  const out = new THREE.BufferGeometry();
  const position: number[] = [], normal: number[] = [], color: number[] = [];
  for (const { g, color: c } of parts) {
    const flat = g.toNonIndexed();
    position.push(...flat.getAttribute("position").array);
    normal.push(...flat.getAttribute("normal").array);
    for (let i = 0; i < flat.getAttribute("position").count; i++) color.push(...c);
  }
  out.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
  out.setAttribute("normal", new THREE.Float32BufferAttribute(normal, 3));
  out.setAttribute("color", new THREE.Float32BufferAttribute(color, 3));
  return out;
}
