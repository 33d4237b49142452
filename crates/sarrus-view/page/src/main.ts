// Sets the page up: loads the runs, connects the clock, the picture, the plots and the keys.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { apply, asked, type Asked } from "./address";
import { el, h, setText } from "./dom";
import type { Ref } from "./draw/parts";
import { fmt } from "./format";
import { Player } from "./player";
import type { Run } from "./run";
import { fill, loadManifest, openRun } from "./source";
import { DASHES, ThemeSwitch } from "./theme";
import { Help, listen, type Commands } from "./ui/help";
import { ObjectPanel, nameOf } from "./ui/object";
import { Options, SWITCHES } from "./ui/options";
import { Plots } from "./ui/plots";
import { reportOf } from "./ui/report";
import { Tabs } from "./ui/tabs";
import { Timeline } from "./ui/timeline";
import { isCertified, verdict } from "./verdict";
import { View } from "./view";

/** New frames are taken in so often [ms]. */
const EVERY = 150;

async function start(): Promise<void> {
  const want = asked(location.hash);
  if (want.strange.length) say(`The address asks for what this page does not know: ${want.strange.join(", ")}`);
  const manifest = await loadManifest();
  const runs = await Promise.all(manifest.runs.map(openRun));
  if (!runs.length) throw new Error("there are no runs to show");
  document.title = `${runs.map((r) => r.name).join(", ")} · Sarrus`;
  setText(el("title"), runs.length === 1 ? runs[0]!.name : "Sarrus");

  const theme = new ThemeSwitch((name) => {
    view.paint(name);
    plots.paint(name);
  }, want.theme);
  const player = new Player(runs);
  const view = new View(player, theme.name, select);
  apply(want, view.show);
  const plots = new Plots(player, theme.name);
  const report = h("div");
  const object = new ObjectPanel(player, {
    select,
    plot: (title, columns) => {
      tabs.show(0);
      plots.add({ title, columns });
    },
    follow: (body) => {
      view.setFollow(body);
      object.show(view.selected, body);
    },
  });
  const tabs = new Tabs(el("side"), [["Plots", plots.root], ["Object", object.root], ["Report", report]], () => player.changed());
  const timeline = new Timeline(el("timeline"), player);
  const options = new Options(el("show-list"), view.show, () => view.changed(), runs.some((r) => (r.scene.flexible ?? []).length > 0));

  function select(ref: Ref | null): void {
    view.select(ref);
    object.show(ref, view.following);
    if (!ref) return;
    if (ref.kind === "joint") plots.setJoint(nameOf(runs[ref.run]!.scene, ref));
    tabs.show(1);
  }

  function toggleSide(): void {
    const closed = document.body.classList.toggle("no-side");
    el("side-button").setAttribute("aria-expanded", String(!closed));
  }

  if (want.panel === false) toggleSide();
  if (want.picture) document.body.classList.add("picture");

  const commands = keys(player, timeline, view, options, theme, toggleSide, () => help.toggle(), select);
  const help = new Help(commands);
  listen(commands);
  el("theme-button").addEventListener("click", () => theme.toggle());
  el("help-button").addEventListener("click", () => help.toggle());
  el("side-button").addEventListener("click", toggleSide);
  el("fit-button").addEventListener("click", () => view.fit());
  if (runs.length > 1) el("runs").append(...runs.map(legendOf));

  const ready = new FirstPlots(plots);
  const arrive = arrival(player, want);
  const grown = throttled(() => {
    view.grown();
    player.grown();
    arrive();
    ready.once(runs);
    setText(el("status"), statusOf(runs));
    el("status").className = runs.some((r) => r.status === "failed" || r.status === "cut off") ? "warn" : runs.every(isCertified) ? "good" : "";
    report.replaceChildren(...runs.map(reportOf));
  });
  // what is being computed is watched, unless somebody would rather have less motion
  const moves = runs.some((r) => r.live) && want.t === null && !matchMedia("(prefers-reduced-motion: reduce)").matches;
  player.playing = want.play ?? moves;
  Object.assign(window, { sarrus: { player, view, plots, runs } });
  loop(player, view);
  grown();
  await Promise.all(runs.map((run, i) => fill(run, manifest.runs[i]!, grown).catch((error: unknown) => {
    run.status = "failed";
    run.failure = `The results could not be read: ${message(error)}`;
    say(run.failure);
    grown();
  })));
  grown();
}

/** The plots that are there from the start, once there are frames. */
class FirstPlots {
  private done = false;
  constructor(private readonly plots: Plots) {}
  once(runs: Run[]): void {
    if (this.done || !runs.some((r) => r.frames.n > 1)) return;
    this.done = true;
    const has = (name: string) => runs[0]!.index.has(name);
    if (has("energy.kinetic")) this.plots.addReady("energy");
    // what only falls and touches has no constraints to keep
    const { scene, frames, index } = runs[0]!;
    const kept = (name: string) => has(name) && (scene.joints?.length || frames.column(index.get(name)!).some((x) => x !== 0));
    if (kept("violation.position") || kept("violation.acceleration")) this.plots.addReady("constraints");
  }
}

/** Goes to the time that the address asks for as soon as it is there. */
function arrival(player: Player, want: Asked): () => void {
  let waiting = want.t !== null;
  return () => {
    const t = want.t ?? 0, there = player.span[1] >= t || !player.computing;
    if (!waiting || !there || !player.runs.some((r) => r.frames.n > 0 && r.status !== "loading")) return;
    waiting = false;
    player.seek(t);
  };
}

function loop(player: Player, view: View): void {
  let before = performance.now();
  const tick = (now: number) => {
    // a tab that was away does not leap
    player.advance(Math.min(0.25, (now - before) / 1000));
    before = now;
    view.frame();
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}

function keys(player: Player, timeline: Timeline, view: View, options: Options, theme: ThemeSwitch, side: () => void, help: () => void, select: (ref: null) => void): Commands {
  const many = (e: KeyboardEvent) => (e.shiftKey ? Math.max(10, Math.round((player.runs[0]?.frames.n ?? 0) / 50)) : 1);
  const commands: Commands = {
    " ": { show: "space", text: "play or pause", act: () => player.toggle() },
    ArrowLeft: { show: "←", text: "one sample back; with shift many", act: (e) => player.stepBy(-many(e)) },
    ArrowRight: { show: "→", text: "one sample on; with shift many", act: (e) => player.stepBy(many(e)) },
    Home: { text: "to the start", act: () => player.seek(player.span[0]) },
    End: { text: "to the end", act: () => player.seek(player.span[1]) },
    "[": { show: "[ ]", text: "to the event before or after", act: () => timeline.jump(-1) },
    "]": { text: "", hidden: true, act: () => timeline.jump(1) },
    "+": { show: "+ −", text: "faster, slower", act: () => player.faster(1) },
    "=": { text: "", hidden: true, act: () => player.faster(1) },
    "-": { text: "", hidden: true, act: () => player.faster(-1) },
    l: { text: "loop", act: () => { player.loop = !player.loop; player.changed(); } },
    f: { text: "see all of it", act: () => view.fit() },
    o: { text: "follow the picked body", act: () => view.setFollow(view.following === null && view.selected?.kind === "body" && view.selected.index >= 0 ? view.selected.index : null) },
    p: { text: "plots and numbers", act: side },
    d: { text: "light or dark", act: () => theme.toggle() },
    Escape: { show: "Esc", text: "pick nothing", act: () => select(null) },
    "?": { text: "this help", act: help },
  };
  for (const { key, letter } of SWITCHES) commands[letter] = { text: "", hidden: true, act: () => options.toggle(key) };
  return commands;
}

function legendOf(run: Run, i: number): HTMLElement {
  return h("span", { class: "run" }, h("span", { class: `look look${Math.min(i, 1)}`, "aria-hidden": "true" }), run.name, h("small", {}, i ? ` ${["", "dashed", "dotted", "dash-dot"][Math.min(i, DASHES.length - 1)] ?? ""}` : ""));
}

function statusOf(runs: Run[]): string {
  const going = runs.find((r) => r.status === "computing");
  if (going) {
    const [start] = going.span, t = going.reached ?? going.span[1], until = going.until ?? 0;
    const share = until > start ? ` ${Math.floor((100 * (t - start)) / (until - start))} %` : "";
    return `computing${share}, t = ${fmt(t, 4)} s`;
  }
  const bad = runs.find((r) => r.status === "failed" || r.status === "cut off");
  if (bad) return bad.status === "failed" ? `failed: ${bad.failure}` : "the connection was lost";
  if (runs.some((r) => r.status === "loading")) return "loading";
  return verdict(runs);
}

function throttled(act: () => void): () => void {
  let waiting = false, last = -Infinity;
  return () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      last = performance.now();
      act();
    }, Math.max(0, EVERY - (performance.now() - last)));
  };
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function say(text: string): void {
  const place = el("message");
  setText(place, text);
  place.hidden = false;
}

start().catch((error: unknown) => {
  const hint = /webgl/i.test(message(error)) ? " The browser must offer WebGL; in its settings, turn hardware acceleration on." : "";
  say(`This page could not start: ${message(error)}.${hint}`);
});
