#!/usr/bin/env python3
"""Reference values of the zoo that are computed rather than published: closed forms, and one scalar equation.

Needs mpmath. Prints one line a value, `name quantity t value`, with 25 digits; the constants in src/cases/ are these, rounded to
double precision. Nothing here uses Sarrus.
"""

from mpmath import mp, mpf, cos, sin, tanh, sech, sqrt, pi, quad, atan, exp

mp.dps = 40


def show(name, quantity, t, *values):
    print(name, quantity, mp.nstr(mpf(t), 5), *(mp.nstr(v, 25) for v in values))


def taylor_cosine(k, theta, omega, t_end, step=mpf(1) / 50, order=36, stiffness=mpf(0), rest=mpf(0)):
    """θ and θ' at t_end of θ'' = -k cos θ - stiffness (θ - rest), by Taylor series. With s = sin θ and c = cos θ the
    coefficients follow from s' = c θ', c' = -s θ' and the equation. Order 36 at a step of 1/50 s leaves an error far below
    the digits printed."""
    steps = int(t_end / step + mpf(1) / 2)
    for _ in range(steps):
        th, s, c = [theta, omega], [sin(theta)], [cos(theta)]
        for n in range(order):
            spring = stiffness * (th[n] - (rest if n == 0 else 0))
            th.append(-(k * c[n] + spring) / ((n + 1) * (n + 2)))
            s.append(sum(c[n - j] * (j + 1) * th[j + 1] for j in range(n + 1)) / (n + 1))
            c.append(-sum(s[n - j] * (j + 1) * th[j + 1] for j in range(n + 1)) / (n + 1))
        theta = sum(a * step**n for n, a in enumerate(th))
        omega = sum(n * a * step ** (n - 1) for n, a in enumerate(th) if n)
    return theta, omega


def n_four_bar():
    """MbsBenchmark A02: all cranks parallel, so one angle is left: θ'' = -k cos θ, k = ((N+1)/2 + N)/((N+1)/3 + N) g."""
    g = mpf("9.81")
    for n in (1, 2, 10, 40):
        k = (mpf(n + 1) / 2 + n) / (mpf(n + 1) / 3 + n) * g
        for t in (1, 5, 10):
            th, w = taylor_cosine(k, pi / 2, mpf(-1), t)
            show("a02", f"N={n} angle,rate", t, th, w)
            show("a02", f"N={n} tip x,y,vx,vy", t, cos(th), sin(th), -w * sin(th), w * cos(th))


def pendulum():
    """MbsBenchmark A01: θ'' = -g cos θ from θ = π at rest."""
    for t in (1, 5, 10):
        th, w = taylor_cosine(mpf("9.81"), pi, mpf(0), t)
        show("a01", "angle,rate", t, th, w)
        show("a01", "x,y,vx,vy", t, cos(th), sin(th), -w * sin(th), w * cos(th))


def coupler():
    """models/coupler.toml: three cranks of 1 kg and 1 m and a coupler of 2 kg, so (3/3 + 2) θ'' = -(3/2 + 2) g cos θ - 200 (θ - 0.9)."""
    inertia, start = mpf(3), mpf("0.9")
    k, stiffness = mpf("3.5") * mpf("9.81") / inertia, 200 / inertia
    low, high = start, start
    for t in (1, 5):
        th, w = taylor_cosine(k, start, mpf("0.5"), t, stiffness=stiffness, rest=start)
        show("coupler", "angle,rate", t, th, w)
        show("coupler", "coupler x,y,vx,vy", t, 1 + cos(th), sin(th), -w * sin(th), w * cos(th))
    for i in range(100):
        th, _ = taylor_cosine(k, start, mpf("0.5"), mpf(i) / 50, stiffness=stiffness, rest=start, order=20)
        low, high = min(low, th), max(high, th)
    show("coupler", "least and largest angle", 2, low, high)


def door():
    """models/door.toml turns at 2 rad/s about its hinges, its middle 0.4 m from them."""
    for t in (1, 2):
        show("door", "x,y", t, mpf("0.4") * cos(2 * t), mpf("0.4") * sin(2 * t))


def sleigh():
    """v = A tanh(A k t), ω = ω₀ sech(A k t), so θ = (2 ω₀/(A k)) atan(tanh(A k t/2)); the path by quadrature."""
    m, a, J, w0 = mpf(1), mpf("0.2"), mpf("0.1"), mpf(2)
    k, A = m * a / (J + m * a**2), sqrt((J + m * a**2) / m) * w0
    v = lambda t: A * tanh(A * k * t)
    theta = lambda t: 2 * w0 / (A * k) * atan(tanh(A * k * t / 2))
    for t in (1, 3, 4):
        show("sleigh", "v,rate,angle", t, v(t), w0 * sech(A * k * t), theta(t))
        grid = [mpf(i) * t / 8 for i in range(9)]
        show("sleigh", "x,y", t, quad(lambda s: v(s) * cos(theta(s)), grid), quad(lambda s: v(s) * sin(theta(s)), grid))


def oscillator():
    m, c, k, x0 = mpf(2), mpf(1), mpf(40), mpf("0.1")
    sigma = c / (2 * m)
    wd = sqrt(k / m - sigma**2)
    for t in (1, 4):
        e = exp(-sigma * t)
        x = e * x0 * (cos(wd * t) + sigma / wd * sin(wd * t))
        v = -e * x0 * (wd + sigma**2 / wd) * sin(wd * t)
        show("oscillator", "position,speed,tension", t, x, v, k * x + c * v)


def torsion():
    w = sqrt(mpf("0.9") / mpf("0.04"))
    for t in (1, 4):
        show("torsion", "angle,rate", t, cos(w * t) / 2, -w * sin(w * t) / 2)


def quat(axis, angle):
    n = sqrt(sum(x * x for x in axis))
    return [cos(angle / 2)] + [x / n * sin(angle / 2) for x in axis]


def times(p, q):
    a, b, c, d = p
    e, f, g, h = q
    return [a*e - b*f - c*g - d*h, a*f + b*e + c*h - d*g, a*g - b*h + c*e + d*f, a*h + b*g - c*f + d*e]


def free_top():
    """Symmetric body, A = 0.2, C = 0.32: with λ = (C - A)/A ω₃ the body's ω turns at λ about its axis, and
    R(t) = exp(t H/A) R₀ exp(-λ t e₃), H the constant angular momentum."""
    A, C, w1, w3 = mpf("0.2"), mpf("0.32"), mpf("0.6"), mpf(4)
    lam = (C - A) / A * w3
    q0 = quat([1, 2, -1], 40 * pi / 180)
    body = [mpf(0), A * w1, mpf(0), C * w3]
    conj = [q0[0], -q0[1], -q0[2], -q0[3]]
    H = times(times(q0, body), conj)[1:]
    norm = sqrt(sum(h * h for h in H))
    for t in (1, 5):
        show("free_top", "wx,wy,wz", t, w1 * cos(lam * t), w1 * sin(lam * t), w3)
        q = times(times(quat(H, norm / A * t), q0), quat([0, 0, 1], -lam * t))
        show("free_top", "q0..q3", t, *q)
        show("free_top", "x,y,z", t, mpf("0.3") + t / mpf(2), mpf("-0.2"), mpf("0.1") - t / mpf(4))


def screw():
    m, J, lead, g = mpf(2), mpf("0.005"), mpf("0.1"), mpf("9.81")
    n = 2 * pi / lead
    a = -m * g / (m + J * n**2)
    for t in (1, 2):
        show("screw", "position,speed,angle,rate", t, a * t**2 / 2, a * t, n * a * t**2 / 2, n * a * t)


def sphere():
    a = mpf(5) / 7 * mpf("9.81") / 2
    for t in (1, 2):
        show("sphere", "x,vx,wy", t, a * mpf(t) ** 2 / 2, a * t, a * t / mpf("0.1"))


def disc():
    """Steady rolling of models/rolling_disc.toml: the centre on a circle of radius ρ at the rate Ω of the file's header."""
    m, r, rho, alpha, g = mpf("0.5"), mpf("0.1"), mpf("0.5"), 70 * pi / 180, mpf("9.81")
    A, C = m * r**2 / 4, m * r**2 / 2
    w = sqrt(m * g * r * cos(alpha) / (sin(alpha) * ((m * r + C / r) * rho + A * cos(alpha))))
    show("disc", "turn,period", 0, w, 2 * pi / w)
    for t in (mpf(3) / 2, mpf(3), mpf(6)):
        show("disc", "x,y,z", t, rho * cos(w * t), rho * sin(w * t), r * sin(alpha))
        show("disc", "vx,vy,vz", t, -rho * w * sin(w * t), rho * w * cos(w * t), mpf(0))


for case in (pendulum, n_four_bar, coupler, door, sleigh, oscillator, torsion, free_top, screw, sphere, disc):
    case()
