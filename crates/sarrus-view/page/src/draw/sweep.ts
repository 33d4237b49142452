// A cross section swept along a chain of nodes: cubic Hermite in position, with the nodes' own x as tangents, and slerp
// of their frames. Eight rings per element.

import * as THREE from "three";
import { rotate, slerp } from "../math";
import type { Section, Vec } from "../protocol";

const PER_ELEMENT = 8;
const ROUND = 16;

/** Outline of the section in its y z plane: positions and normals; corners stand twice. */
function outline(section: Section, least: number): { at: [number, number]; normal: [number, number] }[] {
  if (section.kind === "rectangle") {
    const y = Math.max(least, section.width ?? 0) / 2, z = Math.max(least, section.height ?? 0) / 2;
    const corners: [number, number][] = [[y, -z], [y, z], [-y, z], [-y, -z]];
    const normals: [number, number][] = [[1, 0], [0, 1], [-1, 0], [0, -1]];
    return corners.flatMap((corner, i) => [{ at: corner, normal: normals[(i + 3) % 4]! }, { at: corner, normal: normals[i]! }]);
  }
  const r = Math.max(least / 2, section.radius ?? 0);
  return Array.from({ length: ROUND }, (_, i) => {
    const c = Math.cos((2 * Math.PI * i) / ROUND), s = Math.sin((2 * Math.PI * i) / ROUND);
    return { at: [r * c, r * s], normal: [c, s] };
  });
}

export class Sweep {
  readonly mesh: THREE.Mesh<THREE.BufferGeometry, THREE.MeshStandardMaterial>;
  private readonly ring: { at: [number, number]; normal: [number, number] }[];
  private readonly rings: number;

  /** `least`: no section is drawn thinner. */
  constructor(private readonly nodes: number, section: Section, least: number, ghost: boolean) {
    this.ring = outline(section, least);
    this.rings = (nodes - 1) * PER_ELEMENT + 1;
    const vertices = (this.rings + 2) * this.ring.length;
    const geometry = new THREE.BufferGeometry();
    for (const name of ["position", "normal"]) {
      const attribute = new THREE.BufferAttribute(new Float32Array(3 * vertices), 3);
      attribute.setUsage(THREE.DynamicDrawUsage);
      geometry.setAttribute(name, attribute);
    }
    geometry.setIndex(this.faces(section.kind === "rectangle"));
    const material = new THREE.MeshStandardMaterial({ roughness: 0.5, metalness: 0.05, side: THREE.DoubleSide });
    if (ghost) Object.assign(material, { transparent: true, opacity: 0.32, depthWrite: false });
    this.mesh = new THREE.Mesh(geometry, material);
    this.mesh.frustumCulled = false;
  }

  private faces(corners: boolean): number[] {
    const m = this.ring.length, index: number[] = [];
    for (let i = 0; i + 1 < this.rings; i++) {
      for (let j = corners ? 1 : 0; j < m; j += corners ? 2 : 1) {
        const a = i * m + j, b = i * m + ((j + 1) % m);
        index.push(a, b, a + m, b, b + m, a + m);
      }
    }
    // ends: fans over copies of the first and last ring
    for (const start of [this.rings * m, (this.rings + 1) * m]) {
      for (let j = 1; j + 1 < m; j++) index.push(start, start + j, start + j + 1);
    }
    return index;
  }

  /** Nodes' positions, three numbers each, and frames, four each, with x along the beam. */
  update(p: Float32Array, q: Float32Array): void {
    const position = this.mesh.geometry.getAttribute("position") as THREE.BufferAttribute;
    const normal = this.mesh.geometry.getAttribute("normal") as THREE.BufferAttribute;
    const frame = [0, 0, 0, 0];
    for (let i = 0; i < this.rings; i++) {
      const e = Math.min(this.nodes - 2, Math.floor(i / PER_ELEMENT)), s = i / PER_ELEMENT - e;
      const center = hermite(p, q, e, s);
      slerp(frame, 0, q, 4 * e, q, 4 * e + 4, s);
      this.putRing(position, normal, i, center, frame, 0);
      if (i === 0) this.putRing(position, normal, this.rings, center, frame, -1);
      if (i === this.rings - 1) this.putRing(position, normal, this.rings + 1, center, frame, 1);
    }
    position.needsUpdate = true;
    normal.needsUpdate = true;
    this.mesh.geometry.boundingSphere = null;
  }

  private putRing(position: THREE.BufferAttribute, normal: THREE.BufferAttribute, ring: number, c: Vec, frame: number[], end: number): void {
    const m = this.ring.length;
    const outward: Vec = rotate(frame, 0, [end, 0, 0]);
    this.ring.forEach(({ at, normal: n }, j) => {
      const v = rotate(frame, 0, [0, at[0], at[1]]);
      position.setXYZ(ring * m + j, c[0] + v[0], c[1] + v[1], c[2] + v[2]);
      const w = end ? outward : rotate(frame, 0, [0, n[0], n[1]]);
      normal.setXYZ(ring * m + j, w[0], w[1], w[2]);
    });
  }
}

/** The point at `s` of element `e`: p = h00 p0 + h10 L t0 + h01 p1 + h11 L t1, L the length of the chord. */
export function hermite(p: Float32Array, q: Float32Array, e: number, s: number): Vec {
  const a = 3 * e, b = a + 3;
  const length = Math.hypot(p[b]! - p[a]!, p[b + 1]! - p[a + 1]!, p[b + 2]! - p[a + 2]!);
  const t0 = rotate(q, 4 * e, [length, 0, 0]), t1 = rotate(q, 4 * e + 4, [length, 0, 0]);
  const h10 = s * (1 - s) * (1 - s), h01 = s * s * (3 - 2 * s), h11 = s * s * (s - 1);
  const at = (k: 0 | 1 | 2) => (1 - h01) * p[a + k]! + h10 * t0[k] + h01 * p[b + k]! + h11 * t1[k];
  return [at(0), at(1), at(2)];
}
