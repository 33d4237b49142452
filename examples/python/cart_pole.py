"""A cart with a pole to balance, whose pole is a closed loop: a parallelogram of two bars and a table on top.

The class has the methods of a Gymnasium environment (`reset`, `step`, `observation_space` where gymnasium is installed) and needs only
sarrus and NumPy. Run as a program it designs a linear controller from the equations themselves and balances the table:

    python examples/python/cart_pole.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

import sarrus


def mechanism() -> sarrus.Model:
    """Two bars stand on the cart and carry a table: four revolute joints and one loop."""
    m = sarrus.Model("cart_pole", space="planar")
    m.points.update(A=(-0.15, 0), B=(0.15, 0), C=(0.15, 0.6), D=(-0.15, 0.6))
    m.body("cart", at=(0, 0), mass=1.0, inertia=0.1, shape=sarrus.shapes.box(size=(0.5, 0.1)))
    m.body("left", from_="A", to="D", mass=0.1)
    m.body("right", from_="B", to="C", mass=0.1)
    m.body("table", from_="D", to="C", mass=0.3)
    m.joints.prismatic("rail", bodies=("ground", "cart"), at=(0, 0))
    for at, bodies in {"A": ("cart", "left"), "B": ("cart", "right"), "C": ("right", "table"), "D": ("left", "table")}.items():
        m.joints.revolute(at, bodies=bodies, at=at)
    m.controllers.input("motor")
    m.forces.actuator("drive", joint="rail", force="motor.out")
    m.event("fallen", when="abs(A.angle - 90 deg) > 0.4", stop="the table fell")
    m.event("gone", when="abs(rail.position) > 2.4", stop="the cart left its rail")
    m.settings(t_end=20)
    return m


class CartPole:
    """The environment: observations are position and speed of the cart, angle and rate of the bars; actions are forces within ±10 N."""

    OBSERVED = ("rail.position", "rail.speed", "A.angle", "A.rate")
    UPRIGHT = np.array([0.0, 0.0, np.pi / 2, 0.0])
    FORCE = 10.0

    def __init__(self, dt: float = 0.02, steps: int = 500) -> None:
        self.sim = mechanism().simulation(dt=dt)
        self.steps = steps
        self._taken = 0
        self._random = np.random.default_rng()
        try:
            from gymnasium import spaces

            self.action_space = spaces.Box(-self.FORCE, self.FORCE, (1,))
            self.observation_space = spaces.Box(-np.inf, np.inf, (4,))
        except ImportError:
            pass

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.place(self._random.uniform(-0.05, 0.05, 4))
        self._taken = 0
        return self.observed(), {}

    def place(self, observed: np.ndarray) -> None:
        """Starts anew from an observation."""
        self.sim.reset(dict(zip(self.OBSERVED, self.UPRIGHT + observed)))

    def observed(self) -> np.ndarray:
        """How far it is from upright."""
        return self.sim.read(self.OBSERVED) - self.UPRIGHT

    def step(self, action: float | np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.sim.inputs["motor"] = float(np.clip(np.ravel(action)[0], -self.FORCE, self.FORCE))
        self.sim.step()
        self._taken += 1
        fallen = self.sim.done
        info = {"reason": self.sim.reason} if fallen else {}
        return self.observed(), float(not fallen), fallen, self._taken >= self.steps, info


def linear_controller(env: CartPole) -> np.ndarray:
    """Gains of the linear quadratic regulator for the sampled system, from differences of the simulation itself about its upright rest."""

    def next_state(start: np.ndarray, force: float) -> np.ndarray:
        env.place(start)
        env.sim.inputs["motor"] = force
        env.sim.step()
        return env.observed()

    h = 1e-4
    A = np.column_stack([(next_state(h * e, 0.0) - next_state(-h * e, 0.0)) / (2 * h) for e in np.eye(4)])
    B = ((next_state(np.zeros(4), h) - next_state(np.zeros(4), -h)) / (2 * h))[:, None]
    Q, R, P = np.diag([1.0, 0.1, 10.0, 0.1]), np.array([[0.01]]), np.eye(4)
    for _ in range(5000):
        K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        P = Q + A.T @ P @ (A - B @ K)
    return K


def main() -> None:
    env = CartPole()
    K = linear_controller(env)
    observed, _ = env.reset(seed=1)
    total = 0.0
    while True:
        observed, reward, fallen, out_of_time, _ = env.step(-K @ observed)
        total += reward
        if fallen or out_of_time:
            break
    print(f"{total:.0f} of {env.steps} steps, the bars at {observed[2]:+.4f} rad")
    assert not fallen and abs(observed[2]) < 0.01


if __name__ == "__main__":
    main()
