//! Histograms that one thread owns alone; merged when it ends.

use hdrhistogram::Histogram;
use sojourn_serving::time_histogram::histogram;

/// Response, queue and service times of one thread.
#[derive(Debug)]
pub(crate) struct Histograms {
    pub response: Histogram<u64>,
    pub queue: Histogram<u64>,
    pub service: Histogram<u64>,
}

impl Histograms {
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
