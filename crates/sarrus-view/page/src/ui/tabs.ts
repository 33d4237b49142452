// Tabs, by the keyboard too: arrow keys go from one to the next.

import { h } from "../dom";

export class Tabs {
  private readonly buttons: HTMLButtonElement[] = [];
  private readonly panels: HTMLElement[] = [];

  constructor(host: HTMLElement, entries: [string, HTMLElement][], private readonly shown: (name: string) => void) {
    const bar = h("div", { role: "tablist", class: "tabs", keydown: ((e: KeyboardEvent) => this.key(e)) as EventListener });
    entries.forEach(([name, content], i) => {
      const id = name.toLowerCase();
      this.buttons.push(h("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}`, click: () => this.show(i) }, name));
      this.panels.push(h("div", { role: "tabpanel", class: "panel", id: `panel-${id}`, "aria-labelledby": `tab-${id}`, tabindex: 0 }, content));
    });
    bar.append(...this.buttons);
    host.append(bar, ...this.panels);
    this.show(0);
  }

  show(i: number): void {
    this.buttons.forEach((button, k) => {
      button.setAttribute("aria-selected", String(k === i));
      button.tabIndex = k === i ? 0 : -1;
      this.panels[k]!.hidden = k !== i;
    });
    this.shown(this.buttons[i]?.textContent ?? "");
  }

  private key(e: KeyboardEvent): void {
    const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
    if (!by) return;
    const i = (this.buttons.indexOf(e.target as HTMLButtonElement) + by + this.buttons.length) % this.buttons.length;
    this.show(i);
    this.buttons[i]!.focus();
    e.preventDefault();
    e.stopPropagation();
  }
}
