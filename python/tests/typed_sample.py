"""A program as users write it, for type checkers: `mypy --strict` must have nothing to say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import sarrus
from sarrus.types import Vector


def build(at: Vector) -> sarrus.Model:
    m = sarrus.Model("typed", space="planar", gravity=(0, -9.81))
    m.parameters["l"] = 1.5
    bar: str = m.body("bar", from_=(0, 0), to=("l", 0), mass=1.0, shape=sarrus.shapes.rod(radius=0.02))
    m.joints.revolute("A", bodies=("ground", bar), at=at, damping=0.1)
    m.forces.torque("motor", body=bar, torque="3*sin(t)")
    m.measures["height"] = "bar.y"
    m.settings(t_end=1.0, every=0.01, integrator={"kind": "rk45"})
    return m


def look(result: sarrus.Result) -> float:
    angle: npt.NDArray[np.float64] = result["A.angle"]
    passed: bool = result.certificate["passed"]
    units: dict[str, str] = result.units
    return float(angle[-1]) if passed and units else 0.0


def main() -> None:
    model = build((0, 0))
    check: sarrus.Check = model.check()
    names: list[str] = check.not_unique
    try:
        result = model.run(progress=lambda fraction, text: None, on_failure="raise")
    except sarrus.RunError as error:
        partial: sarrus.Result | None = error.result
        assert partial is not None
        result = partial
    frequencies: npt.NDArray[np.float64] = model.modes(about="start").frequencies
    print(look(result), names, frequencies, sarrus.compare(model, repeat=0).to_csv())


if __name__ == "__main__":
    main()
