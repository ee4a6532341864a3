//! Rows of `app.rec`, a record log.

use std::path::Path;

use sojourn_record::{Column, Kind, Value, Writer};

use crate::ServeError;

/// One request as the server saw it; times in s of `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
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
    Column { name: "received_s", kind: Kind::F64 },
    Column { name: "start_s", kind: Kind::F64 },
    Column { name: "end_s", kind: Kind::F64 },
    Column { name: "drawn_s", kind: Kind::F64 },
    Column { name: "work_s", kind: Kind::F64 },
    Column { name: "fixed_s", kind: Kind::F64 },
    Column { name: "thread", kind: Kind::U16 },
    Column { name: "core", kind: Kind::U16 },
    Column { name: "nic", kind: Kind::U16 },
    Column { name: "status", kind: Kind::U16 },
    Column { name: "bytes", kind: Kind::U32 },
    Column { name: "page", kind: Kind::U8 },
    Column { name: "weight", kind: Kind::U32 },
];

/// Writes rows: all up to the limit, then one in 2, 4, 8, … each time half a limit more was written. A row
/// stands for `weight` requests.
#[derive(Debug)]
pub(crate) struct Recorder {
    writer: Option<Writer>,
    sampling: Sampling,
}

#[derive(Debug)]
struct Sampling {
    limit: u64,
    weight: u32,
    until_next: u32,
    written: u64,
    sparser_at: u64,
}

impl Sampling {
    fn new(limit: u64) -> Self {
        Self { limit, weight: 1, until_next: 0, written: 0, sparser_at: limit }
    }

    /// The weight of the next request's row, if it gets one.
    fn next(&mut self) -> Option<u32> {
        if self.until_next > 0 {
            self.until_next -= 1;
            return None;
        }
        if self.written >= self.sparser_at {
            self.weight = self.weight.saturating_mul(2);
            self.sparser_at += (self.limit / 2).max(1);
        }
        self.until_next = self.weight - 1;
        self.written += 1;
        Some(self.weight)
    }
}

impl Recorder {
    /// Makes `out/app.rec`; without a folder, rows are dropped.
    pub(crate) fn create(
        out: Option<&Path>,
        limit: u64,
        meta: &serde_json::Value,
    ) -> Result<Recorder, ServeError> {
        let create = |folder: &Path| {
            let error = |source| ServeError::Out { path: folder.to_path_buf(), source };
            std::fs::create_dir_all(folder).map_err(error)?;
            Ok::<_, ServeError>(Writer::create(&folder.join("app.rec"), &COLUMNS, meta)?)
        };
        Ok(Recorder { writer: out.map(create).transpose()?, sampling: Sampling::new(limit) })
    }

    pub(crate) fn write(&mut self, rows: &[Row]) -> Result<(), ServeError> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        for row in rows {
            if let Some(weight) = self.sampling.next() {
                writer.row(&row.values(weight))?;
            }
        }
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<(), ServeError> {
        Ok(self.writer.as_mut().map_or(Ok(()), Writer::flush)?)
    }

    pub(crate) fn rows(&self) -> u64 {
        self.writer.as_ref().map_or(0, Writer::rows)
    }
}

impl Row {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_limit_rows_get_rarer_and_heavier_and_stand_for_all() {
        let mut sampling = Sampling::new(10);
        let weights: Vec<u32> = (0..10 + 5 * 2 + 5 * 4).filter_map(|_| sampling.next()).collect();
        assert_eq!(weights[..10], [1; 10]);
        assert_eq!(weights[10..15], [2; 5]);
        assert_eq!(weights[15..], [4; 5]);
    }
}
