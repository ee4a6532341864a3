//! `sojourn_cases._native`: the services of the cases, each a loop of a worker process, and the statements of the message service.

use pyo3::prelude::*;
use std::collections::BTreeMap;

use sojourn_worker::service;

service!(serve_bulletin, sojourn_bulletin, "bulletin board");
service!(serve_kv_proxy, sojourn_kvproxy, "proxy");
service!(serve_messages, sojourn_msgbroker, "message service");
service!(serve_nbd, sojourn_nbd, "nbd server");
service!(serve_web, sojourn_web, "web shop");

/// From now on SIGTERM and SIGINT end the services of this process in good order.
#[pyfunction]
fn stop_on_signals() -> PyResult<()> {
    sojourn_worker::stop_on_signals()
}

/// The SQL of a put and of a take, for who wants to measure the database alone.
#[pyfunction]
fn message_statements() -> BTreeMap<&'static str, &'static str> {
    use sojourn_msgbroker::{PUT, PUT_MANY, TAKE, TAKE_MANY};
    BTreeMap::from([("PUT", PUT), ("TAKE", TAKE), ("PUT_MANY", PUT_MANY), ("TAKE_MANY", TAKE_MANY)])
}

/// The settings of a session, but for its durability, as PGOPTIONS has them.
#[pyfunction]
fn message_settings() -> &'static str {
    sojourn_msgbroker::SETTINGS
}

/// Native parts of the cases.
#[pymodule]
#[pyo3(name = "_native")]
mod native {
    #[pymodule_export]
    use super::{
        message_settings, message_statements, serve_bulletin, serve_kv_proxy, serve_messages, serve_nbd,
        serve_web, stop_on_signals,
    };
}
