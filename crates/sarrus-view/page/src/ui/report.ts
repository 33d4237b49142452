// The tab of the report: how the run ended, its certificate, the method and why, redundancy, what happened.

import { h } from "../dom";
import { fmt } from "../format";
import type { Report, Thinning } from "../protocol";
import type { Run } from "../run";

type Any = Record<string, unknown>;
const part = (r: unknown, key: string): Any => ((r as Any | null)?.[key] as Any | undefined) ?? {};
const list = (x: unknown): unknown[] => (Array.isArray(x) ? x : []);
const num = (x: unknown): string => (typeof x === "number" ? fmt(x, 3) : "–");
const text = (x: unknown): string => (x === null || x === undefined ? "–" : typeof x === "number" ? String(+x.toPrecision(6)) : String(x));

export function reportOf(run: Run): HTMLElement {
  const { report } = run;
  const root = h("article", { class: "report" }, h("h2", {}, run.name));
  if (run.failure) root.append(h("p", { class: "warn" }, run.failure));
  if (run.scene.thinning) root.append(h("p", { class: "remark" }, thinned(run.scene.thinning)));
  if (!report) {
    root.append(h("p", { class: "remark" }, run.status === "computing" ? "The report comes when the run ends." : "There is no report with these results."));
    return root;
  }
  root.append(h("p", {}, `${text(report["status"])} at t = ${text(report["t_end"])} s: ${text(report["reason"])}.`));
  const failure = part(report, "failure");
  if (failure["message"]) root.append(h("p", { class: "warn" }, `${text(failure["message"])}${failure["element"] ? ` (${text(failure["element"])})` : ""}`));
  root.append(...certificate(report), ...method(report), ...redundancy(report), ...happened(report), ...work(report));
  const notes = list(report["notes"]);
  if (notes.length) root.append(h("h3", {}, "Notes"), bullets(notes));
  return root;
}

function thinned(t: Thinning): string {
  return `Thinned for this page: ${t.kept} of ${t.of} samples. What is drawn between them is within ${fmt(t.position, 2)} m and ${fmt(t.angle, 2)} rad of the run's own samples, columns within ${fmt(t.columns, 2)} of their largest value.`;
}

function certificate(report: Report): Node[] {
  const c = part(report, "certificate");
  if (c["passed"] === undefined) return [];
  const passed = c["passed"] === true, advice = list(report["advice"]);
  const rows = Object.entries(c).filter(([, v]) => typeof v === "object" && v !== null) as [string, Any][];
  const table = h("table", {}, h("tr", {}, h("th", {}, ""), h("th", {}, "value"), h("th", {}, "limit"), h("th", {}, "")));
  for (const [name, item] of rows) {
    const ok = item["passed"];
    table.append(h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, num(item["value"])), h("td", {}, num(item["limit"])),
      h("td", { class: ok === false ? "warn" : "good" }, ok === false ? "failed" : ok === true ? "passed" : "")));
  }
  return [h("h3", {}, "Certificate ", h("span", { class: passed ? "chip good" : "chip warn" }, passed ? "passed" : "not passed")), ...(rows.length ? [table] : []), ...(advice.length ? [h("p", { class: "remark" }, "What to change"), bullets(advice)] : [])];
}

function method(report: Report): Node[] {
  const m = part(report, "method");
  if (!m["integrator"]) return [];
  const table = pairs([["formulation", m["formulation"]], ["stabilization", m["stabilization"]], ["integrator", m["integrator"]],
    ["tolerance", m["rtol"] === null || m["rtol"] === undefined ? null : `rtol ${text(m["rtol"])}, atol ${text(m["atol"])}`],
    ["step", m["step"] === null || m["step"] === undefined ? null : `${text(m["step"])} s`], ["coordinates", m["coordinates"]], ["rotation", m["rotation"]]]);
  const why = list(m["why"]);
  return [h("h3", {}, "Method"), table, ...(why.length ? [h("p", { class: "remark" }, "Chosen because"), bullets(why)] : [])];
}

function redundancy(report: Report): Node[] {
  const c = part(report, "constraints"), shared = list(part(report, "reactions")["not_unique"]);
  if (c["rows"] === undefined) return [];
  const table = pairs([["degrees of freedom", report["dof"]], ["constraint rows", c["rows"]], ["rank", c["rank"]], ["redundant", c["redundant"]],
    ["rank margin", typeof c["rank_margin"] === "number" ? num(c["rank_margin"]) : null], ["found by", c["rank_method"]]]);
  const said = shared.length
    ? [h("p", { class: "warn" }, `${shared.length} reactions are not unique: redundant constraints share them in many ways. Shown are the shares of least norm.`), h("p", { class: "list" }, shared.join("  "))]
    : [h("p", { class: "remark" }, "All reactions are unique.")];
  return [h("h3", {}, "Constraints and redundancy"), table, ...said];
}

function happened(report: Report): Node[] {
  const events = list(report["events"]) as Any[], singular = list(report["singular"]) as Any[];
  if (!events.length && !singular.length) return [];
  const table = h("table", {});
  const row = (t: unknown, name: string, what: string) => table.append(h("tr", {}, h("td", {}, `${text(t)} s`), h("th", { scope: "row" }, name), h("td", {}, what)));
  for (const e of events.slice(0, 200)) row(e["t"], text(e["name"]), list(e["actions"]).map(text).join(", "));
  for (const s of singular.slice(0, 200)) row(s["t"], "singular", `${text(s["outcome"]).replaceAll("_", " ")}: ${list(s["elements"]).slice(0, 6).map(text).join(", ")}`);
  return [h("h3", {}, "Events and singular positions"), table];
}

function work(report: Report): Node[] {
  const n = part(report, "counts"), size = part(report, "size"), energy = part(report, "energy");
  return [h("h3", {}, "Run"), pairs([["bodies", size["bodies"]], ["joints", size["joints"]], ["steps", n["steps"]], ["rejected", n["rejected"]], ["RHS evaluations", n["rhs"]],
    ["energy at the start", energy["initial"] === undefined ? null : `${num(energy["initial"])} J`], ["energy drift", energy["max_drift"] === undefined ? null : `${num(energy["max_drift"])} J`],
    ["wall time", typeof report["wall_s"] === "number" ? `${num(report["wall_s"])} s` : null], ["version", report["version"]]])];
}

function pairs(entries: [string, unknown][]): HTMLElement {
  const table = h("table", {});
  for (const [key, value] of entries) if (value !== null && value !== undefined) table.append(h("tr", {}, h("th", { scope: "row" }, key), h("td", {}, text(value))));
  return table;
}

function bullets(items: unknown[]): HTMLElement {
  return h("ul", { class: "bullets" }, ...items.map((x) => h("li", {}, text(x))));
}
