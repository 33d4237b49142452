// Play, pause, scrub, speed, loop; what happened as marks along the line.

import { h, setText } from "../dom";
import { SPEEDS, fmtTime } from "../format";
import type { Player } from "../player";
import type { Happening } from "../protocol";

const WORDS: Record<Happening["kind"], string> = { event: "Event", singular: "Singular position", stop: "Stop" };

export class Timeline {
  private readonly play = h("button", { type: "button", id: "play", click: () => this.player.toggle() });
  private readonly slider = h("input", { type: "range", id: "scrub", step: "any", "aria-label": "Time", input: () => this.scrub() });
  private readonly computed = h("div", { class: "computed" });
  private readonly marks = h("div", { class: "marks" });
  private readonly clock = h("output", { id: "clock", for: "scrub" });
  private readonly total = h("span", { class: "total" });
  private readonly speed = h("select", { id: "speed", "aria-label": "Speed", title: "Speed (+ and −)", change: () => this.player.setSpeed(Number(this.speed.value)) });
  private readonly loop = h("button", { type: "button", id: "loop", title: "Loop (l)", "aria-label": "Loop", click: () => this.setLoop() }, "⟳");
  private shown = "";

  constructor(host: HTMLElement, private readonly player: Player) {
    for (const s of SPEEDS) this.speed.append(h("option", { value: s }, `${s} ×`));
    const step = (n: number, sign: string, label: string) =>
      h("button", { type: "button", class: "step", title: label, "aria-label": label, click: () => player.stepBy(n) }, sign);
    const time = h("div", { class: "clock" }, this.clock, this.total);
    host.append(
      h("div", { class: "buttons" }, step(-1, "‹", "One sample back (←)"), this.play, step(1, "›", "One sample on (→)")),
      time,
      h("div", { class: "track" }, this.computed, this.slider, this.marks),
      this.speed,
      this.loop,
    );
    player.onChange(() => this.update());
    this.update();
  }

  private scrub(): void {
    this.player.playing = false;
    this.player.seek(Number(this.slider.value));
  }

  private setLoop(): void {
    this.player.loop = !this.player.loop;
    this.player.changed();
  }

  /** All marks there are, in the order of time. */
  get happenings(): Happening[] {
    return this.player.runs.flatMap((r) => r.events).filter((e) => Number.isFinite(e.t)).sort((a, b) => a.t - b.t);
  }

  /** To the next mark before or after now. */
  jump(by: 1 | -1): void {
    const eps = 1e-9 * (this.player.until - this.player.span[0]);
    const list = this.happenings;
    const next = by > 0 ? list.find((e) => e.t > this.player.t + eps) : list.findLast((e) => e.t < this.player.t - this.player.step / 2 - eps);
    if (next) {
      this.player.playing = false;
      this.player.seek(next.t);
    }
  }

  private update(): void {
    const { player, slider } = this;
    const [start, end] = player.span, until = player.until, length = until - start || 1;
    slider.min = String(start);
    slider.max = String(until);
    slider.value = String(player.t);
    const text = fmtTime(player.t, player.step);
    slider.setAttribute("aria-valuetext", `${text} s of ${fmtTime(until, player.step)} s`);
    setText(this.clock, text);
    setText(this.total, ` / ${fmtTime(until, player.step)} s`);
    setText(this.play, player.playing ? "❚❚" : "▶");
    const label = player.playing ? "Pause (space)" : "Play (space)";
    this.play.title = label;
    this.play.setAttribute("aria-label", label);
    this.speed.value = String(player.speed);
    this.loop.setAttribute("aria-pressed", String(player.loop));
    this.computed.style.width = `${(100 * (end - start)) / length}%`;
    this.computed.hidden = !player.computing;
    this.placeMarks(start, length);
  }

  private placeMarks(start: number, length: number): void {
    const list = this.happenings;
    const key = `${start} ${length} ${list.length}`;
    if (key === this.shown) return;
    this.shown = key;
    this.marks.replaceChildren(
      ...list.slice(0, 400).map((e) => {
        const text = `${WORDS[e.kind] ?? "Event"} at ${fmtTime(e.t, this.player.step / 10)} s: ${e.name}${e.text ? `, ${e.text}` : ""}`;
        const mark = h("button", { type: "button", class: `mark ${e.kind in WORDS ? e.kind : "event"}`, title: text, "aria-label": text, click: () => {
          this.player.playing = false;
          this.player.seek(e.t);
        } });
        mark.style.left = `${(100 * (e.t - start)) / length}%`;
        return mark;
      }),
    );
  }
}
