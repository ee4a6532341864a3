//! `latency.hlog`: the standard HdrHistogram interval log, one histogram a second.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, LineWriter};
use std::time::{Duration, SystemTime};

use hdrhistogram::serialization::interval_log::{IntervalLogWriter, IntervalLogWriterBuilder, Tag};
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::Histogram;

use crate::outcome::Outcome;
use crate::stats::{histogram, to_ns};

pub type LogFile = LineWriter<File>;
type Log<'w> = IntervalLogWriter<'w, 'w, LogFile, V2DeflateSerializer>;

/// A second is written this long after its end, when all lanes have reported.
const LAG_S: f64 = 1.0;
const HEADER: &str =
    "Latencies of successes in ns: untagged from the intended time, Tag=sent from the send, both to the \
     kernel's receive time (where it has none, to the read of the last bytes); by the second in which they ended. \
     The maximum (column 3) is in ms.";

struct Second {
    intended: Histogram<u64>,
    sent: Histogram<u64>,
}

/// The seconds that are not yet written.
pub struct Seconds<'w> {
    log: Log<'w>,
    start_s: f64,
    /// The index of the first of `open`.
    next: usize,
    open: VecDeque<Second>,
}

impl<'w> Seconds<'w> {
    pub fn begin(
        file: &'w mut LogFile,
        serializer: &'w mut V2DeflateSerializer,
        start_s: f64,
        start_wall: SystemTime,
    ) -> io::Result<Seconds<'w>> {
        let mut builder = IntervalLogWriterBuilder::new();
        builder.add_comment("[Histogram log format version 1.3]").add_comment(HEADER);
        builder.with_start_time(start_wall).with_max_value_divisor(1e6);
        let log = builder.begin_log_with(file, serializer)?;
        Ok(Seconds { log, start_s, next: 0, open: VecDeque::new() })
    }

    pub fn add(&mut self, outcome: &Outcome) {
        let second = (outcome.done_s - self.start_s).max(0.0) as usize;
        // One that comes late all the same goes to the first second that is still open.
        let index = second.max(self.next) - self.next;
        self.open_up_to(index);
        if let Some(second) = self.open.get_mut(index) {
            second.intended.saturating_record(to_ns(outcome.end_s() - outcome.request.intended_s));
            second.sent.saturating_record(to_ns(outcome.end_s() - outcome.request.sent_s));
        }
    }

    /// Writes the seconds that ended before `now_s` less the lag.
    pub fn write_ended(&mut self, now_s: f64) -> Result<(), String> {
        while now_s >= self.start_s + (self.next + 1) as f64 + LAG_S {
            self.open_up_to(0);
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

    fn open_up_to(&mut self, index: usize) {
        while self.open.len() <= index {
            let (Some(intended), Some(sent)) = (histogram(), histogram()) else {
                return;
            };
            self.open.push_back(Second { intended, sent });
        }
    }

    fn write_first(&mut self) -> Result<(), String> {
        let (at, one) = (Duration::from_secs(self.next as u64), Duration::from_secs(1));
        self.next += 1;
        let Some(second) = self.open.pop_front() else {
            return Ok(());
        };
        let write = self.log.write_histogram(&second.intended, at, one, None);
        write.map_err(|e| e.to_string())?;
        self.log.write_histogram(&second.sent, at, one, Tag::new("sent")).map_err(|e| e.to_string())
    }
}
