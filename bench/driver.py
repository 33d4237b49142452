"""One program on one mechanism with one setting: prints one line of JSON.

    python driver.py PROGRAM PROBLEM [--n N] [--repeat K] [--samples S] key=value ...

`cpu_s` is the processor time of the integration loop alone, the least of the repeats; building the model, reading and writing
files, and finding error and gap are left out. `error` [m] is over all bodies, at the end; `gap` [m] is the largest that a joint
stood open at S instants of one more run, which is not timed, as samples shorten the steps of some programs.
"""

import argparse
import importlib
import json
import os
import time

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import numpy as np

import flexible
from mechanism import Gaps
from problems import PROBLEMS
from references import error

ENOUGH = 20.0  # [s] of timed runs, after which there are no more repeats


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("problem", choices=[*PROBLEMS, flexible.NAME])
    parser.add_argument("--n", type=int)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("options", nargs="*", metavar="key=value")
    args = parser.parse_intermixed_args()
    options = {k: value(v) for k, v in (o.split("=", 1) for o in args.options)}
    peer = importlib.import_module(f"peers.{args.program}_peer")
    if args.problem == flexible.NAME:
        best = beam(peer, options, args.repeat)
    else:
        best = rigid(peer, PROBLEMS[args.problem](args.n), options, args.repeat, args.samples)
    print(json.dumps(best, default=float))


main()
