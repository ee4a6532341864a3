//! The record logs: a row for each request (`app.rec`), and one for each period (`app-levels.rec`).

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use sojourn_record::{BestEffortLog, Column, ColumnType, RowSampling, Value};
use sojourn_serving::LostLogs;

use crate::database::DatabaseInfo;
use crate::operation::KINDS;
use crate::shared::SharedState;
use crate::stats::CompletedRequest;
use crate::ServeError;
use sojourn_record::clock::s;

/// Rows of requests before only some are kept.
const LIMIT: u64 = 2_000_000;

const REQUESTS: [Column; 12] = [
    Column { name: "received_s", kind: ColumnType::F64 },
    Column { name: "dispatch_s", kind: ColumnType::F64 },
    Column { name: "parse_s", kind: ColumnType::F64 },
    Column { name: "wait_s", kind: ColumnType::F64 },
    Column { name: "database_s", kind: ColumnType::F64 },
    Column { name: "respond_s", kind: ColumnType::F64 },
    Column { name: "kind", kind: ColumnType::U8 },
    Column { name: "status", kind: ColumnType::U16 },
    Column { name: "bytes", kind: ColumnType::U32 },
    Column { name: "worker", kind: ColumnType::U16 },
    Column { name: "batch", kind: ColumnType::U16 },
    Column { name: "weight", kind: ColumnType::U32 },
];

const LEVELS: [Column; 9] = [
    Column { name: "t_s", kind: ColumnType::F64 },
    Column { name: "queue_length", kind: ColumnType::U32 },
    Column { name: "busy_workers", kind: ColumnType::U32 },
    Column { name: "connections_in_use", kind: ColumnType::U32 },
    Column { name: "waiting_for_connection", kind: ColumnType::U32 },
    Column { name: "clients", kind: ColumnType::U32 },
    Column { name: "arrivals", kind: ColumnType::U64 },
    Column { name: "completions", kind: ColumnType::U64 },
    Column { name: "cpu_s", kind: ColumnType::F64 },
];

#[derive(Debug)]
pub(crate) struct RecordLog {
    requests: BestEffortLog,
    levels: BestEffortLog,
    sampling: RowSampling,
    lost: LostLogs,
}

/// `app.rec` → `app-levels.rec`.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_os_string();
    name.push("-levels");
    let mut beside = path.with_file_name(name);
    if let Some(extension) = path.extension() {
        beside.set_extension(extension);
    }
    beside
}

impl RecordLog {
    pub fn create(path: &str, config: &crate::Config, about: &DatabaseInfo) -> Result<Self, ServeError> {
        let path = Path::new(path);
        let meta = serde_json::json!({"kinds": KINDS, "config": config, "database": about});
        Ok(Self {
            requests: BestEffortLog::create(path, &REQUESTS, &meta)?,
            levels: BestEffortLog::create(&beside(path), &LEVELS, &meta)?,
            sampling: RowSampling::new(LIMIT),
            lost: LostLogs::default(),
        })
    }

    /// What happened since the last period, and how things stand; what is written reaches the disk. A log that cannot be
    /// written is given up; the service goes on.
    pub fn period(&mut self, shared: &SharedState<'_>, now: u64) {
        let mut requests = Ok(());
        for done in shared.stats.take_rows() {
            if let Some(weight) = self.sampling.next_weight() {
                requests = requests.and(self.requests.row(&request(&done, weight)));
            }
        }
        let levels = self.levels.row(&levels(shared, now));
        for written in [requests.and(self.requests.flush()), levels.and(self.levels.flush())] {
            written.err().iter().for_each(|error| self.lost.add(error));
        }
    }

    /// Why logs were given up, and the rows that they do not have.
    pub fn lost(&self) -> (Vec<String>, u64) {
        (self.lost.list(), self.requests.lost_rows() + self.levels.lost_rows())
    }
}

fn request(done: &CompletedRequest, weight: u32) -> [Value; 12] {
    let phases = done.timestamps.phases().map(|ns| Value::F64(s(ns)));
    [
        Value::F64(s(done.timestamps.received)),
        phases[0],
        phases[1],
        phases[2],
        phases[3],
        phases[4],
        Value::U8(done.kind as u8),
        Value::U16(done.status),
        Value::U32(done.bytes),
        Value::U16(done.worker),
        Value::U16(done.batch),
        Value::U32(weight),
    ]
}

fn levels(shared: &SharedState<'_>, now: u64) -> [Value; 9] {
    let (in_use, waiting) = shared.pool.occupancy();
    [
        Value::F64(s(now)),
        Value::U32(shared.context.queue.len() as u32),
        Value::U32(shared.busy.load(Ordering::Relaxed) as u32),
        Value::U32(in_use as u32),
        Value::U32(waiting as u32),
        Value::U32(shared.counters.clients.load(Ordering::Relaxed) as u32),
        Value::U64(shared.counters.arrivals.load(Ordering::Relaxed)),
        Value::U64(shared.stats.completions()),
        Value::F64(crate::stats::process_cpu_s()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_log_lies_beside_the_first() {
        assert_eq!(beside(Path::new("a/app.rec")), Path::new("a/app-levels.rec"));
    }
}
