// Things that move rigidly with bodies, drawn by instancing: one mesh per geometry, however many bodies there are.
//
// An instance stands at pose(body) x local. Locals are 3x4 matrices in row order, kept flat, so that a frame costs
// about 60 multiplications per instance and allocates nothing.

import * as THREE from "three";
import { type Name, bodyColor, themeOf, type Theme } from "../theme";
import type { Quat, Vec } from "../protocol";

export type Kind = "body" | "joint" | "flexible" | "link" | "load" | "contact";

/** What was picked. */
export interface Ref {
  run: number;
  kind: Kind;
  index: number;
}

export function sameRef(a: Ref | null, b: Ref | null): boolean {
  return a?.run === b?.run && a?.kind === b?.kind && a?.index === b?.index;
}

/** A colour: of the theme, of the palette of bodies, or its own. */
export type Paint = keyof Theme | { body: number } | { hex: number };

export function colorOf(paint: Paint, name: Name): number {
  if (typeof paint === "string") return themeOf(name)[paint] as number;
  return "body" in paint ? bodyColor(paint.body, name) : paint.hex;
}

interface Instance {
  body: number;
  local: THREE.Matrix4;
  paint: Paint;
  ref: Ref;
}

class Batch {
  readonly items: Instance[] = [];
  mesh: THREE.InstancedMesh | null = null;
  bodies = new Int32Array(0);
  locals = new Float32Array(0);
  constructor(readonly geometry: THREE.BufferGeometry) {}
}

export class Parts {
  readonly group = new THREE.Group();
  private readonly batches = new Map<string, Batch>();

  constructor(private readonly material: THREE.Material) {}

  /** Adds an instance; `geometry` is made once per `key`. */
  add(key: string, geometry: () => THREE.BufferGeometry, body: number, local: THREE.Matrix4, paint: Paint, ref: Ref): void {
    let batch = this.batches.get(key);
    if (!batch) {
      batch = new Batch(colored(geometry()));
      this.batches.set(key, batch);
    }
    batch.items.push({ body, local, paint, ref });
  }

  /** Makes the meshes, after the last instance was added. */
  build(): void {
    for (const batch of this.batches.values()) {
      const n = batch.items.length;
      batch.bodies = Int32Array.from(batch.items, (item) => item.body);
      batch.locals = new Float32Array(12 * n);
      batch.items.forEach((item, i) => {
        const e = item.local.elements;
        for (let r = 0; r < 3; r++) for (let c = 0; c < 4; c++) batch.locals[12 * i + 4 * r + c] = e[4 * c + r]!;
      });
      const mesh = new THREE.InstancedMesh(batch.geometry, this.material, n);
      mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      // instances are spread over the whole scene: culling them as one never pays
      mesh.frustumCulled = false;
      mesh.userData["refs"] = batch.items.map((item) => item.ref);
      batch.mesh = mesh;
      this.group.add(mesh);
    }
  }

  /** Moves all instances to the poses of their bodies, seven numbers each. */
  update(poses: Float32Array): void {
    for (const { mesh, bodies, locals } of this.batches.values()) {
      if (!mesh) continue;
      const out = mesh.instanceMatrix.array as Float32Array;
      for (let i = 0; i < bodies.length; i++) place(out, 16 * i, poses, 7 * bodies[i]!, locals, 12 * i);
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
    }
  }

  paint(name: Name, selected: Ref | null): void {
    const color = new THREE.Color();
    for (const { mesh, items } of this.batches.values()) {
      items.forEach((item, i) => {
        const paint = selected && sameRef(item.ref, selected) ? "accent" : item.paint;
        mesh?.setColorAt(i, color.setHex(colorOf(paint, name)));
      });
      if (mesh?.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  get instances(): number {
    return [...this.batches.values()].reduce((n, b) => n + b.items.length, 0);
  }

  get meshes(): number {
    return this.batches.size;
  }
}

/** out = pose x local, in the column order of three; a negative place means the ground. */
function place(out: Float32Array, o: number, p: Float32Array, b: number, l: Float32Array, k: number): void {
  let r00 = 1, r01 = 0, r02 = 0, r10 = 0, r11 = 1, r12 = 0, r20 = 0, r21 = 0, r22 = 1, x0 = 0, y0 = 0, z0 = 0;
  if (b >= 0) {
    x0 = p[b]!; y0 = p[b + 1]!; z0 = p[b + 2]!;
    const w = p[b + 3]!, x = p[b + 4]!, y = p[b + 5]!, z = p[b + 6]!;
    r00 = 1 - 2 * (y * y + z * z); r01 = 2 * (x * y - w * z); r02 = 2 * (x * z + w * y);
    r10 = 2 * (x * y + w * z); r11 = 1 - 2 * (x * x + z * z); r12 = 2 * (y * z - w * x);
    r20 = 2 * (x * z - w * y); r21 = 2 * (y * z + w * x); r22 = 1 - 2 * (x * x + y * y);
  }
  for (let c = 0; c < 4; c++) {
    const a = l[k + c]!, d = l[k + 4 + c]!, e = l[k + 8 + c]!;
    out[o + 4 * c] = r00 * a + r01 * d + r02 * e;
    out[o + 4 * c + 1] = r10 * a + r11 * d + r12 * e;
    out[o + 4 * c + 2] = r20 * a + r21 * d + r22 * e;
  }
  out[o + 12] = out[o + 12]! + x0;
  out[o + 13] = out[o + 13]! + y0;
  out[o + 14] = out[o + 14]! + z0;
  out[o + 15] = 1;
}

/** A geometry that has vertex colours: white where it brings none. */
export function colored(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
  if (!geometry.getAttribute("color")) {
    const n = geometry.getAttribute("position").count;
    geometry.setAttribute("color", new THREE.Float32BufferAttribute(new Float32Array(3 * n).fill(1), 3));
  }
  return geometry;
}

/** Translation, rotation and scale as one matrix. */
export function local(at: Vec, q: Quat, scale: Vec): THREE.Matrix4 {
  return new THREE.Matrix4().compose(new THREE.Vector3(...at), new THREE.Quaternion(q[1], q[2], q[3], q[0]), new THREE.Vector3(...scale));
}

/** The material of all solid things; later runs are seen through. */
export function solid(ghost: boolean): THREE.Material {
  const material = new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.55, metalness: 0.05, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 });
  if (ghost) Object.assign(material, { transparent: true, opacity: 0.32, depthWrite: false });
  return material;
}
