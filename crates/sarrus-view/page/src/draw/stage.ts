// Camera, lights and the canvas. Planar models are seen along -z without perspective, spatial ones with it, z up.

import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Vec } from "../protocol";
import type { Theme } from "../theme";
import type { Extent } from "./extent";

const FOV = 26;
const MARGIN = 1.18;

export class Stage {
  readonly scene = new THREE.Scene();
  readonly renderer: THREE.WebGLRenderer;
  readonly camera: THREE.PerspectiveCamera | THREE.OrthographicCamera;
  readonly controls: OrbitControls;
  width = 1;
  height = 1;
  private readonly sky = new THREE.HemisphereLight(0xffffff, 0x888888, 1.7);
  /** Shines over the viewer's left shoulder, wherever that is: no side that is looked at is black. */
  private readonly sun = new THREE.DirectionalLight(0xffffff, 1.9);
  /** Half of what an orthographic camera sees from bottom to top. */
  private half = 1;
  private moved = false;

  constructor(private readonly host: HTMLElement, readonly planar: boolean, onMove: () => void) {
    this.renderer = new THREE.WebGLRenderer({ antialias: true });
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    const canvas = this.renderer.domElement;
    canvas.tabIndex = -1;
    canvas.setAttribute("aria-hidden", "true");
    host.prepend(canvas);
    this.camera = planar ? new THREE.OrthographicCamera() : new THREE.PerspectiveCamera(FOV, 1);
    this.camera.up.set(0, planar ? 1 : 0, planar ? 0 : 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.screenSpacePanning = true;
    this.controls.zoomToCursor = true;
    this.controls.zoomSpeed = 1.5;
    if (planar) {
      this.controls.mouseButtons = { LEFT: THREE.MOUSE.PAN, MIDDLE: THREE.MOUSE.DOLLY, RIGHT: THREE.MOUSE.ROTATE };
      this.controls.touches = { ONE: THREE.TOUCH.PAN, TWO: THREE.TOUCH.DOLLY_ROTATE };
    }
    this.controls.addEventListener("start", () => (this.moved = true));
    this.controls.addEventListener("change", onMove);
    this.sky.position.set(0, planar ? 1 : 0, planar ? 0 : 1);
    this.scene.add(this.sky, this.sun, this.sun.target);
  }

  /** Whether somebody has moved the camera. */
  get touched(): boolean {
    return this.moved;
  }

  paint(theme: Theme): void {
    this.scene.background = new THREE.Color(theme.background);
    this.sky.color.setHex(theme.sky);
    this.sky.groundColor.setHex(theme.earth);
  }

  resize(): boolean {
    const { clientWidth: w, clientHeight: h } = this.host;
    if (!w || !h || (w === this.width && h === this.height)) return false;
    [this.width, this.height] = [w, h];
    this.renderer.setSize(w, h);
    this.shape();
    return true;
  }

  private shape(): void {
    const aspect = this.width / this.height;
    if (this.camera instanceof THREE.OrthographicCamera) {
      Object.assign(this.camera, { top: this.half, bottom: -this.half, left: -this.half * aspect, right: this.half * aspect });
    } else this.camera.aspect = aspect;
    this.camera.updateProjectionMatrix();
  }

  /** Sees all points of the motion, from the side that the space asks for. */
  fit(extent: Extent): void {
    const { lo, hi, size } = extent;
    const center = new THREE.Vector3((lo[0] + hi[0]) / 2, (lo[1] + hi[1]) / 2, (lo[2] + hi[2]) / 2);
    const back = new THREE.Vector3(...(this.planar ? [0, 0, 1] : [0.62, -1, 0.5])).normalize();
    const x = new THREE.Vector3().crossVectors(this.camera.up, back).normalize(), y = new THREE.Vector3().crossVectors(back, x);
    const aspect = this.width / this.height, tan = Math.tan((FOV * Math.PI) / 360), v = new THREE.Vector3();
    let distance = 0, half = 0;
    // the middle of what is seen depends on how near each point is, and that on the middle
    for (let round = 0; round < 4; round++) {
      const away = this.planar ? Infinity : Math.max(distance, size);
      let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
      const each = (act: (a: number, b: number, c: number) => void) => extent.points.forEach((p) => {
        v.set(...p).sub(center);
        act(v.dot(x), v.dot(y), v.dot(back));
      });
      each((a, b, c) => {
        const nearer = away === Infinity ? 1 : away / Math.max(0.1 * away, away - c);
        [left, right] = [Math.min(left, a * nearer), Math.max(right, a * nearer)];
        [bottom, top] = [Math.min(bottom, b * nearer), Math.max(top, b * nearer)];
      });
      center.addScaledVector(x, (left + right) / 2).addScaledVector(y, (bottom + top) / 2);
      [distance, half] = [0, 0];
      each((a, b, c) => {
        const needs = Math.max(Math.abs(b), Math.abs(a) / aspect) * MARGIN;
        distance = Math.max(distance, needs / tan + c);
        half = Math.max(half, needs);
      });
    }
    half = Math.max(half, 0.05 * size);
    if (this.camera instanceof THREE.OrthographicCamera) {
      this.half = half;
      this.camera.zoom = 1;
      distance = 3 * size;
    }
    this.lookFrom(center.clone().addScaledVector(back, Math.max(distance, 0.1 * size)), center, size);
    this.moved = false;
  }

  lookFrom(from: THREE.Vector3, to: THREE.Vector3, size: number): void {
    this.camera.position.copy(from);
    this.controls.target.copy(to);
    this.camera.near = size / 150;
    this.camera.far = size * 60;
    this.controls.minDistance = size / 100;
    this.controls.maxDistance = size * 20;
    this.shape();
    this.controls.update();
  }

  /** Goes along with something that moved. */
  shift(d: Vec): void {
    const v = new THREE.Vector3(...d);
    this.camera.position.add(v);
    this.controls.target.add(v);
    this.controls.update();
  }

  /** Takes something away, with what it holds on the graphics card. */
  drop(object: THREE.Object3D): void {
    this.scene.remove(object);
    object.traverse((o) => {
      if (o instanceof THREE.InstancedMesh) o.dispose();
      if (!(o instanceof THREE.Mesh || o instanceof THREE.LineSegments)) return;
      const { geometry, material } = o as THREE.Mesh<THREE.BufferGeometry, THREE.Material>;
      geometry.dispose();
      material.dispose();
    });
  }

  /** Where a point is on the canvas [px], and whether it is before the camera. */
  project(p: Vec): { x: number; y: number; seen: boolean } {
    const v = new THREE.Vector3(...p).project(this.camera);
    return { x: ((v.x + 1) / 2) * this.width, y: ((1 - v.y) / 2) * this.height, seen: v.z > -1 && v.z < 1 };
  }

  render(): void {
    this.sun.position.set(-0.5, 0.9, 1).applyQuaternion(this.camera.quaternion);
    this.renderer.render(this.scene, this.camera);
  }
}
