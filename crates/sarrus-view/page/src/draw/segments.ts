// Things between two points, or from a point along a vector: springs, links, arrows. Instanced, with as many as are needed.

import * as THREE from "three";
import { type Name } from "../theme";
import { colorOf, colored, sameRef, type Paint, type Ref } from "./parts";
import type { Vec } from "../protocol";
import { cross, unit } from "../math";

/** Instances of one geometry whose own x lies along a line; the count may change in every frame. */
export class Segments {
  mesh: THREE.InstancedMesh;
  private refs: (Ref | null)[] = [];
  private count = 0;
  private readonly color = new THREE.Color();
  private readonly base = new THREE.Color();
  private readonly accent = new THREE.Color();
  selected: Ref | null = null;

  constructor(
    private readonly geometry: THREE.BufferGeometry,
    private readonly material: THREE.Material,
    private readonly paintOf: Paint,
    private readonly group: THREE.Group,
    capacity = 16,
  ) {
    colored(geometry);
    this.mesh = this.allocate(capacity);
  }

  private allocate(capacity: number): THREE.InstancedMesh {
    const mesh = new THREE.InstancedMesh(this.geometry, this.material, capacity);
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    mesh.setColorAt(0, this.color);
    mesh.frustumCulled = false;
    mesh.renderOrder = this.material.depthTest ? 0 : 3;
    mesh.count = 0;
    mesh.userData["refs"] = this.refs;
    this.group.add(mesh);
    return mesh;
  }

  paint(name: Name, selected: Ref | null): void {
    this.base.setHex(colorOf(this.paintOf, name));
    this.accent.setHex(colorOf("accent", name));
    this.selected = selected;
  }

  begin(): void {
    this.count = 0;
    this.refs.length = 0;
  }

  /** One more: from `a`, its x along `x` by `length`, `across` wide; `up` turns it about itself. */
  push(a: Vec, x: Vec, length: number, across: number, ref: Ref | null, up?: Vec): void {
    if (this.count === this.mesh.instanceMatrix.count) this.grow();
    const side: Vec = Math.abs(x[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
    const y = unit(cross(up ?? side, x), [0, 1, 0]), z = cross(x, y);
    const m = this.mesh.instanceMatrix.array, o = 16 * this.count;
    for (let k = 0; k < 3; k++) {
      m[o + k] = x[k]! * length;
      m[o + 4 + k] = y[k]! * across;
      m[o + 8 + k] = z[k]! * across;
      m[o + 12 + k] = a[k]!;
    }
    m[o + 15] = 1;
    this.mesh.setColorAt(this.count, this.selected && sameRef(ref, this.selected) ? this.accent : this.base);
    this.refs.push(ref);
    this.count++;
  }

  end(): void {
    this.mesh.count = this.count;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
    this.mesh.boundingSphere = null;
  }

  private grow(): void {
    const old = this.mesh;
    this.mesh = this.allocate(2 * old.instanceMatrix.count);
    this.mesh.instanceMatrix.array.set(old.instanceMatrix.array);
    if (old.instanceColor) this.mesh.instanceColor!.array.set(old.instanceColor.array);
    this.group.remove(old);
    old.dispose();
  }
}

/** A material with slanted gaps: what is drawn with it is not unique. */
export function hatched(ghost = false): THREE.Material {
  const n = 16, data = new Uint8Array(4 * n * n).fill(255);
  for (let y = 0; y < n; y++) for (let x = 0; x < n; x++) data[4 * (n * y + x) + 3] = (x + y) % n < n / 2 ? 255 : 0;
  const texture = new THREE.DataTexture(data, n, n);
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.repeat.set(1, 6);
  texture.magFilter = texture.minFilter = THREE.NearestFilter;
  texture.needsUpdate = true;
  return Object.assign(overlay(ghost), { map: texture, alphaTest: 0.3, side: THREE.DoubleSide });
}

/** A material that is seen through bodies: forces begin inside of them. */
export function overlay(ghost = false): THREE.MeshBasicMaterial {
  return new THREE.MeshBasicMaterial({ vertexColors: true, depthTest: false, transparent: true, opacity: ghost ? 0.35 : 1 });
}

/** Arrows: a shaft, and a head whose shape stays. */
export class Arrows {
  private readonly shafts: Segments;
  private readonly heads: Segments;

  constructor(paint: Paint, group: THREE.Group, ghost: boolean, notUnique = false) {
    const shaft = new THREE.CylinderGeometry(1, 1, 1, 12).rotateZ(-Math.PI / 2).translate(0.5, 0, 0);
    const head = new THREE.ConeGeometry(1, 1, 16).rotateZ(-Math.PI / 2).translate(0.5, 0, 0);
    const plain = overlay(ghost);
    this.shafts = new Segments(shaft, notUnique ? hatched(ghost) : plain, paint, group);
    this.heads = new Segments(head, plain, paint, group);
  }

  get all(): Segments[] {
    return [this.shafts, this.heads];
  }

  /** From `at` along `v`, which is drawn as it is, in m; `thick`: radius of the shaft. */
  push(at: Vec, v: Vec, thick: number, ref: Ref | null): void {
    const length = Math.hypot(v[0], v[1], v[2]);
    if (!(length > 0.4 * thick)) return;
    const x: Vec = [v[0] / length, v[1] / length, v[2] / length];
    const head = Math.min(7 * thick, 0.6 * length), r = Math.min(thick, 0.12 * length);
    this.shafts.push(at, x, length - head, r, ref);
    this.heads.push([at[0] + x[0] * (length - head), at[1] + x[1] * (length - head), at[2] + x[2] * (length - head)], x, head, Math.min(2.6 * thick, 0.3 * head * 2), ref);
  }
}
