//! The embedded memcached-compatible server.

use pyo3::prelude::*;

sojourn_worker::service!(serve_kv, sojourn_kv, "kv server");

/// Adds this file's functions to the native module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(serve_kv, module)?)
}
