"""One program on one mechanism: prints a line of JSON, after an @, for each setting.

    python driver.py PROGRAM PROBLEM [--n N] [--repeat K] [--samples S] key=value ...
    python driver.py PROGRAM PROBLEM [--n N] --serve      # lines of JSON on standard input: {"setting": {…}, "repeat": K, "samples": S}

`cpu_s` is the processor time of the integration loop alone, the least of the repeats; building the model, reading and writing
files, and finding error and gap are left out. `error` [m] is over all bodies, at the end; `gap` [m] is the largest that a joint
stood open at S instants of one more run, which is not timed, as samples shorten the steps of some programs.
"""

import argparse
import importlib
import json
import os
import sys
import time

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import numpy as np

import flexible
from mechanism import Gaps
from problems import PROBLEMS
from references import error

ENOUGH = 6.0  # [s] of timed runs, after which there are no more repeats


class Clock:
    """Stopwatch of processor and wall time, for the loop."""

    def __init__(self):
        self.cpu = self.wall = 0.0

    def __enter__(self):
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_):
        self.cpu += time.process_time() - self._cpu
        self.wall += time.perf_counter() - self._wall


def value(text):
    """A number where it is one: settings come as words."""
    try:
        return float(text)
    except ValueError:
        return text


def timed(call):
    clock = Clock()
    result = dict(call(clock))
    result.setdefault("cpu_s", clock.cpu)
    result.setdefault("wall_s", clock.wall)
    return result


def best_of(repeat, call):
    best, spent = None, 0.0
    for _ in range(repeat):
        result = timed(call)
        spent += result["wall_s"]
        if best is None or result["cpu_s"] < best["cpu_s"]:
            best = result
        if spent > ENOUGH:
            break
    return best


def rigid(peer, mechanism, options, repeat, samples):
    if "h" in options:  # whole steps
        options["h"] = mechanism.t_end / round(mechanism.t_end / options["h"])
    best = best_of(repeat, lambda clock: peer.simulate(mechanism, options, [mechanism.t_end], clock))
    positions = np.asarray(best.pop("poses")[-1][0])
    best["error"] = error(mechanism, positions) if np.all(np.isfinite(positions)) else None
    if samples and best["error"] is not None and best["error"] < 1.0:
        gaps, times = Gaps(mechanism), mechanism.t_end * np.arange(1, samples + 1) / samples
        best["gap"] = max(gaps(*pose) for pose in peer.simulate(mechanism, options, list(times), Clock())["poses"])
    return best


def beam(peer, options, repeat):
    best = best_of(repeat, lambda clock: peer.simulate_beam(options, clock))
    best["error"] = flexible.error(best.pop("tip"), best.pop("continuum"))
    return best


def answer(peer, problem, n, setting, repeat, samples):
    options = {k: value(v) for k, v in setting.items()}
    if problem == flexible.NAME:
        return beam(peer, options, repeat)
    return rigid(peer, PROBLEMS[problem](n), options, repeat, samples)


def serve(peer, args):
    for line in sys.stdin:
        request = json.loads(line)
        try:
            result = answer(peer, args.problem, args.n, request["setting"], request["repeat"], request["samples"])
        except Exception as failure:  # whatever a program says, the next setting is tried
            result = dict(failure=" ".join(f"{type(failure).__name__}: {failure}".split())[:160])
        print("@" + json.dumps(result, default=float), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("problem", choices=[*PROBLEMS, flexible.NAME])
    parser.add_argument("--n", type=int)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--serve", action="store_true")
    parser.add_argument("setting", nargs="*", metavar="key=value")
    args = parser.parse_intermixed_args()
    peer = importlib.import_module(f"peers.{args.program}_peer")
    if args.serve:
        serve(peer, args)
    else:
        setting = dict(word.split("=", 1) for word in args.setting)
        print("@" + json.dumps(answer(peer, args.problem, args.n, setting, args.repeat, args.samples), default=float))


main()
