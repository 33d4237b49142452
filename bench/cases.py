"""What is run: each mechanism with the errors asked for and the settings tried in each program. Standard library only.

Where a program is missing from a case:
- PyBullet and DART have no springs between points (squeezer, wishbones), PyBullet no cylindrical joint and DART none on a slide (McPherson);
  both are of first order. PyBullet makes at most 127 links.
- Drake's ball constraints exist in discrete plants only (SAP, first order); on the four-bar they lead to another motion.
- MuJoCo forms a dense mass matrix of a chain: N³, 0.15 s a step of 1000 links. Pinocchio takes memory as N³.
- Simbody's loops are dense too, as Pinocchio's: N³ beyond 40 parallelograms.
- None but Exudyn has beams with large rotations in the plane.
- Chrono has no wheel on PyPI: its name there is reserved, `pychrono` is another program's.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Case:
    problem: str
    n: int | None
    targets: tuple  # errors at the end to be reached [m]
    demand: float | None = None  # times that Sarrus shall be faster than the best of the others
    settings: dict = field(default_factory=dict)  # program -> list of option dicts
    quick: bool = True  # part of a quick run

    @property
    def label(self):
        return self.problem if self.n is None else f"{self.problem} N={self.n}"


def steps(*values, **options):
    return [dict(h=h, **options) for h in values]


def stiff_connections(*values):
    """MuJoCo's equality constraints are springs; this is the hardest that stays stable at a step h."""
    return [dict(h=h, solref=f"{2 * h},1", solimp="0.9999,0.9999,0.001,0.5,2") for h in values]


def tolerances(*values, integrators=("",), **options):
    named = [dict(integrator=i) if i else {} for i in integrators]
    return [dict(rtol=r, **i, **options) for i in named for r in values]


def twice(settings, **options):
    """Settings, and the same with further options."""
    return settings + [dict(s, **options) for s in settings]


def grid(first, last):
    """1, 0.7, 0.5, 0.3, 0.2, 0.15, 0.1, … times the first, down to the last."""
    values, k = [], 0
    while not values or values[-1] > 1.01 * last:
        values += [float(f"{first * x * 10.0**-k:.3g}") for x in (1, 0.7, 0.5, 0.3, 0.2, 0.15)]
        k += 1
    return [h for h in values if h > 0.99 * last]


RTOLS = (3e-1, 1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
EXPLICIT = ("dop853", "rk45", "abm")


def loops(fixed, rtols=RTOLS, others=True):
    """Sarrus on closed loops: every explicit method, with and without the passage of singular positions, rk4 at fixed steps; others."""
    explicit = twice(tolerances(*rtols, integrators=EXPLICIT) + steps(*fixed, integrator="rk4"), regularize="false")
    if not others:
        return explicit
    implicit = tolerances(1e-3, 1e-5, 1e-7, integrators=("radau5",)) + steps(*fixed[::3], integrator="generalized_alpha")
    cut = tolerances(*rtols[1::2], integrators=("dop853", "abm"), coordinates="joint")
    return explicit + implicit + steps(*fixed[::3], integrator="staggered") + cut


def few(program, settings):
    """Some settings, for a quick run."""
    usual = [s for s in settings if s.get("integrator") == "dop853" and s["rtol"] in (1e-1, 3e-2, 1e-2, 1e-3, 1e-4, 1e-6) and s.get("n", 0) <= 64]
    return usual if program == "sarrus" else settings[:: max(1, len(settings) // 4)]


def trees(fixed, rtols=RTOLS):
    """Sarrus on trees: poses and joint coordinates."""
    explicit = tolerances(*rtols, integrators=EXPLICIT) + steps(*fixed, integrator="rk4")
    return twice(explicit, coordinates="joint") + steps(*fixed[::2], integrator="staggered")


def simbody(*values, integrators=("rkm",)):
    return tolerances(*values, integrators=integrators)


def drake(*values, integrators=("runge_kutta3", "runge_kutta5", "bogacki_shampine3")):
    return tolerances(*values, integrators=integrators)


def nfourbar(n, demand=10, quick=False, **extra):
    peers = dict(
        sarrus=loops(grid(1e-1, 2e-3)), exudyn=steps(1e-2, 5e-3, 1e-3), mujoco=stiff_connections(*grid(2e-2, 1e-3)),
        pin=steps(*grid(1e-1, 2e-3)), simbody=simbody(1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7), drake=steps(1e-2, 5e-3, 1e-3),
        dart=steps(*grid(5e-2, 1e-3)), pybullet=steps(5e-2, 2e-2, 1e-2, 5e-3, 1e-3))
    return Case("nfourbar", n, (1e-3, 1e-5), demand, dict(peers, **extra), quick)


CASES = [
    Case("chain", 10, (1e-3, 1e-5), 3, dict(
        sarrus=trees(grid(2e-2, 1e-3)), exudyn=steps(1e-2, 2e-3, 5e-4, 1e-4), mujoco=steps(*grid(2e-2, 1e-3)), pin=steps(*grid(2e-2, 1e-3)),
        simbody=simbody(1e-2, 1e-3, 1e-4, 1e-5), drake=drake(1e-2, 1e-3, 1e-4, 1e-5), dart=steps(1e-3, 1e-4), pybullet=steps(1e-3, 1e-4))),
    Case("chain", 100, (1e-3, 1e-5), 3, dict(
        sarrus=trees(grid(1e-2, 2e-3)), exudyn=steps(1e-2, 5e-3, 2e-3, 1e-3, 5e-4), mujoco=steps(*grid(1e-2, 2e-3)), pin=steps(*grid(1e-2, 2e-3)),
        simbody=simbody(1e-1, 1e-2, 1e-3, 1e-4, 1e-5), drake=drake(1e-1, 1e-2, 1e-3, 1e-4), dart=steps(1e-3, 1e-4), pybullet=steps(1e-3, 1e-4))),
    Case("chain", 1000, (1e-2, 1e-3), 10, dict(
        sarrus=trees([6e-3, 5e-3, 4e-3, 3e-3, 2e-3, 1e-3], rtols=(3e-1, 1e-1, 3e-2, 1e-2, 1e-3)), exudyn=steps(1e-2, 5e-3, 2e-3),
        simbody=simbody(3e-1, 1e-1, 3e-2, 1e-2, 1e-3), drake=drake(1e-1, 1e-2, integrators=("runge_kutta3", "bogacki_shampine3")),
        mujoco=steps(5e-3), dart=steps(1e-2, 2e-3, 1.5e-3, 1e-3, 5e-4)), quick=False),
    Case("chain", 10_000, (1e-2, 1e-3), 10, dict(
        sarrus=trees([5e-3, 3e-3, 2e-3, 1e-3, 5e-4], rtols=(3e-1, 1e-1, 1e-2)), exudyn=steps(1e-2), simbody=simbody(3e-1, 1e-1, 1e-2, 1e-3),
        drake=drake(1e-1, integrators=("runge_kutta3",)), dart=steps(2e-3, 1e-3)), quick=False),
    Case("chain", 100_000, (1e-2, 1e-3), 10, dict(
        sarrus=twice(tolerances(3e-1, 1e-1, integrators=("dop853",)) + steps(2e-3, 1e-3, 5e-4, integrator="rk4"), coordinates="joint"),
        exudyn=steps(1e-2), simbody=simbody(3e-1), drake=drake(1e-1, integrators=("runge_kutta3",)), dart=steps(2e-3)), quick=False),
    nfourbar(1, quick=True, exudyn=steps(1e-2, 1e-3, 1e-4)),
    nfourbar(2),
    nfourbar(4),
    nfourbar(10, quick=True),
    nfourbar(40, simbody=simbody(1e-3, 1e-5), mujoco=stiff_connections(2e-2, 1e-2, 5e-3, 2e-3), pin=steps(*grid(1e-1, 1e-2))),
    nfourbar(1000, sarrus=loops([5e-2, 2e-2, 1e-2], rtols=(1e-2, 1e-3, 1e-4, 1e-5, 1e-6), others=False), exudyn=steps(1e-2, 5e-3),
             mujoco=stiff_connections(1e-2), pin=[], simbody=[], drake=steps(1e-2), dart=steps(1e-2), pybullet=[]),
    Case("squeezer", None, (1e-6, 1e-8), 10, dict(
        sarrus=loops(grid(5e-4, 1e-5)), exudyn=steps(1e-4, 1e-5, 1e-6), mujoco=stiff_connections(*grid(2e-4, 1e-6)),
        pin=steps(*grid(2e-4, 1e-5), kp=1e6), simbody=simbody(1e-4, 1e-5, 1e-6, 1e-7), drake=steps(1e-4, 1e-5))),
    Case("fourbar", None, (1e-2, 1e-4), 10, dict(
        sarrus=loops(grid(5e-2, 1e-3)), exudyn=steps(1e-2, 1e-3, 1e-4), mujoco=stiff_connections(*grid(2e-2, 1e-4)),
        pin=steps(*grid(5e-2, 1e-3)), simbody=simbody(1e-3, 1e-4, 1e-5, 1e-6, 1e-7), dart=steps(1e-3, 1e-4), pybullet=steps(1e-3))),
    Case("doublependulum3d", None, (1e-4, 1e-6), 3, dict(
        sarrus=trees(grid(3e-2, 1e-3)), exudyn=steps(1e-2, 1e-3, 1e-4), mujoco=steps(*grid(3e-2, 1e-3)), pin=twice(steps(*grid(3e-2, 1e-3)), plain=1),
        simbody=simbody(1e-4, 1e-5, 1e-6, 1e-7, 1e-8), drake=drake(1e-4, 1e-5, 1e-6, 1e-7, 1e-8), dart=steps(1e-3, 1e-4), pybullet=steps(1e-3, 1e-4))),
    Case("mcpherson", None, (1e-4, 1e-6), 3, dict(
        sarrus=loops(grid(2e-1, 5e-3)), exudyn=steps(5e-2, 2e-2, 1e-2, 5e-3, 1e-3), mujoco=stiff_connections(*grid(5e-2, 1e-3)),
        pin=twice(steps(*grid(1e-1, 5e-3)), plain=1), simbody=simbody(1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7), drake=steps(1e-2, 1e-3))),
    Case("wishbones", None, (1e-4, 1e-6), 3, dict(
        sarrus=loops(grid(2e-2, 1e-3)), exudyn=steps(5e-3, 2e-3, 1e-3, 2e-4), mujoco=stiff_connections(*grid(1e-2, 2e-4)),
        pin=twice(steps(*grid(2e-2, 2e-3)), plain=1), simbody=simbody(1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7), drake=steps(2e-3, 2e-4))),
    # Sarrus has beams with shear: elements of order 1, whose error falls as the square of their length, and of higher order
    Case("flexpend", None, (1e-2, 1e-3, 1e-4), 3, dict(
        sarrus=[dict(s, n=n, order=order) for n, order in ((1, 4), (1, 6), (2, 4), (2, 5), (2, 6), (3, 4), (3, 5), (4, 3), (4, 4), (6, 3), (4, 6)) for s in (
            steps(2.7e-4, 2.5e-4, 2.2e-4, 1.9e-4, 1.5e-4, integrator="staggered") + steps(3.5e-4, 2.5e-4, integrator="rk4")
            + tolerances(1e-3, integrators=("radau5", "dop853")))]
        + [dict(s, n=n, mass="lumped") for n in (16, 64, 256) for s in (
            tolerances(1e-2, integrators=("radau5",)) + steps(2e-3, integrator="trapezoidal"))],
        exudyn=[dict(s, n=n, beam=beam) for beam in ("cable", "shear") for n in (4, 8, 16, 32, 64, 128, 256) for s in steps(5e-3, 2e-3, 1e-3, 5e-4)])),
]

PROGRAMS = ("sarrus", "exudyn", "mujoco", "drake", "pin", "simbody", "dart", "pybullet")
