//! What is written each period: a row for each thread (`app.rec`, which becomes `app.parquet`), and response times in bins.

use std::path::Path;

use sojourn_record::{BestEffortLog, Column, ColumnType, Value, WriteError};
use sojourn_serving::LostLogs;

use crate::response_time_bins::BinLog;
use crate::route::KINDS;
use crate::single_writer_counter::SingleWriterCounter;
use crate::stats::{self, Stats};
use crate::{Config, ServeError};
use sojourn_record::clock::s;

/// Columns before the kinds and the servers; counts and sums are of the period, `queue_length` is at its end.
const COLUMNS: [(&str, ColumnType); 17] = [
    ("t_s", ColumnType::F64),
    ("length_s", ColumnType::F64),
    ("thread", ColumnType::U16),
    ("arrivals", ColumnType::U64),
    ("completions", ColumnType::U64),
    ("errors", ColumnType::U64),
    ("hits", ColumnType::U64),
    ("misses", ColumnType::U64),
    ("served", ColumnType::U64),
    ("queue_length", ColumnType::U64),
    ("queue_seen", ColumnType::U64),
    ("queue_s", ColumnType::F64),
    ("service_s", ColumnType::F64),
    ("response_s", ColumnType::F64),
    ("connections", ColumnType::U64),
    ("busy_s", ColumnType::F64),
    ("cpu_s", ColumnType::F64),
];

/// Sums of one thread at the end of the last period, in the order of `sums`.
type Before = Vec<u64>;

#[derive(Debug)]
pub(crate) struct RecordLog {
    rows: Option<BestEffortLog>,
    bins: Option<BinLog>,
    before: Vec<(Before, f64)>,
    at: u64,
}

/// All that grows, in the order in which rows have it.
fn sums(stats: &Stats) -> Before {
    let Stats { arrivals, errors, hits, misses, served, queue_seen, queue_ns, service_ns, .. } = stats;
    let mut all: Before = [arrivals, errors, hits, misses, served, queue_seen, queue_ns, service_ns]
        .map(SingleWriterCounter::get)
        .to_vec();
    all.extend([&stats.response_ns, &stats.busy_ns].map(SingleWriterCounter::get));
    all.extend(stats.done.iter().map(SingleWriterCounter::get));
    for server in &stats.servers {
        all.extend([&server.requests, &server.errors, &server.service_ns].map(SingleWriterCounter::get));
    }
    all
}

fn columns(config: &Config) -> Vec<Column> {
    let mut columns: Vec<Column> = COLUMNS.map(|(name, kind)| Column { name, kind }).to_vec();
    columns.extend(KINDS.map(|name| Column { name, kind: ColumnType::U64 }));
    for server in 0..config.servers.len() {
        // A few names a process, which live as long as it does.
        let name = |what: &str| -> &'static str { format!("{what}_{server}").leak() };
        columns.push(Column { name: name("server_requests"), kind: ColumnType::U64 });
        columns.push(Column { name: name("server_errors"), kind: ColumnType::U64 });
        columns.push(Column { name: name("server_service_s"), kind: ColumnType::F64 });
    }
    columns
}

impl RecordLog {
    /// The logs that `config` asks for, if any.
    pub fn open(config: &Config, all: &[&Stats], now: u64) -> Result<Option<Self>, ServeError> {
        let names: Vec<&str> = all.iter().map(|stats| stats.name.as_str()).collect();
        let meta = serde_json::json!({"threads": names, "config": config});
        let create = |path: &String| BestEffortLog::create(Path::new(path), &columns(config), &meta);
        let rows = config.log.as_ref().map(create).transpose()?;
        let bins = config.bins.as_ref().map(|path| BinLog::create(path, &meta)).transpose()?;
        let before = all.iter().map(|stats| (vec![0; sums(stats).len()], 0.0)).collect();
        Ok((rows.is_some() || bins.is_some()).then_some(Self { rows, bins, before, at: now }))
    }

    /// A row for each thread about the time since the last; what is written reaches the disk. A log that cannot be
    /// written is given up, and goes to `lost`.
    pub fn period(&mut self, all: &[&Stats], now: u64, lost: &LostLogs) {
        if let Some(Err(error)) = self.bins.as_mut().map(|bins| bins.period(&stats::bins(all), now)) {
            lost.add(&error);
        }
        if let Err(error) = self.rows(all, now) {
            lost.add(&error);
        }
    }

    /// Rows that logs given up do not have.
    pub fn lost_rows(&self) -> u64 {
        let (rows, bins) = (self.rows.as_ref(), self.bins.as_ref());
        rows.map_or(0, BestEffortLog::lost_rows) + bins.map_or(0, BinLog::lost_rows)
    }

    fn rows(&mut self, all: &[&Stats], now: u64) -> Result<(), WriteError> {
        let length_s = s(now - self.at);
        self.at = now;
        let Some(rows) = &mut self.rows else {
            return Ok(());
        };
        let mut written = Ok(());
        for (thread, stats) in all.iter().enumerate() {
            let (before, cpu_before) = &self.before[thread];
            let (sums, cpu_s) = (sums(stats), stats.cpu_s().unwrap_or(*cpu_before));
            let grown: Vec<u64> = sums.iter().zip(before).map(|(to, from)| to - from).collect();
            let row = row(stats, &grown, (s(now), length_s, cpu_s - cpu_before), thread);
            written = written.and(rows.row(&row));
            self.before[thread] = (sums, cpu_s);
        }
        written.and(rows.flush())
    }
}

fn row(stats: &Stats, grown: &[u64], times: (f64, f64, f64), thread: usize) -> Vec<Value> {
    let (fixed, rest) = grown.split_at(10);
    let (kinds, servers) = rest.split_at(KINDS.len());
    let count = |index: usize| Value::U64(fixed[index]);
    let sum = |index: usize| Value::F64(s(fixed[index]));
    let mut row = vec![Value::F64(times.0), Value::F64(times.1), Value::U16(thread as u16)];
    row.extend([count(0), Value::U64(kinds.iter().sum()), count(1), count(2), count(3), count(4)]);
    row.extend([Value::U64(stats.queue.get()), count(5), sum(6), sum(7), sum(8)]);
    row.extend([Value::U64(stats.connections.get()), sum(9), Value::F64(times.2)]);
    row.extend(kinds.iter().map(|count| Value::U64(*count)));
    for server in servers.chunks_exact(3) {
        row.extend([Value::U64(server[0]), Value::U64(server[1]), Value::F64(s(server[2]))]);
    }
    row
}
