//! The middleware for memcached.

use crate::place::{os_error, stop_flag};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Serves as a proxy until a signal comes; `ready` is called once with where it listens; returns the summary.
#[pyfunction]
fn serve_kv_proxy(py: Python<'_>, config: &str, ready: Py<PyAny>) -> PyResult<String> {
    let config: sojourn_kvproxy::Config =
        serde_json::from_str(config).map_err(|e| PyValueError::new_err(format!("proxy: {e}")))?;
    let mut tell = |told: &sojourn_kvproxy::Ready| {
        if let Ok(text) = serde_json::to_string(told) {
            // What the callback raises is not ours to handle.
            Python::attach(|py| drop(ready.call1(py, (text,))));
        }
    };
    let summary = py.detach(|| sojourn_kvproxy::serve(&config, stop_flag(), &mut tell).map_err(os_error))?;
    serde_json::to_string(&summary).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Adds this file's functions to the native module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(serve_kv_proxy, module)?)
}
