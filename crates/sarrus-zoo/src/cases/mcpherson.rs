//! McPherson struts: centres of mass of the five bodies, the arm's angle and the rack's speed.

use crate::{ReferenceProblem, ReferenceValues};

const SOURCE: &str = "Example of [Pekal2016]; inertias and missing lengths are ours. Values from two independent \
    integrations, trusted to the tolerance given with each.";

/// 31 rows of rank 26: the same motion.
pub const MCPHERSON_OVERCONSTRAINED: ReferenceProblem = ReferenceProblem {
    name: "mcpherson_overconstrained",
    model: include_str!("../../../../models/mcpherson_overconstrained.toml"),
    set: &[],
    t_end: 10.0,
    references: MCPHERSON_REFERENCES,
    source: SOURCE,
};

/// 26 rows of rank 26.
pub const MCPHERSON: ReferenceProblem = ReferenceProblem {
    name: "mcpherson",
    model: include_str!("../../../../models/mcpherson.toml"),
    set: &[],
    t_end: 10.0,
    references: MCPHERSON_REFERENCES,
    source: SOURCE,
};

const MCPHERSON_REFERENCES: &[ReferenceValues] = &[
    ReferenceValues::value(
        1.0,
        &["arm.x", "arm.y", "arm.z"],
        &[-1.03306004510124e-14, 0.13676222308718997, -0.06161245276929757],
        1e-9,
    ),
    ReferenceValues::value(
        1.0,
        &["knuckle.x", "knuckle.y", "knuckle.z"],
        &[-0.02177998335021921, 0.28981191255489014, 0.09695290162341079],
        1e-9,
    ),
    ReferenceValues::value(
        1.0,
        &["strut.x", "strut.y", "strut.z"],
        &[-0.005261683336809829, 0.23997875606794092, 0.5649207329926794],
        1e-9,
    ),
    ReferenceValues::value(
        1.0,
        &["tie_rod.x", "tie_rod.y", "tie_rod.z"],
        &[0.0944800234796451, 0.06376915376199138, 0.18746952610748832],
        1e-9,
    ),
    ReferenceValues::value(
        1.0,
        &["rack.x", "rack.y", "rack.z"],
        &[0.10000000000000499, -0.2791712373276322, 0.2462019382530559],
        1e-9,
    ),
    ReferenceValues::value(1.0, &["front.angle"], &[-0.4232761602718853], 1e-9),
    ReferenceValues::value(1.0, &["rack.vy"], &[0.11135113869099841], 3.0000000000000004e-9),
    ReferenceValues::value(
        2.0,
        &["arm.x", "arm.y", "arm.z"],
        &[-1.0213228606069946e-14, 0.0103902645561384, -0.14963970864200088],
        1e-9,
    ),
    ReferenceValues::value(
        2.0,
        &["knuckle.x", "knuckle.y", "knuckle.z"],
        &[-0.023446407957294548, 0.03334631811167892, -0.07902891693668053],
        1e-9,
    ),
    ReferenceValues::value(
        2.0,
        &["strut.x", "strut.y", "strut.z"],
        &[-0.004310148102813156, 0.18903793087810286, 0.5682059299834761],
        1e-9,
    ),
    ReferenceValues::value(
        2.0,
        &["tie_rod.x", "tie_rod.y", "tie_rod.z"],
        &[0.013707739316400147, -0.03584287303373112, 0.08901181535808647],
        1e-9,
    ),
    ReferenceValues::value(
        2.0,
        &["rack.x", "rack.y", "rack.z"],
        &[0.09999999999998814, -0.31004078062845986, 0.24620193825302458],
        1e-9,
    ),
    ReferenceValues::value(2.0, &["front.angle"], &[-1.5014723834887305], 1e-9),
    ReferenceValues::value(2.0, &["rack.vy"], &[-0.2545971857532884], 3.0000000000000004e-9),
    ReferenceValues::value(
        5.0,
        &["arm.x", "arm.y", "arm.z"],
        &[4.041618038900757e-14, 0.14893796749226687, -0.017818020073571812],
        1e-9,
    ),
    ReferenceValues::value(
        5.0,
        &["knuckle.x", "knuckle.y", "knuckle.z"],
        &[-0.0021369242362030234, 0.31118125109103373, 0.1858054151425758],
        1e-9,
    ),
    ReferenceValues::value(
        5.0,
        &["strut.x", "strut.y", "strut.z"],
        &[-0.0005987861169792319, 0.24850462956351788, 0.5659845972668969],
        1e-9,
    ),
    ReferenceValues::value(
        5.0,
        &["tie_rod.x", "tie_rod.y", "tie_rod.z"],
        &[0.1004056772969301, 0.013885812575902455, 0.2289161648309857],
        1e-9,
    ),
    ReferenceValues::value(
        5.0,
        &["rack.x", "rack.y", "rack.z"],
        &[0.09999999999996217, -0.335515545606275, 0.24620193825288572],
        1e-9,
    ),
    ReferenceValues::value(5.0, &["front.angle"], &[-0.11906794229824941], 1e-9),
    ReferenceValues::value(5.0, &["rack.vy"], &[-0.05371330237210142], 3.0000000000000004e-9),
    ReferenceValues::value(
        10.0,
        &["arm.x", "arm.y", "arm.z"],
        &[2.085245069680401e-13, 0.13952319942920843, -0.05507519243057758],
        1.2314604891372483e-9,
    ),
    ReferenceValues::value(
        10.0,
        &["knuckle.x", "knuckle.y", "knuckle.z"],
        &[-0.01517848533140564, 0.2973417005731207, 0.11042343842987326],
        1.2314604891372483e-9,
    ),
    ReferenceValues::value(
        10.0,
        &["strut.x", "strut.y", "strut.z"],
        &[-0.003743591974492953, 0.24216801041112296, 0.5651242231642135],
        1.2314604891372483e-9,
    ),
    ReferenceValues::value(
        10.0,
        &["tie_rod.x", "tie_rod.y", "tie_rod.z"],
        &[0.09852734304549196, 0.046341660217375485, 0.1934692803485354],
        1.2314604891372483e-9,
    ),
    ReferenceValues::value(
        10.0,
        &["rack.x", "rack.y", "rack.z"],
        &[0.0999999999999707, -0.298029160609887, 0.2462019382525781],
        1.2314604891372483e-9,
    ),
    ReferenceValues::value(10.0, &["front.angle"], &[-0.3759624749039974], 1.2314604891372483e-9),
    ReferenceValues::value(10.0, &["rack.vy"], &[-0.10727448263561948], 3.6943814674117448e-9),
];
