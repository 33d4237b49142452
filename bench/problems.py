"""The mechanisms of the benchmark, described once for every program.

Every program is built from the `Mechanism` of a function here, and its error is the largest distance, over the bodies, between its
centres of mass at the end and those of `references.py`. `flexible.py` has the one with a beam.
"""

from __future__ import annotations

import numpy as np

from mechanism import GRAVITY, GROUND, Body, Joint, Mechanism, Spring, rotation_z


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


def mcpherson(_=None):
    """The McPherson strut of `models/mcpherson.toml` (Pękal and Frączek 2016), its steering force held at 2 N, 10 s."""
    e = np.array([0.0, -np.sin(np.radians(10)), np.cos(np.radians(10))])
    P2, P3 = np.array([0.0, 0.3, 0.0]), np.array([0.0, 0.35, 0.0])
    P4 = P3 + 0.45 * e
    P9, P10 = P3 + 0.25 * e + [0.1, -0.05, 0.0], P4 - 0.025 * e
    P11, P12 = P10 + 0.3 * e, P9 - [0.0, 0.5, 0.0]
    P13 = P12 - [0.0, 0.2, 0.0]
    centres = [np.array([0.0, 0.15, 0.0]), (P3 + P4) / 2, (P10 + P11) / 2, (P9 + P12) / 2, (P12 + P13) / 2]
    bodies = [Body(1.0, np.full(3, 0.1), p, np.eye(3)) for p in centres]
    arm, knuckle, strut, tie_rod, rack = range(5)
    # in this order a spanning tree leaves ball joints over, which every program can close
    joints = [
        Joint("spherical", GROUND, strut, P11), Joint("revolute", GROUND, arm, np.array([0.025, 0, 0]), np.array([1.0, 0, 0])),
        Joint("prismatic", GROUND, rack, P13, np.array([0.0, 1.0, 0])), Joint("cylindrical", strut, knuckle, P4, e),
        Joint("spherical", rack, tie_rod, P12), Joint("spherical", arm, knuckle, P2), Joint("spherical", knuckle, tie_rod, P9),
    ]
    forces = [(arm, np.array([0.0, 0.0, 38.0])), (rack, np.array([0.0, 2.0, 0.0]))]
    return Mechanism("mcpherson", bodies, joints, 10.0, planar=False, gravity=np.array([0.0, 0, -9.80665]), forces=forces)


def bar(mass, start, end, thickness=0.03):
    """A bar in space, x along it."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    length = np.linalg.norm(end - start)
    x = (end - start) / length
    y = np.cross([0.0, 0.0, 1.0] if abs(x[2]) < 0.9 else [1.0, 0.0, 0.0], x)
    y /= np.linalg.norm(y)
    across = (length**2 + thickness**2) / 12
    return Body(mass, mass * np.array([thickness**2 / 6, across, across]), (start + end) / 2, np.stack([x, y, np.cross(x, y)], axis=1))


def wishbones(_=None):
    """Four double wishbones on a chassis that rocks about a ball joint: 17 bodies, 8 loops, springs and tyres, one of which is
    pressed 5 cm deep and let go, 2 s. Arms on hinges of different directions, knuckles and tie rods on ball joints."""
    chassis = Body(200.0, np.array([25.0, 60.0, 70.0]), np.array([0.0, 0.0, 0.5]), np.eye(3))
    bodies, joints, springs = [chassis], [Joint("spherical", GROUND, 0, np.array([0.0, 0.0, 0.4]))], []
    for corner, (front, left) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        at = lambda x, y, z: np.array([front * (0.9 + x), left * y, z])
        low, high = at(0.0, 0.35, 0.22), at(0.0, 0.40, 0.46)  # middles of the hinges
        ball, top = at(0.02, 0.75, 0.20), at(-0.02, 0.70, 0.48)
        inner, outer = at(0.15, 0.38, 0.27), at(0.15, 0.72, 0.26)
        first = len(bodies)
        lower, upper, knuckle, tie = range(first, first + 4)
        bodies += [bar(4.0, low, ball), bar(3.0, high, top), bar(18.0, ball, top, 0.15), bar(1.0, inner, outer)]
        joints += [
            Joint("revolute", 0, lower, low, np.array([1.0, 0.05 * left, 0.08 * front])),
            Joint("revolute", 0, upper, high, np.array([1.0, -0.05 * left, 0.12 * front])),
            Joint("spherical", lower, knuckle, ball), Joint("spherical", 0, tie, inner),
            Joint("spherical", upper, knuckle, top), Joint("spherical", knuckle, tie, outer),
        ]
        for j in joints[-6:-4]:
            j.axis /= np.linalg.norm(j.axis)
        foot, seat = (ball + low) / 2, at(0.0, 0.45, 0.60)
        springs.append(Spring(0, lower, (seat, foot), 3.0e4, np.linalg.norm(seat - foot) + 0.05))
        hub = (ball + top) / 2
        springs.append(Spring(GROUND, knuckle, (hub - [0, 0, 0.6], hub), 1.0e5, 0.6 + (0.05 if corner == 0 else 0.01)))
    for x in (1.2, -1.2):  # springs across, without which the tyres would turn the chassis about
        springs.append(Spring(GROUND, 0, (np.array([x, 1.0, 0.5]), np.array([x, 0.0, 0.5])), 5.0e4, 1.0))
    return Mechanism("wishbones", bodies, joints, 2.0, planar=False, gravity=np.array([0.0, 0, -GRAVITY]), springs=springs)


PROBLEMS = {f.__name__: f for f in (chain, nfourbar, squeezer, fourbar, doublependulum3d, mcpherson, wishbones)}
