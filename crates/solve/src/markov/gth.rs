//! Elimination without subtractions (W. K. Grassmann, M. I. Taksar, D. P. Heyman: Operations Research 33(5), 1985,
//! pp. 1107-1116): the stationary distribution, exact to rounding entry by entry.

use super::sparse_generator::{normalise, SparseGenerator};

/// Chains up to this size are eliminated whatever their band.
pub const SMALL: usize = 300;

/// The farthest that a move goes in the numbering.
pub fn width(chain: &SparseGenerator) -> usize {
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
