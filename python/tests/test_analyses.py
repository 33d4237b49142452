"""Check, modes, equilibrium, inverse, compare, reproduce: the findings of the command line, as data."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sarrus


def test_a_check_is_that_of_the_command_line(call) -> None:
    check = sarrus.example("door").check(distribute=True)
    said = call("check", "example:door", "--distribute", "stiffness", "--json").stdout
    assert check.to_dict() == json.loads(said)
    assert repr(check) == call("check", "example:door", "--distribute", "stiffness").stdout.rstrip("\n")
    assert check.constraints.redundant == 5 and "J1.fz" in check.not_unique
    with pytest.raises(KeyError, match="did you mean `dof`"):
        check["doff"]


def test_modes_are_those_of_a_pendulum() -> None:
    # a bar of 1.5 m on its end: ω² = 3 g / (2 l)
    modes = sarrus.example("pendulum").modes()
    assert modes.frequencies[0] == pytest.approx(np.sqrt(1.5 * 9.81 / 1.5) / (2 * np.pi), rel=1e-9)
    assert modes.damping_ratios[0] == pytest.approx(0, abs=1e-9)
    values = np.linalg.eigvals(modes.A)
    assert np.abs(values.imag).max() == pytest.approx(modes.eigenvalues[0].imag, rel=1e-9)
    assert sarrus.example("pendulum").modes(about=0.5).t == pytest.approx(0.5)
    with pytest.raises(ValueError, match="neither `equilibrium`, `start` nor a time"):
        sarrus.example("pendulum").modes("middle")  # type: ignore[arg-type]


def test_an_equilibrium_has_its_steps() -> None:
    rest = sarrus.example("pendulum").equilibrium(load_steps=4)
    assert np.sin(rest.values["A.angle"]) == pytest.approx(-1, abs=1e-12)
    assert list(rest.steps["load"]) == [0.25, 0.5, 0.75, 1.0]
    with pytest.raises(ValueError, match="load_steps"):
        sarrus.example("pendulum").equilibrium(load_steps=0)
    falls = sarrus.loads('format = "sarrus/1"\nbodies.b = { kind = "point", mass = 1 }')
    with pytest.raises(sarrus.RunError):
        falls.equilibrium()


def test_inverse_dynamics_gives_the_torques_of_the_paper() -> None:
    motion = sarrus.example("two_arm_robot").inverse()
    assert motion.status == "completed" and motion.report["singular"][0]["t"] == pytest.approx(0.4203125, abs=1e-6)
    with pytest.raises(sarrus.ModelError, match="1 degree of freedom is left"):
        sarrus.example("four_bar").inverse()


def test_a_comparison_is_a_table() -> None:
    found = sarrus.compare(
        "example:four_bar", formulations=["direct", "proximal"], stabilizations=["none", "projection"], t_end=0.1, repeat=1
    )
    assert [(r["formulation"], r["stabilization"]) for r in found.table] == [
        ("direct", "none"),
        ("direct", "projection"),
        ("proximal", "none"),
        ("proximal", "projection"),
    ]
    assert len(found.to_pandas()) == 4 and "formulation" in repr(found)
    assert all(svg.startswith("<svg") or "<svg" in svg[:200] for svg in found.figures.values())
    axes = found.plot()
    assert len(axes.lines) >= 1
    with pytest.raises(ValueError, match="has no column"):
        found.plot(y="beauty")
    with pytest.raises(sarrus.ModelError, match="did you mean `direct`"):
        sarrus.compare("example:four_bar", formulations="dirct")


def test_papers_are_held_against_their_claims(tmp_path) -> None:
    found = sarrus.reproduce("amirouche1991", quick=True)
    assert found.passed and len(found.claims) > 3
    found.save(tmp_path)
    assert (tmp_path / "claims.md").read_text().startswith("# amirouche1991")
    with pytest.raises(ValueError, match="did you mean `park1987`"):
        sarrus.reproduce("park1986")
