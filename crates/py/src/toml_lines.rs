//! Where in a TOML text each key stands, so that an error in a model file can name its line.

use std::collections::HashMap;

use pyo3::prelude::*;
use toml_edit::{Document, TableLike};

/// Line (from 1) of every key, by its path joined with dots; empty where the text is not TOML.
#[pyfunction]
fn toml_lines(text: &str) -> HashMap<String, usize> {
    let mut found = HashMap::new();
    if let Ok(document) = Document::parse(text) {
        walk(document.as_table(), text, "", &mut found);
    }
    found
}

fn walk(table: &dyn TableLike, text: &str, above: &str, found: &mut HashMap<String, usize>) {
    for (name, item) in table.iter() {
        let path = if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
        let span = table.key(name).and_then(|key| key.span()).or_else(|| item.span());
        if let Some(at) = span {
            found.insert(path.clone(), 1 + text[..at.start].matches('\n').count());
        }
        if let Some(inner) = item.as_table_like() {
            walk(inner, text, &path, found);
        }
    }
}

/// Adds this file's functions to the native module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(toml_lines, module)?)
}
