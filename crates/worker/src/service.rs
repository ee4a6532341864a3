//! A service as a function of Python.

/// `service!(serve_kv, sojourn_kv, "kv server")`: a function `serve_kv(config, ready)` that serves until a signal comes, calls `ready`
/// once with where it listens, and returns what it did, all as JSON. The crate has `Config` and `serve`; the text names the
/// configuration in errors.
#[macro_export]
macro_rules! service {
    ($name:ident, $krate:ident, $what:literal) => {
        /// Serves until a signal comes; `ready` is called once with where it listens. Returns what it did, as JSON.
        #[pyfunction]
        pub fn $name(py: Python<'_>, config: &str, ready: Py<PyAny>) -> PyResult<String> {
            let config: $krate::Config = $crate::parse($what, config)?;
            let stop = $crate::stop_flag();
            let summary = py.detach(|| {
                $krate::serve(&config, stop, &mut |r| $crate::tell(&ready, r)).map_err($crate::os_error)
            })?;
            $crate::json(&summary)
        }
    };
}
