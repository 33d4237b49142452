"""Sarrus, through its command line: writes the model file, runs it, reads `trajectory.csv` and `report.json`.

Options: `integrator`, and `rtol` (`atol` is a hundredth of it) or `h`, the step of a fixed-step method; the environment variable SARRUS
names the binary.
"""

import csv
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from problems import GROUND


def number(x):
    return repr(float(x))


def vector(x, planar):
    return "[" + ", ".join(number(c) for c in (x[:2] if planar else x)) + "]"


def name(body):
    return "ground" if body == GROUND else f"b{body}"


def write_model(mechanism):
    planar = mechanism.planar
    axes = ["x", "y"] if planar else ["x", "y", "z"]
    lines = [
        'format = "sarrus/1"',
        f'name = "{mechanism.name}"',
        f'space = "{"planar" if planar else "spatial"}"',
        f"gravity = {vector(mechanism.gravity, planar)}",
        "[run]",
        f"t_end = {number(mechanism.t_end)}",
        "[output]",
        f"every = {number(mechanism.t_end)}",
        "columns = [" + ", ".join(f'"b*.{a}"' for a in axes) + "]",
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
        lines.append(f'j{k} = {{ kind = "{j.kind}", {pair}, at = {vector(j.point, planar)} }}')
    lines.append("[forces]")
    if mechanism.torque:
        body, torque = mechanism.torque
        value = number(torque) if planar else vector([0, 0, torque], False)
        lines.append(f'motor = {{ kind = "torque", body = "{name(body)}", torque = {value} }}')
    for k, s in enumerate(mechanism.springs):
        pair = f'bodies = ["{name(s.first)}", "{name(s.second)}"]'
        ends = ", ".join(vector(e, planar) for e in s.ends)
        lines.append(f's{k} = {{ kind = "spring", {pair}, ends = [{ends}], stiffness = {number(s.stiffness)}, rest = {number(s.rest)} }}')
    lines.append("[initial]")
    for path, value in mechanism.start.items():
        lines.append(f"{path} = {value}")
    return "\n".join(lines) + "\n"


def read_end(file, mechanism):
    with open(file, newline="") as text:
        rows = csv.reader(text)
        header = next(rows)
        for last in rows:
            pass
    values = dict(zip(header, last))
    assert abs(float(values["t"]) - mechanism.t_end) < 1e-9 * mechanism.t_end, f"the run ended at t = {values['t']}"
    positions = np.zeros((len(mechanism.bodies), 3))
    for i in range(len(mechanism.bodies)):
        for k, axis in enumerate("xy" if mechanism.planar else "xyz"):
            positions[i, k] = float(values[f"b{i}.{axis}"])
    return positions


def simulate(mechanism, options, clock):
    with tempfile.TemporaryDirectory() as folder:
        model, out = Path(folder) / "model.toml", Path(folder) / "out"
        model.write_text(write_model(mechanism))
        command = [os.environ.get("SARRUS", "sarrus"), "run", str(model), "--out", str(out), "--json"]
        command += ["--integrator", options["integrator"]]
        if "h" in options:
            command += ["--step", repr(options["h"])]
        else:
            command += ["--rtol", repr(options["rtol"]), "--atol", repr(options["rtol"] / 100)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(" / ".join(done.stderr.split("\n"))[-400:])
        report = json.loads((out / "report.json").read_text())
        positions = read_end(out / "trajectory.csv", mechanism)
    return dict(
        positions=positions,
        # one thread: where only wall time is reported it stands for processor time
        cpu_s=report.get("cpu_s") or report["wall_s"],
        wall_s=report["wall_s"],
        steps=report["counts"]["steps"],
        rhs=report["counts"]["rhs"],
        certified=report["certificate"]["passed"],
    )
