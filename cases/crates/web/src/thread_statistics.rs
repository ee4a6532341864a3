//! What threads did, and the known demand that follows from it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::route::{HEALTH, NAMES};
use crate::CoreSpeedCalibration;

/// Everything that was served.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub requests: u64,
    pub by_page: BTreeMap<&'static str, PageSummary>,
    pub connections: u64,
    /// Connections turned away at the limit.
    pub refused: u64,
    pub connections_per_thread: Vec<u64>,
    /// By NIC, then by thread.
    pub connections_per_nic: Vec<Vec<u64>>,
    pub threads: Vec<ThreadSummary>,
    /// Over pages with work: median of everything but the drawn work, mean of the drawn work, their sum.
    pub fixed_median_s: f64,
    pub drawn_mean_s: f64,
    pub known_demand_s: f64,
    /// Median of elapsed over drawn time of the work: 1 where nothing disturbed it.
    pub stretch_median: f64,
    /// Rows of `app.rec`; fewer than requests beyond the limit.
    pub recorded: u64,
    /// Why `app.rec` ends before the service did; empty where it is whole.
    pub lost_logs: Vec<String>,
    /// Rows that are not in it.
    pub lost_rows: u64,
    pub start_s: f64,
    pub end_s: f64,
}

/// One kind of page.
#[derive(Clone, Debug, Serialize)]
pub struct PageSummary {
    pub requests: u64,
    pub fixed_median_s: f64,
    pub drawn_mean_s: f64,
    pub known_demand_s: f64,
}

/// One thread.
#[derive(Clone, Debug, Serialize)]
pub struct ThreadSummary {
    pub thread: usize,
    pub core: usize,
    pub requests: u64,
    pub calibration: CoreSpeedCalibration,
    /// The same at the end: another speed means that drawn demands were not what they say.
    pub calibration_end: CoreSpeedCalibration,
}

/// One thread's account of its pages.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadStatistics {
    pages: [PageStatistics; NAMES.len()],
    stretch: LogHistogram,
}

#[derive(Clone, Debug, Default)]
struct PageStatistics {
    requests: u64,
    drawn_s: f64,
    fixed: LogHistogram,
}

impl ThreadStatistics {
    pub(crate) fn add(&mut self, page: u8, fixed_s: f64, drawn_s: f64, work_s: f64) {
        let statistics = &mut self.pages[usize::from(page)];
        statistics.requests += 1;
        statistics.drawn_s += drawn_s;
        statistics.fixed.add(fixed_s);
        if drawn_s > 0.0 && page < HEALTH {
            self.stretch.add(work_s / drawn_s);
        }
    }

    pub(crate) fn merge(&mut self, other: &ThreadStatistics) {
        for (into, from) in self.pages.iter_mut().zip(&other.pages) {
            into.merge(from);
        }
        self.stretch.merge(&other.stretch);
    }

    pub(crate) fn requests(&self) -> u64 {
        self.pages.iter().map(|page| page.requests).sum()
    }

    pub(crate) fn stretch_median(&self) -> f64 {
        self.stretch.median()
    }

    pub(crate) fn by_page(&self) -> BTreeMap<&'static str, PageSummary> {
        let asked = NAMES.into_iter().zip(&self.pages).filter(|(_, page)| page.requests > 0);
        asked.map(|(name, page)| (name, page.summary())).collect()
    }

    /// All pages with work as one.
    pub(crate) fn worked(&self) -> PageSummary {
        let mut all = PageStatistics::default();
        self.pages[..usize::from(HEALTH)].iter().for_each(|page| all.merge(page));
        all.summary()
    }
}

impl PageStatistics {
    fn merge(&mut self, other: &PageStatistics) {
        self.requests += other.requests;
        self.drawn_s += other.drawn_s;
        self.fixed.merge(&other.fixed);
    }

    fn summary(&self) -> PageSummary {
        let fixed_median_s = self.fixed.median();
        let drawn_mean_s = self.drawn_s / self.requests.max(1) as f64;
        let known_demand_s = fixed_median_s + drawn_mean_s;
        PageSummary { requests: self.requests, fixed_median_s, drawn_mean_s, known_demand_s }
    }
}

/// Counts of values in cells 1/128 of a power of two wide (at most 0.8 %), in units of 1e-9.
#[derive(Clone, Debug, Default)]
struct LogHistogram {
    counts: Vec<u32>,
}

const SUB: u32 = 7;

impl LogHistogram {
    fn add(&mut self, value: f64) {
        let cell = cell((value.max(0.0) * 1e9) as u64);
        if cell >= self.counts.len() {
            self.counts.resize(cell + 1, 0);
        }
        self.counts[cell] = self.counts[cell].saturating_add(1);
    }

    fn merge(&mut self, other: &LogHistogram) {
        self.counts.resize(self.counts.len().max(other.counts.len()), 0);
        for (into, from) in self.counts.iter_mut().zip(&other.counts) {
            *into = into.saturating_add(*from);
        }
    }

    /// The middle of the median's cell; 0 if there is nothing.
    fn median(&self) -> f64 {
        let total: u64 = self.counts.iter().map(|&count| u64::from(count)).sum();
        let mut below = 0;
        for (cell, &count) in self.counts.iter().enumerate() {
            below += u64::from(count);
            if count > 0 && 2 * below >= total {
                return middle(cell) * 1e-9;
            }
        }
        0.0
    }
}

fn cell(value: u64) -> usize {
    let shift = (64 - value.leading_zeros()).saturating_sub(SUB + 1);
    ((shift as usize) << SUB) + (value >> shift) as usize
}

fn middle(cell: usize) -> f64 {
    let shift = (cell >> SUB).saturating_sub(1);
    let low = (cell - (shift << SUB)) as f64;
    let width = (1u64 << shift) as f64;
    if shift == 0 {
        low
    } else {
        (low + 0.5) * width
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::ERROR;

    #[test]
    fn a_median_is_right_to_half_a_cell() {
        for value_s in [0.0, 1e-9, 77e-9, 200e-9, 33.3e-6, 1.5e-3, 1.0, 12.0] {
            let mut histogram = LogHistogram::default();
            [value_s, value_s / 3.0, value_s * 3.0].iter().for_each(|v| histogram.add(*v));
            assert!((histogram.median() - value_s).abs() <= value_s / 256.0 + 1e-9, "{value_s}");
        }
        assert_eq!(LogHistogram::default().median(), 0.0);
    }

    #[test]
    fn the_known_demand_is_median_fixed_and_mean_drawn_of_pages_with_work() {
        let (mut one, mut two) = (ThreadStatistics::default(), ThreadStatistics::default());
        one.add(2, 20e-6, 1e-3, 1.1e-3);
        one.add(HEALTH, 1.0, 0.0, 0.0);
        two.add(2, 20e-6, 3e-3, 3.3e-3);
        two.add(ERROR, 1.0, 0.0, 0.0);
        two.add(0, 9.0, 2e-3, 2.2e-3);
        one.merge(&two);
        let all = one.worked();
        assert_eq!((one.requests(), all.requests), (5, 3));
        assert!((all.known_demand_s - 2.02e-3).abs() < 0.1e-6, "{all:?}");
        assert!((one.stretch_median() - 1.1).abs() < 0.005);
        assert_eq!(one.by_page()["item"].requests, 2);
    }
}
