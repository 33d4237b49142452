// Whether runs are certified, and which of them are not.

/** What is read of a run: its name and, once it has ended, its report. */
export interface Judged {
  name: string;
  report?: Record<string, unknown> | null | undefined;
}

export function isCertified(run: Judged): boolean {
  return (run.report?.["certificate"] as { passed?: boolean } | undefined)?.passed === true;
}

/** "certified", or "not certified" with the names of those that are not where there are several runs; nothing before a report is there. */
export function verdict(runs: Judged[]): string {
  if (runs.every(isCertified)) return "certified";
  const open = runs.filter((run) => run.report && !isCertified(run)).map((run) => run.name);
  if (!open.length) return "";
  return runs.length > 1 ? `not certified: ${open.join(", ")}` : "not certified";
}
