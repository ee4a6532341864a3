//! The reader: for tests and small logs (all rows in memory).

use std::path::Path;

use serde_json::Value as Json;

use crate::{ColumnType, ReadError, Value, FORMAT, VERSION};

/// A log in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct LogContents {
    pub columns: Vec<(String, ColumnType)>,
    pub meta: Json,
    pub rows: Vec<Vec<Value>>,
    /// Bytes after the last whole row: not 0 where the writer was killed.
    pub cut_bytes: usize,
}

impl LogContents {
    /// One column by name, as floats.
    pub fn column(&self, name: &str) -> Option<Vec<f64>> {
        let index = self.columns.iter().position(|(n, _)| n == name)?;
        Some(self.rows.iter().map(|row| row[index].as_f64()).collect())
    }
}

/// Reads a log; a cut-off last row is left out and counted in `cut_bytes`.
pub fn read(path: &Path) -> Result<LogContents, ReadError> {
    let open_error = |source| ReadError::Open { path: path.to_path_buf(), source };
    let bytes = std::fs::read(path).map_err(open_error)?;
    let bad = |what: &str| ReadError::Header { path: path.to_path_buf(), what: what.to_string() };
    let end = bytes.iter().position(|b| *b == b'\n').ok_or_else(|| bad("no line end"))?;
    let header: Json = serde_json::from_slice(&bytes[..end]).map_err(|e| bad(&e.to_string()))?;
    if header["format"] != FORMAT {
        return Err(bad("format is not \"sojourn-record\""));
    }
    if header["version"] != VERSION {
        return Err(ReadError::Version { path: path.to_path_buf(), found: header["version"].to_string() });
    }
    let columns = columns(&header["columns"]).ok_or_else(|| bad("columns are not [[name, code], …]"))?;
    let body = &bytes[end + 1..];
    let width: usize = columns.iter().map(|(_, kind)| kind.size_bytes()).sum();
    let rows = body.chunks_exact(width).map(|row| decode(&columns, row)).collect();
    Ok(LogContents { columns, meta: header["meta"].clone(), rows, cut_bytes: body.len() % width })
}

fn columns(header: &Json) -> Option<Vec<(String, ColumnType)>> {
    let list = header.as_array().filter(|list| !list.is_empty())?;
    list.iter()
        .map(|pair| {
            Some((pair.get(0)?.as_str()?.to_string(), ColumnType::from_code(pair.get(1)?.as_str()?)?))
        })
        .collect()
}

fn decode(columns: &[(String, ColumnType)], row: &[u8]) -> Vec<Value> {
    let mut offset = 0;
    columns
        .iter()
        .map(|(_, kind)| {
            let value = Value::decode(*kind, &row[offset..]);
            offset += kind.size_bytes();
            value
        })
        .collect()
}
