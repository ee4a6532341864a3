//! Loads on memcached: against the embedded server, and against servers that answer late, wrong or not at all.

mod common;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::Arc;
use std::thread::{sleep, spawn, JoinHandle};
use std::time::Duration;

use common::load;
use serde_json::{json, Value};
use sojourn_loadgen::Config;

/// The embedded server on a thread.
struct EmbeddedServer {
    addr: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<sojourn_kv::Summary>>,
}

impl EmbeddedServer {
    fn start() -> EmbeddedServer {
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, told) = channel();
        let until = Arc::clone(&stop);
        let config =
            sojourn_kv::Config { listen: "127.0.0.1:0".into(), memory_bytes: 64 << 20, value_bytes: 1 << 20 };
        let serve = move || {
            sojourn_kv::serve(&config, &until, &mut |ready| tell.send(ready.address.clone()).unwrap())
                .unwrap()
        };
        let thread = Some(spawn(serve));
        EmbeddedServer { addr: told.recv().unwrap(), stop, thread }
    }

    fn end(mut self) -> sojourn_kv::Summary {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

fn closed(addr: &str, users: u32, duration_s: f64, kv: Value) -> Value {
    let think = json!({"kind": "deterministic", "mean": 1e-3});
    json!({
        "duration_s": duration_s, "timeout_s": 0.2, "kv": kv,
        "lanes": [{"targets": [{"url": format!("memcached://{addr}")}], "closed": {"users": users, "think": think}}],
    })
}

/// Answers what `answer` says to each line that comes (a set's data is a line too); `None` closes.
fn fake(answer: impl Fn(usize, &str) -> Option<&'static str> + Send + Clone + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let answer = answer.clone();
            spawn(move || talk(stream, |line| answer(number, line)));
        }
    });
    addr
}

fn talk(mut stream: TcpStream, answer: impl Fn(&str) -> Option<&'static str>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        let line = String::from_utf8_lossy(&buffer[..count]).to_string();
        let Some(text) = answer(&line) else { return };
        if stream.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn every_request_is_counted_on_both_sides() {
    let server = EmbeddedServer::start();
    let kv = json!({
        "mix": {"set": 1, "get": 2, "multi_get": 1}, "multi_get_keys": {"kind": "uniform", "low": 2, "high": 5},
        "keys": 100, "value_bytes": {"kind": "uniform", "low": 0, "high": 200_000},
    });
    let (summary, log, _out) = load("kv-counts", &closed(&server.addr, 3, 0.8, kv));
    let kv = summary.kv.unwrap();
    let seen = server.end();
    assert_eq!((summary.failed, summary.ok), (0, summary.requested));
    assert_eq!((kv.populated, kv.misses, kv.wrong), (100, 0, 0));
    assert_eq!(seen.sets, 100 + kv.classes["set"].ok);
    assert_eq!((seen.gets, seen.hits), (kv.keys_asked, kv.hits));
    assert_eq!(kv.classes.values().map(|class| class.ok).sum::<u64>(), summary.ok);
    assert_eq!(log.meta["classes"], json!(["set", "get", "multi-get"]));
    let bytes: f64 = log.column("bytes").unwrap().iter().sum();
    assert_eq!(bytes as u64, kv.bytes_read + kv.bytes_written);
}

#[test]
fn the_same_seed_asks_the_same() {
    let classes = |name: &str| {
        let server = EmbeddedServer::start();
        let url = format!("memcached://{}", server.addr);
        let config = json!({
            "duration_s": 0.5, "seed": 5, "kv": {"keys": 50},
            "lanes": [{"targets": [{"url": url}], "arrivals": {"kind": "constant", "rate_per_s": 200}}],
        });
        let (summary, ..) = load(name, &config);
        let seen = server.end();
        (summary.kv.unwrap().classes["set"].ok, seen.sets, seen.gets)
    };
    assert_eq!(classes("kv-seed-1"), classes("kv-seed-2"));
}

#[test]
fn an_answer_that_comes_too_late_reaches_no_other_request() {
    // The first connection answers after the time-out; if that were taken for the next answer, it would be a miss
    // where the others say that the set was stored.
    let addr = fake(|number, _| {
        if number == 0 {
            sleep(Duration::from_millis(400));
            return Some("NOT_STORED\r\n");
        }
        Some("STORED\r\n")
    });
    let kv = json!({"mix": {"set": 1, "get": 0}, "populate": false, "value_bytes": {"kind": "fixed", "value": 10}});
    let (summary, ..) = load("kv-late", &closed(&addr.to_string(), 1, 1.0, kv));
    assert_eq!(summary.failures.get("timeout"), Some(&1), "{:?}", summary.failures);
    assert_eq!((summary.failed, summary.failures.len()), (1, 1));
    assert!(summary.ok > 50 && summary.lanes[0].connections_opened == 2);
}

#[test]
fn each_way_to_fail_has_its_name() {
    let answers: [(&str, Option<&'static str>); 5] = [
        ("error", Some("SERVER_ERROR out of memory\r\n")),
        ("protocol", Some("HELLO\r\n")),
        ("protocol", Some("END\r\nEND\r\n")),
        ("wrong", Some("VALUE other 0 1\r\nx\r\nEND\r\n")),
        ("closed", None),
    ];
    for (name, answer) in answers {
        let addr = fake(move |_, _| answer);
        let kv = json!({"mix": {"set": 0, "get": 1}, "populate": false});
        let (summary, ..) = load("kv-names", &closed(&addr.to_string(), 1, 0.1, kv));
        assert!(summary.failures.keys().eq([&name]), "{name}: {:?}", summary.failures);
        assert_eq!(summary.ok, 0);
    }
}

#[test]
fn a_load_speaks_one_protocol() {
    let refused = |targets: Value, kv: Value| {
        let lane = json!({"targets": targets, "closed": {"users": 1}});
        let config = json!({"duration_s": 1, "lanes": [lane], "kv": kv}).to_string();
        Config::from_json(&config).err().map(|e| e.to_string())
    };
    let (kv, http) = (json!({"url": "memcached://a"}), json!({"url": "http://a"}));
    assert!(refused(json!([kv, http]), Value::Null).unwrap().contains("not both"));
    assert!(refused(json!([http]), json!({})).unwrap().contains("remove it"));
    assert!(refused(json!([kv]), json!({"keys": 0})).unwrap().contains("kv.keys"));
    assert_eq!(refused(json!([kv]), json!({})), None);
    assert_eq!(refused(json!([kv]), Value::Null), None);
}
