//! CPU work with a known demand: a fixed number of rounds of an integer recurrence that lives in registers.
//!
//! A drawn demand of d s is `d * rounds_per_s` rounds, whatever else happens meanwhile; `rounds_per_s` is
//! the speed of the undisturbed core. It depends on the clock frequency and, with hardware threads, on the
//! sibling: the calibration at the end shows whether it held.

use std::hint::black_box;

use serde::Serialize;

use sojourn_record::clock::{now, s};

/// The speed of one thread's core.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CoreSpeedCalibration {
    /// Rounds per second in the best of many short trials: the one that nothing interrupted.
    pub rounds_per_s: f64,
    /// How much longer the median trial took, as a fraction: near 0 on a quiet core.
    pub spread: f64,
}

const TRIALS: usize = 400;
const TRIAL_S: f64 = 50e-6;

/// Does `rounds` rounds and returns the state, so that the work cannot be optimised away.
pub fn work(rounds: u64) -> u64 {
    let mut x = black_box(0x9e37_79b9_7f4a_7c15_u64);
    for _ in 0..rounds {
        x = round(x);
    }
    black_box(x)
}

/// xorshift64 (Marsaglia 2003): each round needs the one before.
#[inline(always)]
fn round(mut x: u64) -> u64 {
    x ^= x << 13;
    x ^= x >> 7;
    x ^ x << 17
}

/// Measures the calling thread's core; takes about 30 ms.
pub fn calibrate() -> CoreSpeedCalibration {
    let rounds = rounds_for_a_trial();
    let mut times: Vec<f64> = (0..TRIALS).map(|_| trial_s(rounds)).collect();
    times.sort_by(f64::total_cmp);
    let best_s = times[0].max(1e-9);
    CoreSpeedCalibration { rounds_per_s: rounds as f64 / best_s, spread: times[TRIALS / 2] / best_s - 1.0 }
}

/// Doubles the rounds until they fill a trial; the best of a few, since one may be interrupted.
fn rounds_for_a_trial() -> u64 {
    let mut rounds = 1024;
    while rounds < 1 << 40 && (0..5).map(|_| trial_s(rounds)).fold(f64::MAX, f64::min) < TRIAL_S {
        rounds *= 2;
    }
    rounds
}

fn trial_s(rounds: u64) -> f64 {
    let start = now();
    work(rounds);
    s(now() - start)
}

/// Rounds for a demand, and the demand that they are.
pub fn rounds(drawn_s: f64, rounds_per_s: f64) -> (u64, f64) {
    let rounds = (drawn_s * rounds_per_s).round().max(0.0);
    (rounds as u64, rounds / rounds_per_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_the_demand_to_half_a_round() {
        assert_eq!(rounds(0.001, 5e8), (500_000, 0.001));
        assert_eq!(rounds(0.0, 5e8), (0, 0.0));
        assert_eq!(rounds(1.4e-9, 1e9), (1, 1e-9));
    }

    #[test]
    fn a_calibration_is_a_finite_speed() {
        let calibration = calibrate();
        assert!(calibration.rounds_per_s > 1e6 && calibration.rounds_per_s < 1e11);
        assert!(calibration.spread >= 0.0);
    }

    #[test]
    fn a_round_is_marsaglias_xorshift() {
        // From 1, by hand: ^ << 13 is 0x2001, ^ >> 7 is 0x2041, ^ << 17 is 0x40822041.
        assert_eq!(round(1), 0x4082_2041);
        assert_eq!(work(2), round(round(0x9e37_79b9_7f4a_7c15)));
    }
}
