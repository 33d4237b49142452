"""What is run: each mechanism with the errors asked for and the settings tried in each program. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Case:
    problem: str
    n: int | None
    targets: tuple  # errors at the end to be reached [m]
    settings: dict = field(default_factory=dict)  # program -> list of option dicts

    @property
    def label(self):
        return self.problem if self.n is None else f"{self.problem} N={self.n}"


def steps(*values, **options):
    return [dict(h=h, **options) for h in values]


def stiff_connections(*values):
    """MuJoCo's equality constraints are springs; this is the hardest that stays stable at a step h."""
    return [dict(h=h, solref=f"{2 * h},1", solimp="0.9999,0.9999,0.001,0.5,2") for h in values]


def tolerances(*values, integrators=("dop853", "rk45")):
    return [dict(rtol=r, integrator=i) for i in integrators for r in values]


WIDE = tolerances(1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)

CASES = [
    Case("chain", 100, (1e-3, 1e-5), dict(
        sarrus=WIDE, exudyn=steps(1e-2, 5e-3, 2e-3, 1e-3, 5e-4), mujoco=steps(1e-2, 5e-3, 2e-3, 1e-3), pin=steps(2e-2, 1e-2, 5e-3, 2e-3))),
    Case("chain", 1000, (1e-2, 1e-3), dict(
        sarrus=tolerances(1e-1, 1e-2, 1e-3, 1e-4, 1e-5, integrators=("dop853", "rk45", "rk23")) + steps(3e-3, 2e-3, 1e-3, integrator="rk4"), exudyn=steps(1e-2, 5e-3, 2e-3))),
    Case("nfourbar", 1, (1e-3, 1e-5), dict(
        sarrus=WIDE, exudyn=steps(1e-2, 1e-3, 1e-4), mujoco=stiff_connections(1e-3, 1e-4), pin=steps(2e-2, 1e-2, 5e-3, 1e-3))),
    Case("nfourbar", 10, (1e-3, 1e-5), dict(
        sarrus=WIDE, exudyn=steps(1e-2, 5e-3, 1e-3), mujoco=stiff_connections(5e-3, 2e-3, 1e-3, 1e-4), pin=steps(2e-2, 1e-2, 5e-3))),
    Case("nfourbar", 40, (1e-3, 1e-5), dict(
        sarrus=WIDE, exudyn=steps(1e-2, 5e-3, 1e-3), mujoco=stiff_connections(1e-2, 5e-3, 2e-3, 1e-3), pin=steps(2e-2, 1e-2))),
    Case("squeezer", None, (1e-6, 1e-8), dict(
        sarrus=WIDE, exudyn=steps(1e-4, 1e-5, 1e-6), mujoco=stiff_connections(1e-4, 1e-5, 1e-6), pin=steps(1e-4, 3e-5, 1e-5, kp=1e6))),
    Case("fourbar", None, (1e-2, 1e-4), dict(
        sarrus=WIDE, exudyn=steps(1e-2, 1e-3, 1e-4), mujoco=stiff_connections(1e-2, 1e-3, 1e-4), pin=steps(1e-2, 1e-3))),
    Case("doublependulum3d", None, (1e-4, 1e-6), dict(
        sarrus=WIDE, exudyn=steps(1e-2, 1e-3, 1e-4), mujoco=steps(1e-2, 1e-3, 3e-4), pin=steps(1e-2, 1e-3))),
]

PROGRAMS = ("sarrus", "exudyn", "mujoco", "pin")
