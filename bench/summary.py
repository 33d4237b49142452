"""Tables of a run: for every mechanism and error the cheapest setting of each program. Standard library only."""


def cheapest(rows, program, case, target):
    """The row of least processor time that reached the error, or None."""
    reached = [
        r for r in rows
        if r["program"] == program and r["problem"] == case.problem and str(r["n"]) == str(case.n or "")
        and not r.get("failure") and r["error"] <= target
    ]
    return min(reached, key=lambda r: r["cpu_s"], default=None)


def table(head, lines):
    lines = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def tables(rows, cases, programs):
    """Markdown: processor seconds of all programs with the ratio of the best peer to Sarrus, then the settings behind them."""
    show = lambda x, form: "-" if x is None else format(x, form)
    peers = [p for p in programs if p != "sarrus"]
    times, settings = [], []
    for case in cases:
        for target in case.targets:
            best = {p: cheapest(rows, p, case, target) for p in programs}
            ours = best.get("sarrus")
            reached = [best[p] for p in peers if best[p]]
            rival = min(reached, key=lambda r: r["cpu_s"], default=None)
            ratio = rival["cpu_s"] / ours["cpu_s"] if rival and ours else None
            kept = "" if ratio is None or not case.demand else ("yes" if ratio >= case.demand else "no")
            label = [case.label, f"{target:g} m"]
            times.append([
                *label, *(show(r and r["cpu_s"], ".3g") for r in best.values()), rival["program"] if rival else "-", show(ratio, ".3g"),
                show(case.demand, "g"), kept])
            if ours:
                settings.append([
                    *label, ours["setting"], f"{1e3 * ours['cpu_s']:.4g}", str(ours.get("steps", "")), f"{ours['error']:.1e}",
                    show(ours.get("gap"), ".1e"), rival["setting"] if rival else "-",
                    show(rival and 1e3 * rival["cpu_s"], ".4g"), show(rival and rival["error"], ".1e"), show(rival and rival.get("gap"), ".1e")])
    head = ["problem", "error below", *(f"{p} [s]" for p in programs), "best peer", "best peer / sarrus", "wanted", "reached"]
    detail = ["problem", "error below", "Sarrus", "[ms]", "steps", "error [m]", "gap [m]", "best peer's setting", "[ms]", "error [m]", "gap [m]"]
    gaps = [r["gap"] for r in rows if r["program"] == "sarrus" and r.get("gap") is not None]
    text = table(head, times) + "\n" + table(detail, settings)
    if gaps:
        text += f"\nLargest gap of a joint in any run of Sarrus: {max(gaps):.1e} m.\n"
    return text
