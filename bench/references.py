"""Centres of mass at the end of each mechanism, found without any of the programs compared.

- `nfourbar`: the reduced equation, one angle.
- `chain`: minimal coordinates (absolute angles), dense mass matrix.
- the others: maximal coordinates, dense augmented system.

All are integrated by SciPy's DOP853 at tolerances near round-off (the chain of 1000 at 1e-8: its mass matrix is dense). The
values are kept in `references/` as text; `python references.py` computes the missing ones.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from problems import GROUND, PROBLEMS, Mechanism

FOLDER = Path(__file__).resolve().parent / "references"


def reference(mechanism: Mechanism) -> np.ndarray:
    """Positions of the centres of mass at `t_end`, one row a body."""
    file = FOLDER / f"{mechanism.key}.csv"
    if file.exists():
        return np.loadtxt(file, delimiter=",", ndmin=2)
    positions = METHODS[mechanism.name](mechanism)
    FOLDER.mkdir(exist_ok=True)
    np.savetxt(file, positions, delimiter=",", fmt="%.17g")
    return positions


def error(mechanism: Mechanism, positions) -> float:
    """Largest distance of a centre of mass from the reference at the end [m]; not finite where a position is not."""
    return float(np.max(np.linalg.norm(np.asarray(positions) - reference(mechanism), axis=1)))


def integrate(rhs, t_end, y0, tolerance):
    from scipy.integrate import solve_ivp

    return solve_ivp(rhs, (0, t_end), y0, method="DOP853", rtol=tolerance, atol=tolerance / 10).y[:, -1]


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


def chain(mechanism):
    from scipy.linalg import cho_factor, cho_solve

    n, m, length = len(mechanism.bodies), mechanism.bodies[0].mass, 0.1
    i = np.arange(n)
    # T = ½ Σ C_ij cos(θ_i - θ_j) ω_i ω_j
    C = m * length**2 * ((n - 1 - np.maximum.outer(i, i)) + 0.5)
    C[i, i] = m * length**2 * ((n - 1 - i) + 0.25 + 1 / 12)
    weight = 9.81 * m * length * ((n - 1 - i) + 0.5)

    def rhs(t, y):
        theta, w = y[:n], y[n:]
        difference = theta[:, None] - theta
        force = -(C * np.sin(difference)) @ w**2 - weight * np.cos(theta)
        factor = cho_factor(C * np.cos(difference), overwrite_a=True, check_finite=False)
        return np.concatenate([w, cho_solve(factor, force, check_finite=False)])

    theta = integrate(rhs, mechanism.t_end, np.zeros(2 * n), 1e-12 if n <= 100 else 1e-8)[:n]
    step = length * np.stack([np.cos(theta), np.sin(theta), np.zeros(n)], axis=1)
    return np.cumsum(step, axis=0) - step / 2


def cross_matrix(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def maximal(mechanism):
    """[M Gᵀ; G 0] in positions, rotation matrices and velocities; a revolute about world z of a planar mechanism is held as a
    point in the plane, which is all that it is there."""
    bodies, n = mechanism.bodies, len(mechanism.bodies)
    free = [0, 1, 5] if mechanism.planar else list(range(6))
    columns = np.concatenate([6 * b + np.array(free) for b in range(n)])
    directions = 2 if mechanism.planar else 3
    sides = [[(j.first, mechanism.local(j.first, j.point), 1.0), (j.second, mechanism.local(j.second, j.point), -1.0)] for j in mechanism.joints]
    nc = directions * len(sides)

    def rhs(t, y):
        p, R = y[: 3 * n].reshape(n, 3), y[3 * n : 12 * n].reshape(n, 3, 3)
        v, w = y[12 * n : 15 * n].reshape(n, 3), y[15 * n :].reshape(n, 3)
        M, f, G, gamma = np.zeros((6 * n, 6 * n)), np.zeros((n, 6)), np.zeros((nc, 6 * n)), np.zeros(nc)
        for b, body in enumerate(bodies):
            inertia = R[b] @ np.diag(body.inertia) @ R[b].T
            M[6 * b : 6 * b + 3, 6 * b : 6 * b + 3] = body.mass * np.eye(3)
            M[6 * b + 3 : 6 * b + 6, 6 * b + 3 : 6 * b + 6] = inertia
            f[b, :3] = body.mass * mechanism.gravity
            f[b, 3:] = -np.cross(w[b], inertia @ w[b])
        if mechanism.torque:
            f[mechanism.torque[0], 5] += mechanism.torque[1]
        for s in mechanism.springs:
            arms = [(b, mechanism.local(b, x)) for b, x in zip((s.first, s.second), s.ends)]
            arms = [(b, x if b == GROUND else R[b] @ x) for b, x in arms]
            ends = [x if b == GROUND else p[b] + x for b, x in arms]
            along = ends[1] - ends[0]
            length = np.linalg.norm(along)
            pull = s.stiffness * (length - s.rest) * along / length
            for (b, x), sign in zip(arms, (1, -1)):
                if b != GROUND:
                    f[b, :3] += sign * pull
                    f[b, 3:] += sign * np.cross(x, pull)
        for k, pair in enumerate(sides):
            rows = slice(directions * k, directions * (k + 1))
            for b, x, sign in pair:
                if b == GROUND:
                    continue
                arm = R[b] @ x
                G[rows, 6 * b : 6 * b + 3] += sign * np.eye(3)[:directions]
                G[rows, 6 * b + 3 : 6 * b + 6] -= sign * cross_matrix(arm)[:directions]
                gamma[rows] -= sign * np.cross(w[b], np.cross(w[b], arm))[:directions]
        nv = len(columns)
        K = np.zeros((nv + nc, nv + nc))
        K[:nv, :nv], K[nv:, :nv], K[:nv, nv:] = M[np.ix_(columns, columns)], G[:, columns], G[:, columns].T
        acceleration = np.zeros(6 * n)
        acceleration[columns] = np.linalg.solve(K, np.concatenate([f.ravel()[columns], gamma]))[:nv]
        a = acceleration.reshape(n, 6)
        turning = np.array([cross_matrix(w[b]) @ R[b] for b in range(n)])
        return np.concatenate([v.ravel(), turning.ravel(), a[:, :3].ravel(), a[:, 3:].ravel()])

    start = np.concatenate([np.concatenate([getattr(b, key).ravel() for b in bodies]) for key in ("p", "R", "v", "w")])
    return integrate(rhs, mechanism.t_end, start, 1e-12)[: 3 * n].reshape(n, 3)


METHODS = {"nfourbar": nfourbar, "chain": chain, "squeezer": maximal, "fourbar": maximal, "doublependulum3d": maximal}

if __name__ == "__main__":
    from cases import CASES

    for case in CASES:
        mechanism = PROBLEMS[case.problem](case.n)
        print(mechanism.key, reference(mechanism)[-1], flush=True)
