//! Butcher tableaux of the explicit Runge-Kutta methods: constants and citations only.
//!
//! With slopes k_i = f(t + c_i h, y + h Σ_j a_ij k_j), i = 1..s, the step ends at y₁ = y + h Σ b_i k_i, and
//! k_{s+1} = f(t + h, y₁) is the slope there: the next step's first, and where the error estimate or the
//! interpolant uses it an ordinary stage of this one.

/// Coefficients of one method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tableau {
    /// Order of convergence of y₁.
    pub order: u32,
    /// Nodes (s).
    pub c: &'static [f64],
    /// Stage weights: row i has i - 1 entries (s rows).
    pub a: &'static [&'static [f64]],
    /// Weights of y₁ (s).
    pub b: &'static [f64],
    /// Describes how the error of a step is estimated.
    pub error: Estimate,
    /// The interpolant's part beyond the cubic through both ends and their slopes.
    pub dense: DenseOutput,
}

impl Tableau {
    /// Returns whether each stage needs no slope but the one before.
    pub fn is_plain(&self) -> bool {
        self.a.iter().all(|a| a.split_last().is_none_or(|(_, earlier)| earlier.iter().all(|&a| a == 0.0)))
    }
}

/// An error estimate from the slopes of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Estimate {
    /// None: a fixed-step method.
    None,
    /// y₁ less an embedded solution of lower order: δ = h Σ e_i k_i (s + 1 weights).
    Embedded {
        /// Weights of k₁ .. k_{s+1}.
        e: &'static [f64],
        /// δ is of size h^power.
        power: u32,
    },
    /// Two embedded solutions of orders 5 and 3, combined as |δ₅|² / √(|δ₅|² + 0.01 |δ₃|²) of size h⁸.
    /// \[Hairer1993, section II.10\]
    Pair {
        /// Weights of δ₅ (s + 1).
        e5: &'static [f64],
        /// Weights of δ₃ (s + 1).
        e3: &'static [f64],
    },
}

/// Holds what an interpolant adds to the cubic through both ends and their slopes.
///
/// u(θ) = y + θ (r₁ + θ' (r₂ + θ (r₃ + θ' (r₄ + θ (r₅ + ...))))) with θ' = 1 - θ; r₁, r₂, r₃ make the cubic,
/// r_{3+i} = h Σ_j d_ij k_j.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DenseOutput {
    /// Order of the interpolant: its error inside a step is of size h^(order + 1).
    pub order: u32,
    /// Nodes of the stages that only the interpolant needs.
    pub c: &'static [f64],
    /// Weights of those stages over k₁ .. k_{s+1} and the earlier ones of them.
    pub a: &'static [&'static [f64]],
    /// Weights d_ij over all stages; no rows for the plain cubic.
    pub d: &'static [&'static [f64]],
}

/// The cubic alone.
const fn cubic(order: u32) -> DenseOutput {
    DenseOutput { order, c: &[], a: &[], d: &[] }
}

/// Explicit Euler.
///
/// Its interpolant is the cubic for smooth curves between samples, but no better than the ends: order 1.
pub const EULER: Tableau =
    Tableau { order: 1, c: &[0.0], a: &[&[]], b: &[1.0], error: Estimate::None, dense: cubic(1) };

/// The classical method of Kutta. \[Hairer1993, table II.1.2\]
pub const RK4: Tableau = Tableau {
    order: 4,
    c: &[0.0, 0.5, 0.5, 1.0],
    a: &[&[], &[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0]],
    b: &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
    error: Estimate::None,
    dense: cubic(3),
};

/// The pair of orders 3(2) of Bogacki and Shampine. \[Bogacki1989\]
pub const RK23: Tableau = Tableau {
    order: 3,
    c: &[0.0, 0.5, 0.75],
    a: &[&[], &[0.5], &[0.0, 0.75]],
    b: &[2.0 / 9.0, 1.0 / 3.0, 4.0 / 9.0],
    error: Estimate::Embedded { e: &[-5.0 / 72.0, 1.0 / 12.0, 1.0 / 9.0, -1.0 / 8.0], power: 3 },
    dense: cubic(3),
};

/// The pair of orders 5(4) of Dormand and Prince. \[Dormand1980\]; interpolant \[Hairer1993, section II.6\].
pub const RK45: Tableau = Tableau {
    order: 5,
    c: &[0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0],
    a: &[
        &[],
        &[1.0 / 5.0],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
        &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    ],
    b: &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    error: Estimate::Embedded {
        e: &[
            71.0 / 57600.0,
            0.0,
            -71.0 / 16695.0,
            71.0 / 1920.0,
            -17253.0 / 339200.0,
            22.0 / 525.0,
            -1.0 / 40.0,
        ],
        power: 5,
    },
    dense: DenseOutput {
        order: 4,
        c: &[],
        a: &[],
        d: &[&[
            -12715105075.0 / 11282082432.0,
            0.0,
            87487479700.0 / 32700410799.0,
            -10690763975.0 / 1880347072.0,
            701980252875.0 / 199316789632.0,
            -1453857185.0 / 822651844.0,
            69997945.0 / 29380423.0,
        ]],
    },
};

/// The method of order 8 with estimates of orders 5 and 3 of Dormand, Prince and Hairer, and its interpolant of
/// order 7. \[Hairer1993, section II.10 and appendix\]
pub const DOP853: Tableau = Tableau {
    order: 8,
    c: &[
        0.0,
        0.05260015195876773,
        0.0789002279381516,
        0.1183503419072274,
        0.2816496580927726,
        0.3333333333333333,
        0.25,
        0.3076923076923077,
        0.6512820512820513,
        0.6,
        0.8571428571428571,
        1.0,
    ],
    a: &[
        &[],
        &[0.05260015195876773],
        &[0.0197250569845379, 0.0591751709536137],
        &[0.02958758547680685, 0.0, 0.08876275643042054],
        &[0.2413651341592667, 0.0, -0.8845494793282861, 0.924834003261792],
        &[0.037037037037037035, 0.0, 0.0, 0.17082860872947386, 0.12546768756682242],
        &[0.037109375, 0.0, 0.0, 0.17025221101954405, 0.06021653898045596, -0.017578125],
        &[
            0.03709200011850479,
            0.0,
            0.0,
            0.17038392571223998,
            0.10726203044637328,
            -0.015319437748624402,
            0.008273789163814023,
        ],
        &[
            0.6241109587160757,
            0.0,
            0.0,
            -3.3608926294469414,
            -0.868219346841726,
            27.59209969944671,
            20.154067550477894,
            -43.48988418106996,
        ],
        &[
            0.47766253643826434,
            0.0,
            0.0,
            -2.4881146199716677,
            -0.590290826836843,
            21.230051448181193,
            15.279233632882423,
            -33.28821096898486,
            -0.020331201708508627,
        ],
        &[
            -0.9371424300859873,
            0.0,
            0.0,
            5.186372428844064,
            1.0914373489967295,
            -8.149787010746927,
            -18.52006565999696,
            22.739487099350505,
            2.4936055526796523,
            -3.0467644718982196,
        ],
        &[
            2.273310147516538,
            0.0,
            0.0,
            -10.53449546673725,
            -2.0008720582248625,
            -17.9589318631188,
            27.94888452941996,
            -2.8589982771350235,
            -8.87285693353063,
            12.360567175794303,
            0.6433927460157636,
        ],
    ],
    b: &[
        0.054293734116568765,
        0.0,
        0.0,
        0.0,
        0.0,
        4.450312892752409,
        1.8915178993145003,
        -5.801203960010585,
        0.3111643669578199,
        -0.1521609496625161,
        0.20136540080403034,
        0.04471061572777259,
    ],
    error: Estimate::Pair {
        e5: &[
            0.01312004499419488,
            0.0,
            0.0,
            0.0,
            0.0,
            -1.2251564463762044,
            -0.4957589496572502,
            1.6643771824549864,
            -0.35032884874997366,
            0.3341791187130175,
            0.08192320648511571,
            -0.022355307863886294,
            0.0,
        ],
        e3: &[
            -0.18980075407240762,
            0.0,
            0.0,
            0.0,
            0.0,
            4.450312892752409,
            1.8915178993145003,
            -5.801203960010585,
            -0.4226823213237919,
            -0.1521609496625161,
            0.20136540080403034,
            0.02265179219836082,
            0.0,
        ],
    },
    dense: DenseOutput {
        order: 7,
        c: &[0.1, 0.2, 0.7777777777777778],
        a: &[
            &[
                0.056167502283047954,
                0.0,
                0.0,
                0.0,
                0.0,
                0.0,
                0.25350021021662483,
                -0.2462390374708025,
                -0.12419142326381637,
                0.15329179827876568,
                0.00820105229563469,
                0.007567897660545699,
                -0.008298,
            ],
            &[
                0.03183464816350214,
                0.0,
                0.0,
                0.0,
                0.0,
                0.028300909672366776,
                0.053541988307438566,
                -0.05492374857139099,
                0.0,
                0.0,
                -0.00010834732869724932,
                0.0003825710908356584,
                -0.00034046500868740456,
                0.1413124436746325,
            ],
            &[
                -0.42889630158379194,
                0.0,
                0.0,
                0.0,
                0.0,
                -4.697621415361164,
                7.683421196062599,
                4.06898981839711,
                0.3567271874552811,
                0.0,
                0.0,
                0.0,
                -0.0013990241651590145,
                2.9475147891527724,
                -9.15095847217987,
            ],
        ],
        d: &[
            &[
                -8.428938276109013,
                0.0,
                0.0,
                0.0,
                0.0,
                0.5667149535193777,
                -3.0689499459498917,
                2.38466765651207,
                2.117034582445028,
                -0.871391583777973,
                2.2404374302607883,
                0.6315787787694688,
                -0.08899033645133331,
                18.148505520854727,
                -9.194632392478356,
                -4.436036387594894,
            ],
            &[
                10.427508642579134,
                0.0,
                0.0,
                0.0,
                0.0,
                242.28349177525817,
                165.20045171727028,
                -374.5467547226902,
                -22.113666853125306,
                7.733432668472264,
                -30.674084731089398,
                -9.332130526430229,
                15.697238121770845,
                -31.139403219565178,
                -9.35292435884448,
                35.81684148639408,
            ],
            &[
                19.985053242002433,
                0.0,
                0.0,
                0.0,
                0.0,
                -387.0373087493518,
                -189.17813819516758,
                527.8081592054236,
                -11.57390253995963,
                6.8812326946963,
                -1.0006050966910838,
                0.7777137798053443,
                -2.778205752353508,
                -60.19669523126412,
                84.32040550667716,
                11.99229113618279,
            ],
            &[
                -25.69393346270375,
                0.0,
                0.0,
                0.0,
                0.0,
                -154.18974869023643,
                -231.5293791760455,
                357.6391179106141,
                93.40532418362432,
                -37.45832313645163,
                104.0996495089623,
                29.8402934266605,
                -43.53345659001114,
                96.32455395918828,
                -39.17726167561544,
                -149.72683625798564,
            ],
        ],
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(&str, Tableau); 5] =
        [("euler", EULER), ("rk4", RK4), ("rk23", RK23), ("rk45", RK45), ("dop853", DOP853)];

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 4e-14
    }

    /// Every stage lies at its node: Σ_j a_ij = c_i.
    #[test]
    fn stage_weights_sum_to_the_nodes() {
        for (name, m) in ALL {
            for (i, row) in m.a.iter().enumerate() {
                assert_eq!(row.len(), i, "{name}");
                assert!(close(row.iter().sum(), m.c[i]), "{name}, stage {i}");
            }
            let stages = m.c.len() + 1;
            for (i, row) in m.dense.a.iter().enumerate() {
                assert_eq!(row.len(), stages + i, "{name}");
                assert!(close(row.iter().sum(), m.dense.c[i]), "{name}, extra stage {i}");
            }
        }
    }

    /// Quadrature conditions Σ b_i c_i^(k-1) = 1/k up to the order, and not beyond.
    #[test]
    fn weights_integrate_polynomials_up_to_the_order() {
        for (name, m) in ALL {
            let moment = |k: u32| m.b.iter().zip(m.c).map(|(b, c)| b * c.powi(k as i32 - 1)).sum::<f64>();
            for k in 1..=m.order {
                assert!(close(moment(k), 1.0 / f64::from(k)), "{name}, power {k}");
            }
            assert!(!close(moment(m.order + 1), 1.0 / f64::from(m.order + 1)), "{name}");
        }
    }

    /// An estimate of size h^p vanishes on polynomials of degree < p - 1 and does not on the next.
    #[test]
    fn error_weights_vanish_below_their_power() {
        let check = |name: &str, m: &Tableau, e: &[f64], power: u32| {
            assert_eq!(e.len(), m.c.len() + 1, "{name}");
            let moment = |k: u32| {
                e.iter().zip(m.c.iter().chain(&[1.0])).map(|(e, c)| e * c.powi(k as i32 - 1)).sum::<f64>()
            };
            assert!((1..power).all(|k| close(moment(k), 0.0)), "{name}");
            assert!(!close(moment(power), 0.0), "{name}");
        };
        for (name, m) in ALL {
            match m.error {
                Estimate::None => {}
                Estimate::Embedded { e, power } => check(name, &m, e, power),
                Estimate::Pair { e5, e3 } => {
                    check(name, &m, e5, 6);
                    check(name, &m, e3, 4);
                }
            }
        }
    }
}
