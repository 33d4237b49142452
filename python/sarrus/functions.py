"""Functions of Python that expressions of a model call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["Function"]


class Function:
    """A function of numbers for the expressions of a model, with its derivatives where it has them.

    `value` takes numbers and returns one. It must have no memory: a run calls it at any time, in any order, for steps that are thrown
    away as well; what a program sets from step to step is an `input` of a :class:`sarrus.Simulation`. `gradient` takes the same numbers and
    returns a number for each, `second` a list of such lists; of one number both return one. Forces can do without
    (implicit methods then take differences), positions that a driver prescribes cannot.

    What it raises ends the run and is raised there, with the results so far; where it has no value for a step that may be tried and taken back, it
    returns NaN instead.

    >>> import math, sarrus
    >>> text = '''
    ... format = "sarrus/1"
    ... space = "planar"
    ... bodies.bar = { from = [0, 0], to = [1, 0], mass = 1 }
    ... joints.A = { kind = "revolute", bodies = ["ground", "bar"], at = [0, 0] }
    ... drivers.motor = { kind = "joint", joint = "A", angle = "swing(t)" }
    ... '''
    >>> swing = sarrus.Function(math.sin, gradient=math.cos, second=lambda t: -math.sin(t))
    >>> result = sarrus.loads(text, functions={"swing": swing}).run(t_end=1)
    >>> print(f"{result['A.angle'][-1]:.6f}")
    0.841471
    """

    def __init__(
        self,
        value: Callable[..., float],
        *,
        gradient: Callable[..., Any] | None = None,
        second: Callable[..., Any] | None = None,
    ) -> None:
        for name, function in {"value": value, "gradient": gradient, "second": second}.items():
            if function is not None and not callable(function):
                raise TypeError(f"`{name}` must be a function, not {type(function).__name__}")
        if second is not None and gradient is None:
            raise TypeError("second derivatives need first ones\nhint: give `gradient` too")
        self.value, self.gradient, self.second = value, gradient, second

    @property
    def arguments(self) -> int | None:
        """How many numbers it takes; none where that is left open."""
        try:
            parameters = inspect.signature(self.value).parameters.values()
        except (TypeError, ValueError):
            return None
        plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
            return None
        fixed = [p for p in parameters if p.kind in plain]
        return len(fixed) if all(p.default is inspect.Parameter.empty for p in fixed) else None


def given(functions: Mapping[str, Callable[..., float] | Function] | None) -> dict[str, Function]:
    """Functions by name, however they were given."""
    return {name: f if isinstance(f, Function) else Function(f) for name, f in (functions or {}).items()}


def handed(functions: Mapping[str, Function]) -> list[Any]:
    """The same as the compiled part takes them."""
    return [(name, f.arguments, f.value, f.gradient, f.second) for name, f in functions.items()]
