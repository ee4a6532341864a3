//! The embedded network block device server.

use crate::worker_loops::{json, parse, tell};
use crate::worker_process::{os_error, stop_flag};
use pyo3::prelude::*;

/// Serves until a signal comes; `ready` is called once with where it listens. Returns what it did, as JSON.
#[pyfunction]
fn serve_nbd(py: Python<'_>, config: &str, ready: Py<PyAny>) -> PyResult<String> {
    let config: sojourn_nbd::Config = parse("nbd server", config)?;
    let summary =
        py.detach(|| sojourn_nbd::serve(&config, stop_flag(), &mut |r| tell(&ready, r)).map_err(os_error))?;
    json(&summary)
}

/// Adds this file's functions to the native module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(serve_nbd, module)?)
}
