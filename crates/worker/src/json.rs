//! Configurations and summaries cross as JSON text.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pub fn json<T: serde::Serialize>(value: &T) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// `what`: names the text in the error.
pub fn parse<T: serde::de::DeserializeOwned>(what: &str, text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|e| PyValueError::new_err(format!("{what}: {e}")))
}

/// Calls Python with one JSON text; what the callback raises is not ours to handle.
pub fn tell<T: serde::Serialize>(callback: &Py<PyAny>, value: &T) {
    if let Ok(text) = serde_json::to_string(value) {
        Python::attach(|py| drop(callback.call1(py, (text,))));
    }
}
