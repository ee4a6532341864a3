//! Bad input: one clear error that names value, place and remedy.

#[allow(dead_code)]
mod common;

use std::net::TcpListener;
use std::sync::atomic::AtomicBool;

use common::{config, TempFolder};
use serde_json::{json, Value};
use sojourn_web::{serve, Config, ServeError};

fn message(changes: Value) -> String {
    serve(&config(changes), &AtomicBool::new(true), &mut |_| {}).unwrap_err().to_string()
}

fn has(text: &str, parts: &[&str]) {
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

#[test]
fn values_out_of_range() {
    has(&message(json!({"page_bytes": 100})), &["page_bytes = 100", "1024 to 204800"]);
    has(&message(json!({"page_bytes": 300_000})), &["page_bytes = 300000", "1024 to 204800"]);
    has(&message(json!({"cores": []})), &["cores = 0 entries"]);
    has(&message(json!({"cores": [0, 0]})), &["cores = [0, 0]", "once"]);
    has(&message(json!({"leading": [0, 1]})), &["leading = 2 entries", "each address"]);
    has(&message(json!({"threads_per_core": 0})), &["threads_per_core = 0"]);
    has(&message(json!({"idle_timeout_s": 0})), &["idle_timeout_s = 0"]);
    has(&message(json!({"catalogue_items": 0})), &["catalogue_items = 0"]);
    has(&message(json!({"max_connections": 0})), &["max_connections = 0"]);
    let negative = json!({"demand": {"kind": "exponential", "mean": -1.0}});
    has(&message(negative), &["demand", "mean is -1"]);
    let in_ms = json!({"demand": {"kind": "exponential", "mean": 5.0}});
    has(&message(in_ms), &["demand", "mean is in s"]);
}

#[test]
fn an_unknown_key_names_those_there_are() {
    let error =
        serde_json::from_value::<Config>(json!({"listen": [], "cores": [], "leading": [], "port": 1}));
    has(&error.unwrap_err().to_string(), &["port", "page_bytes"]);
}

#[test]
fn a_port_that_is_taken() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let port = format!("port {} is taken", address.port());
    has(&message(json!({"listen": [address.to_string()]})), &[&port, "stop the other"]);
}

#[test]
fn an_address_that_is_not_ours() {
    // 192.0.2.0/24 is for documentation (RFC 5737): no host has it.
    has(&message(json!({"listen": ["192.0.2.1:0"]})), &["192.0.2.1:0", "this host's addresses"]);
    has(&message(json!({"listen": ["nonsense"]})), &["nonsense", "ip:port"]);
}

#[test]
fn a_core_that_is_not_there() {
    has(&message(json!({"cores": [1023], "leading": [1023], "pinned": true})), &["core 1023", "nproc"]);
}

#[test]
fn a_record_that_cannot_be_made() {
    let folder = TempFolder::new();
    let file = folder.0.join("file");
    std::fs::write(&file, "").unwrap();
    has(&message(json!({"out": file.join("run")})), &["file/run", "--out"]);
}

#[test]
fn a_full_disk() {
    let folder = TempFolder::new();
    std::os::unix::fs::symlink("/dev/full", folder.0.join("app.rec")).unwrap();
    has(&message(json!({"out": folder.0})), &["app.rec", "free space", "another path"]);
}

#[test]
fn too_few_open_files() {
    let error = ServeError::Files { needed: 5000, allowed: 1024 };
    has(&error.to_string(), &["5000 open files", "1024 allowed", "ulimit -n", "max_connections"]);
}
