#!/usr/bin/env python3
"""What Python costs: a run of about a second through `model.run` against the command line, two runs on two threads, and a step.

    python3 bench/python.py [--binary PATH] [--repeat 5] [--out DIR]

Needs the package (`pip install .`). The command is the one that came with it unless `--binary` names another. Times are the best of a few: of the
integration loop, as reports have it (`wall_s`), and of the call as a whole. Writes `python.json` into `--out`.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from pathlib import Path

import sarrus

MODEL = "example:strandbeest"


def seconds(call):
    begun = time.perf_counter()
    found = call()
    return time.perf_counter() - begun, found


def by_command(binary, t_end):
    """Best loop and whole time of the command, which writes nothing."""
    command = [binary, "run", MODEL, "--t-end", repr(t_end), "--json"]
    whole, done = seconds(lambda: subprocess.run(command, check=True, capture_output=True, text=True))
    return json.loads(done.stdout)["wall_s"], whole


def by_command_with_files(binary, t_end):
    """The same, writing trajectory and report."""
    with tempfile.TemporaryDirectory() as out:
        command = [binary, "run", MODEL, "--t-end", repr(t_end), "--out", out, "--no-html"]
        whole, _ = seconds(lambda: subprocess.run(command, check=True, capture_output=True))
        return json.loads((Path(out) / "report.json").read_text())["wall_s"], whole


def by_python(model, t_end, record):
    whole, result = seconds(lambda: model.run(t_end=t_end, record=record))
    if record:
        column, _ = seconds(lambda: result["t"])
        return result.report["wall_s"], whole, column
    return result.report["wall_s"], whole, 0.0


def length_of_a_second(model):
    """A span that takes about a second."""
    t_end = 1.0
    while True:
        wall, _, _ = by_python(model, t_end, True)
        if wall > 0.7:
            return t_end
        t_end *= max(1.2, min(10.0, 1.0 / max(wall, 1e-3)))


def two_threads(model, t_end):
    """Processor time over wall time of two runs at once; 2 where both have a core of their own."""
    work = [threading.Thread(target=lambda: model.run(t_end=t_end, record=False)) for _ in range(2)]
    cpu, begun = time.process_time(), time.perf_counter()
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    return (time.process_time() - cpu) / (time.perf_counter() - begun)


def steps(repeat, n=1000):
    """Microseconds of a step of the four-bar (rk4, 1 ms): inside, `n` at a call, and one at a call."""
    sim = sarrus.example("four_bar").simulation(dt=1e-3, integrator="rk4", step=1e-3)
    inside, outside = [], []

    def one_by_one():
        for _ in range(n):
            sim.step()

    for _ in range(repeat):
        for times, call in ((inside, lambda: sim.step(n)), (outside, one_by_one)):
            sim.reset()
            sim.step()
            times.append(seconds(call)[0] / n * 1e6)
    return min(inside), min(outside)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", default=str(Path(sysconfig.get_path("scripts")) / "sarrus"))
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()

    model = sarrus.load(MODEL)
    t_end = length_of_a_second(model)
    found = {"machine": platform.processor() or platform.machine(), "cores": os.cpu_count(), "python": platform.python_version()}
    found |= {"sarrus": sarrus.__version__, "model": MODEL, "t_end": t_end}
    rows = {"command": [], "command, files": [], "python, recorded": [], "python, not recorded": []}
    # in turns, so that what else the machine does meets all alike
    for _ in range(args.repeat):
        rows["command"].append(by_command(args.binary, t_end))
        rows["python, not recorded"].append(by_python(model, t_end, False))
        rows["command, files"].append(by_command_with_files(args.binary, t_end))
        rows["python, recorded"].append(by_python(model, t_end, True))
    best = {name: [min(column) for column in zip(*times)] for name, times in rows.items()}
    found["seconds"] = {name: dict(zip(("loop", "whole", "first column"), times)) for name, times in best.items()}
    found["ratio"] = {
        "loop, not recorded": best["python, not recorded"][0] / best["command"][0],
        "loop, recorded": best["python, recorded"][0] / best["command, files"][0],
        "whole, not recorded": best["python, not recorded"][1] / best["command"][1],
    }
    found["cores used by two threads"] = max(two_threads(model, t_end) for _ in range(args.repeat))
    inside, outside = steps(4 * args.repeat)
    found["microseconds of a step"] = {"inside": inside, "from Python": outside, "above": outside - inside}
    print(f"{MODEL} for {t_end:.3g} s, best of {args.repeat}")
    for name, times in found["seconds"].items():
        print(f"  {name:22} loop {times['loop']:.4f} s   whole {times['whole']:.4f} s")
    for name, ratio in found["ratio"].items():
        print(f"  python over command, {name}: {ratio:.4f}")
    print(f"  two threads use {found['cores used by two threads']:.2f} cores")
    print(f"  a step of the four-bar: {inside:.2f} us inside, {outside:.2f} us from Python, {outside - inside:.2f} us above")
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "python.json").write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
