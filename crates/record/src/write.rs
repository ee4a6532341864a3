//! The writer.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::{new_file, Column, Value, WriteError, FORMAT, VERSION};

const BUFFER_BYTES: usize = 256 * 1024;

/// Writes one log. Rows reach the file when 256 KiB are full, at [`LogWriter::flush`] and on drop
/// (a drop cannot report an error: flush first).
#[derive(Debug)]
pub struct LogWriter {
    path: PathBuf,
    file: BufWriter<File>,
    columns: Vec<Column>,
    packed: Vec<u8>,
    rows: u64,
    header_bytes: u64,
}

impl LogWriter {
    /// Creates the file ([`new_file()`]) and writes the header; `meta` is any JSON value.
    pub fn create(
        path: &Path,
        columns: &[Column],
        meta: &serde_json::Value,
    ) -> Result<LogWriter, WriteError> {
        let create_error = |source| WriteError::Create { path: path.to_path_buf(), source };
        let mut file = BufWriter::with_capacity(BUFFER_BYTES, new_file(path).map_err(create_error)?);
        let header_bytes = write_header(&mut file, columns, meta).map_err(create_error)?;
        let (path, columns) = (path.to_path_buf(), columns.to_vec());
        Ok(LogWriter { path, file, columns, packed: Vec::new(), rows: 0, header_bytes })
    }

    /// Appends one row; nothing is written if its shape is not that of the columns.
    pub fn row(&mut self, values: &[Value]) -> Result<(), WriteError> {
        self.check_shape(values)?;
        self.packed.clear();
        for value in values {
            value.append_to(&mut self.packed);
        }
        self.file.write_all(&self.packed).map_err(|source| self.append_error(source))?;
        self.rows += 1;
        Ok(())
    }

    /// Hands everything to the operating system.
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.file.flush().map_err(|source| self.append_error(source))
    }

    /// Rows accepted so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Ends a log that cannot be written on: what has not reached the file is dropped, a row that did in part is cut off.
    /// How many accepted rows are lost.
    pub(crate) fn abandon(self) -> u64 {
        let (file, _unwritten) = self.file.into_parts();
        let row_bytes: u64 = self.columns.iter().map(|column| column.kind.size_bytes() as u64).sum();
        let bytes = file.metadata().map_or(0, |found| found.len()).saturating_sub(self.header_bytes);
        let whole = (bytes / row_bytes.max(1)).min(self.rows);
        // Readers leave a part of a row out, too.
        let _ = file.set_len(self.header_bytes + whole * row_bytes);
        self.rows - whole
    }

    fn check_shape(&self, values: &[Value]) -> Result<(), WriteError> {
        let wrong = |what| Err(WriteError::Shape { path: self.path.clone(), what });
        if values.len() != self.columns.len() {
            return wrong(format!("{} values for {} columns", values.len(), self.columns.len()));
        }
        let kinds = self.columns.iter().map(|column| column.kind);
        for (index, (value, kind)) in values.iter().zip(kinds).enumerate() {
            if value.kind() != kind {
                return wrong(format!(
                    "value {index} is {}, its column {}",
                    value.kind().code(),
                    kind.code()
                ));
            }
        }
        Ok(())
    }

    fn append_error(&self, source: std::io::Error) -> WriteError {
        WriteError::Append { path: self.path.clone(), source }
    }
}

fn write_header(
    file: &mut BufWriter<File>,
    columns: &[Column],
    meta: &serde_json::Value,
) -> std::io::Result<u64> {
    let named: Vec<[&str; 2]> = columns.iter().map(|c| [c.name, c.kind.code()]).collect();
    let header = serde_json::json!({"format": FORMAT, "version": VERSION, "columns": named, "meta": meta});
    let line = format!("{header}\n");
    file.write_all(line.as_bytes())?;
    file.flush()?;
    Ok(line.len() as u64)
}
