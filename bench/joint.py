#!/usr/bin/env python3
"""Trees in joint coordinates: Sarrus against Pinocchio, values and time per call.

    python3 bench/joint.py [--label LABEL] [--sizes 10 100 1000] [--binary PATH]

Chains of hinges in space, and a robot of thirty hinges: trunk, head, arms and legs. The same numbers build the model file and the
Pinocchio model, which is left out of the longest chains: it takes memory as the cube of their length. Writes bench/runs/<date>-<label>/joint.md. Run it with a Python that has `pin` and `numpy`
(bench/.venv after run.py).
"""

import argparse
import datetime
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pinocchio as pin

ROOT = Path(__file__).resolve().parent.parent
BATCHES = 7
# joints beyond which Pinocchio is left out
MOST = 300


class Tree:
    """Bodies on hinges, all frames along the world's axes in the model pose."""

    def __init__(self, name):
        self.name, self.bodies = name, []

    def add(self, parent, point, axis, centre, mass, inertia):
        axis = np.array(axis, float)
        self.bodies.append((parent, np.array(point, float), axis / np.linalg.norm(axis), np.array(centre, float), mass, inertia))
        return len(self.bodies) - 1

    def model_file(self):
        lines = ['format = "sarrus/1"']
        numbers = lambda x: "[" + ", ".join(repr(float(v)) for v in x) + "]"
        for i, (parent, point, axis, centre, mass, inertia) in enumerate(self.bodies):
            tensor = "[" + ", ".join(numbers(row) for row in inertia) + "]"
            lines.append(f"bodies.b{i} = {{ at = {numbers(centre)}, mass = {mass!r}, inertia = {tensor} }}")
            first = "ground" if parent is None else f"b{parent}"
            lines.append(
                f'joints.j{i} = {{ kind = "revolute", bodies = ["{first}", "b{i}"], at = {numbers(point)}, axis = {numbers(axis)} }}'
            )
        return "\n".join(lines) + "\n"

    def pinocchio(self):
        m = pin.Model()
        m.gravity.linear, m.gravity.angular = np.array([0, 0, -9.81]), np.zeros(3)
        ids = []
        for i, (parent, point, axis, centre, mass, inertia) in enumerate(self.bodies):
            before = np.zeros(3) if parent is None else self.bodies[parent][1]
            place = pin.SE3(np.eye(3), point - before)
            number = m.addJoint(0 if parent is None else ids[parent], pin.JointModelRevoluteUnaligned(axis), place, f"j{i}")
            m.appendBodyToJoint(number, pin.Inertia(mass, centre - point, inertia), pin.SE3.Identity())
            ids.append(number)
        return m, m.createData()


def tensor(rng, size):
    """A tensor that a body of this size [m] and unit mass may have."""
    points = rng.normal(size=(12, 3)) * size
    points -= points.mean(axis=0)
    return sum(np.eye(3) * (p @ p) - np.outer(p, p) for p in points) / len(points)


def chain(n, rng):
    tree, l = Tree(f"chain of {n}"), 1.0 / n
    parent = None
    for i in range(n):
        axis = [[0, 1, 0], [0, 0, 1], [1, 1, 0]][i % 3]
        inertia = tensor(rng, 0.3 * l) / n
        parent = tree.add(parent, [i * l, 0, 0], axis, [(i + 0.5) * l, 0.1 * l, -0.05 * l], 1.0 / n, inertia)
    return tree


def robot(rng):
    """A trunk that turns on its foot, a head of two hinges, two arms of seven and two legs of six."""
    tree = Tree("robot of 30")
    trunk = tree.add(None, [0, 0, 1.0], [0, 0, 1], [0, 0, 1.25], 20.0, 20.0 * tensor(rng, 0.15))
    trunk = tree.add(trunk, [0, 0, 1.05], [0, 1, 0], [0.02, 0, 1.3], 12.0, 12.0 * tensor(rng, 0.12))

    def limb(parent, start, step, axes, mass):
        point = np.array(start, float)
        for axis in axes:
            centre = point + 0.5 * np.array(step) + 0.01 * rng.normal(size=3)
            parent = tree.add(parent, point, axis, centre, mass, mass * tensor(rng, 0.05))
            point, mass = point + step, 0.8 * mass
        return parent

    x, y, z = [1, 0, 0], [0, 1, 0], [0, 0, 1]
    limb(trunk, [0, 0, 1.6], [0, 0, 0.08], [z, y], 2.0)
    for side in (1, -1):
        limb(trunk, [0, 0.2 * side, 1.5], [0, 0.03 * side, -0.12], [y, x, z, y, z, y, x], 2.0)
    # depth first, as Pinocchio's mass matrix asks for
    for side in (1, -1):
        limb(0, [0, 0.1 * side, 1.0], [0.01, 0, -0.16], [z, x, y, y, y, x], 5.0)
    return tree


def least(call, repeat):
    best = float("inf")
    for _ in range(BATCHES):
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        best = min(best, (time.perf_counter() - start) / repeat)
    return best


def crossings(repeat=2000):
    """Seconds that a call takes which finds nothing to do: the way from Python and back, on a model without joints."""
    m = pin.Model()
    d, none = m.createData(), np.zeros(0)
    return {
        "mass matrix": least(lambda: pin.crba(m, d, none), repeat),
        "bias": least(lambda: pin.nonLinearEffects(m, d, none, none), repeat),
        "inverse dynamics": least(lambda: pin.rnea(m, d, none, none, none), repeat),
        "forward dynamics": least(lambda: pin.aba(m, d, none, none, none), repeat),
    }


def sarrus(binary, tree, states, repeat):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tree.toml"
        file.write_text(tree.model_file())
        lines = [str(repeat)] + [" ".join(repr(float(x)) for x in np.concatenate(s)) for s in states]
        done = subprocess.run([binary, file], input="\n".join(lines) + "\n", capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    names, *rows = done.stdout.splitlines()
    rows = [np.array(row.split(), float) for row in rows]
    return [int(n[1:]) for n in names.split()], [rows[i : i + 5] for i in range(0, len(rows), 5)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 30, 100, 300, 1000])
    parser.add_argument("--label", default="joint")
    parser.add_argument("--binary", help="the example tree_dynamics, built; without it the workspace is built")
    args = parser.parse_args()
    binary = args.binary
    if not binary:
        subprocess.run(["cargo", "build", "--release", "-q", "-p", "sarrus", "--example", "tree_dynamics"], cwd=ROOT, check=True)
        binary = ROOT / "target" / "release" / "examples" / "tree_dynamics"

    rng = np.random.default_rng(20261115)
    trees = [robot(rng)] + [chain(n, rng) for n in args.sizes]
    table = ["| tree | what | largest difference, relative | Sarrus [µs] | Pinocchio [µs] | ratio |", "|---|---|---|---|---|---|"]
    worst = 0.0
    crossing = crossings()
    for tree in trees:
        n = len(tree.bodies)
        repeat = max(3, 3000 // n) if n < 500 else 3
        states = [(rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)) for _ in range(3)]
        if n > MOST:
            ours = sarrus(binary, tree, states, repeat)[1]
            for k, what in enumerate(["mass matrix", "bias", "inverse dynamics", "forward dynamics"]):
                mine = min(own[4][k] for own in ours)
                table.append(f"| {tree.name} | {what} | - | {1e6 * mine:.1f} | - | - |")
                print(table[-1], flush=True)
            continue
        m, d = tree.pinocchio()
        order, _ = sarrus(binary, tree, [], 1)
        # joint k of Sarrus is joint order[k] of the list, which is Pinocchio's own order where parents come first
        index = [m.joints[m.getJointId(f"j{i}")].idx_v for i in order]
        ours = sarrus(binary, tree, [tuple(x[index] for x in s) for s in states], repeat)[1]
        none = np.zeros(n)

        def crba(q):
            M = pin.crba(m, d, q)
            return np.triu(M) + np.triu(M, 1).T

        calls = {
            "mass matrix": lambda q, v, a: crba(q),
            "bias": lambda q, v, a: pin.nonLinearEffects(m, d, q, v),
            "inverse dynamics": lambda q, v, a: pin.rnea(m, d, q, v, a),
            "forward dynamics": lambda q, v, a: pin.aba(m, d, q, v, none),
        }
        timed = {
            "mass matrix": lambda q, v, a: pin.crba(m, d, q),
            "bias": calls["bias"],
            "inverse dynamics": calls["inverse dynamics"],
            "forward dynamics": calls["forward dynamics"],
        }
        for k, (what, call) in enumerate(calls.items()):
            off = 0.0
            for s, own in zip(states, ours):
                theirs = call(*s)
                theirs = theirs[np.ix_(index, index)].ravel() if theirs.ndim == 2 else theirs[index]
                off = max(off, np.abs(own[k] - theirs).max() / np.abs(theirs).max())
            worst = max(worst, off)
            mine = min(own[4][k] for own in ours)
            peer = min(least(lambda: timed[what](*s), repeat) for s in states) - crossing[what]
            table.append(f"| {tree.name} | {what} | {off:.1e} | {1e6 * mine:.1f} | {1e6 * peer:.1f} | {mine / peer:.2f} |")
            print(table[-1], flush=True)
    folder = ROOT / "bench" / "runs" / f"{datetime.date.today()}-{args.label}"
    folder.mkdir(parents=True, exist_ok=True)
    text = f"""# Trees in joint coordinates, {datetime.date.today()}

`python3 bench/joint.py` on {platform.machine()}, {platform.system()}, Python {platform.python_version()}, pin=={pin.__version__},
numpy=={np.__version__}. Largest entry of the difference over the largest entry, over three random states; microseconds per call, the
least of {BATCHES} batches, one thread; ratio: Sarrus over Pinocchio. A call of Sarrus evaluates poses, velocities, every force of
the model and the recursion; from a call of Pinocchio the time of one on a model without joints is taken, which is the way from
Python and back ({", ".join(f"{what} {1e6 * x:.2f} µs" for what, x in crossing.items())}). The mass matrix is dense in both.

"""
    (folder / "joint.md").write_text(text + "\n".join(table) + "\n")
    print(f"largest difference {worst:.1e}; written to {folder}")
    if worst > 1e-9:
        sys.exit("values differ")


if __name__ == "__main__":
    main()
