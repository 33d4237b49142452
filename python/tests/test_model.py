"""Models: built here, loaded, and wrong."""

from __future__ import annotations

import inspect
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import sarrus


def four_bar(**settings: float) -> sarrus.Model:
    m = sarrus.Model("four_bar", space="planar")
    m.parameters["phi"] = "60 deg"
    m.points.update(A=(0, 0), B="A + polar(0.2, phi)", C="meet(B, 0.4, D, 0.25)", D=(0.4, 0))
    for name, ends, mass in [("crank", "AB", 1.0), ("coupler", "BC", 2.0), ("rocker", "DC", 1.25)]:
        m.body(name, from_=ends[0], to=ends[1], mass=mass)
    m.joints.revolute("A", bodies=("ground", "crank"), at="A")
    m.joints.revolute("B", bodies=("crank", "coupler"), at="B")
    m.joints.revolute("C", bodies=("coupler", "rocker"), at="C")
    m.joints.revolute("D", bodies=("ground", "rocker"), at="D")
    m.forces.torque("motor", body="crank", torque=3.0)
    m.settings(t_end=2.0, rtol=1e-8, atol=1e-10)
    return m


def same(a: sarrus.Samples, b: sarrus.Samples) -> bool:
    return a.names == b.names and a.block.tobytes() == b.block.tobytes()


def test_a_model_built_here_moves_as_its_file_bit_for_bit() -> None:
    assert same(four_bar().run(), sarrus.example("four_bar").run())


def test_a_model_is_the_same_as_toml_and_as_json(tmp_path: Path) -> None:
    m = four_bar()
    reference = m.run(t_end=0.2)
    for name in ("copy.toml", "copy.json"):
        m.save(tmp_path / name)
        assert same(sarrus.load(tmp_path / name).run(t_end=0.2), reference), name
    assert json.loads(m.to_json())["joints"]["A"]["kind"] == "revolute"


def test_a_change_is_seen_by_the_next_run() -> None:
    m = four_bar()
    before = m.run(t_end=0.1)
    m.parameters["phi"] = "70 deg"
    del m.forces["motor"]
    m.forces.torque("motor", body="crank", torque=-30.0)
    after = m.run(t_end=0.1)
    assert after["crank.angle"][0] == pytest.approx(np.radians(70), abs=1e-9)
    assert after["A.rate"][-1] < 0 < before["A.rate"][-1]


def test_every_kind_of_the_registries_is_a_method_with_its_keys() -> None:
    m = sarrus.Model()
    families = {"joints", "constraints", "drivers", "forces", "contacts", "controllers", "measures", "events", "flexible", "sections"}
    for family in families:
        for kind in sarrus.kinds(family):
            method = getattr(getattr(m, family), kind["name"])
            arguments = inspect.signature(method).parameters
            wanted = {key["name"] for key in kind["keys"]} - {"kind"}
            missing = {k for k in wanted if k not in arguments and k + "_" not in arguments}
            assert not missing, f"{family}.{kind['name']}: {missing}"
            assert method.__doc__ and kind["doc"].split(";")[0][1:] in method.__doc__.replace("\n    ", " ")
    for kind in sarrus.kinds("shapes"):
        assert kind["name"] in dir(sarrus.shapes)


def test_shapes_events_and_flexible_members_can_be_built() -> None:
    m = sarrus.Model("drop", space="spatial")
    m.material("rubber", density=1100)
    m.body("ball", at=(0, 0, 1), material="rubber", shape=sarrus.shapes.sphere(radius=0.1))
    m.event("low", when="ball.z < 0.9", stop="low enough")
    m.initial["ball.vx"] = 2
    result = m.run(t_end=0.2)
    assert result.status == "stopped" and result.t[-1] == pytest.approx(np.sqrt(2 * 0.1 / 9.81), abs=1e-6)
    assert result["ball.vx"][-1] == pytest.approx(2, abs=1e-9)
    assert m.to_toml().count("[initial]\nball = { vx = 2 }") == 1


def test_arrays_are_taken_for_vectors() -> None:
    m = sarrus.Model("bar", space="planar")
    m.body("bar", from_=np.zeros(2), to=np.array([1.5, 0.0]), mass=np.float64(1))
    m.joints.revolute("A", bodies=["ground", "bar"], at=np.array([0, 0]))
    assert same(m.run(t_end=0.1, columns=["bar.*"]), sarrus.loads(m.to_toml()).run(t_end=0.1, columns="bar.*"))


def test_parameters_are_set_as_by_the_command_line() -> None:
    assert sarrus.example("n_four_bar", set={"n": 3}).check().size.bodies == 7
    assert sarrus.load("example:pendulum", set={}).name == "pendulum"
    with pytest.raises(sarrus.ModelError, match="parameter `m` does not exist"):
        sarrus.example("n_four_bar", set={"m": 3})


def test_a_loaded_model_stays_as_its_file_says() -> None:
    m = sarrus.example("four_bar")
    with pytest.raises(TypeError, match="comes from a file"):
        m.forces.torque("more", body="crank", torque=1)
    with pytest.raises(TypeError, match="comes from a file"):
        m.settings(t_end=1)


def test_models_travel_between_processes() -> None:
    for model in (four_bar(), sarrus.example("four_bar")):
        assert same(pickle.loads(pickle.dumps(model)).run(t_end=0.1), model.run(t_end=0.1))


# what is wrong


def test_unknown_keys_and_names_are_told_with_what_is_near() -> None:
    m = four_bar()
    with pytest.raises(TypeError, match="joint `E` has no key `bodys`\nhint: did you mean `bodies`"):
        m.joints.revolute("E", bodys=("ground", "crank"))
    with pytest.raises(AttributeError):
        m.joints.revolut("E")  # type: ignore[attr-defined]
    m.joints.revolute("E", bodies=("ground", "crnk"), at=(0, 0))
    with pytest.raises(sarrus.ModelError) as caught:
        m.check()
    assert "body `crnk` does not exist" in str(caught.value) and "did you mean `crank`" in str(caught.value)
    assert caught.value.line == 1 + m.to_toml().splitlines().index(next(x for x in m.to_toml().splitlines() if "crnk" in x))
    with pytest.raises(ValueError, match="there is a joint `A` already"):
        m.joints.revolute("A", bodies=("ground", "crank"))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), np.nan, [0.0, float("nan")], np.array([np.inf, 0.0])])
def test_numbers_that_are_not_finite_are_refused_with_element_and_key(bad: object) -> None:
    with pytest.raises(ValueError, match="body `bar`, `at`: (nan|inf) is not a finite number"):
        sarrus.Model().body("bar", at=bad, mass=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [object(), {1, 2}, b"bytes", 1j, np.zeros((2, 2, 2)), np.array(["a"]), {1: 2}])
def test_values_without_meaning_are_type_errors(bad: object) -> None:
    with pytest.raises(TypeError, match="body `bar`, `at`"):
        sarrus.Model().body("bar", at=bad, mass=1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("at", "says"),
    [((0, 0), "expected 3"), ((1, 2, 3, 4), "found 4"), ("nowhere", "nowhere"), ([[1, 2, 3]], "at")],
)
def test_wrong_shapes_are_model_errors(at: object, says: str) -> None:
    m = sarrus.Model()
    m.body("bar", at=at, mass=1, inertia=(1, 1, 1))  # type: ignore[arg-type]
    with pytest.raises(sarrus.ModelError, match=says):
        m.run(t_end=0.1)


def test_errors_are_those_of_the_command_line(tmp_path: Path, call) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text('format = "sarrus/1"\n[bodies]\nb = { mass = 1, inertia = [1, 1, 1] }\n[joints]\nA = { kind = "revolut" }\n')
    with pytest.raises(sarrus.ModelError) as caught:
        sarrus.load(bad)
    assert call("check", bad, check=False).stderr.strip() == str(caught.value)
    assert (caught.value.line, caught.value.file) == (5, str(bad))
    missing = tmp_path / "missing.toml"
    with pytest.raises(sarrus.ModelError, match="it does not exist"):
        sarrus.load(missing)


def test_the_kinds_and_the_schema_are_those_of_the_command_line(call) -> None:
    assert json.loads(call("schema").stdout) == sarrus.schema()
    listed = json.loads(call("list", "joints", "--json").stdout)["joints"]
    assert [k["name"] for k in listed] == [k["name"] for k in sarrus.kinds("joints")]
    with pytest.raises(ValueError, match="did you mean `joints`"):
        sarrus.kinds("joint")
