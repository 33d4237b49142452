//! Table 1 of the paper: seconds, by figure, tolerance and formulation.

/// Tolerances, absolute and relative alike.
pub const TOLERANCES: [f64; 4] = [1e-10, 1e-8, 1e-6, 1e-3];

/// The paper's formulations: its name, and ours on the simplified and on the overconstrained strut. Its "direct
/// integration" solves the KKT system by factorization where it can, by its pseudoinverse (equation 11) where it must.
pub const FORMULATIONS: [(&str, [&str; 2]); 5] = [
    ("direct integration", ["direct", "pseudo_inverse"]),
    ("Udwadia-Kalaba", ["udwadia_kalaba", "udwadia_kalaba"]),
    ("least squares 1", ["least_squares_1", "least_squares_1"]),
    ("least squares 2", ["least_squares_2", "least_squares_2"]),
    ("Udwadia-Phohomsiri", ["udwadia_phohomsiri", "udwadia_phohomsiri"]),
];

/// The paper's stabilizations and ours.
pub const STABILIZATIONS: [(&str, &str); 3] =
    [("none", "none"), ("Baumgarte", "baumgarte:alpha=10,beta=10"), ("partitioning", "partitioned")];

/// `SECONDS[2 s + v][i]`: stabilization s on variant v (0 simplified, 1 overconstrained), that is figure 3 + 2 s + v, at
/// tolerance i, for each formulation.
pub const SECONDS: [[[f64; 5]; 4]; 6] = [
    [
        [3.10, 3.55, 3.58, 3.78, 3.95],
        [1.33, 1.45, 1.41, 1.50, 1.59],
        [0.59, 0.60, 0.61, 0.63, 0.67],
        [0.29, 0.27, 0.27, 0.27, 0.29],
    ],
    [
        [4.70, 3.62, 3.63, 3.77, 4.02],
        [1.92, 1.46, 1.48, 1.52, 1.64],
        [0.84, 0.61, 0.63, 0.64, 0.67],
        [0.40, 0.27, 0.27, 0.28, 0.30],
    ],
    [
        [10.39, 12.13, 12.19, 12.56, 13.46],
        [4.35, 5.00, 5.01, 5.17, 5.52],
        [1.96, 2.22, 2.22, 2.28, 2.46],
        [0.88, 0.94, 0.94, 0.97, 1.04],
    ],
    [
        [15.69, 12.27, 12.37, 12.80, 13.54],
        [6.51, 5.09, 5.14, 5.31, 5.67],
        [2.90, 2.55, 2.29, 2.32, 2.49],
        [1.27, 1.00, 0.95, 0.98, 1.33],
    ],
    [
        [6.05, 6.18, 6.22, 6.38, 6.59],
        [2.45, 2.52, 2.51, 2.59, 2.65],
        [1.07, 1.05, 1.05, 1.07, 1.12],
        [0.48, 0.45, 0.47, 0.46, 0.47],
    ],
    [
        [7.49, 6.45, 6.47, 6.56, 6.86],
        [3.11, 2.66, 2.64, 2.69, 2.87],
        [1.35, 1.10, 1.10, 1.13, 1.17],
        [0.60, 0.46, 0.47, 0.48, 0.49],
    ],
];
