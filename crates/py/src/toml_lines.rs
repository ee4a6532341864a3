//! Where in a TOML text each key stands, so that an error in a model file can name its line.

use std::collections::HashMap;

use pyo3::prelude::*;
use toml_edit::{Document, TableLike};

/// Line (from 1) of every key, by its path joined with dots; empty where the text is not TOML.
#[pyfunction]
fn toml_lines(text: &str) -> HashMap<String, usize> {
    let mut found = HashMap::new();
    if let Ok(document) = Document::parse(text) {
        let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        walk(document.as_table(), &ends, "", &mut found);
    }
    found
}

/// `ends`: where the lines end. The parser refuses what is nested deeper than 80 levels; dotted keys are limited by the caller
/// (sojourn.files.reading), so this may call itself.
fn walk(table: &dyn TableLike, ends: &[usize], above: &str, found: &mut HashMap<String, usize>) {
    for (name, item) in table.iter() {
        let path = if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
        let span = table.key(name).and_then(|key| key.span()).or_else(|| item.span());
        if let Some(at) = span {
            found.insert(path.clone(), 1 + ends.partition_point(|&end| end < at.start));
        }
        if let Some(inner) = item.as_table_like() {
            walk(inner, ends, &path, found);
        }
    }
}

/// Adds this file's functions to the native module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(toml_lines, module)?)
}
