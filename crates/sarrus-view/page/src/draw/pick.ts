// What is under the pointer. A joint within a bar wins over the bar; near misses of joints count, for fingers.

import * as THREE from "three";
import { place } from "./extent";
import type { Ref } from "./parts";
import type { Stage } from "./stage";
import type { World } from "./world";

/** How far from a joint a pick may be [px]. */
const NEAR = 14;

export function pick(stage: Stage, worlds: World[], x: number, y: number, size: number): Ref | null {
  const ray = new THREE.Raycaster();
  ray.setFromCamera(new THREE.Vector2((2 * x) / stage.width - 1, 1 - (2 * y) / stage.height), stage.camera);
  const meshes: THREE.Object3D[] = [];
  for (const world of worlds) world.group.traverseVisible((o) => o instanceof THREE.Mesh && meshes.push(o));
  const hits = ray.intersectObjects(meshes, false).map((hit) => ({ distance: hit.distance, ref: refOf(hit) })).filter((hit) => hit.ref);
  const first = hits[0];
  const joint = hits.find((hit) => hit.ref!.kind === "joint" && hit.distance < first!.distance + 0.04 * size);
  if (joint) return joint.ref;
  return nearJoint(stage, worlds, x, y, first ? NEAR / 3 : NEAR) ?? first?.ref ?? null;
}

function refOf(hit: THREE.Intersection): Ref | null {
  const refs = hit.object.userData["refs"] as (Ref | null)[] | undefined;
  if (refs) return refs[hit.instanceId ?? -1] ?? null;
  return (hit.object.userData["ref"] as Ref | undefined) ?? null;
}

function nearJoint(stage: Stage, worlds: World[], x: number, y: number, within: number): Ref | null {
  let best: Ref | null = null, least = within;
  worlds.forEach((world, run) => {
    (world.run.scene.joints ?? []).forEach((joint, index) => {
      const at = stage.project(place(world.poses, 7 * joint.bodies[0], joint.on[0]));
      const d = Math.hypot(at.x - x, at.y - y);
      if (at.seen && d < least) [best, least] = [{ run, kind: "joint", index }, d];
    });
  });
  return best;
}
