//! Rows of `app.rec`, a record log.

use std::path::Path;

use sojourn_record::{BestEffortLog, Column, ColumnType, RowSampling, Value};
use sojourn_serving::LostLogs;

use crate::ServeError;

/// One request as the server saw it; times in s of `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestRow {
    /// When the kernel received its last bytes; NaN where it did not say.
    pub received_s: f64,
    pub start_s: f64,
    /// After its response was handed to the kernel.
    pub end_s: f64,
    pub drawn_s: f64,
    pub work_s: f64,
    pub fixed_s: f64,
    pub thread: u16,
    pub core: u16,
    pub nic: u16,
    pub status: u16,
    pub bytes: u32,
    pub page: u8,
}

const COLUMNS: [Column; 13] = [
    Column { name: "received_s", kind: ColumnType::F64 },
    Column { name: "start_s", kind: ColumnType::F64 },
    Column { name: "end_s", kind: ColumnType::F64 },
    Column { name: "drawn_s", kind: ColumnType::F64 },
    Column { name: "work_s", kind: ColumnType::F64 },
    Column { name: "fixed_s", kind: ColumnType::F64 },
    Column { name: "thread", kind: ColumnType::U16 },
    Column { name: "core", kind: ColumnType::U16 },
    Column { name: "nic", kind: ColumnType::U16 },
    Column { name: "status", kind: ColumnType::U16 },
    Column { name: "bytes", kind: ColumnType::U32 },
    Column { name: "page", kind: ColumnType::U8 },
    Column { name: "weight", kind: ColumnType::U32 },
];

/// Writes rows; beyond a limit some of them, which stand for `weight` requests.
#[derive(Debug)]
pub(crate) struct RequestRecorder {
    writer: Option<BestEffortLog>,
    sampling: RowSampling,
    lost: LostLogs,
}

impl RequestRecorder {
    /// Makes `out/app.rec`; without a folder, rows are dropped.
    pub(crate) fn create(
        out: Option<&Path>,
        limit: u64,
        meta: &serde_json::Value,
    ) -> Result<RequestRecorder, ServeError> {
        let create = |folder: &Path| {
            let error = |source| ServeError::Out { path: folder.to_path_buf(), source };
            std::fs::create_dir_all(folder).map_err(error)?;
            Ok::<_, ServeError>(BestEffortLog::create(&folder.join("app.rec"), &COLUMNS, meta)?)
        };
        let (writer, sampling) = (out.map(create).transpose()?, RowSampling::new(limit));
        Ok(RequestRecorder { writer, sampling, lost: LostLogs::default() })
    }

    /// A log that cannot be written is given up; the service goes on.
    pub(crate) fn write(&mut self, rows: &[RequestRow]) {
        let Some(writer) = &mut self.writer else { return };
        for row in rows {
            if let Some(weight) = self.sampling.next_weight() {
                writer.row(&row.values(weight)).err().iter().for_each(|error| self.lost.add(error));
            }
        }
    }

    pub(crate) fn flush(&mut self) {
        let flushed = self.writer.as_mut().map_or(Ok(()), BestEffortLog::flush);
        flushed.err().iter().for_each(|error| self.lost.add(error));
    }

    /// Why the log was given up, and the rows that it does not have.
    pub(crate) fn lost(&self) -> (Vec<String>, u64) {
        (self.lost.list(), self.writer.as_ref().map_or(0, BestEffortLog::lost_rows))
    }

    pub(crate) fn rows(&self) -> u64 {
        self.writer.as_ref().map_or(0, BestEffortLog::rows)
    }
}

impl RequestRow {
    fn values(&self, weight: u32) -> [Value; 13] {
        [
            Value::F64(self.received_s),
            Value::F64(self.start_s),
            Value::F64(self.end_s),
            Value::F64(self.drawn_s),
            Value::F64(self.work_s),
            Value::F64(self.fixed_s),
            Value::U16(self.thread),
            Value::U16(self.core),
            Value::U16(self.nic),
            Value::U16(self.status),
            Value::U32(self.bytes),
            Value::U8(self.page),
            Value::U32(weight),
        ]
    }
}
