//! The embedded memcached-compatible server.

use crate::place::{os_error, stop_flag};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Serves until a signal comes; `ready` is called once with where it listens. Returns what it did, as JSON.
#[pyfunction]
fn serve_kv(py: Python<'_>, config: &str, ready: Py<PyAny>) -> PyResult<String> {
    let config: sojourn_kv::Config =
        serde_json::from_str(config).map_err(|e| PyValueError::new_err(format!("kv server: {e}")))?;
    let mut tell = |ready_at: &sojourn_kv::Ready| {
        if let Ok(text) = serde_json::to_string(ready_at) {
            // What the callback raises is not ours to handle.
            Python::attach(|py| drop(ready.call1(py, (text,))));
        }
    };
    let summary = py.detach(|| sojourn_kv::serve(&config, stop_flag(), &mut tell).map_err(os_error))?;
    serde_json::to_string(&summary).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Adds this file's functions to the native module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(serve_kv, module)?)
}
