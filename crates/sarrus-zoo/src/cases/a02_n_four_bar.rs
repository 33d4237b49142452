//! A row of N parallelograms that passes a position in which all loops are singular.
//!
//! As long as the cranks stay parallel one angle is left: θ'' = -k cos θ with k = ((N+1)/2 + N)/((N+1)/3 + N) g, θ(0) = π/2,
//! θ'(0) = -1. The columns of `link0` are those of its middle: half of the published coordinates of its tip.

use crate::{ReferenceProblem, ReferenceValues};

const SOURCE: &str = "MbsBenchmark A02, N-four-bar: published definition; the values are the Taylor-series solution of \
    the reduced equation to 25 digits (reference/closed_forms.py), rounded. They agree in 15 digits \
    with an independent table for N = 2 and 40.";

/// N = 1.
pub const N1: ReferenceProblem = ReferenceProblem {
    name: "a02_n_four_bar_1",
    model: include_str!("../../../../models/n_four_bar.toml"),
    set: &[("n", "1")],
    t_end: 10.0,
    references: N1_REFERENCES,
    source: SOURCE,
};

const N1_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(
        1.0,
        &["link0.x", "link0.y", "link0.vx", "link0.vy"],
        &[-0.1303563375918252, -0.4827082195795366, -3.3189047480608758, 0.8962769851944653],
        1e-14,
    ),
    ReferenceValues::value(1.0, &["A0.angle", "A0.rate"], &[-1.8345566611421613, -6.875591948593315], 1e-14),
    ReferenceValues::value(
        5.0,
        &["link0.x", "link0.y", "link0.vx", "link0.vy"],
        &[-0.47245409302147695, -0.16366774265949174, -0.9294654456313622, 2.683056214835021],
        1e-14,
    ),
    ReferenceValues::value(5.0, &["A0.angle", "A0.rate"], &[-15.37448094142013, -5.678977607488002], 1e-14),
    ReferenceValues::value(
        10.0,
        &["link0.x", "link0.y", "link0.vx", "link0.vy"],
        &[0.23919252888048528, 0.43907508939560463, 0.8636320377735768, -0.4704760896857578],
        1e-14,
    ),
    ReferenceValues::value(
        10.0,
        &["A0.angle", "A0.rate"],
        &[-30.343944970943127, -1.9669347194403195],
        1e-14,
    ),
];

/// N = 2.
pub const N2: ReferenceProblem = ReferenceProblem {
    name: "a02_n_four_bar_2",
    model: include_str!("../../../../models/n_four_bar.toml"),
    set: &[("n", "2")],
    t_end: 10.0,
    references: N2_REFERENCES,
    source: SOURCE,
};

const N2_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(
        1.0,
        &["link0.x", "link0.y", "link0.vx", "link0.vy"],
        &[-0.09751015097471755, -0.4903996028310869, -3.3383390184405792, 0.6637891625802436],
        1e-14,
    ),
    ReferenceValues::value(1.0, &["A0.angle", "A0.rate"], &[-1.767074476310201, -6.807385240869445], 1e-14),
    ReferenceValues::value(
        5.0,
        &["link0.x", "link0.y", "link0.vx", "link0.vy"],
        &[-0.4056552305025537, -0.29230777267448776, -1.7845586985966047, 2.4765525856566635],
        1e-14,
    ),
    ReferenceValues::value(5.0, &["A0.angle", "A0.rate"], &[-15.083557159858586, -6.105067553519621], 1e-14),
    ReferenceValues::value(
        10.0,
        &["link0.x", "link0.y", "link0.vx", "link0.vy"],
        &[0.1642290557704077, 0.4722592690893005, 0.7115257351034721, -0.24743442274352148],
        1e-14,
    ),
    ReferenceValues::value(
        10.0,
        &["A0.angle", "A0.rate"],
        &[-30.179800860191204, -1.5066421808418295],
        1e-14,
    ),
];

/// N = 10.
pub const N10: ReferenceProblem = ReferenceProblem {
    name: "a02_n_four_bar_10",
    model: include_str!("../../../../models/n_four_bar.toml"),
    set: &[("n", "10")],
    t_end: 10.0,
    references: N10_REFERENCES,
    source: SOURCE,
};

const N10_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(
        1.0,
        &["link0.x", "link0.y", "link0.vx", "link0.vy"],
        &[-0.06465300752556387, -0.49580236850775466, -3.3376409192815024, 0.4352309250183862],
        1e-14,
    ),
    ReferenceValues::value(1.0, &["A0.angle", "A0.rate"], &[-1.700465414041033, -6.731797045114962], 1e-14),
    ReferenceValues::value(
        5.0,
        &["link0.x", "link0.y", "link0.vx", "link0.vy"],
        &[-0.2977726277393145, -0.4016608795603869, -2.575878115319575, 1.9096358001665577],
        1e-14,
    ),
    ReferenceValues::value(5.0, &["A0.angle", "A0.rate"], &[-14.775111170259438, -6.413066958721107], 1e-14),
    ReferenceValues::value(
        10.0,
        &["link0.x", "link0.y", "link0.vx", "link0.vy"],
        &[0.10217678049488549, 0.489448572914152, 0.5933400118773114, -0.12386505040041125],
        1e-14,
    ),
    ReferenceValues::value(
        10.0,
        &["A0.angle", "A0.rate"],
        &[-30.050933495986975, -1.2122622165278674],
        1e-14,
    ),
];

/// N = 40.
pub const N40: ReferenceProblem = ReferenceProblem {
    name: "a02_n_four_bar_40",
    model: include_str!("../../../../models/n_four_bar.toml"),
    set: &[("n", "40")],
    t_end: 10.0,
    references: N40_REFERENCES,
    source: SOURCE,
};

const N40_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(
        1.0,
        &["link0.x", "link0.y", "link0.vx", "link0.vy"],
        &[-0.05767844031605495, -0.4966620556502251, -3.334993761970886, 0.3873000493311717],
        1e-14,
    ),
    ReferenceValues::value(1.0, &["A0.angle", "A0.rate"], &[-1.686410598114917, -6.714814880723563], 1e-14),
    ReferenceValues::value(
        5.0,
        &["link0.x", "link0.y", "link0.vx", "link0.vy"],
        &[-0.27009502533776314, -0.4207715262322215, -2.7181845562892746, 1.744814182598669],
        1e-14,
    ),
    ReferenceValues::value(5.0, &["A0.angle", "A0.rate"], &[-14.707829870140081, -6.460001180757471], 1e-14),
    ReferenceValues::value(
        10.0,
        &["link0.x", "link0.y", "link0.vx", "link0.vy"],
        &[0.0902561133433642, 0.4917863702911558, 0.5742206387347071, -0.10538503338971196],
        1e-14,
    ),
    ReferenceValues::value(10.0, &["A0.angle", "A0.rate"], &[-30.02663741719084, -1.167622108751707], 1e-14),
];
