//! A chain over time, by uniformisation.
//!
//! Source: W. K. Grassmann: Computers & Operations Research 4(1), 1977, pp. 47-53; the weights of the Poisson law from
//! its mode outwards, as in B. L. Fox, P. W. Glynn: Comm. ACM 31(4), 1988, pp. 440-445, so that none underflows early.

use super::sparse_generator::SparseGenerator;

/// The distribution at each of `times_s` (ascending, s), one after another, from `p` at 0; error below `tolerance` each.
pub fn transient(chain: &SparseGenerator, p: &[f64], times_s: &[f64], tolerance: f64) -> Vec<f64> {
    let rate = chain.out.iter().fold(0.0_f64, |a, &b| a.max(b));
    let (mut all, mut now, mut p) = (Vec::with_capacity(times_s.len() * p.len()), 0.0, p.to_vec());
    for &time in times_s {
        p = advance(chain, p, rate, time - now, tolerance);
        now = time;
        all.extend_from_slice(&p);
    }
    all
}

/// Longest stretch in one go, as events of the uniform clock: the weights of more would spread over too many terms.
const STRETCH: f64 = 1e4;

fn advance(chain: &SparseGenerator, mut p: Vec<f64>, rate: f64, length: f64, tolerance: f64) -> Vec<f64> {
    let events = rate * length;
    let parts = (events / STRETCH).ceil().max(1.0);
    let (first, weights) = poisson(events / parts, tolerance / parts);
    for _ in 0..parts as usize {
        let before = p.clone();
        p = stretch(chain, p, rate, first, &weights);
        // once at rest, more time changes nothing
        if before.iter().zip(&p).all(|(a, b)| (a - b).abs() <= 1e-16) {
            break;
        }
    }
    p
}

fn stretch(
    chain: &SparseGenerator,
    mut step: Vec<f64>,
    rate: f64,
    first: usize,
    weights: &[f64],
) -> Vec<f64> {
    let mut sum = vec![0.0; step.len()];
    for k in 0..first + weights.len() {
        if k > 0 {
            let stay = |j: usize| step[j] * (1.0 - chain.out[j] / rate);
            step = (0..chain.len()).map(|j| stay(j) + chain.inflow(j, &step) / rate).collect();
        }
        if k >= first {
            let weight = weights[k - first];
            sum.iter_mut().zip(&step).for_each(|(s, &v)| *s += weight * v);
        }
    }
    sum
}

/// Weights of the Poisson law with this mean, and the number of the first; what is left out is below `tolerance`.
pub fn poisson(mean: f64, tolerance: f64) -> (usize, Vec<f64>) {
    let mode = mean.floor();
    let least = tolerance * 1e-3;
    let (mut left, mut right) = (Vec::new(), vec![1.0]);
    let (mut weight, mut k) = (1.0, mode);
    while k > 0.0 && weight > least {
        weight *= k / mean;
        left.push(weight);
        k -= 1.0;
    }
    let first = k as usize;
    (weight, k) = (1.0, mode);
    while weight > least {
        k += 1.0;
        weight *= mean / k;
        right.push(weight);
    }
    left.reverse();
    left.append(&mut right);
    let sum: f64 = left.iter().sum();
    left.iter_mut().for_each(|w| *w /= sum);
    (first, left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_a_small_and_of_a_large_mean() {
        let (first, weights) = poisson(2.0, 1e-14);
        assert_eq!(first, 0);
        assert!((weights[3] - (-2.0_f64).exp() * 8.0 / 6.0).abs() < 1e-15);
        let (first, weights) = poisson(1e4, 1e-14);
        let mean: f64 = weights.iter().enumerate().map(|(i, w)| w * (first + i) as f64).sum();
        assert!((mean - 1e4).abs() < 1e-7);
    }

    #[test]
    fn two_states() {
        let chain = SparseGenerator::from_rows(vec![0, 1], vec![1, 0], vec![2.0, 3.0]);
        let p = transient(&chain, &[1.0, 0.0], &[0.1, 50.0], 1e-14);
        assert!((p[1] - 0.4 * (1.0 - (-0.5_f64).exp())).abs() < 1e-14);
        assert!((p[3] - 0.4).abs() < 1e-14);
    }
}
