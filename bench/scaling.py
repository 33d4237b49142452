#!/usr/bin/env python3
"""Time per body and step, and peak memory, of chains and rows of four-bars as they grow.

    python3 bench/scaling.py [--sizes 1000 10000 100000] [--steps 50] [--binary PATH] [--label LABEL]

Runs `models/chain.toml`, in poses and in joint coordinates, and `models/n_four_bar.toml`, in poses, at about the sizes given, in
bodies. A fixed-step method makes the work of a step the same for every size, so that time over (bodies × steps) must not grow.
The loop alone is timed; memory is that of the whole process, with the model file read. With a label the table is also written to
runs/<date>-<label>/scaling.md. Standard library only; needs a Unix for the memory of a child process.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from run import HERE, ROOT, build, processor

# name: model, parameter n from bodies, bodies from n, step [s] from n, coordinates
CASES = {
    # the step is well inside the stability of explicit methods whatever the number of links
    "chain": ("chain", lambda bodies: bodies, lambda n: n, lambda n: 0.02 / n, "absolute"),
    "chain, joint coordinates": ("chain", lambda bodies: bodies, lambda n: n, lambda n: 0.02 / n, "joint"),
    "four-bars": ("n_four_bar", lambda bodies: bodies // 2, lambda n: 2 * n + 1, lambda n: 2e-4, "absolute"),
}


def child(command):
    """Runs a command and returns its exit status, peak resident memory [B] and what it said."""
    env = dict(os.environ, RAYON_NUM_THREADS="1")
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env)
    message = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    unit = 1 if sys.platform == "darwin" else 1024
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss * unit, message


def measure(binary, case, bodies, steps, integrator):
    model, size, count, step, coordinates = CASES[case]
    n = size(bodies)
    h = step(n)
    with tempfile.TemporaryDirectory() as out:
        command = [binary, "run", ROOT / "models" / f"{model}.toml", "--certify", "basic", "--allow-uncertified", "--set", f"n={n}", "--integrator", integrator]
        command += ["--step", repr(h), "--t-end", repr(h * steps), "--every", repr(h * steps), "--columns", "energy.*"]
        command += ["--coordinates", coordinates, "--out", out, "--json", "--bare"]
        status, memory, message = child([str(c) for c in command])
        if status:
            raise SystemExit(f"{case}, n = {n}: exit code {status}\n{message[-800:]}")
        report = json.loads((Path(out) / "report.json").read_text())
    seconds = report.get("cpu_s") or report["wall_s"]
    return dict(bodies=count(n), steps=report["counts"]["steps"], seconds=seconds, memory=memory)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 3000, 10_000, 30_000, 100_000])
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--integrator", default="rk4")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--binary", type=Path, help="a built sarrus; without it the workspace is built")
    parser.add_argument("--label", help="writes the table under runs/ too")
    args = parser.parse_args()
    binary = args.binary or build()

    lines = ["| mechanism | bodies | steps | s | µs per body and step | peak memory [MiB] | kiB per body |", "|" + "---|" * 7]
    print("\n".join(lines))
    found = {}
    for case in args.only:
        for bodies in args.sizes:
            rows = [measure(binary, case, bodies, args.steps, args.integrator) for _ in range(args.repeat)]
            best = min(rows, key=lambda r: r["seconds"])
            n, memory = best["bodies"], max(r["memory"] for r in rows)
            cost = best["seconds"] / (n * best["steps"]) * 1e6
            found.setdefault(case, []).append(cost)
            lines.append(f"| {case} | {n} | {best['steps']} | {best['seconds']:.4g} | {cost:.4g} | {memory / 2**20:.1f} | {memory / n / 1024:.2f} |")
            print(lines[-1], flush=True)
    text = f"\nFrom {min(args.sizes)} to {max(args.sizes)} bodies the cost per body and step varies by "
    text += ", ".join(f"a factor {max(c) / min(c):.2f} ({case})" for case, c in found.items()) + ".\n"
    print(text)
    if args.label:
        folder = HERE / "runs" / f"{datetime.date.today()}-{args.label}"
        folder.mkdir(parents=True, exist_ok=True)
        head = f"# Growing mechanisms, {datetime.date.today()}\n\n`{args.integrator}`, {args.steps} steps, the least of {args.repeat}, one thread, on {processor()}.\n\n"
        (folder / "scaling.md").write_text(head + "\n".join(lines) + "\n" + text)


if __name__ == "__main__":
    main()
