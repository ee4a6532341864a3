//! Stationary distribution of a finite chain with one recurrent class.
//!
//! Small chains: elimination without subtractions (W. K. Grassmann, M. I. Taksar, D. P. Heyman: Operations Research
//! 33(5), 1985, pp. 1107-1116), exact to rounding entry by entry. Large ones: `multilevel`.

use std::time::{Duration, Instant};

use super::multilevel::CoarseningHierarchy;
use super::sparse_generator::{normalise, SparseGenerator};

/// Chains up to this size, or for which elimination within the band costs no more than `WORK`, are eliminated.
pub const SMALL: usize = 300;
/// Multiplications.
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

/// The farthest that a move goes in the numbering.
fn width(chain: &SparseGenerator) -> usize {
    let far = |j: usize| {
        chain.from[chain.start[j]..chain.start[j + 1]].iter().map(move |&i| j.abs_diff(i as usize))
    };
    (0..chain.len()).flat_map(far).max().unwrap_or(0)
}

/// Elimination from the last state to the first within the band of the matrix, which it does not leave.
pub fn gth(chain: &SparseGenerator) -> Vec<f64> {
    let (n, band) = (chain.len(), width(chain));
    // row i holds columns i - band .. i + band
    let wide = 2 * band + 1;
    let mut q = vec![0.0; n * wide];
    let at = |i: usize, j: usize| i * wide + band + j - i;
    for j in 0..n {
        for e in chain.start[j]..chain.start[j + 1] {
            q[at(chain.from[e] as usize, j)] += chain.rate[e];
        }
    }
    let mut sums = vec![0.0; n];
    for k in (1..n).rev() {
        let first = k.saturating_sub(band);
        let (above, row) = q.split_at_mut(k * wide);
        let row = &row[band + first - k..band];
        sums[k] = row.iter().sum();
        if sums[k] == 0.0 {
            continue;
        }
        for i in first..k {
            let share = above[at(i, k)] / sums[k];
            if share > 0.0 {
                let own = &mut above[at(i, first)..at(i, k)];
                own.iter_mut().zip(row).for_each(|(a, &b)| *a += share * b);
            }
        }
    }
    // a state that leads to no earlier one starts again: all before it are transient
    let first = (1..n).rev().find(|&k| sums[k] == 0.0).unwrap_or(0);
    let mut p = vec![0.0; n];
    p[first] = 1.0;
    for k in first + 1..n {
        let near = first.max(k.saturating_sub(band));
        p[k] = (near..k).map(|i| p[i] * q[at(i, k)]).sum::<f64>() / sums[k];
        // far from the start the numbers may leave the range of doubles
        if p[k] > 1e200 {
            p[..=k].iter_mut().for_each(|v| *v *= 1e-200);
        }
    }
    normalise(&mut p);
    p
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
