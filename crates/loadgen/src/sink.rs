//! Where outcomes go: rows, histograms by the second, counts. Runs on the caller's thread, so that no
//! lane waits for a disk.

mod interval_log;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;
use sojourn_record::{Column, ColumnType, LogWriter, RowSampling, Value, WriteError};

use crate::client_thread::OutcomeBatch;
use crate::kv::KvTally;
use crate::latency_statistics::{LatencyCounts, StreamingStatistics};
use crate::messages::MessagesTally;
use crate::request_outcome::{Failure, RequestOutcome};
use crate::request_source::NO_USER;
use crate::run_terms::RunTerms;
use crate::sessions::SessionsTally;
use crate::summary::{LatencyByEndpoint, LatencySummary};

pub use interval_log::{begin_log, empty_histogram, IntervalLog};

const COLUMNS: [Column; 12] = [
    Column { name: "intended_s", kind: ColumnType::F64 },
    Column { name: "sent_s", kind: ColumnType::F64 },
    Column { name: "received_s", kind: ColumnType::F64 },
    Column { name: "done_s", kind: ColumnType::F64 },
    Column { name: "class", kind: ColumnType::U16 },
    Column { name: "status", kind: ColumnType::U16 },
    Column { name: "bytes", kind: ColumnType::U32 },
    Column { name: "failure", kind: ColumnType::U8 },
    Column { name: "lane", kind: ColumnType::U8 },
    Column { name: "connection", kind: ColumnType::U32 },
    Column { name: "user", kind: ColumnType::U32 },
    Column { name: "weight", kind: ColumnType::U32 },
];

/// Counts and statistics of the whole run.
pub struct RunTotals {
    pub ended: u64,
    pub failures: [u64; Failure::ALL.len()],
    /// Successes done before the end of the schedule.
    pub ok_in_time: u64,
    intended: [StreamingStatistics; 2],
    sent: [StreamingStatistics; 2],
    pub lateness: StreamingStatistics,
    pub own_lateness: StreamingStatistics,
}

impl RunTotals {
    fn new() -> RunTotals {
        let two = || [StreamingStatistics::new(), StreamingStatistics::new()];
        let (lateness, own_lateness) = (StreamingStatistics::new(), StreamingStatistics::new());
        let (intended, sent, failures) = (two(), two(), [0; Failure::ALL.len()]);
        RunTotals { ended: 0, failures, ok_in_time: 0, intended, sent, lateness, own_lateness }
    }

    pub fn ok(&self) -> u64 {
        self.failures[Failure::Ok as usize]
    }

    pub fn latency(&self) -> LatencySummary {
        let both = |[received, done]: &[StreamingStatistics; 2]| LatencyByEndpoint {
            to_received: received.statistics(),
            to_done: done.statistics(),
        };
        LatencySummary { from_intended: both(&self.intended), from_sent: both(&self.sent) }
    }

    /// By the names that `merge::merged_latency` knows.
    pub fn counts(&self) -> BTreeMap<&'static str, LatencyCounts> {
        let named = [
            ("intended_to_received", &self.intended[0]),
            ("intended_to_done", &self.intended[1]),
            ("sent_to_received", &self.sent[0]),
            ("sent_to_done", &self.sent[1]),
            ("lateness", &self.lateness),
            ("own_lateness", &self.own_lateness),
        ];
        named.into_iter().map(|(name, of)| (name, of.counts())).collect()
    }

    fn add(&mut self, outcome: &RequestOutcome, end_s: f64) {
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
        } else {
            self.intended.iter_mut().for_each(StreamingStatistics::fail);
            if !request.sent_s.is_nan() {
                self.sent.iter_mut().for_each(StreamingStatistics::fail);
            }
        }
    }
}

/// The sink of one run.
pub struct OutcomeSink<'w> {
    record: LogWriter,
    sampling: RowSampling,
    end_s: f64,
    pub interval_log: IntervalLog<'w>,
    pub totals: RunTotals,
    /// Since the last progress report, from intended to answered.
    pub interval: StreamingStatistics,
    /// The summary has the counts, which are added to those of other agents.
    pub tell_counts: bool,
    /// Of a load on memcached.
    pub kv: Option<KvTally>,
    /// Of a load on the message service.
    pub messages: Option<MessagesTally>,
    /// Of a load in sessions.
    pub sessions: Option<SessionsTally>,
}

impl<'w> OutcomeSink<'w> {
    /// Creates `requests.rec`; `interval_log` writes `latency.hlog`.
    pub fn create(
        path: &Path,
        terms: &RunTerms,
        classes: &[String],
        interval_log: IntervalLog<'w>,
    ) -> Result<OutcomeSink<'w>, WriteError> {
        let names: Vec<&str> = Failure::ALL.iter().map(|failure| failure.name()).collect();
        let meta = json!({
            "classes": classes, "failures": names, "no_user": NO_USER,
            "seed": terms.seed, "start_s": terms.start_s, "end_s": terms.end_s,
        });
        let record = LogWriter::create(path, &COLUMNS, &meta)?;
        Ok(OutcomeSink {
            record,
            sampling: RowSampling::new(terms.record_limit),
            end_s: terms.end_s,
            interval_log,
            totals: RunTotals::new(),
            interval: StreamingStatistics::new(),
            tell_counts: false,
            kv: None,
            messages: None,
            sessions: None,
        })
    }

    pub fn take(&mut self, batch: &OutcomeBatch) -> Result<(), WriteError> {
        for outcome in &batch.outcomes {
            self.totals.add(outcome, self.end_s);
            if let Some(kv) = &mut self.kv {
                kv.add(outcome);
            }
            if let Some(messages) = &mut self.messages {
                messages.add(outcome);
            }
            if let Some(sessions) = &mut self.sessions {
                sessions.add(outcome);
            }
            self.interval_log.add(outcome);
            if outcome.failure == Failure::Ok {
                self.interval.add(outcome.end_s() - outcome.request.intended_s);
            } else {
                self.interval.fail();
            }
            if let Some(weight) = self.sampling.next_weight() {
                self.record.row(&row(batch.lane, outcome, weight))?;
            }
        }
        Ok(())
    }

    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.record.flush()
    }

    /// Rows that are left when the record is thinned to its last weight, and that weight.
    pub fn sample(&self) -> (u64, u64) {
        let every = u64::from(self.sampling.weight());
        (self.totals.ended.div_ceil(every), every)
    }
}

fn row(lane: u8, outcome: &RequestOutcome, weight: u32) -> [Value; 12] {
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
        Value::U32(weight),
    ]
}
