//! Distributions of times: histograms while a service runs, a summary at its end.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::Serialize;
use sojourn_record::clock::s;

/// Unit of the histograms, ns.
pub const UNIT_NS: u64 = 100;

/// A distribution of times, s.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TimeSummary {
    pub count: u64,
    pub mean_s: f64,
    pub max_s: f64,
    /// By percentage: "50", "99.9", …
    pub percentiles_s: BTreeMap<String, f64>,
}

/// An empty one, from 0.1 µs to a minute to 3 digits.
#[must_use]
pub fn histogram() -> Histogram<u64> {
    // Bounds that the library takes.
    Histogram::new_with_bounds(1, 600_000_000, 3).unwrap_or_else(|e| unreachable!("{e}"))
}

/// Adds a time.
#[inline]
pub fn record(histogram: &mut Histogram<u64>, ns: u64) {
    histogram.saturating_record(ns / UNIT_NS);
}

/// `histogram` for the percentiles, the exact sum for the mean.
#[must_use]
pub fn times(histogram: &Histogram<u64>, sum_ns: u64, percentages: &[f64]) -> TimeSummary {
    let at = |units: u64| s(units * UNIT_NS);
    let count = histogram.len();
    let percentile = |q: &f64| (q.to_string(), at(histogram.value_at_percentile(*q)));
    let mean_s = if count == 0 { 0.0 } else { s(sum_ns) / count as f64 };
    let percentiles_s = percentages.iter().map(percentile).collect();
    TimeSummary { count, mean_s, max_s: at(histogram.max()), percentiles_s }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1, 2, … 100 ms: the q-th percentile is q ms, to the histogram's 3 digits.
    #[test]
    fn percentiles_of_the_histogram_and_the_mean_of_the_sum() {
        let mut seen = histogram();
        (1..=100).for_each(|ms| record(&mut seen, ms * 1_000_000));
        let found = times(&seen, 5_050_000_000, &[25.0, 99.0, 99.99]);
        assert!(found.count == 100 && (found.mean_s - 0.0505).abs() < 1e-12);
        assert_eq!(found.percentiles_s.keys().collect::<Vec<_>>(), ["25", "99", "99.99"]);
        for (percentage, s) in [("25", 0.025), ("99", 0.099), ("99.99", 0.1)] {
            assert!((found.percentiles_s[percentage] / s - 1.0).abs() < 1e-3);
        }
        let none = times(&histogram(), 0, &[50.0]);
        assert_eq!((none.count, none.mean_s, none.percentiles_s["50"]), (0, 0.0, 0.0));
    }
}
