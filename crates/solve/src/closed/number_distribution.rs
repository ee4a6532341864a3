//! How many would be at one station if customers arrived as a Poisson stream: its weights, made to sum to 1.
//!
//! With work rho offered (customers' demand a second) and speed s(n) relative to one server, n are there with a
//! probability proportional to rho^n / (s(1) … s(n)); from the last speed on, which repeats, this is geometric. Terms
//! are kept with an exponent of their own, so that none overflows or is lost before all are scaled.

/// Distribution of the number at a station, `probability[n]`; beyond the last, each is `ratio` times the one before.
#[derive(Clone, Debug)]
pub struct NumberDistribution {
    pub probability: Vec<f64>,
    pub ratio: f64,
    pub mean: f64,
    pub variance: f64,
    pub log_sum: f64,
}

const STEP: i32 = 256;

/// For `0 <= rho < speeds.last()`; speeds are positive and not empty.
pub fn number(rho: f64, speeds: &[f64]) -> NumberDistribution {
    let last = speeds.len() - 1;
    let ratio = rho / speeds[last];
    if last == 0 {
        let mean = ratio / (1.0 - ratio);
        return NumberDistribution {
            probability: vec![1.0 - ratio],
            ratio,
            mean,
            variance: mean / (1.0 - ratio),
            log_sum: -(-ratio).ln_1p(),
        };
    }
    let (terms, exponent) = terms(rho, speeds);
    let tail = terms[last] / (1.0 - ratio);
    let sum: f64 = terms[..last].iter().sum::<f64>() + tail;
    let probability: Vec<f64> = terms.iter().map(|t| t / sum).collect();
    let (mean, variance) = moments(&probability, ratio);
    NumberDistribution {
        probability,
        ratio,
        mean,
        variance,
        log_sum: sum.ln() + f64::from(exponent) * std::f64::consts::LN_2,
    }
}

/// rho^n / (s(1) … s(n)) for n = 0 … len - 1, times 2^-exponent.
fn terms(rho: f64, speeds: &[f64]) -> (Vec<f64>, i32) {
    let (big, small) = (2f64.powi(STEP), 2f64.powi(-STEP));
    let (mut value, mut exponent) = (1.0, 0);
    let mut kept = Vec::with_capacity(speeds.len());
    kept.push((value, exponent));
    for speed in &speeds[..speeds.len() - 1] {
        value *= rho / speed;
        while value > big {
            (value, exponent) = (value * small, exponent + STEP);
        }
        while value < small && value > 0.0 {
            (value, exponent) = (value * big, exponent - STEP);
        }
        kept.push((value, exponent));
    }
    let highest = kept.iter().map(|t| t.1).max().unwrap_or(0);
    let scaled = kept
        .iter()
        .map(|&(v, e)| if e - highest < -1200 { 0.0 } else { v * 2f64.powi(e - highest) })
        .collect();
    (scaled, highest)
}

fn moments(probability: &[f64], ratio: f64) -> (f64, f64) {
    let last = probability.len() - 1;
    let mut sums = [0.0; 2];
    for (n, p) in probability[..last].iter().enumerate() {
        let n = n as f64;
        sums[0] += n * p;
        sums[1] += n * n * p;
    }
    // beyond: last + geometric(ratio)
    let (mass, n, g) = (probability[last] / (1.0 - ratio), last as f64, ratio / (1.0 - ratio));
    let mean = sums[0] + mass * (n + g);
    let second = sums[1] + mass * (n * n + 2.0 * n * g + g * (1.0 + ratio) / (1.0 - ratio));
    (mean, (second - mean * mean).max(0.0))
}
