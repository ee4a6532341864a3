//! The bulletin board.

use crate::worker_loops::{json, parse, tell};
use crate::worker_process::{os_error, stop_flag};
use pyo3::prelude::*;

/// Serves until a signal comes; `ready` is called once with where it listens. Returns what it did, as JSON.
#[pyfunction]
fn serve_bulletin(py: Python<'_>, config: &str, ready: Py<PyAny>) -> PyResult<String> {
    let config: sojourn_bulletin::Config = parse("bulletin board", config)?;
    let summary = py.detach(|| {
        sojourn_bulletin::serve(&config, stop_flag(), &mut |r| tell(&ready, r)).map_err(os_error)
    })?;
    json(&summary)
}

/// Adds this file's functions to the native module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(serve_bulletin, module)?)
}
