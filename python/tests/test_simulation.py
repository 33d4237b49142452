"""Step by step: inputs, pushes, equations, functions, and what goes wrong there."""

import gc
import math
import os
import runpy
import signal
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import sarrus

UP = math.pi / 2


def cart():
    m = sarrus.Model("cart", space="planar")
    m.body("cart", at=(0, 0), mass=2, inertia=1)
    m.body("pole", from_=(0, 0), to=(0, 1), mass=0.5)
    m.joints.prismatic("rail", bodies=("ground", "cart"), at=(0, 0))
    m.joints.revolute("pin", bodies=("cart", "pole"), at=(0, 0))
    m.controllers.input("motor")
    m.forces.actuator("drive", joint="rail", force="motor.out")
    m.settings(t_end=1, rtol=1e-10, atol=1e-12)
    return m


def test_steps_are_those_of_a_run():
    model = sarrus.example("four_bar")
    whole = model.run(t_end=0.5, integrator="rk4", step=1 / 128, every=1 / 128)
    sim = model.simulation(dt=1 / 128, integrator="rk4", step=1 / 128, record=True)
    sim.step(64)
    assert sim.t == 0.5
    steps = sim.result()
    assert np.array_equal(steps.t, whole.t)
    # the same steps; samples of both are computed alike
    assert np.array_equal(steps["crank.angle"], whole["crank.angle"])
    assert steps.certificate.passed


def test_a_controller_in_python_balances_a_pole():
    sim = cart().simulation(dt=0.01)
    sim.reset({"pin.angle": UP + 0.05})
    for _ in range(500):
        # beyond UP the pole leans to the left
        p, v, a, w = sim.read(["rail.position", "rail.speed", "pin.angle", "pin.rate"])
        sim.inputs["motor"] = 2 * p + 5 * v - 60 * (a - UP) - 15 * w
        sim.step()
    assert sim.inputs["motor"] == sim["motor.out"]
    assert abs(sim["pin.angle"] - UP) < 0.02


def test_an_input_equals_the_same_force_in_the_file():
    sim = cart().simulation()
    sim.inputs["motor"] = 3.0
    sim.advance(0.5)
    m = cart()
    m.forces.force("push", body="cart", force=(3, 0))
    other = m.simulation()
    other.advance(0.5)
    assert np.allclose(sim.state.q, other.state.q, atol=1e-9)


def test_a_push_is_a_force():
    sim = cart().simulation()
    free = sim.accelerations()
    sim.push("cart", (3.0, 0.0))
    pushed = sim.accelerations()
    M, J = sim.mass_matrix(), sim.jacobian()
    assert np.allclose(M @ pushed + J.T @ sim.multipliers(), sim.bias())
    sim.let_go()
    assert np.array_equal(sim.accelerations(), free)
    assert not np.allclose(pushed, free)


def test_equations_have_names_and_sparse_forms():
    sim = sarrus.example("four_bar_spatial").simulation()
    J, M = sim.jacobian(), sim.mass_matrix()
    assert J.shape == (len(sim.row_names), len(sim.velocity_names)) and M.shape == (J.shape[1],) * 2
    pytest.importorskip("scipy")
    assert np.array_equal(sim.jacobian(sparse=True).toarray(), J)
    assert np.array_equal(sim.mass_matrix(sparse=True).toarray(), M)
    phi, phidot = sim.constraints()
    assert np.abs(phi).max() < 1e-9 and phi.shape == phidot.shape == sim.gamma().shape


def test_linearization_has_the_modes():
    sim = sarrus.example("pendulum").simulation()
    sim.reset({"A.angle": -math.pi / 2})
    values = np.linalg.eigvals(sim.linearize().A)
    assert np.abs(values.imag).max() / (2 * math.pi) == pytest.approx(sim.modes().frequencies[0], rel=1e-9)


def test_reset_copy_and_state():
    sim = cart().simulation(dt=0.01, integrator="rk4", step=0.01)
    start = sim.state
    sim.step(10)
    other = sim.copy()
    sim.step(5)
    other.step(5)
    assert np.array_equal(sim.state.q, other.state.q)
    sim.reset()
    assert sim.t == 0 and np.array_equal(sim.state.q, start.q)
    sim.state = other.state
    assert np.allclose(sim.state.q, other.state.q, atol=1e-12)
    with pytest.raises(ValueError, match="dimensions"):
        sim.set_state(np.zeros((2, 3)))


def test_an_event_ends_it():
    m = cart()
    m.event("fallen", when="abs(pin.angle - 90 deg) > 0.5", stop="the pole fell")
    sim = m.simulation(dt=0.05)
    sim.reset({"pin.angle": UP + 0.05})
    while not sim.done:
        sim.step()
    assert "the pole fell" in sim.reason and sim["pin.angle"] - UP == pytest.approx(0.5, abs=1e-9)
    with pytest.raises(sarrus.RunError, match="reset"):
        sim.step()
    sim.reset()
    assert not sim.done


def test_bad_input_raises_and_changes_nothing():
    sim = cart().simulation()
    sim.advance(0.1)
    before = sim.state
    with pytest.raises(KeyError, match="motor"):
        sim.inputs["moter"] = 1
    with pytest.raises(ValueError, match="finite"):
        sim.inputs["motor"] = math.nan
    with pytest.raises(TypeError):
        sim.inputs["motor"] = "much"
    with pytest.raises(KeyError, match="cart"):
        sim.push("card", (1, 0))
    with pytest.raises(ValueError, match="components"):
        sim.push("cart", (1, 2, 3, 4))
    with pytest.raises(ValueError, match="finite"):
        sim.push("cart", (math.inf, 0))
    with pytest.raises(ValueError, match="needs 6 numbers"):
        sim.set_state(q=[0.0])
    with pytest.raises(ValueError, match="finite"):
        sim.set_state(q=[math.nan] * 6)
    with pytest.raises(ValueError, match="before the present"):
        sim.advance(0.05)
    with pytest.raises(ValueError):
        sim.dt = -1
    with pytest.raises(sarrus.ColumnError, match="pin.angle"):
        sim["pin.angel"]
    with pytest.raises(KeyError, match="pin.angle"):
        sim.inverse_dynamics({"pin.angel": 1})
    with pytest.raises(ValueError, match="negative"):
        sim.step(-1)
    with pytest.raises(TypeError):
        sim.reset("abc")
    assert np.array_equal(sim.state.q, before.q) and sim.t == before.t
    sim.advance(0.2)


# functions


def spring(law, **derivatives):
    m = sarrus.Model("spring", space="planar", gravity=(0, 0))
    m.body("bar", from_=(0, 0), to=(1, 0), mass=1)
    m.joints.revolute("A", bodies=("ground", "bar"), at=(0, 0))
    m.function("law", law, **derivatives)
    m.forces.actuator("motor", joint="A", torque="law(A.angle, A.rate)")
    m.settings(t_end=1, rtol=1e-9, atol=1e-11)
    return m


def test_a_function_is_an_expression():
    by_function = spring(lambda angle, rate: 2 - 3 * angle - 0.1 * rate).run()
    m = spring(lambda angle, rate: 0.0)
    text = m.to_toml().replace("law(A.angle, A.rate)", "2 - 3*A.angle - 0.1*A.rate")
    by_text = sarrus.loads(text).run()
    assert np.allclose(by_function["A.angle"], by_text["A.angle"], atol=1e-12)


def test_implicit_methods_take_its_gradient():
    calls = []

    def gradient(angle, rate):
        calls.append(angle)
        return [-3.0, -0.1]

    result = spring(lambda a, r: 2 - 3 * a - 0.1 * r, gradient=gradient).run(integrator="radau5")
    assert calls and result.certificate.passed


def test_what_a_function_raises_ends_the_run_and_keeps_its_results():
    def law(angle, rate):
        if angle > 0.2:
            raise LookupError("no torque beyond 0.2")
        return 2.0

    model = spring(law)
    with pytest.raises(LookupError, match="beyond 0.2") as caught:
        model.run(every=0.01)
    result = model.last_result
    assert caught.value.result is result and result.status == "failed"
    assert len(result) > 3 and result["A.angle"].max() <= 0.2
    sim = model.simulation(dt=0.01)
    with pytest.raises(LookupError):
        sim.step(1000)
    assert 0 < sim.t < 1 and sim.done
    sim.reset()
    sim.step()


def test_what_is_raised_once_is_not_lost_and_not_told_twice():
    calls = []

    def law(angle, rate):
        calls.append(angle)
        if len(calls) == 60:
            raise LookupError("once")
        return 2.0

    model = spring(law)
    with pytest.raises(LookupError, match="once"):
        model.run()
    sim = model.simulation()
    sim.advance(0.5)
    with pytest.raises(KeyError, match="nope"):
        sim.push("nope", (1, 0))


def test_ctrl_c_inside_a_function_ends_the_run():
    def law(angle, rate):
        return 2.0 - angle

    model = spring(law)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.run(t_end=1e4, record=False)
    assert model.last_result.report["t_end"] < 1e4


def test_a_copy_that_is_read_goes_on():
    sim = sarrus.example("pendulum").simulation(dt=0.01)
    sim.step(10)
    other = sim.copy()
    other.read(["t"])
    other.step()
    assert other.t == pytest.approx(0.11)
    assert "motor" not in other.inputs
    with pytest.raises(sarrus.ColumnError, match="A.angle"):
        other["A.angl"]


@pytest.mark.parametrize("answer", [math.nan, None, "much", [1.0]])
def test_what_is_no_number_is_told(answer):
    with pytest.raises((sarrus.RunError, sarrus.ModelError, TypeError), match="law"):
        spring(lambda angle, rate: answer).run()


def test_wrong_numbers_of_arguments_are_told_where_they_stand():
    with pytest.raises(sarrus.ModelError, match="law"):
        spring(lambda angle: 0.0).run()


def test_a_function_cannot_call_its_own_simulation():
    sim = spring(lambda angle, rate: sim.t).simulation()
    with pytest.raises(RuntimeError, match="busy"):
        sim.step()


def test_functions_and_simulations_are_let_go_of():
    class Law:
        def __call__(self, angle, rate):
            return 1.0

    law = Law()
    gone = weakref.ref(law)
    m = spring(law)
    sim = m.simulation()
    sim.step()
    m.run(t_end=0.1)
    del sim, m, law
    gc.collect()
    assert gone() is None


def test_simulations_in_threads_do_not_disturb_each_other():
    model = sarrus.example("four_bar")

    def end():
        sim = model.simulation(dt=0.01, integrator="rk4", step=0.005)
        sim.step(100)
        return sim.state.q

    alone = end()
    found = [None] * 4

    def work(i):
        found[i] = end()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert all(np.array_equal(q, alone) for q in found)


def test_the_cart_pole_example_balances(capsys):
    path = Path(__file__).parents[2] / "examples" / "python" / "cart_pole.py"
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.startswith("500 of 500 steps")
