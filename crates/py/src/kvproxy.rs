//! The middleware for memcached.

use pyo3::prelude::*;

/// Adds this file's functions to the native module.
pub fn register(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
