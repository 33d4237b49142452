#!/usr/bin/env python3
"""What a staggered step costs on `models/chain.toml` as it grows, in units of one evaluation and one block-sparse solution.

    python3 bench/staggered.py [--sizes 100 1000 10000 100000] [--binary PATH]

The unit is what a right-hand side of an explicit method pays with the default formulation: all equations up to forces, then accelerations
by `proximal`. Unit and step are timed in turn by one process (`crates/sarrus/examples/staggered_cost.rs`), which this builds and runs,
so that only the ratio is worth quoting. Standard library only.
"""

import argparse
import json
import subprocess
from pathlib import Path

from run import ROOT


def build():
    command = ["cargo", "build", "--release", "-p", "sarrus", "--example", "staggered_cost", "--message-format", "json"]
    made = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    paths = [json.loads(line).get("executable") for line in made.splitlines() if line.startswith("{")]
    return next(p for p in reversed(paths) if p)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10_000, 100_000])
    parser.add_argument("--binary", type=Path, help="the example, built; without it the workspace is")
    args = parser.parse_args()
    subprocess.run([str(args.binary or build()), *map(str, args.sizes)], check=True)


if __name__ == "__main__":
    main()
