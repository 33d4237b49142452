#!/usr/bin/env python3
"""Time per body and step, and peak memory, of `models/chain.toml` as it grows.

    python3 bench/scaling.py [--sizes 100 1000 10000 100000] [--steps 50] [--binary PATH]

A fixed-step method makes the work of a step the same for every size, so that time over (bodies × steps) must not grow. Standard
library only; needs a Unix for the memory of a child process.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from run import ROOT, build


def child(command):
    """Runs a command and returns its exit status and peak resident memory [B]."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    message = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    unit = 1 if sys.platform == "darwin" else 1024
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss * unit, message


def measure(binary, n, steps, integrator):
    h = 0.02 / n  # well inside the stability of the explicit methods whatever the number of links
    with tempfile.TemporaryDirectory() as out:
        command = [binary, "run", ROOT / "models" / "chain.toml", "--set", f"n={n}", "--integrator", integrator]
        command += ["--step", repr(h), "--t-end", repr(h * steps), "--out", out, "--json"]
        status, memory, message = child([str(c) for c in command])
        if status:
            raise SystemExit(f"n = {n}: exit code {status}\n{message[-800:]}")
        report = json.loads((Path(out) / "report.json").read_text())
    seconds = report.get("cpu_s") or report["wall_s"]
    return dict(n=n, steps=report["counts"]["steps"], rhs=report["counts"]["rhs"], seconds=seconds, memory=memory)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10_000, 100_000])
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--integrator", default="rk4")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--binary", type=Path, help="a built sarrus; without it the workspace is built")
    args = parser.parse_args()
    binary = args.binary or build()

    print("| n | steps | s | µs per body and step | peak memory [MiB] | kiB per body |")
    print("|---|---|---|---|---|---|")
    found = {}
    for n in args.sizes:
        rows = [measure(binary, n, args.steps, args.integrator) for _ in range(args.repeat)]
        best = min(rows, key=lambda r: r["seconds"])
        cost = best["seconds"] / (n * best["steps"]) * 1e6
        found[n] = cost
        memory = max(r["memory"] for r in rows)
        print(f"| {n} | {best['steps']} | {best['seconds']:.4g} | {cost:.4g} | {memory / 2**20:.1f} | {memory / n / 1024:.2f} |", flush=True)
    large = [n for n in args.sizes if n >= 1000]
    if len(large) > 1:
        costs = [found[n] for n in large]
        print(f"\nFrom {min(large)} to {max(large)} links the cost per body and step varies by a factor {max(costs) / min(costs):.2f}.")


if __name__ == "__main__":
    main()
