"""Simbody 3.7 (Debian: libsimbody-dev) through `simbody_driver.cpp`, which is compiled on first use: joint coordinates of a spanning
tree, loops by constraints, error control with projection.

Options: `integrator` (`rkm`, Merson's; `rkf`, Fehlberg's; `cpodes`, Adams), `rtol` accuracy, `tolerance` of the constraints (a tenth of the
accuracy), `project`: 1 (default) at every step, without which it leaves the branch at singular positions; `loops`: `ball` or `plane`.
"""

import shutil
import subprocess
from pathlib import Path

import numpy as np

from mechanism import rotation_to

SOURCE = Path(__file__).with_name("simbody_driver.cpp")
HEADERS = Path("/usr/include/simbody")
KINDS = ("revolute", "spherical", "prismatic", "cylindrical")


def driver():
    binary = SOURCE.parent.parent / ".build" / "simbody_driver"
    if not binary.exists() or binary.stat().st_mtime < SOURCE.stat().st_mtime:
        if not HEADERS.exists() or not shutil.which("g++"):
            raise RuntimeError("Simbody is not installed: apt-get install g++ libsimbody-dev")
        binary.parent.mkdir(exist_ok=True)
        libraries = ["-lSimTKsimbody", "-lSimTKmath", "-lSimTKcommon"]
        subprocess.run(["g++", "-O2", "-std=c++17", f"-I{HEADERS}", SOURCE, "-o", binary, *libraries], check=True)
    return binary


def describe(mechanism, options, samples):
    order, loops = mechanism.spanning_tree()
    words = lambda *xs: " ".join(repr(float(x)) for v in xs for x in np.ravel(v))
    accuracy = options["rtol"]
    lines = [words(mechanism.gravity), words(mechanism.t_end, samples), options.get("integrator", "rkm"),
             words(accuracy, options.get("tolerance", accuracy / 10), options.get("project", 1))]
    lines.append(words(len(mechanism.bodies)))
    lines += [words(b.mass, b.inertia, b.p, b.R) for b in mechanism.bodies]
    lines.append(words(len(order)))
    for k, parent, child in order:
        j = mechanism.joints[k]
        lines.append(words(KINDS.index(j.kind), parent, child, j.point, rotation_to(j.axis), mechanism.turning(parent, child)))
    lines.append(words(len(loops)))
    mode = 1 if options.get("loops") == "plane" else 0
    lines += [words(mode, mechanism.joints[k].first, mechanism.joints[k].second, mechanism.joints[k].point) for k in loops]
    lines.append(words(len(mechanism.springs)))
    lines += [words(s.first, s.second, *s.ends, s.stiffness, s.rest) for s in mechanism.springs]
    lines.append(words(len(mechanism.forces)))
    lines += [words(b, force) for b, force in mechanism.forces]
    lines.append(words(*([1, *mechanism.torque] if mechanism.torque else [0])))
    return "\n".join(lines) + "\n"


def simulate(mechanism, options, times, clock):
    done = subprocess.run([driver()], input=describe(mechanism, options, len(times)), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(" ".join(done.stderr.split())[-160:])
    head, _, rest = done.stdout.partition("\n")
    cpu, wall, steps, calls = head.split()
    numbers = np.array(rest.split(), float).reshape(len(times), len(mechanism.bodies), 12)
    poses = [(x[:, :3], x[:, 3:].reshape(-1, 3, 3)) for x in numbers]
    return dict(poses=poses, cpu_s=float(cpu), wall_s=float(wall), steps=int(steps), rhs=int(calls))
