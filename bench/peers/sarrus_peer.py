"""Sarrus, through its command line: writes the model file, runs it, reads `trajectory.csv` and `report.json`.

Options: `integrator` (with its own options, as `--integrator` takes them), and `rtol` (`atol` is a hundredth of it) or `h`, the step of a
fixed-step method; `coordinates`, `regularize`, `formulation` and `stabilization` as on the command line; `n` elements of a beam, their
`order`, and its `mass` matrix. The environment variable SARRUS names the binary.
"""

import csv
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import flexible
from mechanism import GROUND, rotation_z


def number(x):
    return repr(float(x))


def vector(x, planar):
    return "[" + ", ".join(number(c) for c in (x[:2] if planar else x)) + "]"


def name(body):
    return "ground" if body == GROUND else f"b{body}"


def write_model(mechanism):
    planar = mechanism.planar
    lines = [
        'format = "sarrus/1"',
        f'name = "{mechanism.name}"',
        f'space = "{"planar" if planar else "spatial"}"',
        f"gravity = {vector(mechanism.gravity, planar)}",
        "[output]",
        "peaks = false",
        "[run]",
        f"t_end = {number(mechanism.t_end)}",
        "[bodies]",
    ]
    for i, b in enumerate(mechanism.bodies):
        if planar:
            pose, inertia = f"angle = {number(b.angle)}", number(b.inertia[2])
        else:
            pose = f"orientation = {{ x = {vector(b.R[:, 0], False)}, y = {vector(b.R[:, 1], False)} }}"
            inertia = vector(b.inertia, False)
        lines.append(f"b{i} = {{ at = {vector(b.p, planar)}, {pose}, mass = {number(b.mass)}, inertia = {inertia} }}")
    lines.append("[joints]")
    for k, j in enumerate(mechanism.joints):
        pair = f'bodies = ["{name(j.first)}", "{name(j.second)}"]'
        axis = "" if planar or j.kind == "spherical" else f", axis = {vector(j.axis, False)}"
        lines.append(f'j{k} = {{ kind = "{j.kind}", {pair}, at = {vector(j.point, planar)}{axis} }}')
    lines.append("[forces]")
    if mechanism.torque:
        body, torque = mechanism.torque
        value = number(torque) if planar else vector([0, 0, torque], False)
        lines.append(f'motor = {{ kind = "torque", body = "{name(body)}", torque = {value} }}')
    for k, (body, force) in enumerate(mechanism.forces):
        lines.append(f'f{k} = {{ kind = "force", body = "{name(body)}", force = {vector(force, planar)} }}')
    for k, s in enumerate(mechanism.springs):
        pair = f'bodies = ["{name(s.first)}", "{name(s.second)}"]'
        ends = ", ".join(vector(e, planar) for e in s.ends)
        lines.append(f's{k} = {{ kind = "spring", {pair}, ends = [{ends}], stiffness = {number(s.stiffness)}, rest = {number(s.rest)} }}')
    lines.append("[initial]")
    for path, value in mechanism.start.items():
        lines.append(f"{path} = {value}")
    return "\n".join(lines) + "\n"


def rotation(w, x, y, z):
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])


def read_poses(file, mechanism, times):
    with open(file, newline="") as text:
        header, *rows = csv.reader(text)
    column = {c: k for k, c in enumerate(header)}
    n, poses = len(mechanism.bodies), []
    rows = [np.array(row, float) for row in rows]
    for t in times:
        row = min(rows, key=lambda row: abs(row[0] - t))
        assert abs(row[0] - t) < 1e-9 * mechanism.t_end, f"there is no row at t = {t}; the run ended at t = {rows[-1][0]}"
        pick = lambda what: row[[column[f"b{i}.{what}"] for i in range(n)]]
        p = np.stack([pick("x"), pick("y"), np.zeros(n) if mechanism.planar else pick("z")], axis=1)
        if mechanism.planar:
            R = [rotation_z(a) for a in pick("angle")]
        else:
            R = [rotation(*q) for q in zip(*(pick(f"q{k}") for k in range(4)))]
        poses.append((p, np.array(R)))
    return poses


def run(text, options, every, columns, read):
    """Runs a model file; `read` is given the trajectory."""
    with tempfile.TemporaryDirectory() as folder:
        model, out = Path(folder) / "model.toml", Path(folder) / "out"
        model.write_text(text)
        command = [os.environ.get("SARRUS", "sarrus"), "run", str(model), "--out", str(out), "--json", "--bare"]
        # loose tolerances are measured too, and the loop alone
        command += ["--allow-uncertified", "--certify", "basic"]
        command += ["--integrator", options["integrator"], "--every", repr(float(every))]
        command += [x for c in columns for x in ("--columns", c)]
        for key in ("coordinates", "regularize", "formulation", "stabilization"):
            if key in options:
                command += [f"--{key}", options[key]]
        if "h" in options:
            command += ["--step", repr(options["h"])]
        if "rtol" in options:
            command += ["--rtol", repr(options["rtol"]), "--atol", repr(options["rtol"] / 100)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(" / ".join(done.stderr.split("\n"))[-400:])
        report = json.loads((out / "report.json").read_text())
        found = read(out / "trajectory.csv")
    counts = report["counts"]
    return found, dict(
        # one thread: where only wall time is reported it stands for processor time
        cpu_s=report.get("cpu_s") or report["wall_s"],
        wall_s=report["wall_s"],
        steps=counts["steps"],
        rhs=counts["rhs"],
        iterations=counts.get("newton_iterations"),
        certified=report["certificate"]["passed"],
    )


def simulate(mechanism, options, times, clock):
    columns = [f"b*.{c}" for c in (["x", "y", "angle"] if mechanism.planar else ["x", "y", "z", "q0", "q1", "q2", "q3"])]
    read = lambda file: read_poses(file, mechanism, times)
    poses, took = run(write_model(mechanism), options, mechanism.t_end / len(times), columns, read)
    return dict(took, poses=poses)


def simulate_beam(options, clock):
    f, n = flexible, int(options["n"])
    order = int(options.get("order", 1))
    kind = f"order = {order}" if order > 1 else f'mass_matrix = "{options.get("mass", "consistent")}"'
    last = f"bar.node{n * order}"
    text = f"""format = "sarrus/1"
space = "planar"
gravity = [0, {-f.GRAVITY}]
[materials]
rubber = {{ density = {f.DENSITY}, young = {f.YOUNG}, poisson = {f.POISSON} }}
[sections]
square = {{ kind = "rectangle", width = {f.WIDTH}, height = {f.WIDTH}, GA = {f.GA!r} }}
[flexible]
bar = {{ kind = "beam", from = [0, 0], to = [{f.LENGTH}, 0], section = "square", material = "rubber", elements = {n}, {kind} }}
[joints]
hinge = {{ kind = "revolute", bodies = ["ground", "bar.start"], at = [0, 0] }}
[output]
peaks = false
[run]
t_end = {f.T_END}
"""

    def read(file):
        with open(file, newline="") as text:
            header, *rows = csv.reader(text)
        end = dict(zip(header, rows[-1]))
        return [float(end[f"{last}.{c}"]) for c in "xy"]

    tip, took = run(text, options, f.T_END, [f"{last}.x", f"{last}.y"], read)
    return dict(took, tip=tip, continuum="shear")
