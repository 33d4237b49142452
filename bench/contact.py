#!/usr/bin/env python3
"""What contact costs: balls that settle in a box and chains that fall on a floor, beside MuJoCo and PyBullet.

    python3 bench/contact.py [--label LABEL] [--binary PATH] [--repeat K] [--only pile] [--sizes 5 10]

Sarrus runs `models/pile.toml` (n³ balls) and `models/chain_on_floor.toml` (n links), the others the same bodies as `peers/contact_peers.py`
builds them. All fall for one second. The programs do not compute the same thing: Sarrus and MuJoCo have soft contacts, each of its own law, PyBullet
rigid ones to a few iterations, and no step is as accurate as another's; so the table gives processor time of the run on one thread and the
time per place that touches and accepted step, with what each left behind: the deepest overlap, and the mean height of the heap.
Writes bench/runs/<date>-<label>/contact.md and contact.csv. Run it with a Python that has `mujoco`, `pybullet` and `numpy` (bench/.venv after run.py).
"""

import argparse
import csv
import datetime
import json
import os
import platform
import subprocess
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from peers import contact_peers
from run import ROOT, build

SIZES = {"pile": [5, 10], "chain_on_floor": [100, 1000]}
STEPS = {"mujoco": 2e-3, "pybullet": 1 / 240}
LIMIT = 600


@dataclass
class Scene:
    centres: np.ndarray
    radius: float
    half: float
    walls: list
    mu: float = 0.3
    t_end: float = 1.0


def pile(n):
    r = 0.05
    d, w = 2.4 * r, n * 2.4 * r / 2
    centres = [[(i - 0.5) * d - w + 0.1 * r * np.sin(7 * j + 13 * k), (j - 0.5) * d - w + 0.1 * r * np.sin(5 * k + 11 * i), (k - 0.5) * d]
               for i in range(1, n + 1) for j in range(1, n + 1) for k in range(1, n + 1)]
    sides = [([1, 0, 0], -w), ([-1, 0, 0], -w), ([0, 1, 0], -w), ([0, -1, 0], -w)]
    return Scene(np.array(centres), r, 0.0, [([0, 0, 1], 0.0)] + sides)


def chain_on_floor(n):
    """Level, and without the small rise of the model: what is compared is the cost of a place that touches."""
    l, r = 0.1, 0.01
    return Scene(np.array([[(i + 0.5) * l, 0, 5 * r] for i in range(n)]), r, l / 2, [([0, 0, 1], 0.0)])


SCENES = {"pile": pile, "chain_on_floor": chain_on_floor}


def sarrus(binary, problem, n):
    with tempfile.TemporaryDirectory() as folder:
        command = [binary, "run", ROOT / "models" / f"{problem}.toml", "--certify", "basic", "--allow-uncertified", "--set", f"n={n}", "--out", folder, "--json", "--every", "1.0"]
        command += ["--t-end", "1.0", "--rtol", "1e-4", "--atol", "1e-6", "--columns", "*.z"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[0][:120])
        report = json.loads((Path(folder) / "report.json").read_text())
        with open(Path(folder) / "trajectory.csv", newline="") as text:
            head, *rows = csv.reader(text)
    heights = [float(x) for name, x in zip(head, rows[-1]) if name.endswith(".z")]
    contacts = report["contacts"]
    return dict(cpu_s=report["cpu_s"], steps=report["counts"]["steps"], places=sum(c["touches"] for c in contacts),
                deepest=max(c["overlap_at_end"] for c in contacts), height=float(np.mean(heights)))


def measure(binary, problem, n, program, repeat):
    best = None
    for _ in range(repeat):
        if program == "sarrus":
            took = sarrus(binary, problem, n)
        else:
            took = getattr(contact_peers, program)(SCENES[problem](n), STEPS[program])
        best = took if best is None or took["cpu_s"] < best["cpu_s"] else best
    return best


def table(rows):
    lines = ["| scene | n | program | time of 1 s [s] | steps | places touching, mean | per place and step [µs] | deepest at the end [mm] | mean height [m] |",
             "|---|---|---|---|---|---|---|---|---|"]
    for r in rows:
        if "failure" in r:
            lines.append(f"| {r['problem']} | {r['n']} | {r['program']} | {r['failure']} | | | | | |")
            continue
        each = 1e6 * r["cpu_s"] / max(1, r["places"])
        lines.append(f"| {r['problem']} | {r['n']} | {r['program']} | {r['cpu_s']:.3g} | {r['steps']} | {r['places'] / r['steps']:.0f} | {each:.3g} "
                     f"| {1e3 * r['deepest']:.2g} | {r['height']:.4f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--label", default="contact")
    parser.add_argument("--binary", type=Path, help="a built sarrus; without it the workspace is built")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--sizes", nargs="+", type=int)
    parser.add_argument("--programs", nargs="+", default=["sarrus", *STEPS])
    args = parser.parse_args()
    binary = args.binary or build()
    rows = []
    for problem in args.only:
        for n in args.sizes or SIZES[problem]:
            for program in args.programs:
                row = dict(problem=problem, n=n, program=program)
                try:
                    row.update(measure(binary, problem, n, program, args.repeat))
                except Exception as failure:  # whatever a program says, the others go on
                    row["failure"] = " ".join(str(failure).split())[:160]
                rows.append(row)
                print(row, flush=True)
    folder = ROOT / "bench" / "runs" / f"{datetime.date.today()}-{args.label}"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "contact.csv", "w", newline="") as text:
        fields = ["problem", "n", "program", "cpu_s", "steps", "places", "deepest", "height", "failure"]
        writer = csv.DictWriter(text, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    text = f"""# Contact, {datetime.date.today()}

`python3 bench/contact.py` on {platform.machine()}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, mujoco=={version("mujoco")} at
{STEPS["mujoco"]:g} s, pybullet=={version("pybullet")} at 1/240 s, Sarrus with `--rtol 1e-4 --atol 1e-6`. One thread, the least of {args.repeat}. Laws and
accuracies differ from program to program: see the head of `contact.py`.

"""
    (folder / "contact.md").write_text(text + table(rows))
    print(table(rows))


if __name__ == "__main__":
    main()
