//! The passes over one row block, with its sizes known at compile time: N rows on bodies of C velocities each.

use super::plan::JacobianBlock;
use super::{BodyBlock, Inverse};

/// Calls the pass for the sizes of a row block, or the general expression where none is compiled.
macro_rules! sized {
    ($row:expr, $pass:ident $arguments:tt, $general:expr) => {
        match ($row.size, $row.width) {
            (1, 2) => rows::$pass::<1, 2> $arguments,
            (2, 2) => rows::$pass::<2, 2> $arguments,
            (1, 3) => rows::$pass::<1, 3> $arguments,
            (2, 3) => rows::$pass::<2, 3> $arguments,
            (3, 3) => rows::$pass::<3, 3> $arguments,
            (1, 6) => rows::$pass::<1, 6> $arguments,
            (2, 6) => rows::$pass::<2, 6> $arguments,
            (3, 6) => rows::$pass::<3, 6> $arguments,
            (4, 6) => rows::$pass::<4, 6> $arguments,
            (5, 6) => rows::$pass::<5, 6> $arguments,
            (6, 6) => rows::$pass::<6, 6> $arguments,
            _ => $general,
        }
    };
}
pub(super) use sized;

/// N rows of C numbers.
#[inline(always)]
fn block<const N: usize, const C: usize>(values: &[f64], at: usize) -> &[[f64; C]; N] {
    values[at..].as_chunks::<C>().0.first_chunk().expect("a block lies inside its array")
}

#[inline(always)]
fn block_mut<const N: usize, const C: usize>(values: &mut [f64], at: usize) -> &mut [[f64; C]; N] {
    values[at..].as_chunks_mut::<C>().0.first_chunk_mut().expect("a block lies inside its array")
}

/// C numbers.
#[inline(always)]
fn part<const C: usize>(values: &[f64], at: usize) -> &[f64; C] {
    values[at..].first_chunk().expect("a part lies inside its vector")
}

#[inline(always)]
fn part_mut<const C: usize>(values: &mut [f64], at: usize) -> &mut [f64; C] {
    values[at..].first_chunk_mut().expect("a part lies inside its vector")
}

/// W = J M⁻¹ and Jᵀ of each block; D = Σ W Jᵀ over bodies that are not hubs; scale = the diagonal over all.
#[inline(always)]
pub fn weigh<const N: usize, const C: usize>(
    blocks: &[JacobianBlock],
    bodies: &[BodyBlock],
    minv: &[f64],
    J: &[f64],
    W: &mut [f64],
    Jt: &mut [f64],
    D: &mut [f64],
    scale: &mut [f64],
) {
    let mut sum = [[0.0; N]; N];
    let mut hubs = [0.0; N];
    for b in blocks {
        let J: &[[f64; C]; N] = block(J, b.offset);
        let body = &bodies[b.col];
        let minv: &[[f64; C]; C] = block(minv, body.mass);
        let mut w = [[0.0; C]; N];
        match body.inverse {
            Inverse::Diagonal => {
                for i in 0..N {
                    for p in 0..C {
                        w[i][p] = J[i][p] * minv[p][p];
                    }
                }
            }
            Inverse::Split if C == 6 => {
                for i in 0..N {
                    for p in 0..3 {
                        w[i][p] = J[i][p] * minv[p][p];
                    }
                    for p in 3..6 {
                        for k in 3..6 {
                            w[i][k] += J[i][p] * minv[p][k];
                        }
                    }
                }
            }
            _ => {
                for i in 0..N {
                    for p in 0..C {
                        for k in 0..C {
                            w[i][k] += J[i][p] * minv[p][k];
                        }
                    }
                }
            }
        }
        let mut t = [[0.0; N]; C];
        for i in 0..N {
            for p in 0..C {
                t[p][i] = J[i][p];
            }
        }
        if b.hub.is_none() {
            for i in 0..N {
                for p in 0..C {
                    for k in 0..N {
                        sum[i][k] += w[i][p] * t[p][k];
                    }
                }
            }
        } else {
            for i in 0..N {
                for p in 0..C {
                    hubs[i] += w[i][p] * J[i][p];
                }
            }
        }
        *block_mut(W, b.offset) = w;
        *block_mut(Jt, b.offset) = t;
    }
    *block_mut(D, 0) = sum;
    for i in 0..N {
        scale[i] = sum[i][i] + hubs[i];
    }
}

/// r = b - J x, and right = -r.
#[inline(always)]
pub fn residual<const N: usize, const C: usize>(
    blocks: &[JacobianBlock],
    J: &[f64],
    x: &[f64],
    b: &[f64],
    r: &mut [f64],
    right: &mut [f64],
) {
    let mut sum: [f64; N] = *part(b, 0);
    for b in blocks {
        let (J, x): (&[[f64; C]; N], &[f64; C]) = (block(J, b.offset), part(x, b.start));
        for i in 0..N {
            let mut product = 0.0;
            for p in 0..C {
                product += J[i][p] * x[p];
            }
            sum[i] -= product;
        }
    }
    *part_mut(r, 0) = sum;
    *part_mut(right, 0) = sum.map(|r| -r);
}

/// The same, and terms = |b| + |J| x_terms.
#[inline(always)]
pub fn residual_terms<const N: usize, const C: usize>(
    blocks: &[JacobianBlock],
    J: &[f64],
    x: &[f64],
    x_terms: &[f64],
    b: &[f64],
    r: &mut [f64],
    terms: &mut [f64],
    right: &mut [f64],
) {
    let mut sum: [f64; N] = *part(b, 0);
    let mut sizes = sum.map(f64::abs);
    for b in blocks {
        let J: &[[f64; C]; N] = block(J, b.offset);
        let (x, s): (&[f64; C], &[f64; C]) = (part(x, b.start), part(x_terms, b.start));
        for i in 0..N {
            let (mut product, mut size) = (0.0, 0.0);
            for p in 0..C {
                product += J[i][p] * x[p];
                size += J[i][p].abs() * s[p];
            }
            sum[i] -= product;
            sizes[i] += size;
        }
    }
    *part_mut(r, 0) = sum;
    *part_mut(terms, 0) = sizes;
    *part_mut(right, 0) = sum.map(|r| -r);
}

/// mu += z, and x -= Wᵀ z at the bodies that are not hubs.
#[inline(always)]
pub fn apply<const N: usize, const C: usize>(
    blocks: &[JacobianBlock],
    W: &[f64],
    z: &[f64],
    mu: &mut [f64],
    x: &mut [f64],
) {
    let z: &[f64; N] = part(z, 0);
    let mu: &mut [f64; N] = part_mut(mu, 0);
    for i in 0..N {
        mu[i] += z[i];
    }
    for b in blocks.iter().filter(|b| b.hub.is_none()) {
        let (W, x): (&[[f64; C]; N], &mut [f64; C]) = (block(W, b.offset), part_mut(x, b.start));
        let mut sum = *x;
        for i in 0..N {
            for p in 0..C {
                sum[p] -= W[i][p] * z[i];
            }
        }
        *x = sum;
    }
}

/// terms += |W|ᵀ |mu|.
#[inline(always)]
pub fn terms<const N: usize, const C: usize>(
    blocks: &[JacobianBlock],
    W: &[f64],
    mu: &[f64],
    terms: &mut [f64],
) {
    let mu: &[f64; N] = part(mu, 0);
    for b in blocks {
        let (W, terms): (&[[f64; C]; N], &mut [f64; C]) = (block(W, b.offset), part_mut(terms, b.start));
        let mut sum = *terms;
        for i in 0..N {
            for p in 0..C {
                sum[p] += (W[i][p] * mu[i]).abs();
            }
        }
        *terms = sum;
    }
}
