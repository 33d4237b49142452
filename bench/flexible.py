"""The flexible pendulum: a bar of 1 m and 2 cm × 2 cm, ρ = 1000 kg/m³, E = 5 MPa, ν = 0.3, on a hinge, let go from the horizontal, 1 s.

Two continua, since programs have two kinds of beam: `shear`, geometrically exact with shear and rotary inertia (Reissner, Simo), and
`cable`, which bends and stretches only. An error is the distance of the tip at the end from that of the converged continuum of
the program's own kind. Neither value comes from a program: `shear` is solved here by spectral elements with DOP853,
    Γ = (x' cos θ + y' sin θ - 1, y' cos θ - x' sin θ), κ = θ', V = ½ ∫ EA Γ₁² + GA Γ₂² + EI κ²,
and `cable` by cubic elements with continuous slope. `python flexible.py` computes both. Lengths in m.
"""

import numpy as np

NAME = "flexpend"
LENGTH, WIDTH, DENSITY, YOUNG, POISSON, GRAVITY, T_END = 1.0, 0.02, 1000.0, 5e6, 0.3, 9.81, 1.0
AREA, SECOND = WIDTH**2, WIDTH**4 / 12
EA, EI = YOUNG * AREA, YOUNG * SECOND
GA = 10 * (1 + POISSON) / (12 + 11 * POISSON) * YOUNG / (2 * (1 + POISSON)) * AREA
RHO_A, RHO_I = DENSITY * AREA, DENSITY * SECOND

# to about 2e-6: four elements of order 8 and 10 for the one, 16 and 32 elements for the other
TIPS = {"shear": np.array([-0.870223, 0.137112]), "cable": np.array([-0.868565, 0.138690])}


def error(tip, continuum):
    """Distance of the tip from the converged one [m]."""
    tip = np.asarray(tip, float)[:2]
    return float(np.linalg.norm(tip - TIPS[continuum])) if np.all(np.isfinite(tip)) else None


def lobatto(order):
    """Nodes, weights and differentiation matrix on [-1, 1]."""
    from numpy.polynomial import legendre

    c = np.zeros(order + 1)
    c[-1] = 1
    x = np.concatenate([[-1], np.sort(legendre.legroots(legendre.legder(c)).real), [1]])
    p = legendre.legval(x, c)
    weights = 2 / (order * (order + 1) * p**2)
    D = np.zeros((order + 1, order + 1))
    for i in range(order + 1):
        for j in range(order + 1):
            if i != j:
                D[i, j] = p[i] / (p[j] * (x[i] - x[j]))
    D[np.arange(order + 1), np.arange(order + 1)] = -D.sum(axis=1)
    return x, weights, D


def march(rhs, y0, tolerance):
    from scipy.integrate import solve_ivp

    return solve_ivp(rhs, (0, T_END), y0, method="DOP853", rtol=tolerance, atol=tolerance / 10).y[:, -1]


def shear_beam(elements, order, tolerance=1e-11):
    """Spectral elements, masses at their nodes."""
    _, weights, D = lobatto(order)
    half = LENGTH / elements / 2
    n = elements * order + 1
    nodes = order * np.arange(elements)[:, None] + np.arange(order + 1)
    lump = np.zeros(n)
    np.add.at(lump, nodes, np.broadcast_to(weights * half, nodes.shape))
    s = np.zeros(n)
    s[nodes] = (2 * np.arange(elements)[:, None] + 1 + lobatto(order)[0]) * half
    slope = lambda f: f[nodes] @ D.T / half

    def rhs(t, y):
        x, yy, theta = y[: 3 * n].reshape(3, n)
        c, sn = np.cos(theta)[nodes], np.sin(theta)[nodes]
        dx, dy = slope(x), slope(yy)
        stretch, slip, bend = dx * c + dy * sn - 1, dy * c - dx * sn, slope(theta)
        w = weights * half
        fx, fy = w * (EA * stretch * c - GA * slip * sn), w * (EA * stretch * sn + GA * slip * c)
        turn = w * (EA * stretch * slip - GA * slip * (1 + stretch))
        force = np.zeros((3, n))
        for k, f in enumerate((fx, fy, w * EI * bend)):
            np.add.at(force[k], nodes, -(f @ D) / half)
        np.add.at(force[2], nodes, -turn)
        a = force / (np.array([RHO_A, RHO_A, RHO_I])[:, None] * lump)
        a[1] -= GRAVITY
        a[:2, 0] = 0  # the hinge
        return np.concatenate([y[3 * n :], a.ravel()])

    start = np.concatenate([s, np.zeros(5 * n)])
    end = march(rhs, start, tolerance)
    return np.array([end[n - 1], end[2 * n - 1]])


def cable(elements, tolerance=1e-11):
    """r(s) by cubics with r and r' at the nodes; V = ½ ∫ EA (|r'| - 1)² + EI (r' × r'' / |r'|²)²."""
    from numpy.polynomial.legendre import leggauss
    from scipy.linalg import cho_factor, cho_solve

    l = LENGTH / elements
    x, w = leggauss(5)
    x, w = (x + 1) / 2, w * l / 2
    shapes = lambda x: np.array([1 - 3 * x**2 + 2 * x**3, l * (x - 2 * x**2 + x**3), 3 * x**2 - 2 * x**3, l * (x**3 - x**2)])
    first = np.array([-6 * x + 6 * x**2, l * (1 - 4 * x + 3 * x**2), 6 * x - 6 * x**2, l * (3 * x**2 - 2 * x)]) / l
    second = np.array([-6 + 12 * x, l * (-4 + 6 * x), 6 - 12 * x, l * (6 * x - 2)]) / l**2
    n = 2 * (elements + 1)
    nodes = 2 * np.arange(elements)[:, None] + np.arange(4)
    S = shapes(x)
    M, load = np.zeros((n, n)), np.zeros(n)
    for e in range(elements):
        M[np.ix_(nodes[e], nodes[e])] += RHO_A * (S * w) @ S.T
        load[nodes[e]] += RHO_A * S @ w
    held = slice(1, n)  # the first position stands
    factor = cho_factor(M[held, held])

    def rhs(t, y):
        q = y[: 2 * n].reshape(2, n)
        d, dd = (np.einsum("cek,kg->ceg", q[:, nodes], B) for B in (first, second))
        size = np.sqrt(d[0] ** 2 + d[1] ** 2)
        cross = d[0] * dd[1] - d[1] * dd[0]
        bend = EI * cross / size**4
        along = EA * (1 - 1 / size) - 2 * bend * cross / size**2
        f1 = w * np.stack([along * d[0] + bend * dd[1], along * d[1] - bend * dd[0]])
        f2 = w * np.stack([-bend * d[1], bend * d[0]])
        force = np.zeros((2, n))
        for k in (0, 1):
            np.add.at(force[k], nodes, -(f1[k] @ first.T + f2[k] @ second.T))
        force[1] -= GRAVITY * load
        a = np.zeros((2, n))
        a[:, held] = cho_solve(factor, force[:, held].T, check_finite=False).T
        return np.concatenate([y[2 * n :], a.ravel()])

    q0 = np.zeros((2, n))
    q0[0, 0::2], q0[0, 1::2] = l * np.arange(elements + 1), 1.0
    end = march(rhs, np.concatenate([q0.ravel(), np.zeros(2 * n)]), tolerance)
    return np.array([end[n - 2], end[2 * n - 2]])


if __name__ == "__main__":
    for size in ((4, 6), (4, 8), (4, 10)):
        print("shear", size, shear_beam(*size), flush=True)
    for elements in (8, 16, 32):
        print("cable", elements, cable(elements), flush=True)
