// What the page reads, as types; PROTOCOL.md says what each means. Lengths in m, angles in rad, quaternions [w, x, y, z].

export const FORMAT = "sarrus-view/1";
export type Vec = [number, number, number];
export type Quat = [number, number, number, number];
/** x y z, then the quaternion. */
export type Pose = [number, number, number, number, number, number, number];
/** The body that does not move. */
export const GROUND = -1;

export interface RunEntry {
  name: string;
  /** An address, or the scene itself. */
  scene: string | Scene;
  /** An address, or base64 where the scene is inline. */
  frames: string;
  live?: boolean;
  encoding?: "deflate-raw" | "gzip" | "";
}

export interface Manifest {
  format: string;
  runs: RunEntry[];
}

export interface Shape {
  kind: string;
  pose?: Pose;
  color?: string;
  role?: string;
  length?: number;
  radius?: number;
  thickness?: number;
  size?: Vec;
  width?: number;
  tube?: boolean;
  points?: Vec[];
  vertices?: number[];
  triangles?: number[];
}

export interface Marker {
  name: string;
  on: Vec;
}

export interface Body {
  name: string;
  shapes?: Shape[];
  markers?: Marker[];
  part_of?: string;
}

export interface Joint {
  name: string;
  kind: string;
  bodies: [number, number];
  on: [Vec, Vec];
  axis_on?: [Vec, Vec];
  axis2_on?: [Vec, Vec];
  coordinates?: string[];
  not_unique?: string[];
}

export interface Section {
  kind: string;
  radius?: number;
  wall?: number;
  width?: number;
  height?: number;
}

export interface Beam {
  name: string;
  kind: "beam";
  nodes: number[];
  frames?: Quat[];
  rest: Pose[];
  section: Section;
  about?: "start" | "end" | "chord";
  color?: string;
}

export interface Modal {
  name: string;
  kind: "modal";
  body: number;
  nodes: Vec[];
  lines: number[][];
  section: Section;
  modes: Vec[][];
  amplitudes: string[];
  color?: string;
}

export interface Link {
  name: string;
  kind: string;
  bodies: [number, number];
  on: [Vec, Vec];
}

export interface Load {
  name: string;
  kind: string;
  body: number;
  on: Vec;
  vector: [string, string, string];
}

export interface Column {
  name: string;
  unit: string;
  /** What values in SI are multiplied by to be shown in `unit`. */
  scale?: number;
  hidden?: boolean;
}

export interface Happening {
  t: number;
  name: string;
  kind: "event" | "singular" | "stop";
  text: string;
}

export interface Thinning {
  kept: number;
  of: number;
  position: number;
  angle: number;
  columns: number;
}

export interface View {
  trace?: { name: string; body: number; on: Vec }[];
  follow?: number | null;
  camera?: { from: Vec; to: Vec } | null;
}

export interface Scene {
  format: string;
  name: string;
  space: "planar" | "spatial";
  gravity?: Vec;
  t?: [number, number];
  ground?: { shapes?: Shape[]; markers?: Marker[] };
  bodies: Body[];
  joints?: Joint[];
  flexible?: (Beam | Modal)[];
  links?: Link[];
  loads?: Load[];
  contacts?: { name: string; between?: string }[];
  view?: View;
  columns: Column[];
  columns_left_out?: number;
  events?: Happening[];
  report?: Report | null;
  thinning?: Thinning | null;
}

/** The parts of `report.json` that the page shows; anything may be missing. */
export interface Report {
  [key: string]: unknown;
}

export type Note =
  | { type: "progress"; t: number; t_end: number; steps?: number; wall_s?: number }
  | { type: "event"; event: Happening }
  | { type: "end"; report?: Report | null }
  | { type: "failure"; message: string; hint?: string; report?: Report | null };
