//! Histograms that one thread owns alone; merged when it ends.

use hdrhistogram::Histogram;

/// Unit of the histograms, ns.
pub(crate) const UNIT_NS: u64 = 100;

/// Response, queue and service times of one thread, to 3 digits.
#[derive(Debug)]
pub(crate) struct Own {
    pub response: Histogram<u64>,
    pub queue: Histogram<u64>,
    pub service: Histogram<u64>,
}

fn histogram() -> Histogram<u64> {
    // 0.1 µs to a minute: bounds that the library takes.
    Histogram::new_with_bounds(1, 600_000_000, 3).unwrap_or_else(|e| unreachable!("{e}"))
}

impl Own {
    pub fn new() -> Self {
        Self { response: histogram(), queue: histogram(), service: histogram() }
    }

    pub fn merge(&mut self, other: &Self) {
        for (all, one) in [
            (&mut self.response, &other.response),
            (&mut self.queue, &other.queue),
            (&mut self.service, &other.service),
        ] {
            // Of the same bounds: nothing can be out of range.
            let _ = all.add(one);
        }
    }
}

/// Adds a time.
#[inline]
pub(crate) fn record(histogram: &mut Histogram<u64>, ns: u64) {
    histogram.saturating_record(ns / UNIT_NS);
}
