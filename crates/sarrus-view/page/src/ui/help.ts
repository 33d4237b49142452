// Keys, and the page that lists them.

import { h } from "../dom";
import { SWITCHES } from "./options";

export interface Commands {
  [key: string]: { text: string; act: (e: KeyboardEvent) => void; show?: string; hidden?: boolean };
}

/** Listens to keys, except where text is typed, and leaves a focused button, slider or tab its own. */
export function listen(commands: Commands): void {
  addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const target = e.target as HTMLElement;
    const typing = target.matches("input:not([type=range]):not([type=checkbox]), textarea, select");
    const own = (target.matches("button, summary, input[type=checkbox]") && (e.key === " " || e.key === "Enter")) || (target.matches("input[type=range]:not(#scrub)") && e.key.length > 1);
    if (typing || own || document.querySelector("dialog[open]")) return;
    const command = commands[e.key] ?? commands[e.key.toLowerCase()];
    if (!command) return;
    e.preventDefault();
    command.act(e);
  });
}

export class Help {
  private readonly dialog: HTMLDialogElement;

  constructor(commands: Commands) {
    const rows = Object.entries(commands).filter(([, c]) => !c.hidden).map(([key, c]) => h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, c.show ?? key)), h("td", {}, c.text)));
    const switches = SWITCHES.map((s) => h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, s.letter)), h("td", {}, `${s.text} on or off`)));
    const mouse: [string, string][] = [
      ["drag", "turn (planar models: move; with the right button: turn)"], ["right drag", "move"], ["wheel, pinch", "zoom"], ["click", "pick an object"],
      ["drag in a plot", "go to that time"], ["shift and drag in a plot", "zoom; double click for all"],
    ];
    this.dialog = h("dialog", { "aria-label": "Help" },
      h("h2", {}, "Keys"), h("div", { class: "columns" }, h("table", {}, ...rows), h("table", {}, ...switches)),
      h("h2", {}, "Pointer"), h("table", {}, ...mouse.map(([what, does]) => h("tr", {}, h("th", { scope: "row" }, what), h("td", {}, does)))),
      h("form", { method: "dialog" }, h("button", { class: "main" }, "Close")));
    document.body.append(this.dialog);
    this.dialog.addEventListener("click", (e) => e.target === this.dialog && this.dialog.close());
  }

  toggle(): void {
    if (this.dialog.open) this.dialog.close();
    else this.dialog.showModal();
  }
}
