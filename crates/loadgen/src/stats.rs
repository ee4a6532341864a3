//! The statistics of a latency, streaming: exact mean and maximum, quantiles to three digits.

use hdrhistogram::Histogram;
use serde::Serialize;

/// A histogram of durations in ns; `None` where the crate cannot make one (it can, for these bounds).
pub fn histogram() -> Option<Histogram<u64>> {
    // Up to 1 h; longer ones count as 1 h.
    Histogram::new_with_bounds(1, 3_600_000_000_000, 3).ok()
}

pub fn to_ns(seconds: f64) -> u64 {
    (seconds * 1e9).round().clamp(0.0, 1e18) as u64
}

/// Seconds; `count` 0 and all else `null` where nothing was seen. Quantiles are within 0.1 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Statistics {
    pub count: u64,
    pub mean_s: Option<f64>,
    pub p50_s: Option<f64>,
    pub p90_s: Option<f64>,
    pub p99_s: Option<f64>,
    pub p999_s: Option<f64>,
    pub max_s: Option<f64>,
}

/// Adds up values in seconds; NaN is not counted.
#[derive(Debug)]
pub struct Tally {
    count: u64,
    sum_s: f64,
    max_s: f64,
    histogram: Option<Histogram<u64>>,
}

impl Tally {
    pub fn new() -> Tally {
        Tally { count: 0, sum_s: 0.0, max_s: f64::NEG_INFINITY, histogram: histogram() }
    }

    pub fn add(&mut self, value_s: f64) {
        if value_s.is_nan() {
            return;
        }
        self.count += 1;
        self.sum_s += value_s;
        self.max_s = self.max_s.max(value_s);
        if let Some(histogram) = &mut self.histogram {
            histogram.saturating_record(to_ns(value_s));
        }
    }

    /// The quantile at q in [0, 1].
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        let histogram = self.histogram.as_ref().filter(|_| self.count > 0)?;
        // The upper edge of a bucket may lie above what was seen.
        Some((histogram.value_at_quantile(q) as f64 * 1e-9).min(self.max_s))
    }

    pub fn statistics(&self) -> Statistics {
        let any = self.count > 0;
        Statistics {
            count: self.count,
            mean_s: any.then(|| self.sum_s / self.count as f64),
            p50_s: self.quantile_s(0.5),
            p90_s: self.quantile_s(0.9),
            p99_s: self.quantile_s(0.99),
            p999_s: self.quantile_s(0.999),
            max_s: any.then_some(self.max_s),
        }
    }

    pub fn clear(&mut self) {
        (self.count, self.sum_s, self.max_s) = (0, 0.0, f64::NEG_INFINITY);
        if let Some(histogram) = &mut self.histogram {
            histogram.reset();
        }
    }
}
