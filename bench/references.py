"""Centres of mass at the end of each mechanism, found without any of the programs compared.

- `nfourbar`: the reduced equation, one angle.
- `chain`: absolute angles, whose accelerations follow from the forces in the pins, a band of 2×2 blocks: O(N).
- the others: maximal coordinates, dense augmented system.

All are integrated by SciPy's DOP853 at tolerances near round-off. The values are kept in `references/` as text; `python
references.py` computes the missing ones. The beam has its own in `flexible.py`.
"""

from __future__ import annotations

import os
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: on a busy machine threads cost more than they give

import numpy as np

from mechanism import GROUND, Mechanism
from problems import PROBLEMS

FOLDER = Path(__file__).resolve().parent / "references"


def reference(mechanism: Mechanism) -> np.ndarray:
    """Positions of the centres of mass at `t_end`, one row a body."""
    n = len(mechanism.bodies)
    file = FOLDER / (f"{mechanism.key}.csv" if n < 50_000 else f"{mechanism.key}.csv.gz")
    if file.exists():
        return np.loadtxt(file, delimiter=",", ndmin=2)
    positions = METHODS.get(mechanism.name, maximal)(mechanism)
    FOLDER.mkdir(exist_ok=True)
    digits = "%.17g" if n < 5000 else "%.12g" if n < 50_000 else "%.7f"  # errors of large ones are asked for to millimetres
    np.savetxt(file, positions, delimiter=",", fmt=digits)
    return positions


def error(mechanism: Mechanism, positions) -> float:
    """Largest distance of a centre of mass from the reference at the end [m]; not finite where a position is not."""
    return float(np.max(np.linalg.norm(np.asarray(positions) - reference(mechanism), axis=1)))


def integrate(rhs, t_end, y0, tolerance):
    from scipy.integrate import solve_ivp

    # only the end is kept: all steps of a large one would not fit into memory
    return solve_ivp(rhs, (0, t_end), y0, method="DOP853", t_eval=[t_end], rtol=tolerance, atol=tolerance / 10).y[:, -1]


def nfourbar(mechanism):
    n = len(mechanism.bodies) // 2
    k = ((n + 1) / 2 + n) / ((n + 1) / 3 + n) * 9.81
    theta, _ = integrate(lambda t, y: [y[1], -k * np.cos(y[0])], mechanism.t_end, [np.pi / 2, -1.0], 1e-13)
    c, s = np.cos(theta), np.sin(theta)
    rows = []
    for i in range(n + 1):
        rows.append([i + c / 2, s / 2, 0])
        rows.append([i + 0.5 + c, s, 0])
    return np.array(rows[:-1])


def chain(mechanism, tolerance=None):
    """With F_i the force of pin i on link i, u along the link, n across and P = (L²/4I) n nᵀ, both sides of a pin accelerate alike:
    (P_(i-1) - 1/m) F_(i-1) + (P_(i-1) + P_i + 2/m) F_i + (P_i - 1/m) F_(i+1) = - L/2 (ω² u)_(i-1) - L/2 (ω² u)_i."""
    from scipy.linalg import solveh_banded

    n, m, length = len(mechanism.bodies), mechanism.bodies[0].mass, 0.1
    inertia, g = mechanism.bodies[0].inertia[2], mechanism.gravity[:2]

    def rhs(t, y):
        theta, w = y[:n], y[n:]
        c, s = np.cos(theta), np.sin(theta)
        xx, xy, yy = (length**2 / (4 * inertia) * p for p in (s * s, -s * c, c * c))
        band = np.zeros((4, 2 * n))  # row 3 - k: the k-th diagonal above the main one
        band[3, 0::2], band[3, 1::2], band[2, 1::2] = xx + 1 / m, yy + 1 / m, xy
        band[3, 2::2] += xx[:-1] + 1 / m
        band[3, 3::2] += yy[:-1] + 1 / m
        band[2, 3::2] += xy[:-1]
        band[1, 2::2], band[1, 3::2] = xx[:-1] - 1 / m, yy[:-1] - 1 / m
        band[0, 3::2], band[2, 2::2] = xy[:-1], xy[:-1]
        pull = length / 2 * w * w * np.stack([c, s])
        right = -pull
        right[:, 1:] -= pull[:, :-1]
        right[:, 0] -= g
        force = solveh_banded(band, right.T.ravel(), overwrite_ab=True, overwrite_b=True, check_finite=False).reshape(n, 2)
        both = force.copy()
        both[:-1] += force[1:]
        return np.concatenate([w, -length / (2 * inertia) * (c * both[:, 1] - s * both[:, 0])])

    theta = integrate(rhs, mechanism.t_end, np.zeros(2 * n), tolerance or (1e-12 if n <= 1000 else 1e-10))[:n]
    step = length * np.stack([np.cos(theta), np.sin(theta), np.zeros(n)], axis=1)
    return np.cumsum(step, axis=0) - step / 2


def cross(a, b):  # faster than NumPy's
    one, two = [1, 2, 0], [2, 0, 1]
    return a[..., one] * b[..., two] - a[..., two] * b[..., one]


def rows_of(mechanism):
    """Constraint rows of the joints. Of points: (first, arm, second, arm, carrier, n): n, carried by the first body or the ground,
    is across the distance of the two points. Of directions: (first, u, second, w): u and w stay at a right angle."""
    points, directions = [], []
    for j in mechanism.joints:
        ends = (j.first, mechanism.local(j.first, j.point), j.second, mechanism.local(j.second, j.point))
        turned = lambda b, x: mechanism.pose(b)[0].T @ x
        x = np.cross(j.axis, [0.0, 1.0, 0.0] if abs(j.axis[1]) < 0.9 else [1.0, 0.0, 0.0])
        x /= np.linalg.norm(x)
        across = [x, np.cross(j.axis, x)]
        if j.kind in ("revolute", "spherical"):
            points += [(*ends, GROUND, e) for e in np.eye(3)[: 2 if mechanism.planar else 3]]
        else:
            points += [(*ends, j.first, turned(j.first, e)) for e in across]
        if not mechanism.planar and j.kind != "spherical":
            directions += [(j.first, turned(j.first, e), j.second, turned(j.second, j.axis)) for e in across]
        if j.kind == "prismatic":
            directions.append((j.first, turned(j.first, across[0]), j.second, turned(j.second, across[1])))
    return points, directions


def maximal(mechanism):
    """[M Gᵀ; G 0] in positions, rotation matrices and velocities; a revolute about world z of a planar mechanism is held as a
    point in the plane, which is all that it is there. The ground is the last body."""
    bodies, n = mechanism.bodies, len(mechanism.bodies)
    free = [0, 1, 5] if mechanism.planar else list(range(6))
    columns = np.concatenate([6 * b + np.array(free) for b in range(n)])
    points, directions = ([np.array(column) for column in zip(*rows)] for rows in rows_of(mechanism))
    np_, nc = len(points[0]), len(points[0]) + (len(directions[0]) if directions else 0)
    mass, moments = np.array([b.mass for b in bodies]), np.array([b.inertia for b in bodies])
    weight = mass[:, None] * mechanism.gravity
    for b, force in mechanism.forces:
        weight[b] += force
    springs = [np.array(column) for column in zip(*(
        (s.first, mechanism.local(s.first, s.ends[0]), s.second, mechanism.local(s.second, s.ends[1]), s.stiffness, s.rest)
        for s in mechanism.springs))]
    turned = lambda R, x: np.einsum("nij,nj->ni", R, x)
    dot = lambda a, b: np.einsum("ni,ni->n", a, b)

    def add(G, rows, b, values, first):
        np.add.at(G, (rows[:, None], 6 * (b % (n + 1))[:, None] + first + np.arange(3)), values)

    def rhs(t, y):
        p = np.vstack([y[: 3 * n].reshape(n, 3), np.zeros((1, 3))])
        R = np.concatenate([y[3 * n : 12 * n].reshape(n, 3, 3), np.eye(3)[None]])
        v = np.vstack([y[12 * n : 15 * n].reshape(n, 3), np.zeros((1, 3))])
        w = np.vstack([y[15 * n :].reshape(n, 3), np.zeros((1, 3))])
        M, f = np.zeros((n, 6, n, 6)), np.zeros((n + 1, 6))
        G, gamma = np.zeros((nc, 6 * (n + 1))), np.zeros(nc)
        each = np.arange(n)
        inertia = np.einsum("nij,nj,nkj->nik", R[:n], moments, R[:n])
        for axis in range(3):
            M[each, axis, each, axis] = mass
        M[each, 3:, each, 3:] = inertia
        f[:n, :3] = weight
        f[:n, 3:] = -cross(w[:n], turned(inertia, w[:n]))
        if mechanism.torque:
            f[mechanism.torque[0], 5] += mechanism.torque[1]
        if springs:
            a, x, b, z, stiffness, rest = springs
            x, z = turned(R[a], x), turned(R[b], z)
            along = p[b] + z - p[a] - x
            pull = (stiffness * (1 - rest / np.sqrt(dot(along, along))))[:, None] * along
            for side, arm, sign in ((a, x, 1), (b, z, -1)):
                np.add.at(f, side, sign * np.hstack([pull, cross(arm, pull)]))
        turn = lambda b, x: cross(w[b], cross(w[b], x))
        a, x, b, z, c, normal = points
        x, z, normal, k = turned(R[a], x), turned(R[b], z), turned(R[c], normal), np.arange(np_)
        apart = p[b] + z - p[a] - x
        add(G, k, b, normal, 0)
        add(G, k, b, cross(z, normal), 3)
        add(G, k, a, -normal, 0)
        add(G, k, a, -cross(x, normal), 3)
        add(G, k, c, cross(normal, apart), 3)
        speed = v[b] + cross(w[b], z) - v[a] - cross(w[a], x)
        gamma[:np_] = -dot(normal, turn(b, z) - turn(a, x)) - 2 * dot(cross(w[c], normal), speed) - dot(turn(c, normal), apart)
        if directions:
            a, x, b, z = directions
            x, z, k = turned(R[a], x), turned(R[b], z), np.arange(np_, nc)
            add(G, k, a, cross(x, z), 3)
            add(G, k, b, cross(z, x), 3)
            gamma[np_:] = -dot(turn(a, x), z) - 2 * dot(cross(w[a], x), cross(w[b], z)) - dot(x, turn(b, z))
        nv = len(columns)
        K = np.zeros((nv + nc, nv + nc))
        K[:nv, :nv], K[nv:, :nv], K[:nv, nv:] = M.reshape(6 * n, 6 * n)[np.ix_(columns, columns)], G[:, columns], G[:, columns].T
        acceleration = np.zeros(6 * n)
        acceleration[columns] = np.linalg.solve(K, np.concatenate([f[:n].ravel()[columns], gamma]))[:nv]
        a = acceleration.reshape(n, 6)
        spin = cross(w[:n, None], np.swapaxes(R[:n], 1, 2))  # of the axes, the columns of R
        return np.concatenate([v[:n].ravel(), np.swapaxes(spin, 1, 2).ravel(), a[:, :3].ravel(), a[:, 3:].ravel()])

    start = np.concatenate([np.concatenate([getattr(b, key).ravel() for b in bodies]) for key in ("p", "R", "v", "w")])
    tolerance = 1e-12 if n < 10 else 1e-10  # where round-off of the accelerations lets steps be chosen at all
    return integrate(rhs, mechanism.t_end, start, tolerance)[: 3 * n].reshape(n, 3)


METHODS = {"nfourbar": nfourbar, "chain": chain}

if __name__ == "__main__":
    from cases import CASES

    for case in CASES:
        if case.problem in PROBLEMS:
            mechanism = PROBLEMS[case.problem](case.n)
            print(mechanism.key, reference(mechanism)[-1], flush=True)
