//! Response times in bins of one writer, which anybody may read while they grow; and what was added each period as a log.

use std::path::Path;

use sojourn_record::{BestEffortLog, Column, ColumnType, Value, WriteError};

use crate::single_writer_counter::SingleWriterCounter;
use crate::ServeError;
use sojourn_record::clock::s;

/// Width of a step, ns: what summaries and OpenMetrics have.
pub(crate) const STEP_NS: u64 = 100_000;
/// Steps before the overflow: 1 s.
pub(crate) const STEPS: usize = 10_000;

/// Short times have narrower bins: on one machine most are below a few steps.
const FINE_NS: u64 = 5_000;
const FINE_END_NS: u64 = 10_000_000;
const FINE: usize = (FINE_END_NS / FINE_NS) as usize;
const FINE_STEPS: usize = (FINE_END_NS / STEP_NS) as usize;
const BINS: usize = FINE + STEPS - FINE_STEPS;

/// 5 µs wide up to 10 ms, 0.1 ms up to 1 s, then one for all above.
#[derive(Debug)]
pub(crate) struct ResponseTimeBins {
    counts: Box<[SingleWriterCounter]>,
    /// Bins in use: those from here on are empty.
    used: SingleWriterCounter,
    overflow: SingleWriterCounter,
}

impl ResponseTimeBins {
    pub fn new() -> Self {
        let counts = (0..BINS).map(|_| SingleWriterCounter::default()).collect();
        Self { counts, used: SingleWriterCounter::default(), overflow: SingleWriterCounter::default() }
    }

    /// To be called by the one writer.
    #[inline]
    pub fn add(&self, ns: u64) {
        let bin = bin(ns);
        let Some(count) = self.counts.get(bin) else {
            return self.overflow.add(1);
        };
        count.add(1);
        if bin as u64 >= self.used.get() {
            self.used.set(bin as u64 + 1);
        }
    }
}

/// The bin of a time, `BINS` for the overflow.
#[inline]
fn bin(ns: u64) -> usize {
    if ns < FINE_END_NS {
        (ns / FINE_NS) as usize
    } else {
        ((ns / STEP_NS) as usize - FINE_STEPS + FINE).min(BINS)
    }
}

/// Where a bin begins, ns.
fn low_ns(bin: usize) -> u64 {
    match bin.checked_sub(FINE) {
        None => bin as u64 * FINE_NS,
        Some(wide) => FINE_END_NS + wide as u64 * STEP_NS,
    }
}

/// Counts of all threads by bin, as far as any has one; then the overflow.
fn totals(all: &[&ResponseTimeBins]) -> (Vec<u64>, u64) {
    let used = all.iter().map(|bins| bins.used.get() as usize).max().unwrap_or(0);
    let mut totals = vec![0; used];
    for bins in all {
        for (total, count) in totals.iter_mut().zip(&bins.counts[..used]) {
            *total += count.get();
        }
    }
    (totals, all.iter().map(|bins| bins.overflow.get()).sum())
}

/// Counts of all threads at 0.1 ms, without the empty steps at the end, and those of 1 s and more.
pub(crate) fn steps(all: &[&ResponseTimeBins]) -> (Vec<u64>, u64) {
    let (totals, overflow) = totals(all);
    let mut steps = Vec::new();
    for (bin, count) in totals.into_iter().enumerate().filter(|(_, count)| *count > 0) {
        let step = (low_ns(bin) / STEP_NS) as usize;
        steps.resize(step + 1, 0);
        steps[step] += count;
    }
    (steps, overflow)
}

const COLUMNS: [Column; 4] = [
    Column { name: "t_s", kind: ColumnType::F64 },
    Column { name: "low_s", kind: ColumnType::F64 },
    Column { name: "high_s", kind: ColumnType::F64 },
    Column { name: "count", kind: ColumnType::U64 },
];

/// A row for each bin and period that has responses.
#[derive(Debug)]
pub(crate) struct BinLog {
    writer: BestEffortLog,
    before: Vec<u64>,
    overflow: u64,
}

impl BinLog {
    pub fn create(path: &str, meta: &serde_json::Value) -> Result<Self, ServeError> {
        let writer = BestEffortLog::create(Path::new(path), &COLUMNS, meta)?;
        Ok(Self { writer, before: Vec::new(), overflow: 0 })
    }

    /// What was added since the last time; reaches the disk.
    pub fn period(&mut self, all: &[&ResponseTimeBins], now: u64) -> Result<(), WriteError> {
        let (totals, overflow) = totals(all);
        let mut written = Ok(());
        self.before.resize(totals.len(), 0);
        for (bin, (total, before)) in totals.iter().zip(&self.before).enumerate() {
            if total > before {
                let (low, high) = (s(low_ns(bin)), s(low_ns(bin + 1)));
                written = written.and(self.writer.row(&row(now, low, high, total - before)));
            }
        }
        if overflow > self.overflow {
            let end = s(low_ns(BINS));
            let above = row(now, end, f64::INFINITY, overflow - self.overflow);
            written = written.and(self.writer.row(&above));
        }
        (self.before, self.overflow) = (totals, overflow);
        written.and(self.writer.flush())
    }

    pub fn lost_rows(&self) -> u64 {
        self.writer.lost_rows()
    }
}

fn row(now: u64, low_s: f64, high_s: f64, count: u64) -> [Value; 4] {
    [Value::F64(s(now)), Value::F64(low_s), Value::F64(high_s), Value::U64(count)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_lies_in_its_bin_and_no_bin_is_left_out() {
        for ns in [0, 1, 4_999, 5_000, 9_999_999, 10_000_000, 10_099_999, 123_456_789, 999_999_999] {
            let bin = bin(ns);
            assert!((low_ns(bin)..low_ns(bin + 1)).contains(&ns), "{ns}");
        }
        assert_eq!(bin(1_000_000_000), BINS);
        assert_eq!(bin(u64::MAX), BINS);
        assert_eq!(low_ns(BINS), STEPS as u64 * STEP_NS);
    }

    #[test]
    fn steps_are_sums_of_bins_over_threads() {
        let (one, two) = (ResponseTimeBins::new(), ResponseTimeBins::new());
        for ns in [0, 99_999, 100_000, 250_000] {
            one.add(ns);
        }
        two.add(120_000);
        two.add(11_050_000);
        two.add(3_000_000_000);
        let (counts, overflow) = steps(&[&one, &two]);
        assert_eq!(overflow, 1);
        assert_eq!(counts[..3], [2, 2, 1]);
        assert_eq!((counts.len(), counts[110]), (111, 1));
        assert_eq!(counts.iter().sum::<u64>(), 6);
    }
}
