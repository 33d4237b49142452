// Which columns belong to what: filters, ready-made panels, the numbers of an object.

import type { Column, Joint } from "./protocol";
import type { Run } from "./run";

export const REACTIONS = ["fx", "fy", "fz", "tx", "ty", "tz"] as const;

/** Whether a name fits a filter: words in any order, each anywhere in the name; `*` any letters. */
export function matches(name: string, filter: string): boolean {
  const lower = name.toLowerCase();
  return filter.toLowerCase().split(/\s+/).every((word) => {
    if (!word.includes("*")) return lower.includes(word);
    const parts = word.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
    return new RegExp(`^${parts.join(".*")}$`).test(lower);
  });
}

/** Columns of the element `name`: `name` itself and all that begin with `name.`. */
export function columnsOf(columns: Column[], name: string): Column[] {
  return columns.filter((c) => !c.hidden && (c.name === name || c.name.startsWith(`${name}.`)));
}

/** Columns in units of which, and what is said where there are none. */
export interface Ready {
  key: string;
  title: string;
  log?: boolean;
  columns: string[];
  missing: string;
}

/** The panels that need no choosing. */
export function readyPanels(run: Run, joint: string | null): Ready[] {
  const first = joint ?? run.scene.joints?.[0]?.name ?? "";
  const there = (names: string[]) => names.filter((name) => run.index.has(name));
  return [
    {
      key: "constraints",
      title: "Constraint norms",
      log: true,
      columns: there(["position", "velocity", "acceleration"].map((level) => `violation.${level}`)),
      missing: "The results hold no violation columns.",
    },
    {
      key: "energy",
      title: "Energy",
      columns: there(["kinetic", "potential", "dissipated", "work", "balance"].map((e) => `energy.${e}`)),
      missing: "The results hold no energy columns.",
    },
    {
      key: "balance",
      title: "Energy balance",
      columns: there(["energy.balance"]),
      missing: "The results hold no energy balance.",
    },
    {
      key: "reactions",
      title: first ? `Reactions of ${first}` : "Reactions",
      columns: there(REACTIONS.map((r) => `${first}.${r}`)),
      missing: first ? `The results hold no reactions of ${first}.` : "There are no joints.",
    },
    {
      key: "sigma",
      title: "Smallest singular value",
      log: true,
      columns: there(["run.sigma"]),
      missing: "The smallest singular value was not recorded in this run.",
    },
    {
      key: "step",
      title: "Step size",
      log: true,
      columns: there(["run.step"]),
      missing: "Step sizes were not recorded in this run.",
    },
  ];
}

/** What is to be said about the uniqueness of a joint's reactions. */
export function uniqueness(joint: Joint | undefined): string {
  if (!joint) return "";
  const shared = joint.not_unique ?? [];
  if (!shared.length) return "Unique: these follow from the motion alone.";
  return `Not unique: ${shared.join(", ")}. Redundant constraints share the load in many ways; the shares of least norm are shown.`;
}
