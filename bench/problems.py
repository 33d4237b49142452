"""The mechanisms of the benchmark, described once for every program.

A `Mechanism` holds bodies (mass, principal moments of inertia, pose and velocity of the centre of mass at the start) and joints
(a revolute about world z, or a ball, at a world point at the start). Every program is built from it, and the error of every
program is the largest distance, over the bodies, between its centres of mass at the end and those of `references.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

GROUND = -1
GRAVITY = 9.81


def rotation_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


@dataclass
class Body:
    mass: float
    inertia: np.ndarray  # principal moments in body axes [kg m²]
    p: np.ndarray  # centre of mass [m]
    R: np.ndarray  # body axes in world axes
    v: np.ndarray  # velocity of the centre of mass [m/s]
    w: np.ndarray  # angular velocity in world axes [rad/s]
    angle: float = 0.0  # planar: angle of the body's x axis

    def local(self, point):
        return self.R.T @ (np.asarray(point, float) - self.p)


@dataclass
class Joint:
    kind: str  # "revolute" (about world z) or "spherical"
    first: int
    second: int
    point: np.ndarray


@dataclass
class Spring:
    first: int
    second: int
    ends: tuple
    stiffness: float
    rest: float


@dataclass
class Mechanism:
    name: str
    bodies: list
    joints: list
    t_end: float
    planar: bool = True
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, -GRAVITY, 0.0]))
    torque: tuple | None = None  # (body, N m about world z); the body hangs on the ground
    springs: list = field(default_factory=list)
    start: dict = field(default_factory=dict)  # Sarrus: independent start velocities by path

    @property
    def key(self):
        return f"{self.name}_{len(self.bodies)}"

    def local(self, body, point):
        return np.asarray(point, float) if body == GROUND else self.bodies[body].local(point)

    def pose(self, body):
        return (np.eye(3), np.zeros(3)) if body == GROUND else (self.bodies[body].R, self.bodies[body].p)

    def omega(self, body):
        return np.zeros(3) if body == GROUND else self.bodies[body].w

    def spanning_tree(self):
        """Joints of a spanning tree as (joint, parent, child), parents first and subtrees contiguous, and the joints left over.
        The shortest paths to the ground are taken, so that long loops are cut in the middle."""
        around = {i: [] for i in range(-1, len(self.bodies))}
        for k, joint in enumerate(self.joints):
            around[joint.first].append(k)
            around[joint.second].append(k)
        seen, queue, used, children = {GROUND}, [GROUND], set(), {}
        for parent in queue:
            for k in around[parent]:
                joint = self.joints[k]
                child = joint.second if joint.first == parent else joint.first
                if child not in seen:
                    seen.add(child)
                    used.add(k)
                    queue.append(child)
                    children.setdefault(parent, []).append((k, parent, child))
        order, stack = [], list(reversed(children.get(GROUND, [])))
        while stack:
            edge = stack.pop()
            order.append(edge)
            stack.extend(reversed(children.get(edge[2], [])))
        return order, [k for k in range(len(self.joints)) if k not in used]


def planar_body(mass, inertia, x, y, angle, vx=0.0, vy=0.0, rate=0.0):
    # the moments across z never matter in the plane, but some programs want them to be possible
    moments = np.array([0.5 * inertia, inertia, inertia])
    return Body(mass, moments, np.array([x, y, 0.0]), rotation_z(angle), np.array([vx, vy, 0.0]), np.array([0.0, 0.0, rate]), angle)


def rod(mass, start, end):
    (x0, y0), (x1, y1) = start, end
    length = np.hypot(x1 - x0, y1 - y0)
    return planar_body(mass, mass * length**2 / 12, (x0 + x1) / 2, (y0 + y1) / 2, np.arctan2(y1 - y0, x1 - x0))


def revolute(first, second, point):
    return Joint("revolute", first, second, np.array([point[0], point[1], 0.0]))


def chain(n):
    """n links of 0.1 m and 0.1 kg in a row, held at one end, let go from the horizontal, 1 s."""
    length = mass = 0.1
    bodies = [rod(mass, (i * length, 0), ((i + 1) * length, 0)) for i in range(n)]
    joints = [revolute(i - 1, i, (i * length, 0)) for i in range(n)]
    return Mechanism("chain", bodies, joints, 1.0)


def nfourbar(n):
    """n parallelograms of links of 1 m and 1 kg, upright, tips at 1 m/s, 10 s (MbsBenchmark A02): singular when level."""
    inertia, bodies, joints = 1 / 12, [], []
    crank = lambda i: 2 * i
    for i in range(n + 1):
        bodies.append(planar_body(1.0, inertia, i, 0.5, np.pi / 2, vx=0.5, rate=-1.0))
        if i < n:
            bodies.append(planar_body(1.0, inertia, i + 0.5, 1.0, 0.0, vx=1.0))
    for i in range(n + 1):
        joints.append(revolute(GROUND, crank(i), (i, 0)))
    for i in range(n):
        joints.append(revolute(crank(i), crank(i) + 1, (i, 1)))
        joints.append(revolute(crank(i) + 1, crank(i + 1), (i + 1, 1)))
    return Mechanism("nfourbar", bodies, joints, 10.0, start={"j0.rate": -1.0})


def squeezer(_=None):
    """Andrews' seven-body squeezing mechanism, 0.03 s (Hairer and Wanner, Solving ODEs II, VII.7)."""
    mass = [0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498]
    inertia = [2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5]
    A, B, C = np.array([-0.06934, -0.00227]), np.array([-0.03635, 0.03273]), np.array([0.014, 0.072])
    d, da, e, ea, rr, ra, ss = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092, 0.035
    sa, sb, sc, sd, ta, tb = 0.01874, 0.01043, 0.018, 0.02, 0.02308, 0.00916
    u, ua, ub, zf, zt, fa = 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
    beta, theta, gamma = -0.0617138900142764496358948458001, 0.0, 0.455279819163070380255912382449
    phi, delta = 0.222668390165885884674473185609, 0.487364979543842550225598953530
    omega, epsilon = -0.222668390165885884674473185609, 1.23054744454982119249735015568
    polar = lambda r, a: r * np.array([np.cos(a), np.sin(a)])
    right = -np.pi / 2
    F, G, H = polar(rr, beta), A + polar(zt, delta), A + polar(u, epsilon + right)
    E = F - polar(d, beta + theta)
    at = [
        (polar(ra, beta), beta),
        (F - polar(da, beta + theta), beta + theta),
        (B + polar(sa, gamma + right) + polar(sb, gamma), gamma),
        (G + polar(e - ea, phi + delta + right), phi + delta),
        (A + polar(ta, delta) + polar(tb, delta - right), delta),
        (H + polar(zf - fa, omega + epsilon), omega + epsilon),
        (A + polar(ua, epsilon + right) - polar(ub, epsilon), epsilon),
    ]
    bodies = [planar_body(m, j, *p, a) for m, j, (p, a) in zip(mass, inertia, at)]
    joints = [revolute(*j) for j in (
        (GROUND, 0, (0, 0)), (GROUND, 2, B), (GROUND, 4, A), (GROUND, 6, A), (0, 1, F),
        (4, 3, G), (6, 5, H), (1, 2, E), (1, 3, E), (1, 5, E),
    )]
    D = B + polar(sc, gamma + right) + polar(sd, gamma)
    spring = Spring(GROUND, 2, (np.append(C, 0.0), np.append(D, 0.0)), 4530.0, 0.07785)
    return Mechanism("squeezer", bodies, joints, 0.03, gravity=np.zeros(3), torque=(0, 0.033), springs=[spring])


def fourbar(_=None):
    """Crank-rocker of 0.3, 0.9 and 0.7 m, feet 0.8 m apart, 1 kg/m, 0.1 N m on the crank, from rest, 10 s."""
    a, b, c, base = 0.3, 0.9, 0.7, 0.8
    A, D = np.array([0.0, a]), np.array([base, 0.0])
    gap = np.linalg.norm(D - A)
    along = (D - A) / gap
    x = (b * b - c * c + gap**2) / (2 * gap)
    B = A + x * along + np.sqrt(b * b - x * x) * np.array([-along[1], along[0]])
    bodies = [rod(a, (0, 0), A), rod(b, A, B), rod(c, D, B)]
    joints = [revolute(GROUND, 0, (0, 0)), revolute(GROUND, 2, D), revolute(0, 1, A), revolute(1, 2, B)]
    return Mechanism("fourbar", bodies, joints, 10.0, torque=(0, 0.1))


def doublependulum3d(_=None):
    """Two bars of 1 m, 0.1 m and 0.05 m on ball joints, at right angles, tumbling, 3 s."""
    inertia = np.array([0.1**2 + 0.05**2, 1 + 0.05**2, 1 + 0.1**2]) / 12
    w1, w2 = np.array([0.5, 1.0, 2.0]), np.array([1.0, -1.0, 1.5])
    first, second = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
    bodies = [
        Body(1.0, inertia, first / 2, np.eye(3), np.cross(w1, first / 2), w1),
        Body(1.0, inertia, first + second / 2, rotation_z(np.pi / 2), np.cross(w1, first) + np.cross(w2, second / 2), w2),
    ]
    joints = [Joint("spherical", GROUND, 0, np.zeros(3)), Joint("spherical", 0, 1, first)]
    start = {"b0.omega": w1.tolist(), "b1.omega": w2.tolist()}
    return Mechanism("doublependulum3d", bodies, joints, 3.0, planar=False, gravity=np.array([0.0, 0, -GRAVITY]), start=start)


PROBLEMS = {f.__name__: f for f in (chain, nfourbar, squeezer, fourbar, doublependulum3d)}
