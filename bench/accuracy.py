#!/usr/bin/env python3
"""Reliability of the accuracy that runs certify: estimated against true errors of columns, over models.

    python3 bench/accuracy.py [MODEL ...]        # all of models/ where none is named

Each model runs three times: with its defaults, with `--certify full`, and with tolerances 1e-4 times those of the defaults, whose columns
stand for the exact ones. True errors at the level of the reference's own error (100 roundings of the largest value of a unit, or what the
full estimate says of it) are left out, as nothing can be said of them. Prints a row per model: quantiles over its columns of true over
estimated error, the share of columns whose true error is below twice the estimate, and what the companions cost.
"""

import csv
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("SARRUS_BIN", ROOT / "target" / "release" / "sarrus"))
ROUNDING = 100 * 2.0**-52
LIMIT_S = 300


def run(model, folder, *flags):
    """Report and columns of a run; none where it takes too long or fails."""
    command = [str(PROGRAM), "run", str(model), "--out", str(folder), "--bare", "--allow-uncertified", *flags]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        return None
    report = json.loads((folder / "report.json").read_text())
    with open(folder / "trajectory.csv", newline="") as text:
        rows = csv.reader(text)
        names = next(rows)
        columns = {name: [] for name in names}
        for row in rows:
            for name, x in zip(names, row, strict=True):
                columns[name].append(float(x))
    return report, columns


def quantile(values, share):
    """The value below which this share lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def true_errors(found, exact, units):
    """Largest difference of each column to the reference, where rounding does not hide it."""
    largest = {}
    for name, values in exact.items():
        sizes = [abs(x) for x in values if math.isfinite(x)]
        unit = units.get(name)
        largest[unit] = max([largest.get(unit, 0.0), *sizes])
    errors = {}
    for name, values in found.items():
        if name == "t" or name not in exact or len(values) != len(exact[name]):
            continue
        apart = [abs(x - y) for x, y in zip(values, exact[name], strict=True) if math.isfinite(x) and math.isfinite(y)]
        worst = max(apart, default=0.0)
        if worst > ROUNDING * largest[units.get(name)]:
            errors[name] = worst
    return errors


def reliability(estimates, errors):
    """True over estimated error of each column that has both."""
    return [errors[name] / estimate for name, estimate in estimates.items() if name in errors and estimate > 0]


def main():
    """Prints the table."""
    models = [Path(name) for name in sys.argv[1:]] or sorted((ROOT / "models").glob("*.toml"))
    print("| model | estimate | columns | median | 90 % | largest | below twice | cost |\n|---|---|---|---|---|---|---|---|")
    everything = {"standard": [], "full": []}
    for model in models:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            runs = {level: run(model, folder / level, "--certify", level) for level in everything}
            if any(done is None for done in runs.values()):
                print(f"| {model.stem} | no result | | | | | | |")
                continue
            method = runs["standard"][0]["method"]
            if method["rtol"] is None:
                flags = ["--step", str((method["step"] or 1e-3) / 16)]
            else:
                flags = ["--rtol", str(1e-4 * method["rtol"]), "--atol", str(1e-4 * method["atol"])]
            exact = run(model, folder / "exact", "--certify", "basic", "--integrator", method["integrator"], *flags)
            if exact is None:
                print(f"| {model.stem} | no reference | | | | | | |")
                continue
            for level, (report, columns) in runs.items():
                accuracy = report["certificate"].get("accuracy")
                if accuracy is None:
                    print(f"| {model.stem} | {level}: none | | | | | | |")
                    continue
                ratios = reliability(accuracy["columns"], true_errors(columns, exact[1], report["units"]))
                everything[level] += ratios
                say(f"{model.stem} | {level}, {accuracy['estimate']}", ratios, accuracy["cost"])
    for level, ratios in everything.items():
        say(f"**all** | {level}", ratios, None)


def say(what, ratios, cost):
    """Prints a row of the table."""
    below = sum(ratio <= 2 for ratio in ratios) / len(ratios) if ratios else math.nan
    numbers = [quantile(ratios, share) for share in (0.5, 0.9, 1.0)]
    text = " | ".join(f"{x:.2g}" for x in numbers)
    print(f"| {what} | {len(ratios)} | {text} | {100 * below:.1f} % | {'' if cost is None else f'{cost:.2f}'} |", flush=True)


if __name__ == "__main__":
    main()
