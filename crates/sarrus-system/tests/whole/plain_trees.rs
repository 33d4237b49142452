//! Trees in the plane, and those of plain joints in space, have recursions of their own: against the general ones, which know nothing of
//! either.

use sarrus_io::{LoadOptions, load_str};
use sarrus_solve::{Chart, Equations, Problem, Stage, State};
use sarrus_system::{System, Tree, TreeDynamics, compile};
use std::sync::Arc;

use crate::worlds::Numbers;

fn system(text: &str) -> Arc<System> {
    let text = format!("format = 'sarrus/1'\n{text}");
    let model = load_str("test.toml", &text, &LoadOptions::default())
        .unwrap_or_else(|e| panic!("{text}\n{}", e.render()));
    Arc::new(compile(&model).unwrap_or_else(|_| panic!("{text}")))
}

/// Bodies in the plane here and there, each on one before it or on nothing, by a joint of a random kind, either way round, that counts
/// either way.
fn planar_tree(n: usize, numbers: &mut Numbers) -> String {
    let mut text = String::from("space = 'planar'\ngravity = [0.7, -9.81]\n");
    let mut at: Vec<[f64; 2]> = vec![[0.0; 2]];
    for i in 1..=n {
        let position = [2.0 * numbers.next(), 2.0 * numbers.next()];
        at.push(position);
        let (mass, inertia) = (1.0 + 0.5 * numbers.next(), 0.2 + 0.1 * numbers.next());
        let pick = |x: f64, n: usize| ((0.5 + 0.5 * x) * n as f64) as usize % n;
        let kind = pick(numbers.next(), 8);
        if kind == 7 {
            text += &format!("bodies.p{i} = {{ kind = 'point', at = {position:?}, mass = {mass} }}\n");
        }
        text += &format!(
            "bodies.b{i} = {{ at = {position:?}, angle = {}, mass = {mass}, inertia = {inertia}, com = [{}, {}] }}\n",
            numbers.next(),
            0.3 * numbers.next(),
            0.3 * numbers.next()
        );
        let parent = pick(numbers.next(), i);
        let first = if parent == 0 { "ground".to_string() } else { format!("b{parent}") };
        let pair = if numbers.next() > 0.0 {
            format!("['{first}', 'b{i}']")
        } else {
            format!("['b{i}', '{first}']")
        };
        let point = [at[parent][0] + numbers.next(), at[parent][1] + numbers.next()];
        let more = match kind {
            0 | 1 => "kind = 'revolute'",
            2 => "kind = 'revolute', sense = 'against'",
            3 | 4 => "kind = 'prismatic', axis = [2, -1]",
            5 => "kind = 'fixed'",
            _ => continue,
        };
        text += &format!("joints.j{i} = {{ {more}, bodies = {pair}, at = {point:?} }}\n");
    }
    text
}

/// The same in space.
fn spatial_tree(n: usize, numbers: &mut Numbers) -> String {
    let mut text = String::from("gravity = [0.7, 1.3, -9.81]\n");
    let mut at: Vec<[f64; 3]> = vec![[0.0; 3]];
    for i in 1..=n {
        let position = [2.0 * numbers.next(), 2.0 * numbers.next(), 2.0 * numbers.next()];
        at.push(position);
        let mass = 1.0 + 0.5 * numbers.next();
        let pick = |x: f64, n: usize| ((0.5 + 0.5 * x) * n as f64) as usize % n;
        let kind = pick(numbers.next(), 8);
        if kind == 7 {
            text += &format!("bodies.p{i} = {{ kind = 'point', at = {position:?}, mass = {mass} }}\n");
        }
        let mut own = || [numbers.next(), numbers.next(), 1.0 + numbers.next()];
        text += &format!(
            "bodies.b{i} = {{ at = {position:?}, orientation = {{ axis = {:?}, angle = 0.7 }}, mass = {mass}, inertia = [0.2, 0.3, 0.25], \
             com = {:?} }}\n",
            own(),
            own().map(|x| 0.3 * x),
        );
        let parent = pick(numbers.next(), i);
        let first = if parent == 0 { "ground".to_string() } else { format!("b{parent}") };
        let pair = if numbers.next() > 0.0 {
            format!("['{first}', 'b{i}']")
        } else {
            format!("['b{i}', '{first}']")
        };
        let point = at[parent].map(|x| x + numbers.next());
        let axis = [numbers.next(), numbers.next(), 1.0 + numbers.next()];
        let more = match kind {
            0 | 1 => format!("kind = 'revolute', axis = {axis:?}"),
            2 | 3 => format!("kind = 'prismatic', axis = {axis:?}"),
            4 => "kind = 'spherical'".into(),
            5 => "kind = 'fixed'".into(),
            _ => continue,
        };
        text += &format!("joints.j{i} = {{ {more}, bodies = {pair}, at = {point:?} }}\n");
    }
    text
}

fn close(what: &str, a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len(), "{what}");
    let size = a.iter().chain(b).fold(1.0_f64, |m, x| m.max(x.abs()));
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() <= tolerance * size, "{what}, entry {i}: {x} against {y}");
    }
}

fn random_state(tree: &Tree, start: &State, numbers: &mut Numbers) -> State {
    let mut s = start.clone();
    s.q.iter_mut().for_each(|q| *q += 2.0 * numbers.next());
    tree.normalize(&mut s.q);
    s.v.iter_mut().for_each(|v| *v = 2.0 * numbers.next());
    s
}

/// ẏ, M and c of both recursions. Of some thirty bodies of like mass the mass matrix has a condition of 1e4 or so.
#[test]
fn the_recursions_of_plain_trees_agree_with_the_general_ones() {
    for seed in 1..24 {
        let mut numbers = Numbers(seed);
        let n = 4 + 2 * (seed as usize / 2);
        let text = if seed % 2 == 0 { planar_tree(n, &mut numbers) } else { spatial_tree(n, &mut numbers) };
        let system = system(&text);
        let mut tree = Tree::new(&system, &system.discrete).unwrap();
        let mut dynamics = TreeDynamics::new(&system).unwrap();
        let (mut mechanism, start) = (system.mechanism(), dynamics.start());
        let (mut eq, mut bodies) = (Equations::new(&mechanism), system.start());
        for _ in 0..3 {
            let s = random_state(&tree, &start, &mut numbers);
            let n = s.v.len();
            let vector = || vec![0.0; n];
            let [mut plain, mut general, mut falling] = [vector(), vector(), vector()];
            tree.expand(&s, &mut bodies);
            mechanism.update(&bodies, Stage::LOADS, &mut eq);
            tree.accelerations(&eq.f, &mut plain);
            tree.forward_dynamics(&eq.f, None, &mut general);
            close(&text, &plain, &general, 1e-11);
            assert!(mechanism.has_only_weight() && tree.gravity_accelerations(&s, &mut falling), "{text}");
            close(&text, &falling, &general, 1e-11);

            let [mut M, mut expected] = [vec![0.0; n * n], vec![0.0; n * n]];
            dynamics.mass_matrix(&s, &mut M);
            tree.mass_matrix(&mut expected);
            close(&text, &M, &expected, 1e-13);
            let rates: Vec<f64> = (0..n).map(|_| 3.0 * numbers.next()).collect();
            let [mut tau, mut expected, mut back] = [vector(), vector(), vector()];
            dynamics.inverse_dynamics(&s, &rates, &mut tau);
            tree.inverse_dynamics(&eq.f, Some(&rates), &mut expected);
            close(&text, &tau, &expected, 1e-12);
            dynamics.bias(&s, &mut tau);
            tree.inverse_dynamics(&eq.f, None, &mut expected);
            close(&text, &tau, &expected, 1e-12);
            // M ẏ + c = τ, with efforts along every degree of freedom
            let product = |i: usize| (0..n).map(|j| M[i * n + j] * rates[j]).sum::<f64>();
            let efforts: Vec<f64> = (0..n).map(|i| tau[i] + product(i)).collect();
            dynamics.forward_dynamics(&s, &efforts, &mut back);
            close(&text, &back, &rates, 1e-10);
        }
    }
}

/// Forces that are no weight: each body is pushed and turned somehow.
#[test]
fn what_is_pushed_moves_as_by_the_general_recursions_and_its_speeds_are_read_again() {
    for seed in 1..24 {
        let mut numbers = Numbers(100 + seed);
        let n = 6 + seed as usize / 2;
        let text = if seed % 2 == 0 { planar_tree(n, &mut numbers) } else { spatial_tree(n, &mut numbers) };
        let system = system(&text);
        let mut tree = Tree::new(&system, &system.discrete).unwrap();
        let mut start = State::zeros(tree.structure());
        tree.compress(&system.start(), &mut start);
        let (s, mut bodies) = (random_state(&tree, &start, &mut numbers), system.start());
        let f: Vec<f64> = bodies.v.iter().map(|_| 5.0 * numbers.next()).collect();
        let [mut plain, mut general, mut read] = [s.v.clone(), s.v.clone(), s.v.clone()];
        tree.expand(&s, &mut bodies);
        tree.accelerations(&f, &mut plain);
        tree.forward_dynamics(&f, None, &mut general);
        close(&text, &plain, &general, 1e-11);
        // any accelerations, also those that joints do not allow: the part along them
        let vdot: Vec<f64> = bodies.v.iter().map(|_| 5.0 * numbers.next()).collect();
        Chart::speed_rates(&mut tree, &vdot, &mut read);
        tree.speed_rates(&vdot, &mut general);
        close(&text, &read, &general, 1e-13);
    }
}

/// A state is evaluated once, for all callers and in any order; another one is evaluated anew.
#[test]
fn what_was_placed_by_one_recursion_is_there_for_the_others() {
    for make in [planar_tree, spatial_tree] {
        let mut numbers = Numbers(7);
        let system = system(&make(12, &mut numbers));
        let mut tree = Tree::new(&system, &system.discrete).unwrap();
        let mut start = State::zeros(tree.structure());
        tree.compress(&system.start(), &mut start);
        let [a, b] = [(); 2].map(|()| random_state(&tree, &start, &mut numbers));
        let (mut bodies, f) = (system.start(), vec![1.0; system.structure.nv]);
        let mut inverse = |tree: &mut Tree, s: &State| {
            tree.expand(s, &mut bodies);
            let mut tau = s.v.clone();
            tree.inverse_dynamics(&f, None, &mut tau);
            (bodies.clone(), tau)
        };
        let (of_a, of_b) = (inverse(&mut tree, &a), inverse(&mut tree, &b));
        assert!(of_a != of_b);
        let mut ydot = a.v.clone();
        assert!(tree.gravity_accelerations(&b, &mut ydot));
        assert_eq!(inverse(&mut tree, &a), of_a);
        assert!(tree.gravity_accelerations(&b, &mut ydot));
        assert_eq!(inverse(&mut tree, &b), of_b);
    }
}
