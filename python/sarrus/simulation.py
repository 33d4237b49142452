"""Simulations that go on step by step: for controllers, learners, and a look at the equations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _sarrus
from .reports import Modes
from .result import Result

__all__ = ["Linearization", "Simulation", "State"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class State:
    """A state: copies, which change nothing.

    >>> import sarrus
    >>> sim = sarrus.example("pendulum").simulation()
    >>> sim.state.q.shape, sim.state.v.shape
    ((3,), (3,))
    """

    t: float
    """Time [s]."""
    q: Array
    """Positions: of each body its centre of mass, and its angle or unit quaternion, scalar first."""
    v: Array
    """Velocities: of each body its centre of mass in world axes, and its turning about its own axes; see `velocity_names`."""
    x: Array
    """Work and heat so far, and states of controllers and contacts."""


@dataclass(frozen=True)
class Linearization:
    """Small motions about a state, ẋ = A x: first free positions, then free velocities.

    >>> import sarrus
    >>> linear = sarrus.example("pendulum").simulation().linearize()
    >>> linear.A.shape
    (2, 2)
    """

    A: Array
    """The matrix."""
    displacements: Array
    """What each free position stands for: a row of displacements in the directions of `v`."""
    velocities: Array
    """What each free velocity stands for: a row of `v`."""


class _Inputs(MutableMapping[str, float]):
    """Inputs and other states of controllers by name."""

    def __init__(self, sim: _sarrus.Simulation) -> None:
        self._sim = sim

    def __setitem__(self, name: str, value: float) -> None:
        self._sim.set(name, value)

    def __getitem__(self, name: str) -> float:
        path = name if "." in name else f"{name}.out"
        return float(self._sim.read([path])[0])

    def __contains__(self, name: object) -> bool:
        try:
            return isinstance(name, str) and self[name] is not None
        except KeyError:
            return False

    def __delitem__(self, name: str) -> None:
        raise TypeError("inputs stay: set one to another value")

    def __iter__(self) -> Iterator[str]:
        raise TypeError("inputs are named in the model: `[controllers]`")

    def __len__(self) -> int:
        raise TypeError("inputs are named in the model: `[controllers]`")


class Simulation:
    """A simulation that goes on when it is told to; :meth:`sarrus.Model.simulation` begins one.

    The same run as :meth:`sarrus.Model.run` makes, with events, contacts and sampled controllers, but it pauses after every step. In between,
    inputs (`[controllers]` of kind `input`) and forces from outside can be set, the state read or replaced, and the equations at it looked
    at. The interpreter is released while it computes: simulations in several threads use several cores.

    >>> import sarrus
    >>> m = sarrus.Model("cart", space="planar")
    >>> _ = m.body("cart", at=(0, 0), mass=2, inertia=1)
    >>> _ = m.joints.prismatic("rail", bodies=("ground", "cart"), at=(0, 0))
    >>> _ = m.controllers.input("motor")
    >>> _ = m.forces.actuator("drive", joint="rail", force="motor.out")
    >>> sim = m.simulation(dt=0.01, rtol=1e-9, atol=1e-11)
    >>> while sim.t < 5:
    ...     sim.inputs["motor"] = 10 * (1 - sim["rail.position"]) - 8 * sim["rail.speed"]
    ...     sim.step()
    >>> abs(sim["rail.position"] - 1) < 0.02
    True
    """

    def __init__(self, sim: _sarrus.Simulation) -> None:
        self._sim = sim
        self.inputs: MutableMapping[str, float] = _Inputs(sim)
        """Inputs and other states of controllers: `sim.inputs["motor"] = 3`. They act from the next step on."""

    # going on

    def step(self, n: int = 1) -> None:
        """Goes on by `dt`, or `n` times that. An event may end the simulation before: see `done`.

        Where a step cannot be made, :class:`sarrus.RunError` is raised and the state is the last one that was reached.
        """
        self._sim.step(n)

    def advance(self, t: float) -> None:
        """Goes on to the time `t` [s], exactly.

        >>> import sarrus
        >>> sim = sarrus.example("pendulum").simulation()
        >>> sim.advance(0.25)
        >>> sim.t
        0.25
        """
        self._sim.advance(t)

    def reset(self, initial: Mapping[str, float] | None = None) -> None:
        """Back to the start; with other values in `[initial]` where some are given, such as `{"A.angle": 0.3}`.

        >>> import sarrus
        >>> sim = sarrus.example("pendulum").simulation()
        >>> sim.reset({"A.angle": -1.0})
        >>> print(f"{sim['A.angle']:.3f}")
        -1.000
        """
        if initial is not None and not isinstance(initial, Mapping):
            raise TypeError(f"`initial` must map names to numbers, not be {type(initial).__name__}")
        self._sim.reset([(str(name), float(value)) for name, value in (initial or {}).items()])

    def copy(self) -> Simulation:
        """Another simulation that goes on from here by itself."""
        return Simulation(self._sim.copy())

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Simulation:
        return self.copy()

    # where it is

    @property
    def t(self) -> float:
        """The present time [s]."""
        return self._sim.t

    @property
    def dt(self) -> float:
        """Time that a step covers [s]."""
        return self._sim.dt

    @dt.setter
    def dt(self, dt: float) -> None:
        self._sim.dt = dt

    @property
    def done(self) -> bool:
        """Whether an event or a failure has ended it."""
        return self._sim.over is not None

    @property
    def reason(self) -> str | None:
        """Why it is done."""
        return self._sim.over

    @property
    def state(self) -> State:
        """The present state, a copy. To set one, :meth:`set_state`."""
        q, v, x = self._sim.state()
        return State(self._sim.t, q, v, x)

    @state.setter
    def state(self, state: State) -> None:
        self.set_state(state.q, state.v)

    def set_state(self, q: npt.ArrayLike | None = None, v: npt.ArrayLike | None = None, *, project: bool = True) -> bool:
        """Replaces positions, velocities or both, and returns whether they were moved onto the constraints (`project`).

        >>> import sarrus
        >>> sim = sarrus.example("pendulum").simulation()
        >>> before = sim.state
        >>> sim.advance(0.3)
        >>> sim.set_state(before.q, before.v)
        False
        """
        return self._sim.set_state(_vector(q, "q"), _vector(v, "v"), bool(project))

    def __getitem__(self, name: str) -> float:
        return float(self._sim.read([name])[0])

    def read(self, names: Sequence[str]) -> Array:
        """Columns by name at the present state, as results have them: `sim.read(["A.angle", "A.rate", "A.fx"])`."""
        return self._sim.read(list(names))

    def result(self) -> Result:
        """What it leaves behind so far: the samples with `record=True`, one per step, and the report.

        >>> import sarrus
        >>> sim = sarrus.example("four_bar").simulation(dt=0.01, record=True)
        >>> sim.step(20)
        >>> len(sim.result())
        21
        """
        return Result(self._sim.result())

    # from outside

    def push(
        self,
        body: str,
        force: Sequence[float] | npt.ArrayLike = (0.0, 0.0, 0.0),
        torque: float | Sequence[float] | npt.ArrayLike = (0.0, 0.0, 0.0),
        *,
        at: Sequence[float] | npt.ArrayLike | None = None,
    ) -> None:
        """A force [N] and a torque [N m] on a body, in world axes, until they are set anew; :meth:`let_go` takes all away.

        The force acts at the point `at` of the world [m], where the body is now, or through its centre of mass. In the plane two
        components will do, and one number for the torque.

        >>> import sarrus
        >>> sim = sarrus.example("four_bar").simulation()
        >>> sim.push("coupler", (0, -5))
        >>> sim.step()
        >>> sim.let_go()
        """
        self._sim.push(body, _space(force, "force"), _space(torque, "torque", about=True), None if at is None else _space(at, "at"))

    def let_go(self) -> None:
        """Takes all forces from outside away."""
        self._sim.let_go()

    # equations

    def mass_matrix(self, *, sparse: bool = False) -> Any:
        """M of M v̇ + Jᵀλ = f; with `sparse` as a matrix of SciPy.

        >>> import numpy as np, sarrus
        >>> sim = sarrus.example("four_bar").simulation()
        >>> M, J, f = sim.mass_matrix(), sim.jacobian(), sim.bias()
        >>> vdot, lam = sim.accelerations(), sim.multipliers()
        >>> np.allclose(M @ vdot + J.T @ lam, f)
        True
        """
        return _sparse(self._sim.mass_entries()) if sparse else self._sim.mass_matrix()

    def jacobian(self, *, sparse: bool = False) -> Any:
        """J of J v̇ = γ, a row for each number of a constraint (`row_names`); with `sparse` as a matrix of SciPy."""
        return _sparse(self._sim.jacobian_entries()) if sparse else self._sim.jacobian()

    def bias(self) -> Array:
        """f: applied minus inertial forces."""
        return self._sim.vector("f")

    def gamma(self) -> Array:
        """γ of J v̇ = γ."""
        return self._sim.vector("gamma")

    def constraints(self) -> tuple[Array, Array]:
        """Φ and Φ̇: how far the constraints are violated."""
        return self._sim.vector("phi"), self._sim.vector("phidot")

    def accelerations(self) -> Array:
        """v̇."""
        return self._sim.accelerations()[0]

    def multipliers(self) -> Array:
        """λ; the constraint forces are -Jᵀλ."""
        return self._sim.accelerations()[1]

    def linearize(self) -> Linearization:
        """Small motions about the present state."""
        return Linearization(*self._sim.linearize())

    def modes(self, *, all: bool = False) -> Modes:
        """Their modes.

        >>> import sarrus
        >>> sim = sarrus.example("pendulum").simulation()
        >>> sim.reset({"A.angle": -1.5707963267948966})
        >>> print(f"{sim.modes().frequencies[0]:.4f} Hz")
        0.4985 Hz
        """
        found, text = self._sim.modes(all)
        return Modes(json.loads(found), text)

    def inverse_dynamics(self, accelerations: Mapping[str, float]) -> dict[str, float]:
        """The efforts [N, N m] at joint coordinates that give them these accelerations, closed loops or not.

        >>> import sarrus
        >>> sim = sarrus.example("four_bar").simulation()
        >>> effort = sim.inverse_dynamics({"A": 0.0})["A"]
        >>> sim.push("crank", torque=effort)
        >>> names = sim.velocity_names
        >>> bool(abs(sim.accelerations()[names.index("crank.rate")]) < 1e-9)
        True
        """
        wanted = [(str(name), float(a)) for name, a in accelerations.items()]
        efforts, _ = self._sim.inverse_dynamics(wanted)
        return {name: float(effort) for (name, _), effort in zip(wanted, efforts)}

    @property
    def velocity_names(self) -> list[str]:
        """What each number of `v` is: `crank.vx`, `arm.w1` (about the body's own first axis)."""
        return self._sim.velocity_names()

    @property
    def row_names(self) -> list[str]:
        """What each row of J belongs to."""
        return self._sim.row_names()

    def __repr__(self) -> str:
        try:
            end = f", done: {self.reason}" if self.done else ""
        except RuntimeError:
            return "<sarrus.Simulation, busy>"
        return f"<sarrus.Simulation at t = {self.t:g} s{end}>"


def _vector(values: npt.ArrayLike | None, what: str) -> Array | None:
    if values is None:
        return None
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"`{what}` must be a list of numbers, not an array with {array.ndim} dimensions")
    return array


def _space(values: Any, what: str, about: bool = False) -> list[float]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0 and about:
        return [0.0, 0.0, float(array)]
    if array.shape == (2,):
        return [float(array[0]), float(array[1]), 0.0]
    if array.shape != (3,):
        raise ValueError(f"`{what}` must have 3 components, or 2 in the plane, not the shape {array.shape}")
    return [float(x) for x in array]


def _sparse(entries: Any) -> Any:
    from scipy.sparse import coo_array

    size, rows, cols, values = entries
    return coo_array((values, (rows.astype(np.int64), cols.astype(np.int64))), shape=size)
