//! Stationary distribution of a finite chain with one recurrent class.
//!
//! Small chains: elimination without subtractions (W. K. Grassmann, M. I. Taksar, D. P. Heyman: Operations Research
//! 33(5), 1985, pp. 1107-1116), exact to rounding entry by entry. Large ones: `multilevel`.

use super::multilevel::Hierarchy;
use super::sparse::{normalise, Chain};

/// Chains up to this size are eliminated.
pub const SMALL: usize = 300;

pub struct Steady {
    pub p: Vec<f64>,
    /// Sum over the states of |inflow - outflow| as a share of all flow.
    pub residual: f64,
    pub cycles: usize,
}

/// The distribution, to a residual of `tolerance` if `most` cycles reach it; the caller judges the residual.
pub fn steady(chain: &Chain, tolerance: f64, most: usize) -> Steady {
    if chain.len() <= SMALL {
        let p = gth(chain);
        return Steady { residual: chain.residual(&p), p, cycles: 0 };
    }
    let mut p = vec![1.0 / chain.len() as f64; chain.len()];
    let mut hierarchy = Hierarchy::new(chain);
    let mut best = (f64::INFINITY, 0);
    for cycle in 1..=most {
        hierarchy.cycle(chain, &mut p);
        let residual = chain.residual(&p);
        if residual < 0.9 * best.0 {
            best = (residual, cycle);
        }
        // past the floor of rounding no cycle makes it better
        if residual <= tolerance || (residual < 1e-12 && cycle > best.1 + 3) {
            return Steady { p, residual, cycles: cycle };
        }
    }
    Steady { residual: chain.residual(&p), p, cycles: most }
}

/// Elimination from the last state to the first; n^3/3 multiplications. States that cannot be left for an earlier one
/// are moved to the front by starting from the order in which `chain` numbers them.
pub fn gth(chain: &Chain) -> Vec<f64> {
    let n = chain.len();
    let mut q = vec![0.0; n * n];
    for j in 0..n {
        for e in chain.start[j]..chain.start[j + 1] {
            q[chain.from[e] as usize * n + j] += chain.rate[e];
        }
    }
    let mut sums = vec![0.0; n];
    for k in (1..n).rev() {
        let (above, row) = q.split_at_mut(k * n);
        sums[k] = row[..k].iter().sum();
        if sums[k] == 0.0 {
            continue;
        }
        for i in 0..k {
            let share = above[i * n + k] / sums[k];
            if share > 0.0 {
                let (own, step) = (&mut above[i * n..i * n + k], &row[..k]);
                own.iter_mut().zip(step).for_each(|(a, &b)| *a += share * b);
            }
        }
    }
    substitute(&q, &sums, n)
}

/// Back substitution. A state k that leads to no earlier one (sum 0) starts again: all before it are transient.
fn substitute(q: &[f64], sums: &[f64], n: usize) -> Vec<f64> {
    let first = (1..n).rev().find(|&k| sums[k] == 0.0).unwrap_or(0);
    let mut p = vec![0.0; n];
    p[first] = 1.0;
    for k in first + 1..n {
        p[k] = (first..k).map(|i| p[i] * q[i * n + k]).sum::<f64>() / sums[k];
    }
    normalise(&mut p);
    p
}
