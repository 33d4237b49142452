// The tab of numbers: all objects by name, and of the one picked its numbers now.

import { columnsOf, matches, uniqueness } from "../columns";
import { h, setText } from "../dom";
import { sameRef, type Kind, type Ref } from "../draw/parts";
import { exact, fmt } from "../format";
import type { Player } from "../player";
import { GROUND, type Column, type Joint, type Scene } from "../protocol";

const MOST = 300;
const TITLES: Record<Kind, string> = { body: "Body", joint: "Joint", flexible: "Flexible member", link: "Connection", load: "Load", contact: "Contact" };

export interface Actions {
  select(ref: Ref | null): void;
  plot(title: string, columns: string[]): void;
  follow(body: number | null): void;
}

/** What stands at a reference, by name. */
export function nameOf(scene: Scene, ref: Ref): string {
  const lists = { body: scene.bodies, joint: scene.joints, flexible: scene.flexible, link: scene.links, load: scene.loads, contact: scene.contacts };
  return ref.kind === "body" && ref.index === GROUND ? "ground" : (lists[ref.kind]?.[ref.index]?.name ?? "?");
}

export class ObjectPanel {
  readonly root = h("div", { class: "object" });
  private readonly filter = h("input", { type: "search", placeholder: "Filter", "aria-label": "Filter objects", input: () => this.fillList() });
  private readonly list = h("ul", { class: "names objects" });
  private readonly detail = h("div");
  private rows: { column: Column; cell: HTMLElement }[] = [];
  private ref: Ref | null = null;
  private following: number | null = null;

  constructor(private readonly player: Player, private readonly actions: Actions) {
    this.root.append(this.detail, h("h3", {}, "All objects"), this.filter, this.list);
    this.fillList();
    this.show(null, null);
    player.onChange(() => this.update());
  }

  private refs(): Ref[] {
    return this.player.runs.slice(0, 1).flatMap(({ scene }) => {
      const all = (kind: Kind, n: number): Ref[] => Array.from({ length: n }, (_, index) => ({ run: 0, kind, index }));
      return [...all("joint", scene.joints?.length ?? 0), ...all("body", scene.bodies.length), ...all("flexible", scene.flexible?.length ?? 0),
        ...all("link", scene.links?.length ?? 0), ...all("load", scene.loads?.length ?? 0), ...all("contact", scene.contacts?.length ?? 0)];
    });
  }

  private fillList(): void {
    const scene = this.player.runs[0]?.scene;
    if (!scene) return;
    const fitting = this.refs().map((ref) => ({ ref, name: nameOf(scene, ref), kind: kindOf(scene, ref) }))
      .filter(({ name, kind }) => matches(`${name} ${kind}`, this.filter.value.trim()));
    const items = fitting.slice(0, MOST).map(({ ref, name, kind }) =>
      h("li", {}, h("button", { type: "button", "aria-pressed": String(sameRef(ref, this.ref)), click: () => this.actions.select(ref) }, name, h("small", {}, kind))));
    if (fitting.length > MOST) items.push(h("li", {}, h("small", {}, `and ${fitting.length - MOST} more; narrow the filter`)));
    this.list.replaceChildren(...items);
  }

  show(ref: Ref | null, following: number | null): void {
    this.ref = ref;
    this.following = following;
    this.fillList();
    const run = ref ? this.player.runs[ref.run] : undefined;
    if (!ref || !run) {
      this.rows = [];
      this.detail.replaceChildren(h("p", { class: "remark" }, "Click a part of the mechanism, or choose it below, to see its numbers."));
      return;
    }
    const { scene } = run, name = nameOf(scene, ref), columns = columnsOf(scene.columns, name);
    this.rows = columns.map((column) => ({ column, cell: h("td", { class: "value" }) }));
    const joint = ref.kind === "joint" ? scene.joints?.[ref.index] : undefined;
    const body = ref.kind === "body" ? ref.index : joint ? joint.bodies[1] : ref.kind === "load" ? scene.loads?.[ref.index]?.body : undefined;
    const buttons = h("div", { class: "actions" },
      body !== undefined && body !== GROUND ? h("button", { type: "button", "aria-pressed": String(this.following === body), click: () => this.actions.follow(this.following === body ? null : body) }, "Follow") : null,
      joint && columns.some((c) => /\.[ft][xyz]$/.test(c.name)) ? h("button", { type: "button", click: () => this.plotReactions(joint) }, "Plot reactions") : null,
      h("button", { type: "button", click: () => this.actions.select(null) }, "Clear"));
    this.detail.replaceChildren(
      h("h2", { id: "object-name" }, name),
      h("p", { class: "kind" }, `${kindOf(scene, ref)}${run.name && this.player.runs.length > 1 ? ` in ${run.name}` : ""}`),
      joint ? h("p", {}, `between ${bodyName(scene, joint.bodies[0])} and ${bodyName(scene, joint.bodies[1])}`) : "",
      joint && columns.some((c) => /\.[ft][xyz]$/.test(c.name)) ? h("p", { class: joint.not_unique?.length ? "warn" : "remark" }, uniqueness(joint)) : "",
      buttons,
      columns.length ? this.table(name, joint) : h("p", { class: "remark" }, "The results hold no columns of it."));
    this.update();
  }

  private table(name: string, joint: Joint | undefined): HTMLElement {
    const table = h("table", { class: "numbers" });
    for (const { column, cell } of this.rows.slice(0, 200)) {
      const short = column.name === name ? name : column.name.slice(name.length + 1);
      const mark = joint?.not_unique?.includes(short) ? h("span", { class: "warn", title: "Not unique" }, " ≈") : null;
      table.append(h("tr", {}, h("th", { scope: "row" }, short, mark), cell, h("td", { class: "unit" }, column.unit),
        h("td", {}, h("button", { type: "button", title: `Plot ${column.name}`, "aria-label": `Plot ${column.name}`, click: () => this.actions.plot(column.name, [column.name]) }, "∿"))));
    }
    return table;
  }

  private plotReactions(joint: Joint): void {
    const columns = this.rows.map((r) => r.column.name).filter((n) => /\.[ft][xyz]$/.test(n));
    if (columns.length) this.actions.plot(`Reactions of ${joint.name}`, columns);
  }

  private update(): void {
    const run = this.ref ? this.player.runs[this.ref.run] : undefined;
    if (!run || this.root.offsetParent === null) return;
    for (const { column, cell } of this.rows) {
      const v = run.shown(column.name, this.player.t);
      setText(cell, fmt(v, 7));
      cell.title = exact(v);
    }
  }
}

function bodyName(scene: Scene, index: number): string {
  return index === GROUND ? "ground" : (scene.bodies[index]?.name ?? "?");
}

function kindOf(scene: Scene, ref: Ref): string {
  const kinds = { joint: scene.joints, flexible: scene.flexible, link: scene.links, load: scene.loads } as Record<string, { kind: string }[] | undefined>;
  const kind = kinds[ref.kind]?.[ref.index]?.kind;
  if (ref.kind === "joint") return `${kind} joint`;
  return kind ?? TITLES[ref.kind].toLowerCase();
}
