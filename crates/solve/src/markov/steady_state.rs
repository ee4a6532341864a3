//! Stationary distribution of a finite chain with one recurrent class.
//!
//! Small chains: `gth`. Large ones: `multilevel`.

use std::time::{Duration, Instant};

use super::gth::{gth, width, SMALL};
use super::multilevel::CoarseningHierarchy;
use super::sparse_generator::{normalise, SparseGenerator};

/// Chains for which elimination within the band costs no more multiplications are eliminated, too.
const WORK: f64 = 1e9;
/// Cycles without gain after which rounding is taken for the reason.
const PATIENCE: usize = 6;

pub struct SteadyState {
    pub p: Vec<f64>,
    /// Sum over the states of |inflow - outflow| as a share of all flow.
    pub residual: f64,
    pub cycles: usize,
    /// The time was over before the tolerance was met.
    pub late: bool,
}

/// The distribution, to a residual of `tolerance` if `most` cycles reach it; the caller judges the residual.
///
/// Where the chain is nearly in parts, a small residual does not mean a small error: then two answers that began
/// differently (`skewed`: most at the first states; else evenly) differ by about as much as they are wrong.
/// How many cycles a chain needs is not known before: none begins after `limit`.
pub fn steady(
    chain: &SparseGenerator,
    tolerance: f64,
    most: usize,
    skewed: bool,
    limit: Duration,
) -> SteadyState {
    let started = Instant::now();
    let band = width(chain) as f64;
    if chain.len() <= SMALL || chain.len() as f64 * band * band <= WORK {
        let p = gth(chain);
        return SteadyState { residual: chain.residual(&p), p, cycles: 0, late: false };
    }
    let mut p: Vec<f64> =
        (0..chain.len()).map(|i| if skewed { 1.0 / (1.0 + i as f64) } else { 1.0 }).collect();
    normalise(&mut p);
    let mut hierarchy = CoarseningHierarchy::new(chain);
    let mut best = (f64::INFINITY, 0);
    for cycle in 1..=most {
        hierarchy.cycle(chain, &mut p);
        let residual = chain.residual(&p);
        if residual < 0.9 * best.0 {
            best = (residual, cycle);
        }
        // past the floor of rounding no cycle makes it better
        if residual <= tolerance || (residual < 1e-12 && cycle > best.1 + PATIENCE) {
            return SteadyState { p, residual, cycles: cycle, late: false };
        }
        if started.elapsed() > limit {
            return SteadyState { p, residual, cycles: cycle, late: true };
        }
    }
    SteadyState { residual: chain.residual(&p), p, cycles: most, late: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A birth-death chain with `n` states.
    fn line(n: usize, up: f64, down: f64) -> SparseGenerator {
        let (mut start, mut to, mut rate) = (vec![], vec![], vec![]);
        for i in 0..n {
            start.push(to.len());
            if i > 0 {
                to.push(i as u32 - 1);
                rate.push(down);
            }
            if i + 1 < n {
                to.push(i as u32 + 1);
                rate.push(up);
            }
        }
        SparseGenerator::from_rows(start, to, rate)
    }

    #[test]
    fn a_line_is_geometric_entry_by_entry() {
        for ratio in [0.5_f64, 2.0] {
            let p = gth(&line(900, ratio, 1.0));
            let last = if ratio < 1.0 { p[0] } else { p[899] };
            assert!((last - 0.5).abs() < 1e-15);
            assert!((p[400] / p[401] * ratio - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn levels_agree_with_elimination() {
        // a grid, wide enough that no band is narrow
        let (side, mut start, mut to, mut rate) = (40_usize, vec![], vec![], vec![]);
        for i in 0..side * side {
            start.push(to.len());
            let (x, y) = (i % side, i / side);
            for (there, j, r) in [
                (x > 0, i.wrapping_sub(1), 1.0),
                (x + 1 < side, i + 1, 0.9),
                (y > 0, i.wrapping_sub(side), 2.0),
                (y + 1 < side, i + side, 1.7),
            ] {
                if there {
                    to.push(j as u32);
                    rate.push(r);
                }
            }
        }
        let chain = SparseGenerator::from_rows(start, to, rate);
        let exact = gth(&chain);
        let mut p = vec![1.0 / 1600.0; 1600];
        let mut levels = CoarseningHierarchy::new(&chain);
        (0..100).for_each(|_| levels.cycle(&chain, &mut p));
        let worst = p.iter().zip(&exact).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-11, "{worst}");
    }

    #[test]
    fn states_that_are_left_for_ever_have_no_share() {
        let p = gth(&SparseGenerator::from_rows(vec![0, 1, 2], vec![1, 2, 1], vec![1.0, 1.0, 3.0]));
        assert_eq!(p[0], 0.0);
        assert!((p[1] - 0.75).abs() < 1e-15);
    }
}
