//! A log whose loss does not end the service that writes it.

use std::path::Path;

use crate::{Column, LogWriter, Value, WriteError};

/// Writes one log until that fails; from then on rows are counted only. What is in the file are whole rows.
///
/// It does not begin again when there is room: a hole in the middle would look like a time without requests.
#[derive(Debug)]
pub struct BestEffortLog {
    writer: Option<LogWriter>,
    lost_rows: u64,
}

impl BestEffortLog {
    /// As [`LogWriter::create`].
    pub fn create(path: &Path, columns: &[Column], meta: &serde_json::Value) -> Result<Self, WriteError> {
        Ok(Self { writer: Some(LogWriter::create(path, columns, meta)?), lost_rows: 0 })
    }

    /// Appends one row.
    ///
    /// # Errors
    /// The log is given up by this row; of later ones none is an error.
    pub fn row(&mut self, values: &[Value]) -> Result<(), WriteError> {
        match &mut self.writer {
            Some(writer) => writer.row(values).map_err(|error| self.give_up(error, 1)),
            None => {
                self.lost_rows += 1;
                Ok(())
            }
        }
    }

    /// Hands everything to the operating system.
    ///
    /// # Errors
    /// As [`Self::row`].
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.writer.as_mut().map_or(Ok(()), LogWriter::flush).map_err(|error| self.give_up(error, 0))
    }

    /// Rows that are not in the file, and will not be.
    #[must_use]
    pub fn lost_rows(&self) -> u64 {
        self.lost_rows
    }

    /// Rows accepted while it was written.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.writer.as_ref().map_or(0, LogWriter::rows)
    }

    fn give_up(&mut self, error: WriteError, refused: u64) -> WriteError {
        if let Some(writer) = self.writer.take() {
            self.lost_rows += refused + writer.abandon();
        }
        error
    }
}
