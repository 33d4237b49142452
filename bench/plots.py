"""Work and precision: error against processor seconds, one SVG per mechanism of a run.

    python plots.py FOLDER        # reads FOLDER/raw.csv
"""

import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "sarrus", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
COLORS = dict(sarrus="#c0392b", exudyn="#1f77b4", mujoco="#2ca02c", drake="#9467bd", pin="#ff7f0e", simbody="#8c564b", dart="#7f7f7f",
              pybullet="#17becf", newton="#bcbd22")
MARKS = dict(sarrus="o", exudyn="s", mujoco="^", drake="D", pin="v", simbody="P", dart="x", pybullet="+", newton="*")


def front(points):
    """Points that no other beats in both."""
    kept = []
    for seconds, error in sorted(points):
        if not kept or error < kept[-1][1]:
            kept.append((seconds, error))
    return kept


def plot(rows, title, file):
    figure, axes = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
    for program in dict.fromkeys(r["program"] for r in rows):
        points = [(float(r["cpu_s"]), float(r["error"])) for r in rows if r["program"] == program]
        line = front(points)
        axes.loglog(*zip(*line), color=COLORS.get(program), marker=MARKS.get(program, "."), ms=4, lw=1.8 if program == "sarrus" else 1, label=program)
    axes.set(xlabel="processor time [s]", ylabel="error [m]", title=title)
    axes.minorticks_off()
    axes.grid(alpha=0.25, lw=0.5)
    axes.legend(fontsize=8, frameon=False)
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def main():
    folder = Path(sys.argv[1])
    with open(folder / "raw.csv", newline="") as text:
        rows = [r for r in csv.DictReader(text) if r["error"] and not r["failure"] and float(r["error"]) > 0 and float(r["cpu_s"]) > 0]
    for problem, n in dict.fromkeys((r["problem"], r["n"]) for r in rows):
        chosen = [r for r in rows if (r["problem"], r["n"]) == (problem, n)]
        plot(chosen, f"{problem} N={n}" if n else problem, folder / f"{problem}{n}.svg")


main()
