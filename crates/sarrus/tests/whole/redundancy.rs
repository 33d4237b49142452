//! Describes which reactions are unique: rank, mobility and the criterion of Wojtyra on mechanisms with redundant constraints, and
//! what is made of reactions that are not unique.

use sarrus::analysis::{CheckOptions, CheckReport, check, check_with};
use sarrus::prelude::*;
use sarrus::solve::{Accel, Equations, HUB_DEGREE, Kkt, Options, Problem, Stage, formulations};
use sarrus::system::columns::{REACTIONS, RowWrench, reaction_rows};
use std::collections::BTreeSet;
use std::sync::Arc;

fn open(text: &str, set: &[(&str, &str)]) -> (Model, Arc<System>) {
    let set = set.iter().map(|(n, v)| (n.to_string(), v.to_string())).collect();
    let options = LoadOptions { set, ..LoadOptions::default() };
    let model = load_str("model.toml", text, &options).unwrap_or_else(|e| panic!("{}", e.render()));
    let system = Arc::new(compile(&model).unwrap());
    (model, system)
}

fn shipped(name: &str) -> (Model, Arc<System>) {
    open(sarrus_zoo::model(name).unwrap(), &[])
}

fn checked(name: &str) -> CheckReport {
    let (model, system) = shipped(name);
    check(&model, &system).unwrap()
}

/// Holds what is known of a mechanism: constraints, rank, mobility, and which components are unique. `m` are torques across
/// the axis of a hinge, in whatever axes.
struct Known {
    model: &'static str,
    constraints: usize,
    rank: usize,
    joints: usize,
    unique: &'static [&'static str],
    not_unique: &'static [&'static str],
    /// Independent directions of each joint's reaction that are not unique.
    directions: usize,
}

const ACROSS: &[&str] = &["fz", "tx", "ty"];
const PLANE: &[&str] = &["fx", "fy"];
const ALL: &[&str] = &["fx", "fy", "fz", "tx", "ty"];

const KNOWN: &[Known] = &[
    Known {
        model: "four_bar_spatial",
        constraints: 20,
        rank: 17,
        joints: 4,
        unique: PLANE,
        not_unique: ACROSS,
        directions: 3,
    },
    Known {
        model: "coupler",
        constraints: 12,
        rank: 11,
        joints: 6,
        unique: &[],
        not_unique: PLANE,
        directions: 1,
    },
    Known {
        model: "coupler_spatial",
        constraints: 30,
        rank: 23,
        joints: 6,
        unique: &[],
        not_unique: ALL,
        directions: 4,
    },
    Known { model: "door", constraints: 10, rank: 5, joints: 2, unique: &[], not_unique: ALL, directions: 5 },
    Known {
        model: "bennett",
        constraints: 20,
        rank: 17,
        joints: 4,
        unique: &[],
        not_unique: ALL,
        directions: 3,
    },
];

#[test]
fn rank_mobility_and_unique_reactions_are_those_of_the_textbooks() {
    for known in KNOWN {
        let (r, name) = (checked(known.model), known.model);
        assert_eq!((r.constraints.rows, r.constraints.rank), (known.constraints, Some(known.rank)), "{name}");
        assert_eq!((r.mobility.here, r.mobility.structural), (Some(1), Some(1)), "{name}");
        assert!(r.assembly_errors.is_empty(), "{name}: {:?}", r.assembly_errors);
        let joints: Vec<&str> = r.reactions.iter().map(|e| e.name.as_str()).collect();
        let expected: Vec<String> = (1..=known.joints).map(|i| format!("J{i}")).collect();
        assert_eq!(joints, expected, "{name}");
        for e in &r.reactions {
            let what = format!("{name} {}: {e:?}", e.name);
            assert_eq!(e.directions_not_unique, known.directions, "{what}");
            assert_eq!(e.unique, known.unique, "{what}");
            // a torque across an oblique axis has a part along z too
            let oblique = name == "bennett" && e.name != "J1";
            let extra: &[&str] = if oblique { &["tz"] } else { &[] };
            assert_eq!(e.not_unique, [known.not_unique, extra].concat(), "{what}");
        }
        let clear = r.uniqueness.unwrap();
        assert!(clear.margin.unwrap() > 1e10, "{name}: {clear:?}");
        let redundant = known.constraints - known.rank;
        let groups = &r.redundant_groups;
        assert_eq!(groups.iter().map(|g| g.redundant).sum::<usize>(), redundant, "{name}: {groups:?}");
        assert!(r.notes.iter().all(|n| !n.contains("uncertain")), "{name}: {:?}", r.notes);
    }
}

/// A loop that a coupler closes twice, and the plane that the third crank repeats.
#[test]
fn each_redundancy_has_its_smallest_set_of_joints() {
    let sets = |name| {
        let sets = checked(name).redundant_sets;
        sets.into_iter().map(|s| (s.elements.join(" "), s.redundant)).collect::<BTreeSet<_>>()
    };
    assert_eq!(sets("door"), BTreeSet::from([("J1 J2".into(), 5)]));
    assert_eq!(sets("four_bar_spatial"), BTreeSet::from([("J1 J2 J3 J4".into(), 3)]));
    // three loops, each with what any planar loop has; together they have one more, as the third crank repeats the plane
    let loops = ["J1 J2 J4 J5", "J2 J3 J5 J6", "J1 J3 J4 J6"];
    assert_eq!(sets("coupler_spatial"), loops.map(|names| (names.into(), 3)).into());
    let all = checked("coupler_spatial").redundant_groups;
    assert_eq!((all.len(), all[0].elements.len(), all[0].redundant), (1, 6, 7), "{all:?}");
    let overconstrained = sets("mcpherson_overconstrained");
    assert_eq!(overconstrained, BTreeSet::from([("front rear".into(), 5)]));
}

#[test]
fn every_reaction_is_unique_where_no_row_is_redundant() {
    for name in ["four_bar", "chain", "mcpherson", "rolling_ball"] {
        let r = checked(name);
        assert!(
            r.reactions.iter().all(|e| e.not_unique.is_empty() && e.directions_not_unique == 0),
            "{name}"
        );
        assert!(!r.reactions.is_empty() && r.uniqueness.is_none() && r.redundant_sets.is_empty(), "{name}");
    }
}

/// A body on a ball joint and two hinges in one line.
const HELD_THRICE: &str = "format = 'sarrus/1'\n\
    [bodies]\nflap = { at = [0.3, 0.1, 0.2], mass = 2, inertia = [0.1, 0.2, 0.25] }\n\
    [joints]\ns = { kind = 'spherical', bodies = ['ground', 'flap'], at = [0, 0, 0.5] }\n\
    a = { kind = 'revolute', bodies = ['ground', 'flap'], at = [0, 0, 0], axis = [0, 0, 1] }\n\
    b = { kind = 'revolute', bodies = ['ground', 'flap'], at = [0, 0, 1], axis = [0, 0, 1] }\n[run]\nt_end = 1\n";

/// A beam across two parallel rails, turned out of the axes of the world, with a second beam below it: of both rails'
/// reactions some are unique, and the pins of the second beam are shared with the rails.
const GANTRY: &str = "format = 'sarrus/1'\nparameters.e = 'unit([3, 1, 2])'\nparameters.u = 'unit(cross([3, 1, 2], [0, 0, 1]))'\n\
    [bodies]\nleft = { at = [0, 0, 0], mass = 2, inertia = [0.1, 0.2, 0.25] }\n\
    right = { at = '2*u', mass = 3, inertia = [0.1, 0.2, 0.2] }\nbeam = { at = 'u', mass = 5, inertia = [1, 2, 2] }\n\
    tie = { at = 'u - 0.3*e', mass = 1, inertia = [0.1, 0.2, 0.2] }\n\
    [joints]\nrail1 = { kind = 'prismatic', bodies = ['ground', 'left'], at = [0, 0, 0], axis = 'e' }\n\
    rail2 = { kind = 'prismatic', bodies = ['ground', 'right'], at = '2*u', axis = 'e' }\n\
    pin1 = { kind = 'revolute', bodies = ['left', 'beam'], at = '0*u', axis = 'cross(e, u)' }\n\
    pin2 = { kind = 'spherical', bodies = ['right', 'beam'], at = '2*u' }\n\
    end1 = { kind = 'spherical', bodies = ['left', 'tie'], at = '-0.3*e' }\n\
    end2 = { kind = 'spherical', bodies = ['right', 'tie'], at = '2*u - 0.3*e' }\n[run]\nt_end = 1\n";

/// Small models, shipped and not.
fn small() -> impl Iterator<Item = (&'static str, Model, Arc<System>)> {
    let own = [("held_thrice", HELD_THRICE), ("gantry", GANTRY)];
    let all = sarrus_zoo::MODELS.iter().map(|(name, text)| (*name, *text)).chain(own);
    all.map(|(name, text)| (name, open(text, &[])))
        .map(|(name, (model, system))| (name, model, system))
        .filter(|(_, _, system)| (1..=60).contains(&system.structure.nc))
}

#[test]
fn a_criterion_by_dense_decomposition_agrees() {
    for (name, model, system) in small() {
        let r = check(&model, &system).unwrap();
        let null = left_null(&model, &system);
        for (joint, e) in r.reactions.iter().filter(|e| e.family == "joint").enumerate() {
            let (map, _) = reactions_of(&model, &system, joint);
            for k in 0..6 {
                let gain = |u: &Vec<f64>| map.iter().map(|r| r.wrench[k] * u[r.row]).sum::<f64>().abs();
                let most = null.iter().map(gain).fold(0.0, f64::max);
                let listed = e.not_unique.iter().any(|c| c == REACTIONS[k]);
                assert_eq!(listed, most > 1e-7, "{name} {}.{}: {most:e}", e.name, REACTIONS[k]);
            }
        }
    }
}

/// Equations at the start.
fn start(
    model: &Model,
    system: &Arc<System>,
) -> (sarrus::system::Mechanism, sarrus::solve::State, Equations) {
    let assembled = sarrus::analysis::assemble(model, system, Default::default()).unwrap();
    let mut mechanism = system.mechanism();
    mechanism.set_discrete(&assembled.discrete);
    let mut eq = Equations::new(&mechanism);
    mechanism.update(&assembled.state, Stage::FORCE, &mut eq);
    (mechanism, assembled.state, eq)
}

/// All u with Jᵀu = 0, by singular values.
fn left_null(model: &Model, system: &Arc<System>) -> Vec<Vec<f64>> {
    null_of(&dense(model, system), &(0..system.structure.nc).collect::<Vec<_>>())
}

/// J by rows.
fn dense(model: &Model, system: &Arc<System>) -> Vec<Vec<f64>> {
    let (_, _, eq) = start(model, system);
    let s = &system.structure;
    let mut J = vec![vec![0.0; s.nv]; s.nc];
    for i in 0..s.nv {
        let (mut x, mut y) = (vec![0.0; s.nv], vec![0.0; s.nc]);
        x[i] = 1.0;
        eq.add_J_mul(s, &x, &mut y);
        (0..s.nc).for_each(|row| J[row][i] = y[row]);
    }
    J
}

/// All u with Σ u_i J_i = 0 that are zero outside `rows`.
fn null_of(J: &[Vec<f64>], rows: &[usize]) -> Vec<Vec<f64>> {
    let (m, n) = (rows.len(), J[0].len());
    let mut svd = sarrus::math::solve::Svd::full(n, m);
    let transposed: Vec<f64> = (0..n).flat_map(|i| rows.iter().map(move |&row| J[row][i])).collect();
    svd.factor(&transposed).unwrap();
    let rank = svd.sigma().iter().filter(|sigma| **sigma > 1e-9).count();
    let spread = |u: &[f64]| {
        let mut all = vec![0.0; J.len()];
        rows.iter().zip(u).for_each(|(&row, u)| all[row] = *u);
        all
    };
    (rank..m).map(|i| spread(svd.right(i))).collect()
}

/// Adds to the orthonormal `basis` what of `u` is outside; returns whether there was any.
fn add_outside(basis: &mut Vec<Vec<f64>>, u: &[f64]) -> bool {
    let mut u = u.to_vec();
    for _ in 0..2 {
        for q in &*basis {
            let c: f64 = q.iter().zip(&u).map(|(x, y)| x * y).sum();
            u.iter_mut().zip(q).for_each(|(u, q)| *u -= c * q);
        }
    }
    let size = u.iter().map(|x| x * x).sum::<f64>().sqrt();
    if size > 1e-7 {
        basis.push(u.into_iter().map(|x| x / size).collect());
    }
    size > 1e-7
}

/// Every set of elements is tried: a set that is listed is dependent, no part of it is, and those that are not listed put
/// smaller ones together.
#[test]
fn listed_sets_are_those_that_trying_all_gives() {
    let mut tried = 0;
    for (name, model, system) in small() {
        let n = system.elements.len();
        if n > 9 {
            continue;
        }
        let J = dense(&model, &system);
        let null = |set: usize| {
            let elements = (0..n).filter(|e| set >> e & 1 == 1).map(|e| &system.elements[e]);
            let rows: Vec<usize> = elements.flat_map(|e| e.start..e.start + e.rows.rows()).collect();
            null_of(&J, &rows)
        };
        let mut sets: Vec<usize> = (1..1 << n).collect();
        sets.sort_by_key(|set| set.count_ones());
        let mut minimal: Vec<(usize, Vec<Vec<f64>>)> = Vec::new();
        for set in sets {
            if minimal.iter().all(|(inside, _)| inside & set != *inside) {
                let vectors = null(set);
                if !vectors.is_empty() {
                    minimal.push((set, vectors));
                }
            }
        }
        let (mut expected, mut spanned) = (BTreeSet::new(), Vec::new());
        for alike in minimal.chunk_by(|a, b| a.0.count_ones() == b.0.count_ones()) {
            let smaller = spanned.clone();
            for (set, vectors) in alike {
                if vectors.iter().any(|u| add_outside(&mut smaller.clone(), u)) {
                    let elements = (0..n).filter(|e| set >> e & 1 == 1);
                    let names: Vec<String> = elements.map(|e| system.elements[e].name.clone()).collect();
                    expected.insert((names, vectors.len()));
                }
                vectors.iter().for_each(|u| {
                    add_outside(&mut spanned, u);
                });
            }
        }
        let r = check(&model, &system).unwrap();
        let found: BTreeSet<_> = r.redundant_sets.into_iter().map(|s| (s.elements, s.redundant)).collect();
        assert_eq!(found, expected, "{name}");
        let all: usize = r.redundant_groups.iter().map(|g| g.redundant).sum();
        assert_eq!(all, null((1 << n) - 1).len(), "{name}: {:?}", r.redundant_groups);
        tried += usize::from(!found.is_empty());
    }
    assert!(tried >= 7, "{tried}");
}

fn listed(r: &CheckReport) -> Vec<(String, usize)> {
    r.redundant_sets.iter().map(|s| (s.elements.join(" "), s.redundant)).collect()
}

/// The two hinges share all they have, and each of them all that the ball joint has.
#[test]
fn a_set_within_a_set_is_listed_alone() {
    let (model, system) = open(HELD_THRICE, &[]);
    let r = check(&model, &system).unwrap();
    assert_eq!(r.constraints.redundant, Some(8));
    assert_eq!(listed(&r), [("s a".into(), 3), ("s b".into(), 3), ("a b".into(), 5)]);
    assert_eq!((r.redundant_groups.len(), r.redundant_groups[0].redundant), (1, 8));
}

#[test]
fn of_hinges_in_one_line_every_pair_is_a_set() {
    for (n, more) in [(3, false), (6, false), (12, true)] {
        let hinges: String = (1..=n)
            .map(|i| format!("h{i} = {{ kind = 'revolute', bodies = ['ground', 'shaft'], at = [0, 0, {i}], axis = [0, 0, 1] }}\n"))
            .collect();
        let text = format!(
            "format = 'sarrus/1'\n[bodies]\nshaft = {{ at = [0, 0, 2], mass = 2, inertia = [0.1, 0.1, 0.2] }}\n\
             [joints]\n{hinges}[run]\nt_end = 1\n"
        );
        let (model, system) = open(&text, &[]);
        let r = check(&model, &system).unwrap();
        let sets = listed(&r);
        let pairs = (1..=n).flat_map(|i| (i + 1..=n).map(move |j| (format!("h{i} h{j}"), 5)));
        let pairs: Vec<_> = pairs.collect();
        if more {
            assert!(sets.iter().all(|set| pairs.contains(set)), "{sets:?}");
            for i in 1..=n {
                let name = format!("h{i}");
                assert!(r.redundant_sets.iter().any(|set| set.elements.contains(&name)), "{name}");
            }
        } else {
            assert_eq!(sets, pairs);
        }
        assert_eq!(r.notes.iter().any(|note| note.contains("more sets")), more, "{n}: {:?}", r.notes);
        assert_eq!(r.redundant_groups[0].redundant, 5 * (n - 1));
    }
}

/// Returns what a report says of a mechanism, whatever its size.
fn said(r: &CheckReport) -> impl PartialEq + std::fmt::Debug + use<> {
    let reactions: Vec<_> = r
        .reactions
        .iter()
        .map(|e| (e.unique.clone(), e.not_unique.clone(), e.directions_not_unique))
        .collect();
    (r.mobility, r.redundancy, r.constraints.rank, reactions, r.redundant_sets.clone(), r.notes.clone())
}

/// Lengths in metres, millimetres and kilometres: the four-bar linkage in space and, with its bars in one line, the
/// parallelogram in the plane.
#[test]
fn a_report_does_not_depend_on_the_size_of_the_mechanism() {
    let spatial = |k: &str| {
        let mut text = sarrus_zoo::model("four_bar_spatial").unwrap().to_owned();
        for (from, to) in [
            ("[0.3, 1, 0]", format!("'{k}*[0.3, 1, 0]'")),
            ("[1.4, 1.2, 0]", format!("'{k}*[1.4, 1.2, 0]'")),
            ("[1.7, 0, 0]", format!("'{k}*[1.7, 0, 0]'")),
            ("radius = 0.02", format!("radius = '0.02*{k}'")),
        ] {
            assert!(text.contains(from));
            text = text.replace(from, &to);
        }
        text
    };
    let in_line = |k: &str| {
        let points = |name: &str, x: usize| format!("{name} = '{k}*[{x}, 0]'\n");
        let points: String = [("A", 0), ("B", 1), ("C", 2), ("D", 1)].map(|(n, x)| points(n, x)).concat();
        format!(
            "format = 'sarrus/1'\nspace = 'planar'\n[points]\n{points}[bodies]\n\
             one = {{ from = 'A', to = 'B', mass = 1 }}\nbar = {{ from = 'B', to = 'C', mass = 1 }}\n\
             two = {{ from = 'D', to = 'C', mass = 1 }}\n[joints]\n\
             A = {{ kind = 'revolute', bodies = ['ground', 'one'], at = 'A' }}\n\
             B = {{ kind = 'revolute', bodies = ['one', 'bar'], at = 'B' }}\n\
             C = {{ kind = 'revolute', bodies = ['bar', 'two'], at = 'C' }}\n\
             D = {{ kind = 'revolute', bodies = ['ground', 'two'], at = 'D' }}\n[run]\nt_end = 1\n"
        )
    };
    let report = |text: String| {
        let (model, system) = open(&text, &[]);
        check(&model, &system).unwrap()
    };
    for of in [&spatial as &dyn Fn(&str) -> String, &in_line] {
        let usual = report(of("1"));
        assert!(usual.redundancy.is_some() && usual.mobility.structural == Some(1), "{usual:?}");
        for k in ["1e-3", "1e3"] {
            assert_eq!(said(&report(of(k))), said(&usual), "{k}");
        }
    }
}

fn reactions_of(model: &Model, system: &Arc<System>, joint: usize) -> (Vec<RowWrench>, Equations) {
    let (mut mechanism, state, eq) = start(model, system);
    let map = mechanism.observe(&state, |at| reaction_rows(system, &eq, at, joint));
    (map, eq)
}

#[test]
fn unique_reactions_are_the_same_in_every_exact_formulation() {
    for name in [
        "four_bar_spatial",
        "coupler",
        "coupler_spatial",
        "door",
        "bennett",
        "sarrus",
        "mcpherson_overconstrained",
    ] {
        let (model, system) = shipped(name);
        let r = check(&model, &system).unwrap();
        let (mut mechanism, state, eq) = start(&model, &system);
        let s = &system.structure;
        let mut expected: Option<(Vec<f64>, f64)> = None;
        let mut made = 0;
        for kind in formulations::KINDS.iter().filter(|k| k.needs.exact && !k.needs.full_rank) {
            let mut formulation = formulations::make(kind.name, &Options::new()).unwrap();
            let mut kkt = Kkt::new(s, &eq, HUB_DEGREE).unwrap();
            let mut accel = Accel::zeros(s);
            formulation
                .accelerations(s, &eq, &mut kkt, &mut accel)
                .unwrap_or_else(|e| panic!("{name} {}: {e}", kind.name));
            let mut unique = Vec::new();
            let mut largest = 0.0_f64;
            for (joint, e) in r.reactions.iter().filter(|e| e.family == "joint").enumerate() {
                let map = mechanism.observe(&state, |at| reaction_rows(&system, &eq, at, joint));
                for k in 0..6 {
                    let value: f64 = map.iter().map(|r| r.wrench[k] * accel.lambda[r.row]).sum();
                    largest = largest.max(value.abs());
                    if e.unique.iter().any(|c| c == REACTIONS[k]) {
                        unique.push(value);
                    }
                }
            }
            // so is the force on every body, whatever the reactions
            let mut force = vec![0.0; s.nv];
            eq.add_Jt_mul(s, &accel.lambda, &mut force);
            unique.extend(force);
            let (first, size) = expected.get_or_insert((unique.clone(), largest));
            for (a, b) in unique.iter().zip(&*first) {
                assert!((a - b).abs() <= 1e-8 * *size, "{name} {}: {a} and {b} of {size}", kind.name);
            }
            made += 1;
        }
        assert!(made > 0, "{name}");
    }
}

/// The Sarrus linkage has one redundancy, and joints that take part in it with some of their components only.
#[test]
fn a_joint_may_have_reactions_of_both_sorts() {
    let r = checked("sarrus");
    assert_eq!(r.constraints.redundant, Some(1));
    assert!(
        r.reactions.iter().all(|e| e.directions_not_unique == 1 && !e.unique.is_empty()),
        "{:?}",
        r.reactions
    );
    assert_eq!(r.redundant_sets.len(), 1);
    assert_eq!(r.redundant_sets[0].elements.len(), 6, "{:?}", r.redundant_sets);
}

#[test]
fn a_hinge_that_gives_way_half_as_far_carries_twice_as_much() {
    let (model, system) = shipped("door");
    let options = CheckOptions { distribute: true, along: false };
    let found = check_with(&model, &system, options, &mut ()).unwrap().distribution.unwrap();
    let weight = 15.0 * 9.81;
    let z = |i: usize| (found.reactions[i].minimum_norm[2], found.reactions[i].distributed[2]);
    // both carry the weight, and what is least in norm knows nothing of stiffness
    assert!((z(0).0 - weight / 2.0).abs() < 1e-6 * weight && (z(1).0 - weight / 2.0).abs() < 1e-6 * weight);
    assert!((z(0).1 - 2.0 / 3.0 * weight).abs() < 1e-7 * weight, "{found:?}");
    assert!((z(1).1 - 1.0 / 3.0 * weight).abs() < 1e-7 * weight, "{found:?}");
    // together they give the motion either way: the force to the axis, and the moment about y at the lower hinge
    for least in [true, false] {
        let values = |i: usize| {
            let r = &found.reactions[i];
            if least { r.minimum_norm.clone() } else { r.distributed.clone() }
        };
        let (a, b) = (values(0), values(1));
        assert!((a[0] + b[0] + 24.0).abs() < 1e-6, "{a:?} {b:?}");
        // the weight acts 0.4 m out, the force to the axis through the middle, half a metre up
        let moment = a[4] + b[4] + b[0] * 1.0 + 0.4 * weight + 0.5 * 24.0;
        assert!(moment.abs() < 1e-5, "{moment}");
    }
    assert!(found.residual < 1e-8, "{}", found.residual);
}

/// In the moments of the door the closed form of two springs in series with the tilt: unknown u along x, φ about y.
#[test]
fn distribution_is_that_of_a_rigid_body_on_springs() {
    let (model, system) = shipped("door");
    let options = CheckOptions { distribute: true, along: false };
    let found = check_with(&model, &system, options, &mut ()).unwrap().distribution.unwrap();
    // forces of springs on the body: -k (u + z φ), torques -κ φ, which together are what the motion needs
    let (k, kappa) = ([1e7, 0.5e7], 1e5);
    let weight = 15.0 * 9.81;
    // Σ fx = -24; Σ ty + Σ z fx = -0.4 weight - 12, as moments about the lower hinge
    let (fx, my) = (-24.0, -(0.4 * weight + 12.0));
    let (a, b, c) = (k[0] + k[1], k[1], k[1] + 2.0 * kappa);
    let det = a * c - b * b;
    let (u, phi) = (-(c * fx - b * my) / det, -(a * my - b * fx) / det);
    for (i, z) in [0.0, 1.0].into_iter().enumerate() {
        let expected = -k[i] * (u + z * phi);
        let value = found.reactions[i].distributed[0];
        assert!((value - expected).abs() < 1e-6 * expected.abs(), "J{}: {value}, not {expected}", i + 1);
        let torque = found.reactions[i].distributed[4];
        assert!(
            (torque + kappa * phi).abs() < 1e-6 * torque.abs(),
            "J{}: {torque}, not {}",
            i + 1,
            -kappa * phi
        );
    }
}

/// Two hinges along an oblique axis, each with a compliance of its own in every direction: a force along the axis is
/// shared by the third, and the hinge without one is rigid.
#[test]
fn compliance_is_in_the_axes_of_the_joint() {
    let text = |second: &str| {
        format!(
            "format = 'sarrus/1'\ngravity = [0, 0, 0]\nparameters.e = 'unit([1, 2, 2])'\n\
             [bodies]\nflap = {{ at = [0.5, 0, 0], mass = 2, inertia = [0.1, 0.2, 0.2] }}\n\
             [joints]\na = {{ kind = 'revolute', bodies = ['ground', 'flap'], at = [0, 0, 0], axis = 'e', \
             compliance = {{ force = [1e-5, 1e-8, 3e-7], torque = 1e-5 }} }}\n\
             b = {{ kind = 'revolute', bodies = ['ground', 'flap'], at = 'e', axis = 'e'{second} }}\n\
             [forces]\npush = {{ kind = 'force', body = 'flap', force = '30*e', at = [0, 0, 0] }}\n[run]\nt_end = 1\n"
        )
    };
    let e = [1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0];
    for (second, share) in [(", compliance = { force = [1e-8, 1e-5, 1e-7], torque = 1e-5 }", 0.25), ("", 0.0)]
    {
        let (model, system) = open(&text(second), &[]);
        let options = CheckOptions { distribute: true, along: false };
        let found = check_with(&model, &system, options, &mut ()).unwrap().distribution.unwrap();
        let along = |i: usize| -> f64 { (0..3).map(|k| e[k] * found.reactions[i].distributed[k]).sum() };
        // what is rigid gives way by a millionth of a mean of the others
        assert!((along(0) + 30.0 * share).abs() < 1e-3, "{} of 30 N, not {share}", along(0));
        assert!((along(0) + along(1) + 30.0).abs() < 1e-6, "{} and {}", along(0), along(1));
    }
}

#[test]
fn without_compliance_there_is_nothing_to_distribute_by() {
    let (model, system) = shipped("coupler");
    let error =
        check_with(&model, &system, CheckOptions { distribute: true, along: false }, &mut ()).unwrap_err();
    assert!(error.to_string().contains("compliance"), "{error}");
}

/// The row of parallelograms in space keeps its sets whatever its length.
#[test]
fn every_loop_of_a_long_mechanism_is_found() {
    let n = 300;
    let (model, system) = open(sarrus_zoo::model("n_four_bar_spatial").unwrap(), &[("n", "300")]);
    let r = check(&model, &system).unwrap();
    assert_eq!((r.constraints.rows, r.constraints.rank), (15 * n + 5, Some(12 * n + 5)));
    assert_eq!(r.constraints.rank_method, "pivots of the factors");
    // the root of a pivot, to be compared with singular values
    assert!((r.constraints.rank_tolerance.unwrap() - 1e-5).abs() < 1e-12, "{:?}", r.constraints);
    assert_eq!((r.mobility.here, r.mobility.structural), (Some(1), Some(1)));
    assert_eq!(r.redundant_sets.len(), n);
    for set in &r.redundant_sets {
        assert_eq!((set.redundant, set.elements.len()), (3, 4), "{set:?}");
    }
    let loop_of =
        |i: usize| BTreeSet::from([format!("A{}", i - 1), format!("A{i}"), format!("L{i}"), format!("R{i}")]);
    let found: BTreeSet<BTreeSet<String>> =
        r.redundant_sets.iter().map(|s| s.elements.iter().cloned().collect()).collect();
    assert_eq!(found, (1..=n).map(loop_of).collect());
    assert!(r.reactions.iter().all(|e| e.unique == PLANE && e.not_unique == ACROSS));
    assert_eq!((r.redundant_groups.len(), r.redundant_groups[0].redundant), (1, 3 * n));
    // the estimate that knows nothing of pivots
    let clear = r.uniqueness.unwrap();
    assert!((clear.dimension - 3.0 * n as f64).abs() < 4.0 * clear.dimension_error, "{clear:?}");
}

/// All bars of the planar row in one line: each loop is singular there, and only there.
#[test]
fn a_singular_position_is_told_from_redundancy() {
    let text = sarrus_zoo::model("n_four_bar").unwrap();
    let flat = text
        .replace("to = [\"i\", 1], mass", "to = [\"i + 1\", 0], mass")
        .replace(
            "from = [\"i - 1\", 1], to = [\"i\", 1], mass",
            "from = [\"i\", 0], to = [\"i + 1\", 0], mass",
        )
        .replace("at = [\"i - 1\", 1]", "at = [\"i\", 0]")
        .replace("at = [\"i\", 1]", "at = [\"i + 1\", 0]");
    let (model, system) = open(&flat, &[("n", "1")]);
    let r = check(&model, &system).unwrap();
    assert_eq!((r.mobility.here, r.mobility.structural), (Some(2), Some(1)), "{r:?}");
    assert_eq!(r.redundancy, Some(sarrus::analysis::Redundancy::Momentary));
    assert!(r.reactions.iter().all(|e| e.not_unique == ["fx"] && e.unique == ["fy"]), "{:?}", r.reactions);
}

#[test]
fn along_a_motion_the_same_reactions_stay_unique_or_not() {
    let (model, system) = shipped("four_bar_spatial");
    let r = check_with(&model, &system, CheckOptions { along: true, distribute: false }, &mut ()).unwrap();
    let along = r.along.unwrap();
    assert!(along.samples >= 50 && along.status == "completed" && along.span == [0.0, 3.0], "{along:?}");
    assert_eq!((along.rank.len(), along.rank[0].rank), (1, Some(17)), "{:?}", along.rank);
    assert_eq!(along.always.len(), 12, "{:?}", along.always);
    assert!(along.at_times.is_empty(), "{:?}", along.at_times);
}

/// A crank of two coaxial hinges rotates about x: its torque across is in y and z only at times.
#[test]
fn along_a_motion_components_in_world_axes_come_and_go() {
    let text = "format = 'sarrus/1'\ngravity = [0, 0, 0]\n\
        [bodies]\narm = { at = [0.5, 0, 0], mass = 1, inertia = [0.1, 0.1, 0.1] }\nflap = { at = [1, 0.2, 0], mass = 1, inertia = [0.1, 0.1, 0.1] }\n\
        [joints]\nbase = { kind = 'revolute', bodies = ['ground', 'arm'], at = [0, 0, 0], axis = [0, 0, 1] }\n\
        a = { kind = 'revolute', bodies = ['arm', 'flap'], at = [1, 0, 0], axis = [1, 0, 0] }\n\
        b = { kind = 'revolute', bodies = ['arm', 'flap'], at = [1.5, 0, 0], axis = [1, 0, 0] }\n\
        [initial]\nbase.rate = 1\n[run]\nt_end = 1\n";
    let (model, system) = open(text, &[]);
    let r = check_with(&model, &system, CheckOptions { along: true, distribute: false }, &mut ()).unwrap();
    let along = r.along.unwrap();
    let times: BTreeSet<&str> = along.at_times.iter().map(|(name, _)| name.as_str()).collect();
    // about x at the start, and about y as well once the arm has turned
    assert_eq!(times, BTreeSet::from(["a.tx", "b.tx"]), "{along:?}");
    assert!(along.at_times.iter().all(|(_, part)| *part > 0.99), "{:?}", along.at_times);
    assert!(along.always.contains(&"a.ty".to_string()) && !along.always.contains(&"base.fx".to_string()));
}

#[test]
fn a_run_says_which_of_its_columns_are_not_unique() {
    let (model, system) = shipped("four_bar_spatial");
    let run = simulate(&model, &system, &Simulate { record: false, ..Simulate::default() }, &mut ()).unwrap();
    let expected: Vec<String> =
        (1..=4).flat_map(|i| ACROSS.iter().map(move |c| format!("J{i}.{c}"))).collect();
    assert_eq!(run.report.reactions.not_unique, expected);
    assert!(run.report.notes.iter().any(|n| n.contains("not unique")), "{:?}", run.report.notes);
    let (model, system) = shipped("four_bar");
    let run = simulate(&model, &system, &Simulate { record: false, ..Simulate::default() }, &mut ()).unwrap();
    assert!(run.report.reactions.not_unique.is_empty());
    assert!(run.report.notes.iter().all(|n| !n.contains("not unique")));
}

/// Three cranks carry one coupler, and the third is longer by a fiftieth: rates are free where all stand upright, and no position near it is another.
/// A pendulum beside them does not change that, whatever its size.
#[test]
fn parts_that_share_no_body_are_judged_each_by_itself() {
    let cranks = |l: f64, d: f64, more: &str| {
        format!(
            "space = 'planar'\ngravity = [0, 0]
            [bodies]
            c1 = {{ from = [0, 0], to = [0, {l}], mass = 1 }}
            c2 = {{ from = [{l}, 0], to = [{l}, {l}], mass = 1 }}
            c3 = {{ from = [{0}, {1}], to = [{0}, {l}], mass = 1 }}
            k = {{ from = [0, {l}], to = [{0}, {l}], mass = 1 }}
            [joints]
            A = {{ kind = 'revolute', bodies = ['ground', 'c1'], at = [0, 0] }}
            B = {{ kind = 'revolute', bodies = ['ground', 'c2'], at = [{l}, 0] }}
            C = {{ kind = 'revolute', bodies = ['ground', 'c3'], at = [{0}, {1}] }}
            D = {{ kind = 'revolute', bodies = ['c1', 'k'], at = [0, {l}] }}
            E = {{ kind = 'revolute', bodies = ['c2', 'k'], at = [{l}, {l}] }}
            F = {{ kind = 'revolute', bodies = ['c3', 'k'], at = [{0}, {l}] }}
            {more}",
            2.0 * l,
            -d * l
        )
    };
    let pendulum = |l: f64| {
        format!(
            "[bodies.w]\nfrom = [50, 0]\nto = [{}, 0]\nmass = 100\n[joints.W]\nkind = 'revolute'\nbodies = ['ground', 'w']\nat = [50, 0]",
            50.0 + l
        )
    };
    for (l, d, here, there) in
        [(1.0, 0.02, 1, 0), (1.0, 0.1, 1, 0), (0.1, 0.05, 1, 0), (1.0, 0.0, 1, 1), (0.1, 0.0, 1, 1)]
    {
        for (more, free) in [(String::new(), 0), (pendulum(20.0), 1), (pendulum(0.1), 1)] {
            let text = format!("format = 'sarrus/1'\n{}", cranks(l, d, &more));
            let (model, system) = open(&text, &[]);
            let found = check(&model, &system).unwrap().mobility;
            assert_eq!((found.here, found.structural), (Some(here + free), Some(there + free)), "{text}");
        }
    }
}
