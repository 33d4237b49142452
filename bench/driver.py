"""One program on one mechanism with one setting: prints one line of JSON.

    python driver.py PROGRAM PROBLEM [--n N] [--repeat K] key=value ...

`cpu_s` is the processor time of the integration loop alone, the least of the repeats; building the model, reading and writing
files, and finding the error are left out. `error` is in metres, over all bodies, at the end.
"""

import argparse
import importlib
import json
import os
import time

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import numpy as np

from problems import PROBLEMS
from references import error


class Clock:
    """Stopwatch of processor and wall time, for the loop."""

    cpu = wall = 0.0

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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("problem", choices=PROBLEMS)
    parser.add_argument("--n", type=int)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("options", nargs="*", metavar="key=value")
    args = parser.parse_intermixed_args()
    options = {k: value(v) for k, v in (o.split("=", 1) for o in args.options)}
    peer = importlib.import_module(f"peers.{args.program}_peer")
    mechanism = PROBLEMS[args.problem](args.n)

    best = None
    for _ in range(args.repeat):
        clock = Clock()
        result = dict(peer.simulate(mechanism, options, clock))
        result.setdefault("cpu_s", clock.cpu)
        result.setdefault("wall_s", clock.wall)
        if best is None or result["cpu_s"] < best["cpu_s"]:
            best = result
    positions = np.asarray(best.pop("positions"))
    best["error"] = error(mechanism, positions) if np.all(np.isfinite(positions)) else None
    print(json.dumps(best, default=float))


main()
