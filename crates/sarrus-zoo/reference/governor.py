#!/usr/bin/env python3
"""Reference values of the flyball governor (MbsBenchmark A05): four states, by SciPy's Radau at tolerances near round-off.

Both arms move alike and the angular momentum about the shaft is kept, so that the arms' angle b below the horizontal and the height s of
the sleeve are all that is left. Needs NumPy and SciPy. Prints t, height of the sleeve and of the balls, and rate of the shaft, at two
tolerances: the digits that agree count. Nothing here uses Sarrus.
"""

import numpy as np
from scipy.integrate import solve_ivp

RHO, G, K, C, REST = 3000.0, 9.81, 8e5, 4e4, 0.5
ARM, SLEEVE, BALL = RHO * 1e-4, RHO * 1e-3, 5.0  # masses [kg]; the shaft is as heavy as an arm
ALONG, ACROSS = ARM / 12 * 2e-4, ARM / 12 * (1 + 1e-4)  # a box of 1 m and 1 cm, about its long axis and across
SWING = ACROSS + ARM / 4 + BALL  # an arm and its ball about the pin
TURNING = ALONG + SLEEVE * 0.01 / 6  # shaft and sleeve about the shaft


def inertia(b):
    """About the shaft, and its derivative."""
    s, c = np.sin(b), np.cos(b)
    arm, ball = 0.05 + c / 2, 0.05 + c
    about = TURNING + 2 * (ALONG * s**2 + ACROSS * c**2 + ARM * arm**2 + BALL * ball**2)
    return about, 2 * (2 * (ALONG - ACROSS) * s * c - ARM * arm * s - 2 * BALL * ball * s)


START = np.pi / 6
MOMENTUM = inertia(START)[0] * 2 * np.pi


def rhs(t, y):
    b, s, b_dot, s_dot = y
    across, up = np.cos(b) / 2, 1 - np.sin(b) / 2 - s
    length = np.hypot(across, up)
    by_b, by_s = (-across * np.sin(b) - up * np.cos(b)) / (2 * length), -up / length
    tension = K * (length - REST) + C * (by_b * b_dot + by_s * s_dot)
    about, change = inertia(b)
    rate = MOMENTUM / about
    weight = G * (ARM / 2 + BALL) * np.cos(b)
    return [b_dot, s_dot, (change * rate**2 / 4 + weight - tension * by_b) / SWING, -G - 2 * tension * by_s / SLEEVE]


def solve(times, tolerance):
    """b and s at these times."""
    run = solve_ivp(
        rhs, (0, times[-1]), [START, 0.5, 0, 0], method="Radau", rtol=tolerance, atol=tolerance / 100, t_eval=times)
    return run.y[0], run.y[1]


def heights(times, tolerance):
    """Of sleeve and balls, one row a time."""
    b, s = solve(times, tolerance)
    return np.stack([s, 1 - np.sin(b)], axis=1)


if __name__ == "__main__":
    for tolerance in (1e-11, 1e-13):
        times = [0.5, 1.0, 2.0, 5.0, 10.0]
        for t, b, s in zip(times, *solve(times, tolerance)):
            print(tolerance, t, *(repr(float(x)) for x in (s, 1 - np.sin(b), MOMENTUM / inertia(b)[0])))
