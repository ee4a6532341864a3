//! Where outcomes go: rows, histograms by the second, counts. Runs on the caller's thread, so that no
//! lane waits for a disk.

mod seconds;

use std::path::Path;

use serde_json::json;
use sojourn_record::{Column, Kind, Value, WriteError, Writer};

use crate::config::Config;
use crate::kv::KvTally;
use crate::lane::Batch;
use crate::messages::MessagesTally;
use crate::outcome::{Failure, Outcome};
use crate::source::NO_USER;
use crate::stats::Tally;
use crate::summary::{Latency, ToBoth};

pub use seconds::Seconds;

const COLUMNS: [Column; 11] = [
    Column { name: "intended_s", kind: Kind::F64 },
    Column { name: "sent_s", kind: Kind::F64 },
    Column { name: "received_s", kind: Kind::F64 },
    Column { name: "done_s", kind: Kind::F64 },
    Column { name: "class", kind: Kind::U16 },
    Column { name: "status", kind: Kind::U16 },
    Column { name: "bytes", kind: Kind::U32 },
    Column { name: "failure", kind: Kind::U8 },
    Column { name: "lane", kind: Kind::U8 },
    Column { name: "connection", kind: Kind::U32 },
    Column { name: "user", kind: Kind::U32 },
];

/// Counts and statistics of the whole run.
pub struct Totals {
    pub ended: u64,
    pub failures: [u64; Failure::ALL.len()],
    /// Successes done before the end of the schedule.
    pub ok_in_time: u64,
    intended: [Tally; 2],
    sent: [Tally; 2],
    pub lateness: Tally,
    pub own_lateness: Tally,
}

impl Totals {
    fn new() -> Totals {
        let two = || [Tally::new(), Tally::new()];
        let (lateness, own_lateness) = (Tally::new(), Tally::new());
        let (intended, sent, failures) = (two(), two(), [0; Failure::ALL.len()]);
        Totals { ended: 0, failures, ok_in_time: 0, intended, sent, lateness, own_lateness }
    }

    pub fn ok(&self) -> u64 {
        self.failures[Failure::Ok as usize]
    }

    pub fn latency(&self) -> Latency {
        let both = |[received, done]: &[Tally; 2]| ToBoth {
            to_received: received.statistics(),
            to_done: done.statistics(),
        };
        Latency { from_intended: both(&self.intended), from_sent: both(&self.sent) }
    }

    fn add(&mut self, outcome: &Outcome, end_s: f64) {
        let request = &outcome.request;
        self.ended += 1;
        self.failures[outcome.failure as usize] += 1;
        self.lateness.add(request.sent_s - request.intended_s);
        self.own_lateness.add(request.taken_s - request.intended_s);
        if outcome.failure == Failure::Ok {
            self.ok_in_time += u64::from(outcome.done_s <= end_s);
            for (which, at_s) in [outcome.received_s, outcome.done_s].into_iter().enumerate() {
                self.intended[which].add(at_s - request.intended_s);
                self.sent[which].add(at_s - request.sent_s);
            }
        }
    }
}

/// The sink of one run.
pub struct Sink<'w> {
    record: Writer,
    meta: serde_json::Value,
    limit: u64,
    pub sample_every: u64,
    offered: u64,
    end_s: f64,
    pub seconds: Seconds<'w>,
    pub totals: Totals,
    /// Successes since the last progress report, from intended to done.
    pub interval: Tally,
    /// Of a load on memcached.
    pub kv: Option<KvTally>,
    /// Of a load on the message service.
    pub messages: Option<MessagesTally>,
}

impl<'w> Sink<'w> {
    /// Creates `requests.rec`; `seconds` writes `latency.hlog`.
    pub fn create(
        path: &Path,
        config: &Config,
        classes: &[String],
        end_s: f64,
        seconds: Seconds<'w>,
    ) -> Result<Sink<'w>, WriteError> {
        let sample_every = expected_stride(config);
        let names: Vec<&str> = Failure::ALL.iter().map(|failure| failure.name()).collect();
        let meta = json!({
            "classes": classes, "failures": names, "sample_every": sample_every, "no_user": NO_USER,
            "seed": config.seed, "start_s": end_s - config.duration_s, "end_s": end_s,
        });
        let record = Writer::create(path, &COLUMNS, &meta)?;
        Ok(Sink {
            record,
            meta,
            limit: config.record_limit,
            sample_every,
            offered: 0,
            end_s,
            seconds,
            totals: Totals::new(),
            interval: Tally::new(),
            kv: None,
            messages: None,
        })
    }

    pub fn take(&mut self, batch: &Batch) -> Result<(), WriteError> {
        for outcome in &batch.outcomes {
            self.totals.add(outcome, self.end_s);
            if let Some(kv) = &mut self.kv {
                kv.add(outcome);
            }
            if let Some(messages) = &mut self.messages {
                messages.add(outcome);
            }
            if outcome.failure == Failure::Ok {
                self.interval.add(outcome.done_s - outcome.request.intended_s);
                self.seconds.add(outcome);
            }
            if self.offered.is_multiple_of(self.sample_every) {
                self.record.row(&row(batch.lane, outcome))?;
            }
            self.offered += 1;
            if self.record.rows() > self.limit {
                self.halve()?;
            }
        }
        Ok(())
    }

    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.record.flush()
    }

    pub fn rows(&self) -> u64 {
        self.record.rows()
    }

    /// Above the limit every second row goes, so that the sample stays systematic over the whole run.
    fn halve(&mut self) -> Result<(), WriteError> {
        self.sample_every *= 2;
        self.meta["sample_every"] = json!(self.sample_every);
        self.record.thin(2, &self.meta)
    }
}

/// Every k-th request, from the start, where the schedule says that all would be too many.
fn expected_stride(config: &Config) -> u64 {
    let arrivals = config.lanes.iter().filter_map(|lane| lane.arrivals.as_ref());
    let expected: f64 = arrivals.map(|process| process.expected(config.duration_s)).sum();
    let ratio = expected / config.record_limit as f64;
    if ratio > 1.0 {
        // A tenth more, so that chance does not bring it over the limit all the same.
        (ratio * 1.1).ceil() as u64
    } else {
        1
    }
}

fn row(lane: u8, outcome: &Outcome) -> [Value; 11] {
    let request = &outcome.request;
    [
        Value::F64(request.intended_s),
        Value::F64(request.sent_s),
        Value::F64(outcome.received_s),
        Value::F64(outcome.done_s),
        Value::U16(outcome.class),
        Value::U16(outcome.status),
        Value::U32(u32::try_from(outcome.bytes).unwrap_or(u32::MAX)),
        Value::U8(outcome.failure as u8),
        Value::U8(lane),
        Value::U32(outcome.connection),
        Value::U32(request.user),
    ]
}
