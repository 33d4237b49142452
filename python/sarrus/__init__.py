"""Sarrus: multibody dynamics for the mechanisms that other tools get wrong.

Closed loops, redundant constraints, large rotations, rolling. A model is a flat list of bodies and joints (a loop is one more
joint); a run comes with a certificate of how well it kept its constraints and its energy.

>>> import sarrus
>>> m = sarrus.Model("four_bar", space="planar")
>>> m.points.update(A=(0, 0), B="A + polar(0.2, 60 deg)", C="meet(B, 0.4, D, 0.25)", D=(0.4, 0))
>>> for name, ends in {"crank": "AB", "coupler": "BC", "rocker": "DC"}.items():
...     _ = m.body(name, from_=ends[0], to=ends[1], mass=1)
>>> for at, bodies in {"A": ("ground", "crank"), "B": ("crank", "coupler"), "C": ("coupler", "rocker"), "D": ("ground", "rocker")}.items():
...     _ = m.joints.revolute(at, bodies=bodies, at=at)
>>> _ = m.forces.torque("motor", body="crank", torque=3)
>>> result = m.run(t_end=2)
>>> result.certificate.passed
True
"""

from ._families import SHAPES as shapes
from ._sarrus import VERSION as __version__
from .errors import CertificateWarning, ColumnError, Error, ModelError, RunError
from .functions import Function
from .model import Model, compare, example, examples, kinds, load, loads, papers, reproduce, schema
from .reports import Check, Comparison, Equilibrium, Inverse, Modes, Report, Reproduction
from .result import Instants, Result, Samples, Viewer
from .simulation import Simulation, State

__all__ = [
    "CertificateWarning",
    "Check",
    "ColumnError",
    "Comparison",
    "Equilibrium",
    "Error",
    "Function",
    "Instants",
    "Inverse",
    "Model",
    "ModelError",
    "Modes",
    "Report",
    "Reproduction",
    "Result",
    "RunError",
    "Samples",
    "Simulation",
    "State",
    "Viewer",
    "__version__",
    "compare",
    "example",
    "examples",
    "kinds",
    "load",
    "loads",
    "papers",
    "reproduce",
    "schema",
    "shapes",
]
