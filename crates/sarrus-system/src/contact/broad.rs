//! Describes which pairs of surfaces may touch, without checking all of them.
//!
//! Boxes along the world's axes, grown by a margin m, are sorted along the axis on which their middles spread most; a pair is a candidate if
//! its boxes meet. As long as no surface has left its box grown by m/2, all pairs that are nearer than m are candidates, and nothing
//! is done anew. Surfaces without end are held against each box; those that move are candidates with all.
//!
//! Cost: n boxes at every look; n log n and the pairs that overlap along one axis when they are made anew. Surfaces of one size in a
//! cube of n of them overlap n^(5/3) times along an axis, links of a straight chain n times. A few huge ones among many small ones are
//! fine, all alike at one point along the axis are not.
//!
//! Nothing is allocated unless there are more candidates than ever before. The order of pairs is that of their numbers, whatever the
//! motion was.

use super::geometry::bounds::{Aabb, bounds, clearance};
use super::surface::{Geometry, Surface};
use sarrus_math::Pose;

/// Candidates, and where the surfaces were when they were found.
#[derive(Clone, Debug, Default)]
pub struct Broad {
    margin: f64,
    planar: bool,
    /// Tight, when the pairs were found.
    boxes: Vec<Aabb>,
    /// Surfaces with an end, along the axis.
    order: Vec<u32>,
    /// Surfaces without, with the pose of their body then, and whether it has ever moved.
    walls: Vec<(u32, Pose, bool)>,
    pairs: Vec<[u32; 2]>,
    tested: u64,
    built: u64,
}

fn is_wall(surface: &Surface) -> bool {
    matches!(surface.geometry, Geometry::Plane | Geometry::HalfSpace | Geometry::Channel { .. })
}

impl Broad {
    /// No candidates yet. All pairs nearer than `margin` \[m\] will be: more of it means more candidates, found anew less often.
    pub fn new(margin: f64, planar: bool) -> Self {
        Broad { margin, planar, ..Broad::default() }
    }

    /// Candidates, each with the smaller number first, in ascending order.
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// Returns how far ahead it looks \[m\].
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// Number of pairs of boxes that were compared so far.
    pub fn tested(&self) -> u64 {
        self.tested
    }

    /// Returns how often the candidates were found anew.
    pub fn built(&self) -> u64 {
        self.built
    }

    /// Looks whether the candidates still hold, and finds them anew if not, which it returns.
    ///
    /// `surface` gives surface i of `count` and the number of its body, the index of `poses`; these are always the same ones.
    /// `allowed` says which pairs may touch at all; those of one body never do.
    pub fn update<'a>(
        &mut self,
        count: usize,
        surface: impl Fn(usize) -> (&'a Surface, usize),
        poses: &[Pose],
        allowed: impl Fn(usize, usize) -> bool,
    ) -> bool {
        let now = |i: usize| {
            let (surface, body) = surface(i);
            bounds(surface, &poses[body])
        };
        if self.boxes.len() == count && self.holds(count, &surface, poses, now) {
            return false;
        }
        self.find(count, &surface, poses, now, &allowed);
        true
    }

    /// The same for boxes that hold surfaces over an interval of time, at whose start bodies have `poses`; `moves` says which move in it.
    /// Boxes that have become much smaller are taken anew too.
    pub fn update_swept<'a>(
        &mut self,
        boxes: &[Aabb],
        surface: impl Fn(usize) -> (&'a Surface, usize),
        poses: &[Pose],
        moves: impl Fn(usize) -> bool,
        allowed: impl Fn(usize, usize) -> bool,
    ) -> bool {
        let count = boxes.len();
        let mut known = self.boxes.len() == count;
        for (wall, _, moved) in &mut self.walls {
            if !*moved && moves(surface(*wall as usize).1) {
                *moved = true;
                known = false;
            }
        }
        let wide = |b: &Aabb| (0..3).map(|i| b.high[i] - b.low[i]).fold(0.0, f64::max);
        let fits = |(old, new): (&Aabb, &Aabb)| !(wide(old) > wide(new) + 2.0 * self.margin);
        known = known && self.boxes.iter().zip(boxes).all(fits);
        if known && self.holds(count, &surface, poses, |i| boxes[i]) {
            return false;
        }
        let first = self.boxes.len() != count;
        self.find(count, &surface, poses, |i| boxes[i], &allowed);
        if first && self.walls.iter().any(|(wall, ..)| moves(surface(*wall as usize).1)) {
            return self.update_swept(boxes, surface, poses, moves, allowed);
        }
        true
    }

    /// Finds the candidates of boxes `now`.
    fn find<'a>(
        &mut self,
        count: usize,
        surface: &impl Fn(usize) -> (&'a Surface, usize),
        poses: &[Pose],
        now: impl Fn(usize) -> Aabb,
        allowed: &impl Fn(usize, usize) -> bool,
    ) {
        self.built += 1;
        self.insert(count, surface, poses, now);
        self.pairs.clear();
        self.sweep(surface, allowed);
        self.against_walls(count, surface, poses, allowed);
        self.pairs.sort_unstable();
    }

    fn holds<'a>(
        &mut self,
        count: usize,
        surface: &impl Fn(usize) -> (&'a Surface, usize),
        poses: &[Pose],
        now: impl Fn(usize) -> Aabb,
    ) -> bool {
        let mut still = true;
        for (wall, then, moves) in &mut self.walls {
            let now = &poses[surface(*wall as usize).1];
            if !*moves && now != then {
                // from now on it is a candidate with all
                *moves = true;
                still = false;
            }
        }
        still
            && (0..count)
                .all(|i| is_wall(surface(i).0) || self.boxes[i].grown(0.5 * self.margin).contains(&now(i)))
    }

    /// Boxes, and which are along the axis.
    fn insert<'a>(
        &mut self,
        count: usize,
        surface: &impl Fn(usize) -> (&'a Surface, usize),
        poses: &[Pose],
        now: impl Fn(usize) -> Aabb,
    ) {
        let first = self.boxes.len() != count;
        if first {
            self.order.clear();
            self.walls.clear();
            for i in 0..count {
                let (surface, body) = surface(i);
                if is_wall(surface) {
                    self.walls.push((i as u32, poses[body], false));
                } else {
                    self.order.push(i as u32);
                }
            }
        }
        self.boxes.clear();
        self.boxes.extend((0..count).map(now));
        for (wall, then, _) in &mut self.walls {
            *then = poses[surface(*wall as usize).1];
        }
    }

    /// Sort and sweep along the axis of largest spread \[Ericson2005, section 7.5\].
    fn sweep<'a>(
        &mut self,
        surface: &impl Fn(usize) -> (&'a Surface, usize),
        allowed: &impl Fn(usize, usize) -> bool,
    ) {
        let (boxes, margin) = (&self.boxes, self.margin);
        let axis = widest(boxes, &self.order);
        let low = |i: u32| boxes[i as usize].low[axis];
        self.order.sort_unstable_by(|i, j| low(*i).total_cmp(&low(*j)).then(i.cmp(j)));
        for (k, i) in self.order.iter().enumerate() {
            let grown = boxes[*i as usize].grown(2.0 * margin);
            for j in &self.order[k + 1..] {
                // one that is no number keeps all that follow
                if low(*j) > grown.high[axis] {
                    break;
                }
                self.tested += 1;
                let (i, j) = (*i as usize, *j as usize);
                if grown.meets(&boxes[j]) && surface(i).1 != surface(j).1 && allowed(i.min(j), i.max(j)) {
                    self.pairs.push([i.min(j) as u32, i.max(j) as u32]);
                }
            }
        }
    }

    fn against_walls<'a>(
        &mut self,
        count: usize,
        surface: &impl Fn(usize) -> (&'a Surface, usize),
        poses: &[Pose],
        allowed: &impl Fn(usize, usize) -> bool,
    ) {
        for (w, _, moves) in &self.walls {
            let w = *w as usize;
            let (wall, body) = surface(w);
            for i in 0..count {
                let (other, of) = surface(i);
                if of == body || is_wall(other) {
                    continue;
                }
                self.tested += 1;
                let near = *moves
                    || !(clearance(wall, &poses[body], self.planar, &self.boxes[i]) > 2.0 * self.margin);
                if near && allowed(i.min(w), i.max(w)) {
                    self.pairs.push([i.min(w) as u32, i.max(w) as u32]);
                }
            }
        }
    }
}

/// The axis along which the middles have the largest variance.
fn widest(boxes: &[Aabb], order: &[u32]) -> usize {
    let n = order.len().max(1) as f64;
    let spread = [0, 1, 2].map(|axis| {
        let at = |i: &u32| 0.5 * (boxes[*i as usize].low[axis] + boxes[*i as usize].high[axis]);
        let mean = order.iter().map(at).sum::<f64>() / n;
        order.iter().map(|i| (at(i) - mean).powi(2)).sum::<f64>()
    });
    (1..3).fold(0, |best, axis| if spread[axis] > spread[best] { axis } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use sarrus_math::{Mat3, Vec3};

    fn part(geometry: Geometry) -> Surface {
        Surface { geometry, p: [0.0; 3], rot: Mat3::identity() }
    }

    fn at(p: [f64; 3]) -> Pose {
        Pose { p: Vec3(p), ..Pose::identity() }
    }

    fn update(broad: &mut Broad, parts: &[Surface], poses: &[Pose]) -> bool {
        broad.update(parts.len(), |i| (&parts[i], i), poses, |_, _| true)
    }

    /// Every pair nearer than the margin, found the long way.
    fn all_near(parts: &[Surface], poses: &[Pose], margin: f64) -> Vec<[u32; 2]> {
        let mut near = Vec::new();
        for i in 0..parts.len() {
            for j in i + 1..parts.len() {
                let (a, b) = (bounds(&parts[i], &poses[i]), bounds(&parts[j], &poses[j]));
                let walls = [i, j].map(|k| is_wall(&parts[k]));
                let meets = match walls {
                    [true, true] => false,
                    [true, false] => clearance(&parts[i], &poses[i], false, &b) <= margin,
                    [false, true] => clearance(&parts[j], &poses[j], false, &a) <= margin,
                    [false, false] => a.grown(margin).meets(&b),
                };
                if meets {
                    near.push([i as u32, j as u32]);
                }
            }
        }
        near
    }

    fn position() -> impl Strategy<Value = [f64; 3]> {
        prop::array::uniform3(-1.0..1.0f64)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

        /// Clouds that drift: none that is near is missed, none is there that was farther than boxes and margins reach.
        #[test]
        fn all_near_pairs_are_candidates(cloud in prop::collection::vec((position(), 0.02..0.3f64, position()), 2..60)) {
            let margin = 0.1;
            let mut parts = vec![part(Geometry::HalfSpace), part(Geometry::Channel { half: 0.8, tube: true })];
            for (i, (_, size, _)) in cloud.iter().enumerate() {
                let half = *size;
                parts.push(part(match i % 3 {
                    0 => Geometry::Ball { radius: half },
                    1 => Geometry::Capsule { half, radius: 0.3 * half },
                    _ => Geometry::Box { half: [half, 0.5 * half, 0.2 * half] },
                }));
            }
            let mut broad = Broad::new(margin, false);
            let mut tests = 0;
            for step in 0..40 {
                let mut poses = vec![Pose::identity(); 2];
                for (p, _, v) in &cloud {
                    let s = 0.01 * step as f64;
                    let rotation = sarrus_math::quat_from_rotation_vector(&v.map(|x| s * x));
                    poses.push(Pose::from_quat([0, 1, 2].map(|i| p[i] + s * v[i]), rotation));
                }
                let anew = update(&mut broad, &parts, &poses);
                tests += 1;
                let near = all_near(&parts, &poses, margin);
                prop_assert!(near.iter().all(|pair| broad.pairs().binary_search(pair).is_ok()));
                prop_assert!(broad.pairs().windows(2).all(|w| w[0] < w[1]));
                if anew {
                    prop_assert_eq!(broad.pairs(), &all_near(&parts, &poses, 2.0 * margin)[..]);
                }
            }
            // 0.4 of way at most takes fewer than ten halves of the margin
            prop_assert!(broad.built() < tests / 2);
        }
    }

    /// n spheres in a cube: twice as many along each edge must not square the work.
    #[test]
    fn spheres_in_a_cube_take_fewer_tests_than_all_pairs() {
        let tests = |n: usize| {
            let parts: Vec<Surface> = (0..n * n * n).map(|_| part(Geometry::Ball { radius: 0.5 })).collect();
            let poses: Vec<Pose> = (0..n * n * n)
                .map(|k| at([(k % n) as f64, 1.01 * (k / n % n) as f64, 1.02 * (k / n / n) as f64]))
                .collect();
            let mut broad = Broad::new(0.05, false);
            update(&mut broad, &parts, &poses);
            // each of the three families of neighbours
            assert!(broad.pairs().len() >= 3 * (n - 1) * n * n);
            broad.tested() as f64
        };
        // each of n³ spheres against the rest of its layer and the next, 3n⁵/2: doubled n gives 2⁵, all pairs 2⁶
        let (few, many) = (tests(5), tests(10));
        assert!(many / few < 40.0, "{few} {many}");
        assert!(many < 1.5 * 1e5, "{many}");
    }

    #[test]
    fn a_chain_takes_as_many_tests_as_links() {
        let n = 10_000;
        let parts: Vec<Surface> =
            (0..n).map(|_| part(Geometry::Capsule { half: 0.5, radius: 0.1 })).collect();
        let poses: Vec<Pose> = (0..n).map(|i| at([i as f64, 0.0, 0.0])).collect();
        let mut broad = Broad::new(0.1, false);
        update(&mut broad, &parts, &poses);
        assert!(broad.tested() < 2 * n as u64, "{}", broad.tested());
        assert_eq!(broad.pairs().len(), n - 1);
        assert!(!update(&mut broad, &parts, &poses));
    }

    #[test]
    fn forbidden_pairs_and_those_of_one_body_are_no_candidates() {
        let parts = vec![part(Geometry::Ball { radius: 1.0 }); 4];
        let poses = [Pose::identity(), Pose::identity()];
        let mut broad = Broad::new(0.1, false);
        broad.update(4, |i| (&parts[i], i / 2), &poses, |i, j| (i, j) != (0, 2));
        assert_eq!(broad.pairs(), [[0, 3], [1, 2], [1, 3]]);
    }

    #[test]
    fn a_wall_that_moves_is_a_candidate_with_all_from_then_on() {
        let parts = [part(Geometry::HalfSpace), part(Geometry::Ball { radius: 0.1 })];
        let mut broad = Broad::new(0.1, false);
        let ball = at([0.0, 0.0, 5.0]);
        assert!(update(&mut broad, &parts, &[Pose::identity(), ball]));
        assert!(broad.pairs().is_empty());
        assert!(update(&mut broad, &parts, &[at([0.0, 0.0, 0.01]), ball]));
        assert_eq!(broad.pairs(), [[0, 1]]);
        assert!(!update(&mut broad, &parts, &[at([0.0, 0.0, 4.0]), ball]));
    }
}
