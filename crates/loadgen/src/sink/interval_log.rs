//! `latency.hlog`: the standard HdrHistogram interval log, one histogram a second.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, LineWriter};
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::interval_log::{IntervalLogWriter, IntervalLogWriterBuilder, Tag};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::Histogram;

use crate::latency_statistics::LogLinearBins;
use crate::request_outcome::{Failure, RequestOutcome};

pub type LogFile = LineWriter<File>;
pub type Log<'w> = IntervalLogWriter<'w, 'w, LogFile, V2DeflateSerializer>;

/// A second is written this long after its end, when all lanes have reported.
const LAG_S: f64 = 1.0;
const HEADER: &str = "Latencies in ns: untagged from the intended time, Tag=sent from the send (of those that were \
    sent), both to the kernel's receive time (where it has none, to the read of the last bytes); by the second in which \
    they ended. A failure counts as answered at its time-out: no success is later. The maximum (column 3) is in ms.";

struct OneSecond {
    intended: LogLinearBins,
    sent: LogLinearBins,
}

/// The seconds that are not yet written.
pub struct IntervalLog<'w> {
    log: Log<'w>,
    start_s: f64,
    timeout_s: f64,
    /// The index of the first of `open`.
    next: usize,
    open: VecDeque<OneSecond>,
}

impl<'w> IntervalLog<'w> {
    pub fn begin(
        file: &'w mut LogFile,
        serializer: &'w mut V2DeflateSerializer,
        start_s: f64,
        start_wall: SystemTime,
        timeout_s: f64,
    ) -> io::Result<IntervalLog<'w>> {
        let log = begin_log(file, serializer, start_wall)?;
        Ok(IntervalLog { log, start_s, timeout_s, next: 0, open: VecDeque::new() })
    }

    pub fn add(&mut self, outcome: &RequestOutcome) {
        let second = (outcome.done_s - self.start_s).max(0.0) as usize;
        // One that comes late all the same goes to the first second that is still open.
        let index = second.max(self.next) - self.next;
        while self.open.len() <= index {
            self.open.push_back(OneSecond { intended: LogLinearBins::new(), sent: LogLinearBins::new() });
        }
        let second = &mut self.open[index];
        let (end_s, request) = (outcome.end_s(), &outcome.request);
        let least_s = if outcome.failure == Failure::Ok { 0.0 } else { self.timeout_s };
        second.intended.add((end_s - request.intended_s).max(least_s));
        if !request.sent_s.is_nan() {
            second.sent.add((end_s - request.sent_s).max(least_s));
        }
    }

    /// Writes the seconds that ended before `now_s` less the lag.
    pub fn write_ended(&mut self, now_s: f64) -> Result<(), String> {
        while now_s >= self.start_s + (self.next + 1) as f64 + LAG_S {
            self.write_first()?;
        }
        Ok(())
    }

    /// Writes all that is left, up to the second of `end_s`.
    pub fn finish(&mut self, end_s: f64) -> Result<(), String> {
        self.write_ended(end_s + LAG_S)?;
        while !self.open.is_empty() {
            self.write_first()?;
        }
        Ok(())
    }

    fn write_first(&mut self) -> Result<(), String> {
        let (at, one) = (Duration::from_secs(self.next as u64), Duration::from_secs(1));
        self.next += 1;
        let second = self.open.pop_front();
        let (intended, sent) = second.map_or((None, None), |s| (Some(s.intended), Some(s.sent)));
        for (bins, tag) in [(intended, None), (sent, Tag::new("sent"))] {
            let histogram = histogram(bins.as_ref())?;
            self.log.write_histogram(&histogram, at, one, tag).map_err(|e| e.to_string())?;
        }
        Ok(())
    }
}

/// A log with the header that ours have.
pub fn begin_log<'w>(
    file: &'w mut LogFile,
    serializer: &'w mut V2DeflateSerializer,
    start_wall: SystemTime,
) -> io::Result<Log<'w>> {
    let mut builder = IntervalLogWriterBuilder::new();
    builder.add_comment("[Histogram log format version 1.3]").add_comment(HEADER);
    builder.with_start_time(start_wall).with_max_value_divisor(1e6);
    builder.begin_log_with(file, serializer)
}

/// An empty one: up to 1 h in ns, three digits.
pub fn empty_histogram() -> Result<Histogram<u64>, String> {
    Histogram::new_with_bounds(1, 3_600_000_000_000, 3).map_err(|cause| cause.to_string())
}

/// The standard form of what was counted.
fn histogram(bins: Option<&LogLinearBins>) -> Result<Histogram<u64>, String> {
    let mut histogram = empty_histogram()?;
    for (value_s, count) in bins.iter().flat_map(|bins| bins.counts()) {
        histogram.saturating_record_n((value_s * 1e9) as u64, count);
    }
    Ok(histogram)
}
