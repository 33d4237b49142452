// One plot: columns against time or against a column, of all runs. Drag to go to a time, shift and drag to zoom,
// double click for all of it.

import uPlot from "uplot";
import { h, setText, svg } from "../dom";
import { exact, fmt } from "../format";
import type { Player } from "../player";
import type { Run } from "../run";
import { locate, nearest } from "../sample";
import { DASHES, lineColor, themeOf, type Name } from "../theme";
import { apart, limits, powers, steps, ticks } from "./scale";

export interface PlotSpec {
  title: string;
  columns: string[];
  /** Left out: against time. */
  x?: string | null;
  log?: boolean;
  remark?: string;
}

export interface Series {
  run: Run;
  column: string;
  unit: string;
  color: number;
  dash: number[];
  hidden: boolean;
  x: Float64Array;
  y: Float64Array;
  value: HTMLElement;
  dot: HTMLElement;
}

export class Plot {
  readonly root: HTMLElement;
  readonly series: Series[];
  private readonly holder = h("div", { class: "plot-holder" });
  private readonly legend = h("ul", { class: "legend" });
  private readonly now = h("div", { class: "now" });
  private readonly units: string[];
  private u: uPlot | null = null;
  private zoomed = false;
  private frames = 0;

  constructor(readonly spec: PlotSpec, private readonly player: Player, private name: Name, remove: () => void) {
    const { runs } = player;
    this.series = spec.columns.flatMap((column, c) =>
      runs.filter((run) => run.index.has(column)).map((run) => this.entry(run, column, c, runs.indexOf(run) + runs.length * c)),
    );
    this.units = [...new Set(this.series.map((s) => s.unit))].slice(0, 2);
    const log = h("button", { type: "button", title: "Logarithmic or linear", "aria-pressed": String(!!spec.log), click: () => {
      spec.log = !spec.log;
      log.setAttribute("aria-pressed", String(spec.log));
      this.build();
    } }, "log");
    const close = h("button", { type: "button", "aria-label": `Close ${spec.title}`, title: "Close", click: remove }, "×");
    this.root = h("section", { class: "plot", "aria-label": spec.title },
      h("header", {}, h("h3", {}, spec.title), log, close),
      this.holder, this.legend, spec.remark ? h("p", { class: "remark" }, spec.remark) : null);
    this.series.forEach((s) => this.legend.append(this.item(s)));
  }

  private entry(run: Run, column: string, color: number, dash: number): Series {
    const unit = run.scene.columns[run.index.get(column)!]!.unit;
    return { run, column, unit, color, dash: DASHES[dash % DASHES.length]!, hidden: false, x: new Float64Array(0), y: new Float64Array(0),
      value: h("span", { class: "value" }), dot: h("div", { class: "dot" }) };
  }

  private item(s: Series): HTMLElement {
    const line = svg("line", { x1: 1, x2: 25, y1: 6, y2: 6, "stroke-width": 2.2, "stroke-dasharray": s.dash.join(" ") || "none" });
    const picture = svg("svg", { viewBox: "0 0 26 12", class: `swatch line${s.color % 8}`, "aria-hidden": "true" });
    picture.append(line);
    const run = this.player.runs.length > 1 ? h("span", { class: "of" }, ` ${s.run.name}`) : null;
    const button = h("button", { type: "button", "aria-pressed": "true", title: "Show or hide", click: () => {
      s.hidden = !s.hidden;
      button.setAttribute("aria-pressed", String(!s.hidden));
      this.build();
    } }, picture, h("span", { class: "label" }, s.column), ...(run ? [run] : []));
    return h("li", {}, button, s.value, h("span", { class: "unit" }, s.unit));
  }

  paint(name: Name): void {
    this.name = name;
    this.build();
  }

  /** Takes new samples in. */
  refresh(): void {
    const n = this.series.reduce((sum, s) => sum + s.run.frames.n, 0);
    if (n !== this.frames && !this.zoomed) this.build();
  }

  private read(): void {
    this.frames = this.series.reduce((sum, s) => sum + s.run.frames.n, 0);
    for (const s of this.series) {
      const { frames, index } = s.run;
      const across = this.spec.x ? index.get(this.spec.x) : undefined;
      s.x = across === undefined ? frames.t() : scaled(frames.column(across), s.run.scale(this.spec.x!));
      s.y = scaled(frames.column(index.get(s.column)!), s.run.scale(s.column));
    }
  }

  build(): void {
    const width = Math.floor(this.holder.clientWidth);
    if (!width) return;
    this.read();
    this.u?.destroy();
    this.zoomed = false;
    const theme = themeOf(this.name), shown = this.series.filter((s) => !s.hidden);
    const scales: uPlot.Scales = { x: { time: false, auto: false, range: (_u, lo, hi) => apart(lo, hi), ...limits(shown.map((s) => s.x), false, !this.spec.x) } };
    const axis = { stroke: theme.faint, font: "11px system-ui, sans-serif", labelFont: "11px system-ui, sans-serif", ticks: { stroke: theme.rule, width: 1, size: 4 }, gap: 3 };
    const axes: uPlot.Axis[] = [{ ...axis, scale: "x", grid: { stroke: theme.rule, width: 1 }, size: 24, label: this.xLabel(), labelSize: 14, labelGap: 0, values: ticks, splits: (u, _i, lo, hi) => steps(lo, hi, Math.max(2, u.bbox.width / devicePixelRatio / 60)) }];
    this.units.forEach((unit, k) => {
      const own = shown.filter((s) => this.scaleOf(s) === `y${k}`).map((s) => s.y);
      if (!own.length) return;
      scales[`y${k}`] = { auto: false, distr: this.spec.log ? 3 : 1, range: (_u, lo, hi) => apart(lo, hi), ...limits(own, !!this.spec.log, false) };
      const size: uPlot.Axis.Size = (_u, values) => 14 + 6.2 * Math.max(3, ...(values ?? []).map((v) => v?.length ?? 0));
      const splits: uPlot.Axis.Splits = (_u, _i, lo, hi) => (this.spec.log ? powers(lo, hi, 7) : steps(lo, hi, 5));
      axes.push({ ...axis, splits, filter: (_u, all) => all, scale: `y${k}`, side: k ? 1 : 3, grid: { show: k === 0, stroke: theme.rule, width: 1, filter: (_u, all) => all }, size, label: unit || undefined, labelSize: unit ? 15 : 0, labelGap: 0, values: ticks });
    });
    const series: (uPlot.Series | null)[] = [null, ...shown.map((s): uPlot.Series => ({ paths: (u, i) => this.draw(u, i, s), facets: [{ scale: "x" }, { scale: this.scaleOf(s) }], scale: this.scaleOf(s) } as uPlot.Series))];
    const options = { mode: 2, hooks: { ready: [() => this.update()], setScale: [() => this.update()] }, width, height: 190, legend: { show: false }, scales, axes, series, padding: [8, this.units.length > 1 ? 0 : 22, 0, 0],
      cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: true, uni: 20, setScale: true },
        bind: { mousedown: (_u: uPlot, _t: EventTarget, handler: (e: MouseEvent) => null) => (e: MouseEvent) => (e.shiftKey ? ((this.zoomed = true), handler(e)) : null),
          dblclick: () => () => (this.build(), null) } } } as unknown as uPlot.Options;
    this.u = new uPlot(options, [null, ...shown.map((s) => [s.x, s.y])] as unknown as uPlot.AlignedData, this.holder);
    this.u.over.append(this.now, ...shown.map((s) => s.dot));
    this.u.over.addEventListener("pointerdown", (e) => this.grab(e));
  }

  private scaleOf(s: Series): string {
    return `y${Math.max(0, this.units.indexOf(s.unit))}`;
  }

  private xLabel(): string {
    if (!this.spec.x) return "t  [s]";
    const run = this.series[0]?.run, i = run?.index.get(this.spec.x);
    const unit = i === undefined ? "" : run!.scene.columns[i]!.unit;
    return unit ? `${this.spec.x}  [${unit}]` : this.spec.x;
  }

  /** Draws a line; gaps where a number is missing, or not positive on a logarithmic scale. */
  private draw(u: uPlot, _i: number, s: Series): null {
    const { ctx, bbox } = u, ratio = devicePixelRatio || 1, scale = this.scaleOf(s);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.beginPath();
    let pen = false;
    for (let k = 0; k < s.y.length; k++) {
      const x = s.x[k]!, y = s.y[k]!;
      if (!Number.isFinite(x + y) || (this.spec.log && y <= 0)) {
        pen = false;
        continue;
      }
      const px = u.valToPos(x, "x", true), py = u.valToPos(y, scale, true);
      if (pen) ctx.lineTo(px, py);
      else ctx.moveTo(px, py);
      pen = true;
    }
    ctx.strokeStyle = lineColor(s.color, this.name);
    ctx.lineWidth = 1.6 * ratio;
    ctx.setLineDash(s.dash.map((d) => d * ratio));
    ctx.stroke();
    ctx.restore();
    return null;
  }

  private grab(e: PointerEvent): void {
    if (e.shiftKey || e.button !== 0 || !this.u) return;
    const over = this.u.over;
    over.setPointerCapture(e.pointerId);
    const go = (at: PointerEvent) => {
      const rect = over.getBoundingClientRect();
      this.player.playing = false;
      this.player.seek(this.timeAt(at.clientX - rect.left, at.clientY - rect.top));
    };
    go(e);
    over.addEventListener("pointermove", go);
    over.addEventListener("pointerup", () => over.removeEventListener("pointermove", go), { once: true });
  }

  private timeAt(px: number, py: number): number {
    const u = this.u!, s = this.series.find((one) => !one.hidden);
    if (!this.spec.x || !s) return u.posToVal(px, "x");
    // against a column: the sample that is drawn nearest
    let best = 0, least = Infinity;
    s.x.forEach((x, k) => {
      const d = Math.hypot(u.valToPos(x, "x") - px, u.valToPos(s.y[k]!, this.scaleOf(s)) - py);
      if (d < least) [best, least] = [k, d];
    });
    return s.run.frames.t()[best]!;
  }

  /** Shows the time that it is: a line, dots, numbers. */
  update(): void {
    const { u, player } = this;
    for (const s of this.series) {
      const v = s.run.shown(s.column, player.t);
      setText(s.value, fmt(v, 6));
      s.value.title = exact(v);
      if (!u || s.hidden) continue;
      const [i] = locate(s.run.frames.t(), player.t);
      const x = this.spec.x ? s.run.shown(this.spec.x, player.t) : s.run.frames.t()[nearest(s.run.frames.t(), player.t)] === undefined ? NaN : player.t;
      const seen = i >= 0 && Number.isFinite(x + v) && !(this.spec.log && v <= 0);
      s.dot.hidden = !seen;
      if (seen) s.dot.style.transform = `translate(${u.valToPos(x, "x").toFixed(1)}px, ${u.valToPos(v, this.scaleOf(s)).toFixed(1)}px)`;
      s.dot.className = `dot line${s.color % 8}`;
    }
    this.now.hidden = !!this.spec.x;
    if (u && !this.spec.x) this.now.style.transform = `translateX(${u.valToPos(player.t, "x").toFixed(1)}px)`;
  }
}

/** Values in the unit in which they are shown. */
function scaled(values: Float64Array, scale: number): Float64Array {
  return scale === 1 ? values : values.map((v) => v * scale);
}
