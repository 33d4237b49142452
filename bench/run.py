#!/usr/bin/env python3
"""Sarrus beside other simulators: processor time to reach an error, in one run on one machine.

    python3 bench/run.py [--quick] [--only chain nfourbar] [--programs sarrus exudyn] [--label NAME]

Creates `bench/.venv` with the pinned peers (`requirements.txt`), builds `cargo build --release`, runs every setting of `cases.py`
through `driver.py` in a process of its own, and writes `runs/<date>-<label>/{README.md,raw.csv,summary.md}`. Needs Python 3.10 or
later and, the first time, a package index.
"""

import argparse
import csv
import datetime
import json
import os
import platform
import resource
import subprocess
import sys
import venv
from pathlib import Path

from cases import CASES, PROGRAMS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
MEMORY = 8 << 30  # [B]; a peer's constrained dynamics takes memory as N³


def environment(folder):
    """The Python of the benchmark's environment, made on the first call."""
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"creating {folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
    return python


def build():
    subprocess.run(["cargo", "build", "--release", "-p", "sarrus-cli"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / "sarrus"


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def measure(python, binary, program, case, setting, repeat, timeout):
    command = [python, HERE / "driver.py", program, case.problem, "--repeat", str(repeat)]
    command += ["--n", str(case.n)] if case.n else []
    command += [f"{k}={v}" for k, v in setting.items()]
    record = dict(program=program, problem=case.problem, n=case.n or "", setting=" ".join(f"{k}={v}" for k, v in setting.items()))
    env = dict(os.environ, SARRUS=str(binary), OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=env, preexec_fn=limit_memory)
    except subprocess.TimeoutExpired:
        return dict(record, failure=f"more than {timeout} s")
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return dict(record, failure=reason[:160])
    result = json.loads(lines[-1])
    if result.get("error") is None:
        result["failure"] = "not finite"
    return dict(record, **result)


def cheapest(rows, program, case, target):
    times = [
        r["cpu_s"]
        for r in rows
        if r["program"] == program and r["problem"] == case.problem and r["n"] == (case.n or "")
        and r.get("error") is not None and r["error"] <= target
    ]
    return min(times, default=None)


def summary(rows, cases, programs):
    """Markdown: cheapest processor time of each program at each error, and the peers' over Sarrus'."""
    peers = [p for p in programs if p != "sarrus"]
    head = ["problem", "error below", *(f"{p} [s]" for p in programs), *(f"{p} / sarrus" for p in peers), "best peer / sarrus"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    show = lambda x, form: "-" if x is None else format(x, form)
    for case in cases:
        for target in case.targets:
            times = {p: cheapest(rows, p, case, target) for p in programs}
            ours = times.get("sarrus")
            ratio = lambda t: None if t is None or not ours else t / ours
            best = min((times[p] for p in peers if times[p] is not None), default=None)
            cells = [case.label, f"{target:g} m", *(show(times[p], ".3g") for p in programs)]
            cells += [show(ratio(times[p]), ".2g") for p in peers] + [show(ratio(best), ".2g")]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def write(folder, rows, table, arguments, versions):
    folder.mkdir(parents=True, exist_ok=True)
    fields = ["program", "problem", "n", "setting", "cpu_s", "wall_s", "error", "steps", "rhs", "iterations", "certified", "failure"]
    with open(folder / "raw.csv", "w", newline="") as text:
        writer = csv.DictWriter(text, fields, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (folder / "summary.md").write_text(table)
    (folder / "README.md").write_text(
        f"# Benchmark of {datetime.date.today()}\n\n"
        f"`python3 bench/run.py {arguments}` on {platform.machine()}, {os.cpu_count()} cores, {platform.system()}, "
        f"Python {platform.python_version()}, {versions}.\n\n"
        "Seconds are processor time of the integration loop on one thread, the least of the repeats, for the cheapest setting tried "
        "that reached the error; \"-\" means that none did. Ratios compare within this run; below 1.3 they mean nothing.\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one repeat, two settings a program, no chain of 1000")
    parser.add_argument("--only", nargs="+", metavar="PROBLEM", help="problems to run")
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=PROGRAMS)
    parser.add_argument("--label", default=f"{platform.machine()}-{os.cpu_count()}cores", help="names the machine in the results")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=180, help="seconds for one setting, its repeats included")
    parser.add_argument("--venv", type=Path, default=HERE / ".venv")
    parser.add_argument("--binary", type=Path, help="a built sarrus; without it the workspace is built")
    parser.add_argument("--out", type=Path, help="folder for the results")
    args = parser.parse_args()

    python = environment(args.venv)
    binary = None
    if "sarrus" in args.programs:
        binary = args.binary or build()
    cases = [c for c in CASES if not args.only or c.problem in args.only]
    if args.quick:
        cases = [c for c in cases if c.label != "chain N=1000"]
        args.repeat = 1

    rows = []
    for case in cases:
        for program in args.programs:
            settings = case.settings.get(program, [])
            for setting in settings[:2] if args.quick else settings:
                row = measure(python, binary, program, case, setting, args.repeat, args.timeout)
                rows.append(row)
                outcome = row.get("failure") or f"{row['cpu_s']:.4g} s, error {row['error']:.2g} m"
                print(f"{case.label}: {program} {row['setting']}: {outcome}", file=sys.stderr)

    table = summary(rows, cases, args.programs)
    versions = ", ".join(line for line in (HERE / "requirements.txt").read_text().splitlines() if line and not line.startswith("#"))
    folder = args.out or HERE / "runs" / f"{datetime.date.today()}-{args.label}"
    arguments = ["--quick"] if args.quick else ["--repeat", str(args.repeat)]
    arguments += ["--only", *args.only] if args.only else []
    arguments += ["--programs", *args.programs]
    write(folder, rows, table, " ".join(arguments), versions)
    print(table)


if __name__ == "__main__":
    main()
