#!/usr/bin/env python3
"""Work and precision on stiff mechanisms: Sarrus' implicit methods, its explicit one, and Exudyn's.

    python3 bench/stiff.py [--label LABEL] [--binary PATH] [--repeat K] [--only governor]

The flyball governor (10 s), Andrews' mechanism (0.03 s) and a pendulum of four beam elements (0.5 s). Sarrus runs `models/*.toml`, Exudyn the same
mechanisms as `peers/exudyn_stiff.py` builds them. Error: the largest over the samples of heights of sleeve and ball (governor), of
centres of mass at the end (Andrews), of the tip (beam) [m]. References: reduced equations by SciPy's Radau (governor), dense maximal
coordinates by DOP853 (Andrews), and for the beam each program's own tight run, since elements and masses differ a little. Time: processor time of the
loop on one thread, the least of the repeats. Writes bench/runs/<date>-<label>/stiff.md and stiff.csv. Run it with a Python that has
`exudyn`, `numpy` and `scipy` (bench/.venv after run.py).
"""

import argparse
import csv
import datetime
import functools
import json
import os
import platform
import runpy
import subprocess
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import exudyn
import numpy as np

from peers import exudyn_stiff
from problems import PROBLEMS
from references import reference
from run import ROOT, build

# columns that are compared, time between samples and end [s]
CASES = {
    "governor": (["sleeve.z", "ball1.z"], 1.0, 10.0),
    "andrews": ([f"K{i}.{c}" for i in range(1, 8) for c in "xy"], 0.03, 0.03),
    "beam_pendulum": (["bar.node4.x", "bar.node4.y"], 0.1, 0.5),
}
TOLERANCES = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8]
FOLLOWING = ["radau5", "bdf", "dop853"]
STEPS = {
    "governor": [2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4],
    "andrews": [1e-4, 5e-5, 2e-5, 1e-5, 5e-6, 2e-6],
    "beam_pendulum": [5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4],
}
OURS = ["generalized_alpha", "hht", "trapezoidal"]
THEIRS = ["generalized_alpha", "trapezoidal"]
# they hold no joints: governor and Andrews are shut out
THEIR_EXPLICIT = [("RK44", h) for h in (5e-4, 2e-4, 1e-4, 5e-5)]
TARGETS = {"governor": (1e-3, 1e-5, 1e-7), "andrews": (1e-5, 1e-7, 1e-9), "beam_pendulum": (1e-3, 1e-5, 1e-7)}


class Clock:
    """Stopwatch of processor time."""

    cpu = 0.0

    def __enter__(self):
        self.begin = time.process_time()

    def __exit__(self, *_):
        self.cpu += time.process_time() - self.begin


def sarrus(binary, problem, method, size, adaptive):
    """Samples by column, and what the run took."""
    columns, every, t_end = CASES[problem]
    with tempfile.TemporaryDirectory() as folder:
        command = [binary, "run", ROOT / "models" / f"{problem}.toml", "--certify", "basic", "--allow-uncertified", "--out", folder, "--json", "--integrator", method]
        command += ["--t-end", str(t_end), "--every", str(every)] + [x for c in columns for x in ("--columns", c)]
        command += ["--rtol", repr(size), "--atol", repr(size / 100)] if adaptive else ["--step", repr(size)]
        # the mesh is the one that Exudyn has, which is too coarse for a certificate
        command += ["--set", "order=1"] if problem == "beam_pendulum" else []
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode not in (0, 3):
            raise RuntimeError(done.stderr.strip().splitlines()[0][:120])
        report = json.loads((Path(folder) / "report.json").read_text())
        failed = [name for name, item in report["certificate"].items() if isinstance(item, dict) and not item["passed"]]
        if done.returncode and failed != ["mesh"]:
            raise RuntimeError(f"not certified: {' '.join(failed) or report['reason']}")
        with open(Path(folder) / "trajectory.csv", newline="") as text:
            head, *rows = csv.reader(text)
        values = np.array([[float(row[head.index(c)]) for c in columns] for row in rows[1:]])
    counts = report["counts"]
    took = dict(cpu_s=report["cpu_s"], steps=counts["steps"], iterations=counts["newton_iterations"], rhs=counts["rhs"])
    return values, dict(took, rejected=counts["rejected"], factorizations=counts["factorizations"])


def exudyn_run(problem, options):
    _, every, t_end = CASES[problem]
    clock = Clock()
    result = exudyn_stiff.simulate(problem, options, every, clock)
    # body, sample, component -> sample, column
    values = np.concatenate(list(result["values"]), axis=1)
    return values, dict(cpu_s=clock.cpu, steps=result["steps"], iterations=result["iterations"])


@functools.cache
def exact(program, problem, binary):
    if problem == "governor":
        script = runpy.run_path(str(ROOT / "crates" / "sarrus-zoo" / "reference" / "governor.py"), run_name="reference")
        return script["heights"](np.arange(1.0, 11.0), 1e-10)
    if problem == "andrews":
        return reference(PROBLEMS["squeezer"](None))[:, :2].reshape(1, -1)
    if program == "sarrus":
        return sarrus(binary, problem, "dop853", 1e-11, True)[0]
    if program == "exudyn":
        return exudyn_run(problem, dict(method="trapezoidal", h=5e-6))[0]
    return exudyn_run(problem, dict(method="RK44", h=1e-5))[0]


def settings(problem):
    for method in FOLLOWING:
        yield from (("sarrus", method, x, True) for x in TOLERANCES)
    for method in OURS:
        yield from (("sarrus", method, h, False) for h in STEPS[problem])
    for method in THEIRS:
        yield from (("exudyn", method, h, False) for h in STEPS[problem])
    if problem == "beam_pendulum":
        yield from (("exudyn explicit", method, h, False) for method, h in THEIR_EXPLICIT)


def measure(binary, problem, program, method, size, adaptive, repeat):
    best = None
    for _ in range(repeat):
        if program == "sarrus":
            values, took = sarrus(binary, problem, method, size, adaptive)
        else:
            values, took = exudyn_run(problem, dict(method=method, h=size))
        if best is None or took["cpu_s"] < best[1]["cpu_s"]:
            best = values, took
    values, took = best
    return dict(took, error=float(np.max(np.abs(values - exact(program, problem, binary)))))


def cheapest(rows, problem, program, method, target):
    return min((r for r in rows if (r["problem"], r["program"], r["method"]) == (problem, program, method)
                and r.get("error", np.inf) <= target), key=lambda r: r["cpu_s"], default=None)


def table(rows, problems):
    """For each error the cheapest setting of each method, and its time over that of the best of the other program."""
    lines = []
    for problem in problems:
        kinds = list(dict.fromkeys((r["program"], r["method"]) for r in rows if r["problem"] == problem))
        lines += [f"\n## {problem}\n", "| method | " + " | ".join(f"below {t:g} m [ms]" for t in TARGETS[problem]) + " | steps there |",
                  "|---|" + "---|" * (len(TARGETS[problem]) + 1)]
        for program, method in kinds:
            found = [cheapest(rows, problem, program, method, t) for t in TARGETS[problem]]
            times = ["-" if r is None else f"{1e3 * r['cpu_s']:.3g}" for r in found]
            steps = ", ".join("-" if r is None else str(r["steps"]) for r in found)
            lines.append(f"| {program} {method} | " + " | ".join(times) + f" | {steps} |")
        ratios = []
        for t in TARGETS[problem]:
            best = {}
            for ours in (True, False):
                found = [cheapest(rows, problem, p, m, t) for p, m in kinds if (p == "sarrus") == ours]
                best[ours] = min((r["cpu_s"] for r in found if r), default=None)
            ratios.append("-" if None in best.values() else f"{best[False] / best[True]:.2g}")
        lines.append("| best of Exudyn / best of Sarrus | " + " | ".join(ratios) + " | |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--label", default="stiff")
    parser.add_argument("--binary", type=Path, help="a built sarrus; without it the workspace is built")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    args = parser.parse_args()
    binary = args.binary or build()
    rows = []
    for problem in args.only:
        for program, method, size, adaptive in settings(problem):
            row = dict(problem=problem, program=program, method=method, size=size)
            try:
                row.update(measure(binary, problem, program, method, size, adaptive, args.repeat))
                outcome = f"{1e3 * row['cpu_s']:.3g} ms, error {row['error']:.1e} m, {row['steps']} steps"
            except Exception as failure:  # whatever a program says, the others go on
                row["failure"] = outcome = " ".join(str(failure).split())[:160]
            rows.append(row)
            print(f"{problem}: {program} {method} {size:g}: {outcome}", flush=True)
    folder = ROOT / "bench" / "runs" / f"{datetime.date.today()}-{args.label}"
    folder.mkdir(parents=True, exist_ok=True)
    fields = ["problem", "program", "method", "size", "cpu_s", "error", "steps", "rejected", "iterations", "rhs", "factorizations", "failure"]
    with open(folder / "stiff.csv", "w", newline="") as text:
        writer = csv.DictWriter(text, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    text = f"""# Stiff mechanisms, {datetime.date.today()}

`python3 bench/stiff.py` on {platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()},
exudyn=={exudyn.__version__}. Milliseconds of processor time of the loop on one thread, the least of {args.repeat}, of the cheapest setting tried that reached
the error; "-": none did. Ratios compare within this run; below 1.3 they mean nothing. Every setting is in `stiff.csv`.
"""
    (folder / "stiff.md").write_text(text + table(rows, args.only))
    print(table(rows, args.only))


if __name__ == "__main__":
    main()
