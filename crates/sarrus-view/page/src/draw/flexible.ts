// Flexible members: beams and modal bodies, as swept sections.

import * as THREE from "three";
import { rotate } from "../math";
import type { Beam, Modal } from "../protocol";
import type { Run } from "../run";
import { bodyColor, themeOf, type Name } from "../theme";
import { beamNodes, chainFrames, modalNodes } from "./deform";
import { sameRef, type Ref } from "./parts";
import { Sweep } from "./sweep";

interface Chain {
  member: Beam | Modal;
  index: number;
  /** Of a modal body: which of its lines. */
  line: number[];
  sweep: Sweep;
  p: Float32Array;
  q: Float32Array;
}

export class Flexible {
  readonly group = new THREE.Group();
  private readonly chains: Chain[] = [];

  constructor(private readonly run: Run, private readonly place: number, size: number) {
    (run.scene.flexible ?? []).forEach((member, index) => {
      const lines = member.kind === "beam" ? [member.nodes] : member.lines;
      for (const line of lines.filter((l) => l.length > 1)) {
        const sweep = new Sweep(line.length, member.section, 0.004 * size, place > 0);
        sweep.mesh.userData["ref"] = { run: place, kind: "flexible", index } satisfies Ref;
        this.group.add(sweep.mesh);
        this.chains.push({ member, index, line, sweep, p: new Float32Array(3 * line.length), q: new Float32Array(4 * line.length) });
      }
    });
  }

  get any(): boolean {
    return this.chains.length > 0;
  }

  update(poses: Float32Array, t: number, factor: number): void {
    for (const { member, line, sweep, p, q } of this.chains) {
      if (member.kind === "beam") beamNodes(member, poses, factor, p, q);
      else {
        const amplitudes = member.amplitudes.map((name) => this.run.value(name, t));
        const nodes = modalNodes(member, amplitudes, poses, factor);
        chainFrames(line.map((n) => nodes[n]!), rotate(poses, 7 * member.body + 3, [0, 0, 1]), p, q);
      }
      sweep.update(p, q);
    }
  }

  paint(name: Name, selected: Ref | null): void {
    for (const { member, index, sweep } of this.chains) {
      const own = member.color && /^#[0-9a-f]{6}$/i.test(member.color) ? parseInt(member.color.slice(1), 16) : bodyColor(index, name);
      const is = selected && sameRef(selected, { run: this.place, kind: "flexible", index });
      sweep.mesh.material.color.setHex(is ? themeOf(name).accent : own);
    }
  }
}
