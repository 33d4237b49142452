// Geometries of size 1, to be scaled: shapes of the model file in their own frames, and what joints are made of.

import * as THREE from "three";

/** A curve by its formula, 0 … 1. */
class Path extends THREE.CatmullRomCurve3 {
  constructor(private readonly at: (s: number) => [number, number, number]) {
    super([]);
  }
  override getPoint(s: number, out = new THREE.Vector3()): THREE.Vector3 {
    return out.set(...this.at(s));
  }
}

/** How finely round things are cut, by how many there are. */
export function fineness(bodies: number): number {
  return bodies > 2000 ? 8 : bodies > 200 ? 14 : 28;
}

/** Length 1 along x, radius 1. */
export function rod(n: number): THREE.BufferGeometry {
  return new THREE.CylinderGeometry(1, 1, 1, n).rotateZ(-Math.PI / 2);
}

/** Radius 1, thickness 1 about z; in sectors, so that its turning is seen. */
export function disc(n: number): THREE.BufferGeometry {
  return patched(new THREE.CylinderGeometry(1, 1, 1, 4 * Math.ceil(n / 3)).rotateX(Math.PI / 2), (x, y) => x * y > 0);
}

/** Radius 1; in patches. */
export function sphere(n: number): THREE.BufferGeometry {
  const segments = 4 * Math.ceil(n / 4);
  return patched(new THREE.SphereGeometry(1, segments, segments / 2), (x, y, z) => x * y * z > 0);
}

/** Radius 1, one colour. */
export function ball(n: number): THREE.BufferGeometry {
  return new THREE.SphereGeometry(1, n, Math.ceil(n / 2));
}

/** Edges of 1. */
export function box(): THREE.BufferGeometry {
  return new THREE.BoxGeometry(1, 1, 1);
}

/** A square of edges 1 that faces z and is not seen from behind. */
export function side(): THREE.BufferGeometry {
  return new THREE.PlaneGeometry(1, 1);
}

/** About z from -1/2 to 1/2, outer radius 1, with a hole. */
export function ring(hole: number, n: number): THREE.BufferGeometry {
  const profile = [[hole, -0.5], [1, -0.5], [1, 0.5], [hole, 0.5], [hole, -0.5]];
  // corners twice, so that edges stay sharp
  const points = profile.slice(1).flatMap((p, i) => [profile[i]!, p]).map(([r, z]) => new THREE.Vector2(r, z));
  return new THREE.LatheGeometry(points, n).rotateX(Math.PI / 2);
}

/** Along z from -1/2 to 1/2, radius 1. */
export function pin(n: number): THREE.BufferGeometry {
  return new THREE.CylinderGeometry(1, 1, 1, n).rotateX(Math.PI / 2);
}

/** The lower half of a hollow ball of radius 1, open towards +z. */
export function cup(n: number): THREE.BufferGeometry {
  const outer: THREE.Vector2[] = [], inner: THREE.Vector2[] = [];
  for (let i = 0; i <= n / 2; i++) {
    const a = -Math.PI / 2 + ((Math.PI / 2 + 0.25) * i) / Math.floor(n / 2);
    outer.push(new THREE.Vector2(Math.cos(a), Math.sin(a)));
    inner.unshift(new THREE.Vector2(0.84 * Math.cos(a), 0.84 * Math.sin(a)));
  }
  return new THREE.LatheGeometry([...outer, ...inner], n).rotateX(Math.PI / 2);
}

/** A coil along x from 0 to 1 with straight ends, radius 1 across. */
export function coil(turns: number, wire: number, n: number): THREE.BufferGeometry {
  // the tube is made about as long as a spring is, for its width, so that its wire stays round when it is scaled
  const stretch = 10;
  const helix = new Path((s) => {
    const u = Math.min(1, Math.max(0, (s - 0.1) / 0.8)), angle = 2 * Math.PI * turns * u;
    const r = Math.min(1, Math.min(u, 1 - u) * turns * 2);
    return [stretch * s, r * Math.cos(angle), r * Math.sin(angle)];
  });
  return new THREE.TubeGeometry(helix, turns * n, wire, 6).scale(1 / stretch, 1, 1);
}

/** A thread about z from -1/2 to 1/2, radius 1. */
export function thread(turns: number, n: number): THREE.BufferGeometry {
  const helix = new Path((s) => [Math.cos(2 * Math.PI * turns * s), Math.sin(2 * Math.PI * turns * s), 16 * (s - 0.5)]);
  return new THREE.TubeGeometry(helix, turns * n, 0.22, 6).scale(1, 1, 1 / 16);
}

/** A bearing block: a triangle below its pin, its foot on a plate; in the plane x y, 1 thick. */
export function pedestal(): THREE.BufferGeometry {
  const shape = new THREE.Shape();
  shape.moveTo(-0.45, 0).lineTo(-1.1, -1.7).lineTo(-1.7, -1.7).lineTo(-1.7, -2.1).lineTo(1.7, -2.1);
  shape.lineTo(1.7, -1.7).lineTo(1.1, -1.7).lineTo(0.45, 0);
  return new THREE.ExtrudeGeometry(shape, { depth: 1, bevelEnabled: false }).translate(0, 0, -0.5);
}

/** Half a turn of an arrow about z, radius 1. */
export function turnArrow(n: number): THREE.BufferGeometry {
  const shaft = new THREE.TorusGeometry(1, 0.045, 8, n, 1.4 * Math.PI);
  const head = new THREE.ConeGeometry(0.15, 0.4, 14).translate(0, 0.12, 0).rotateZ(0.1).translate(1, 0, 0).rotateZ(1.4 * Math.PI);
  return merge([shaft, head]);
}

/** Several geometries as one. */
export function merge(list: THREE.BufferGeometry[]): THREE.BufferGeometry {
  const out = new THREE.BufferGeometry();
  const flat = list.map((g) => (g.index ? g.toNonIndexed() : g));
  for (const [name, size] of [["position", 3], ["normal", 3], ["uv", 2]] as const) {
    const numbers = flat.flatMap((g) => Array.from(g.getAttribute(name).array));
    out.setAttribute(name, new THREE.Float32BufferAttribute(numbers, size));
  }
  return out;
}

/** Vertices from numbers x y z in turn; with flat faces. */
export function triangles(vertices: number[], indices: number[]): THREE.BufferGeometry {
  const indexed = new THREE.BufferGeometry();
  indexed.setAttribute("position", new THREE.Float32BufferAttribute(vertices, 3));
  indexed.setIndex(indices.filter((_, i) => i < indices.length - (indices.length % 3)));
  const flat = indexed.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}

/** Darker where `dark` says so of the middle of a triangle. */
function patched(geometry: THREE.BufferGeometry, dark: (x: number, y: number, z: number) => boolean): THREE.BufferGeometry {
  const flat = geometry.toNonIndexed();
  const p = flat.getAttribute("position"), colors = new Float32Array(3 * p.count);
  for (let i = 0; i < p.count; i += 3) {
    const mean = (get: (k: number) => number) => get(i) + get(i + 1) + get(i + 2);
    const value = dark(mean((k) => p.getX(k)), mean((k) => p.getY(k)), mean((k) => p.getZ(k))) ? 0.72 : 1;
    colors.fill(value, 3 * i, 3 * i + 9);
  }
  flat.setAttribute("color", new THREE.Float32BufferAttribute(colors, 3));
  return flat;
}
