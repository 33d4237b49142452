"""A mechanism as every program of the benchmark is given it, its spanning tree, and how far its joints stand open.

Bodies have mass, principal moments of inertia, and pose and velocity of the centre of mass at the start. Joints stand at a world
point at the start: `revolute`, `prismatic`, `cylindrical` (along a world axis at the start) and `spherical`. Lengths in m, angles in rad.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

GROUND = -1
GRAVITY = 9.81
Z = np.array([0.0, 0.0, 1.0])


def rotation_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rotation_to(axis):
    """A rotation that takes z to the axis."""
    z = np.asarray(axis, float) / np.linalg.norm(axis)
    if np.allclose(z, Z):
        return np.eye(3)
    x = np.cross([0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [1.0, 0.0, 0.0], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def quaternion(R):
    """(w, x, y, z) of a rotation matrix."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return np.array([w, x, y, z])


@dataclass
class Body:
    mass: float
    inertia: np.ndarray  # principal moments in body axes [kg m²]
    p: np.ndarray  # centre of mass [m]
    R: np.ndarray  # body axes in world axes
    v: np.ndarray = field(default_factory=lambda: np.zeros(3))  # velocity of the centre of mass [m/s]
    w: np.ndarray = field(default_factory=lambda: np.zeros(3))  # angular velocity in world axes [rad/s]
    angle: float = 0.0  # planar: angle of the body's x axis

    def local(self, point):
        return self.R.T @ (np.asarray(point, float) - self.p)


@dataclass
class Joint:
    kind: str  # "revolute", "prismatic", "cylindrical" or "spherical"
    first: int
    second: int
    point: np.ndarray
    axis: np.ndarray = field(default_factory=Z.copy)


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
    forces: list = field(default_factory=list)  # (body, constant force at its centre of mass in world axes [N])
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

    def turning(self, parent, child):
        """Angular velocity of the child against the parent at the start, in world axes."""
        return self.omega(child) - self.omega(parent)

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


class Gaps:
    """The largest gap of any joint of a mechanism [m], from poses alone: the distance of its two points, along the axis left out
    where it slides; the sine of the angle between its two axes counts as metres, as at an arm of 1 m, and so does a turn of a slide."""

    def __init__(self, mechanism):
        joints = mechanism.joints
        self.mechanism = mechanism
        self.bodies = [np.array([getattr(j, side) for j in joints]) for side in ("first", "second")]
        pick = lambda value: [np.array([value(getattr(j, side), j) for j in joints]) for side in ("first", "second")]
        self.arms = pick(lambda b, j: mechanism.local(b, j.point))
        self.axes = pick(lambda b, j: mechanism.pose(b)[0].T @ j.axis)
        self.frames = pick(lambda b, j: mechanism.pose(b)[0].T)
        kinds = np.array([j.kind for j in joints])
        self.slides = np.isin(kinds, ("prismatic", "cylindrical"))
        self.turns = kinds == "prismatic"
        self.along = kinds != "spherical"

    def __call__(self, positions, rotations):
        p = np.vstack([np.asarray(positions, float), np.zeros((1, 3))])  # the ground is body -1
        R = np.concatenate([np.asarray(rotations, float), np.eye(3)[None]])
        turned = lambda side, what: np.einsum("nij,nj...->ni...", R[self.bodies[side]], what[side])
        ends = [p[self.bodies[k]] + turned(k, self.arms) for k in (0, 1)]
        axes = [turned(k, self.axes) for k in (0, 1)]
        apart = ends[1] - ends[0]
        apart[self.slides] -= np.einsum("ni,ni->n", apart, axes[0])[self.slides, None] * axes[0][self.slides]
        gaps = [np.linalg.norm(apart, axis=1).max()]
        if not self.mechanism.planar:
            gaps.append(np.linalg.norm(np.cross(*axes), axis=1)[self.along].max(initial=0.0))
            if self.turns.any():
                frames = [np.einsum("nij,njk->nik", R[self.bodies[k]], self.frames[k])[self.turns] for k in (0, 1)]
                gaps.append(np.linalg.norm(frames[1] - frames[0], axis=(1, 2)).max() / np.sqrt(2))
        return float(max(gaps))
