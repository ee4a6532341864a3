//! Which key is asked for next.
//!
//! Zipf: rejection-inversion, Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone
//! discrete distributions", ACM TOMACS 6 (1996) 169-184: constant time and no table, whatever the number of keys.

use sojourn_dist::Stream;

use crate::config::{KeyPattern, KvConfig};

/// Draws keys in 0..keys.
pub struct KeyChooser {
    keys: u64,
    pattern: KeySequence,
    stream: Stream,
}

enum KeySequence {
    Uniform,
    Zipf(Zipf),
    Sequential { next: u64 },
}

impl KeyChooser {
    pub fn new(config: &KvConfig, seed: u64, lane: usize, lanes: usize) -> KeyChooser {
        let pattern = match config.key_pattern {
            KeyPattern::Uniform => KeySequence::Uniform,
            KeyPattern::Zipf { exponent } => KeySequence::Zipf(Zipf::new(config.keys, exponent)),
            KeyPattern::Sequential => {
                let first = u128::from(config.keys) * lane as u128 / lanes.max(1) as u128;
                KeySequence::Sequential { next: first as u64 }
            }
        };
        KeyChooser { keys: config.keys, pattern, stream: Stream::new(seed, &format!("lane {lane} keys")) }
    }

    pub fn next(&mut self) -> u64 {
        match &mut self.pattern {
            KeySequence::Uniform => self.stream.below(self.keys),
            KeySequence::Zipf(zipf) => zipf.draw(&mut self.stream) - 1,
            KeySequence::Sequential { next } => {
                let key = *next;
                *next = if key + 1 == self.keys { 0 } else { key + 1 };
                key
            }
        }
    }
}

/// Ranks 1..=n with probabilities proportional to rank^-s.
struct Zipf {
    n: f64,
    s: f64,
    /// The integral of the hat at 3/2 less the first step, and at n + 1/2.
    low: f64,
    high: f64,
    /// A rank is accepted without a look at the hat where it is this near.
    near: f64,
}

impl Zipf {
    fn new(n: u64, s: f64) -> Zipf {
        let mut zipf = Zipf { n: n as f64, s, low: 0.0, high: 0.0, near: 0.0 };
        zipf.low = zipf.integral(1.5) - 1.0;
        zipf.high = zipf.integral(n as f64 + 0.5);
        zipf.near = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    fn density(&self, x: f64) -> f64 {
        (-self.s * x.ln()).exp()
    }

    /// The integral of x^-s from 1: (x^(1-s) - 1) / (1-s), which is ln x at s = 1.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let t = (1.0 - self.s) * log;
        log * if t.abs() > 1e-8 { t.exp_m1() / t } else { 1.0 + t / 2.0 }
    }

    fn inverse(&self, area: f64) -> f64 {
        let t = (area * (1.0 - self.s)).max(-1.0);
        (area * if t.abs() > 1e-8 { t.ln_1p() / t } else { 1.0 - t / 2.0 }).exp()
    }

    fn draw(&self, stream: &mut Stream) -> u64 {
        loop {
            let area = self.high + stream.uniform() * (self.low - self.high);
            let x = self.inverse(area);
            let rank = (x + 0.5).floor().clamp(1.0, self.n);
            if rank - x <= self.near || area >= self.integral(rank + 0.5) - self.density(rank) {
                return rank as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(pattern: KeyPattern, keys: u64, count: usize) -> Vec<u64> {
        let config = KvConfig { keys, key_pattern: pattern, ..KvConfig::default() };
        let mut chooser = KeyChooser::new(&config, 7, 0, 1);
        (0..count).map(|_| chooser.next()).collect()
    }

    #[test]
    fn zipf_frequencies_are_those_of_its_definition() {
        for (exponent, keys) in [(0.5, 10), (0.99, 10), (1.0, 10), (1.3, 10), (3.0, 10), (0.99, 1)] {
            let count = 200_000;
            let mut seen = vec![0.0; keys as usize];
            for key in draws(KeyPattern::Zipf { exponent }, keys, count) {
                seen[key as usize] += 1.0;
            }
            let weight = |key: usize| (key as f64 + 1.0).powf(-exponent);
            let total: f64 = (0..keys as usize).map(weight).sum();
            for (key, seen) in seen.iter().enumerate() {
                let p = weight(key) / total;
                let sigma = (count as f64 * p * (1.0 - p)).sqrt();
                let far = (seen - count as f64 * p).abs();
                assert!(far <= 4.5 * sigma, "s {exponent}, key {key}: {seen} against {}", count as f64 * p);
            }
        }
    }

    #[test]
    fn uniform_and_sequential() {
        let seen = draws(KeyPattern::Uniform, 5, 50_000);
        // Binomial(50 000, 1/5): sigma is 89.
        assert!((0..5).all(|k| seen.iter().filter(|s| **s == k).count().abs_diff(10_000) < 400));
        assert_eq!(draws(KeyPattern::Sequential, 3, 7), [0, 1, 2, 0, 1, 2, 0]);
        let config = KvConfig { keys: 10, key_pattern: KeyPattern::Sequential, ..KvConfig::default() };
        assert_eq!(KeyChooser::new(&config, 1, 1, 2).next(), 5, "the second lane begins in the middle");
    }
}
