// The tab of plots: ready-made ones, and any columns that are chosen.

import { matches, readyPanels, uniqueness } from "../columns";
import { h, setText } from "../dom";
import type { Player } from "../player";
import type { Name } from "../theme";
import { Plot, type PlotSpec } from "./plot";

/** Names that a list shows at once. */
const MOST = 150;

export class Plots {
  readonly root = h("div", { class: "plots" });
  readonly list: Plot[] = [];
  private readonly ready = h("div", { class: "ready", role: "group", "aria-label": "Ready-made plots" });
  private readonly holder = h("div");
  private readonly names = h("ul", { class: "names" });
  private readonly filter = h("input", { type: "search", id: "filter", placeholder: "Filter: crank *.fx", "aria-label": "Filter columns", input: () => this.fillNames() });
  private readonly across = h("input", { type: "text", id: "across", list: "across-list", placeholder: "t", "aria-label": "Against" });
  private readonly go = h("button", { type: "button", class: "main", click: () => this.plotChosen() }, "Plot");
  private readonly chosen = new Set<string>();
  private readonly note = h("p", { class: "remark" });
  private joint: string | null = null;
  private last = 0;

  constructor(private readonly player: Player, private name: Name) {
    const datalist = h("datalist", { id: "across-list" });
    for (const column of this.columns.slice(0, 1000)) datalist.append(h("option", { value: column }));
    const chooser = h("details", { class: "chooser", toggle: () => this.fillNames() }, h("summary", {}, "Choose columns…"),
      this.filter, this.names, h("label", { class: "against" }, "against", this.across, datalist, this.go), this.note);
    this.root.append(this.ready, chooser, this.holder);
    this.fillReady();
    player.onChange(() => this.update());
    new ResizeObserver(() => this.list.forEach((p) => p.build())).observe(this.root);
  }

  /** Names of all columns of all runs, those that are only drawn from left out. */
  private get columns(): string[] {
    return [...new Set(this.player.runs.flatMap((r) => r.scene.columns.filter((c) => !c.hidden).map((c) => c.name)))];
  }

  /** The joint whose reactions the ready-made panel shows. */
  setJoint(name: string | null): void {
    if (name && name !== this.joint) {
      this.joint = name;
      this.fillReady();
    }
  }

  private fillReady(): void {
    const run = this.player.runs[0];
    if (!run) return;
    this.ready.replaceChildren(...readyPanels(run, this.joint).map((panel) =>
      h("button", { type: "button", title: panel.columns.length ? "" : panel.missing, "data-key": panel.key, click: () => this.addReady(panel.key) }, panel.title)));
  }

  addReady(key: string): void {
    const run = this.player.runs[0];
    const panel = run && readyPanels(run, this.joint).find((p) => p.key === key);
    if (!panel) return;
    if (!panel.columns.length) {
      const empty = h("section", { class: "plot" }, h("header", {}, h("h3", {}, panel.title),
        h("button", { type: "button", "aria-label": "Close", click: () => empty.remove() }, "×")), h("p", { class: "remark" }, panel.missing));
      this.holder.prepend(empty);
      return;
    }
    const joint = key === "reactions" ? run.scene.joints?.find((j) => panel.columns[0]!.startsWith(`${j.name}.`)) : undefined;
    this.add({ title: panel.title, columns: panel.columns, ...(panel.log ? { log: true } : {}), ...(joint ? { remark: uniqueness(joint) } : {}) });
  }

  add(spec: PlotSpec, atEnd = false): Plot {
    const plot = new Plot(spec, this.player, this.name, () => {
      plot.root.remove();
      this.list.splice(this.list.indexOf(plot), 1);
    });
    this.list.push(plot);
    this.holder[atEnd ? "append" : "prepend"](plot.root);
    plot.build();
    return plot;
  }

  private fillNames(): void {
    const all = this.columns, fitting = all.filter((name) => matches(name, this.filter.value.trim()));
    this.names.replaceChildren(...fitting.slice(0, MOST).map((name) => {
      const box = h("input", { type: "checkbox", change: () => void (box.checked ? this.chosen.add(name) : this.chosen.delete(name), this.count()) });
      box.checked = this.chosen.has(name);
      return h("li", {}, h("label", {}, box, name));
    }));
    this.count(fitting.length);
  }

  private count(fitting?: number): void {
    setText(this.go, this.chosen.size ? `Plot ${this.chosen.size}` : "Plot");
    const left = this.player.runs[0]?.scene.columns_left_out ?? 0;
    const more = fitting !== undefined && fitting > MOST ? `${fitting - MOST} more names fit; narrow the filter. ` : "";
    if (fitting !== undefined) setText(this.note, more + (left ? `${left} columns of the results are not in this page.` : ""));
  }

  private plotChosen(): void {
    if (!this.chosen.size) return setText(this.note, "Tick at least one column.");
    const x = this.across.value.trim();
    if (x && x !== "t" && !this.columns.includes(x)) return setText(this.note, `There is no column ${x}.`);
    const columns = [...this.chosen], against = x && x !== "t" ? x : null;
    const title = `${columns.slice(0, 3).join(", ")}${columns.length > 3 ? ", …" : ""}${against ? ` over ${against}` : ""}`;
    this.add({ title, columns, x: against });
    this.chosen.clear();
    this.fillNames();
  }

  paint(name: Name): void {
    this.name = name;
    this.list.forEach((plot) => plot.paint(name));
  }

  /** While a run is going, new samples are taken in three times a second. */
  private update(): void {
    if (this.root.offsetParent === null) return;
    const now = performance.now();
    if (now - this.last > 330) {
      this.last = now;
      this.list.forEach((plot) => plot.refresh());
    }
    this.list.forEach((plot) => plot.update());
  }

  refreshAll(): void {
    this.list.forEach((plot) => plot.build());
  }
}
