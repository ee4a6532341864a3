//! The statistics of a latency, streaming: exact mean and maximum, quantiles to 0.1 %.

use serde::{Deserialize, Serialize};

/// Fraction bits that tell bins apart: a bin is 2^-10 of its lower edge wide.
const FRACTION_BITS: u32 = 10;
const SHIFT: u32 = 52 - FRACTION_BITS;
/// Below 2^-30 s (0.9 ns) and above 2^12 s (68 min) all is one bin.
const LOW: usize = (1023 - 30) << FRACTION_BITS;
const BINS: usize = 42 << FRACTION_BITS;

/// Counts of durations in log-linear bins.
#[derive(Debug, Clone)]
pub struct LogLinearBins(Box<[u64]>);

impl LogLinearBins {
    pub fn new() -> LogLinearBins {
        LogLinearBins(vec![0; BINS].into())
    }

    /// Counts a duration in s; what is negative counts as 0.
    #[inline]
    pub fn add(&mut self, value_s: f64) {
        let bin = (value_s.max(0.0).to_bits() >> SHIFT) as usize;
        self.0[bin.saturating_sub(LOW).min(BINS - 1)] += 1;
    }

    /// The middle of each bin in which anything was counted, s, ascending, and how many.
    pub fn counts(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.0.iter().enumerate().filter(|(_, count)| **count > 0).map(|(bin, count)| {
            let middle = ((bin + LOW) as u64) << SHIFT | 1 << (SHIFT - 1);
            (f64::from_bits(middle), *count)
        })
    }

    /// The `rank`-th smallest, from 1.
    fn value_s(&self, rank: u64) -> Option<f64> {
        let mut left = rank;
        self.counts().find_map(|(value_s, count)| {
            let found = left <= count;
            left = left.saturating_sub(count);
            found.then_some(value_s)
        })
    }
}

/// Seconds, of successes; `count` 0 and all else `null` where nothing was seen. Quantiles count failures as later than
/// all successes, and are `null` where they lie among them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LatencyStatistics {
    pub count: u64,
    pub mean_s: Option<f64>,
    pub p50_s: Option<f64>,
    pub p90_s: Option<f64>,
    pub p99_s: Option<f64>,
    pub p999_s: Option<f64>,
    pub max_s: Option<f64>,
}

/// What statistics are made of, so that those of several generators are added and nothing is lost: of each bin that holds
/// anything its number and its count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencyCounts {
    pub failed: u64,
    pub sum_s: f64,
    pub max_s: Option<f64>,
    pub bins: Vec<(usize, u64)>,
}

/// Adds up values in seconds; NaN is not counted.
#[derive(Debug)]
pub struct StreamingStatistics {
    count: u64,
    failed: u64,
    sum_s: f64,
    max_s: f64,
    bins: LogLinearBins,
}

impl StreamingStatistics {
    pub fn new() -> StreamingStatistics {
        StreamingStatistics {
            count: 0,
            failed: 0,
            sum_s: 0.0,
            max_s: f64::NEG_INFINITY,
            bins: LogLinearBins::new(),
        }
    }

    #[inline]
    pub fn add(&mut self, value_s: f64) {
        if value_s.is_nan() {
            return;
        }
        self.count += 1;
        self.sum_s += value_s;
        self.max_s = self.max_s.max(value_s);
        self.bins.add(value_s);
    }

    pub fn counts(&self) -> LatencyCounts {
        let bins = self.bins.0.iter().copied().enumerate().filter(|(_, count)| *count > 0).collect();
        let max_s = (self.count > 0).then_some(self.max_s);
        LatencyCounts { failed: self.failed, sum_s: self.sum_s, max_s, bins }
    }

    /// Adds what another has counted; a bin that does not exist is its last.
    pub fn merge(&mut self, other: &LatencyCounts) {
        self.failed += other.failed;
        self.sum_s += other.sum_s;
        self.max_s = self.max_s.max(other.max_s.unwrap_or(f64::NEG_INFINITY));
        for (bin, count) in &other.bins {
            self.count += count;
            self.bins.0[(*bin).min(BINS - 1)] += count;
        }
    }

    /// Counts a failure.
    pub fn fail(&mut self) {
        self.failed += 1;
    }

    /// The quantile at q in [0, 1]: the smallest value that a share q of all, failures too, is not above.
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        let all = (self.count + self.failed) as f64;
        let rank = (q * all).ceil().max(1.0) as u64;
        let value_s = (rank <= self.count).then(|| self.bins.value_s(rank))??;
        // The middle of a bin may lie above what was seen.
        Some(value_s.min(self.max_s))
    }

    pub fn statistics(&self) -> LatencyStatistics {
        let any = self.count > 0;
        LatencyStatistics {
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
        (self.count, self.failed, self.sum_s, self.max_s) = (0, 0, 0.0, f64::NEG_INFINITY);
        self.bins.0.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_sorted_values_to_a_thousandth() {
        let values_s: Vec<f64> = (0..5000).map(|i| 1e-6 * 1.003_f64.powi(i)).collect();
        let mut tally = StreamingStatistics::new();
        values_s.iter().rev().for_each(|value_s| tally.add(*value_s));
        for q in [0.001, 0.25, 0.5, 0.99, 1.0] {
            let exact = values_s[((q * 5000.0_f64).ceil() as usize).max(1) - 1];
            assert!((tally.quantile_s(q).unwrap() / exact - 1.0).abs() < 1e-3, "{q}");
        }
        assert_eq!(tally.statistics().max_s, values_s.last().copied());
    }

    #[test]
    fn failures_are_later_than_all_successes() {
        let mut tally = StreamingStatistics::new();
        (1..=90).for_each(|ms| tally.add(f64::from(ms) * 1e-3));
        (0..10).for_each(|_| tally.fail());
        assert!((tally.quantile_s(0.5).unwrap() / 0.05 - 1.0).abs() < 1e-3);
        assert!((tally.quantile_s(0.9).unwrap() / 0.09 - 1.0).abs() < 1e-3);
        assert_eq!((tally.quantile_s(0.91), tally.quantile_s(1.0)), (None, None));
        let told = tally.statistics();
        assert_eq!((told.count, told.max_s, told.p99_s), (90, Some(0.09), None));
    }

    #[test]
    fn statistics_of_the_added_counts_are_those_of_one() {
        let mut all = StreamingStatistics::new();
        let mut parts = [StreamingStatistics::new(), StreamingStatistics::new(), StreamingStatistics::new()];
        for i in 0..10_000_u32 {
            // Powers of two, so that sums have no rounding error that depends on their order.
            let value_s = 2_f64.powi(-((i * 7919 % 20) as i32)) * if i % 3 == 0 { 1.5 } else { 1.0 };
            let part = &mut parts[if i % 5 < 2 { 0 } else { 1 }]; // the third has nothing
            if i % 97 == 0 {
                all.fail();
                part.fail();
            } else {
                all.add(value_s);
                part.add(value_s);
            }
        }
        let mut merged = StreamingStatistics::new();
        parts.iter().for_each(|part| merged.merge(&part.counts()));
        assert_eq!(merged.statistics(), all.statistics());
        assert_eq!(merged.counts(), all.counts());
    }

    #[test]
    fn what_is_out_of_range_is_counted_at_its_end() {
        let mut tally = StreamingStatistics::new();
        [-1.0, 0.0, 1e-12, 1e6, f64::INFINITY, f64::NAN].into_iter().for_each(|value_s| tally.add(value_s));
        assert_eq!((tally.count, tally.bins.counts().map(|(_, count)| count).sum::<u64>()), (5, 5));
    }
}
