//! A small threaded HTTP server on loopback that answers by path, and runs against it.
#![allow(dead_code)] // each test file uses a part

pub mod message_service;
pub mod tls_server;

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn};
use std::time::Duration;

use sojourn_loadgen::{now_s, run, Config, Summary};
use sojourn_record::{read, LogContents};

/// What the server saw.
#[derive(Default)]
pub struct SeenRequests {
    pub arrivals_s: Mutex<Vec<f64>>,
    pub present: AtomicUsize,
    pub present_max: AtomicUsize,
}

pub struct TestServer {
    pub addr: SocketAddr,
    pub seen: Arc<SeenRequests>,
}

/// `/stall` answers at once, but for `STALL_S` at the start of each `STALL_EVERY_S` of CLOCK_MONOTONIC.
pub const STALL_S: f64 = 0.1;
pub const STALL_EVERY_S: f64 = 1.0;

/// When a request to `/stall` that arrives at this time is answered.
pub fn stall_end_s(arrival_s: f64) -> f64 {
    let since = arrival_s % STALL_EVERY_S;
    arrival_s + if since < STALL_S { STALL_S - since } else { 0.0 }
}

impl TestServer {
    pub fn start() -> TestServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (addr, seen) = (listener.local_addr().unwrap(), Arc::new(SeenRequests::default()));
        let shared = Arc::clone(&seen);
        spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&shared);
                spawn(move || serve(stream, &seen));
            }
        });
        TestServer { addr, seen }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }
}

fn serve(mut stream: TcpStream, seen: &SeenRequests) {
    stream.set_nodelay(true).unwrap();
    let mut buffer = [0; 4096];
    loop {
        // /reset leaves the request unread: closing then sends RST.
        let Ok(size @ 1..) = stream.peek(&mut buffer) else {
            return;
        };
        let now = now_s();
        let path = String::from_utf8_lossy(&buffer[..size]).split(' ').nth(1).unwrap_or("").to_string();
        if path != "/reset" {
            stream.read_exact(&mut vec![0; size]).unwrap();
        }
        seen.arrivals_s.lock().unwrap().push(now);
        let present = 1 + seen.present.fetch_add(1, Ordering::SeqCst);
        seen.present_max.fetch_max(present, Ordering::SeqCst);
        let stays = answer(&mut stream, &path, now);
        seen.present.fetch_sub(1, Ordering::SeqCst);
        if !stays {
            return;
        }
    }
}

/// False: the connection is closed.
fn answer(stream: &mut TcpStream, path: &str, now: f64) -> bool {
    let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let (text, stays) = match path {
        "/chunked" => ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", true),
        "/close" => ("HTTP/1.1 200 OK\r\n\r\nhello", false),
        "/once" => ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", false),
        "/500" => ("HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n", true),
        "/short" => ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", false),
        "/long" => ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhello", true),
        "/reset" => ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", false),
        "/drop" | "/half" => ("", false),
        "/half-head" => ("HTTP/1.1 200 OK\r\nContent-", false),
        "/both" => {
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", true)
        }
        "/gzip" => ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", true),
        "/garbage" => ("SSH-2.0-OpenSSH\r\n", false),
        _ => (hello, true),
    };
    match path {
        "/hang" => sleep(Duration::from_secs(5)),
        "/10ms" => sleep(Duration::from_millis(10)),
        "/stall" => sleep(Duration::from_secs_f64(stall_end_s(now) - now)),
        _ => {}
    }
    let sent = stream.write_all(text.as_bytes()).is_ok();
    if path.starts_with("/half") {
        // Its own side only; it goes on reading.
        let _ = stream.shutdown(Shutdown::Write);
        let _ = stream.read_to_end(&mut Vec::new());
    }
    sent && stays
}

/// A folder of its own for each test, removed at the end.
pub struct OutputFolder(pub PathBuf);

impl OutputFolder {
    pub fn new(name: &str) -> OutputFolder {
        OutputFolder(std::env::temp_dir().join(format!("sojourn-loadgen-{}-{name}", std::process::id())))
    }
}

impl Drop for OutputFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the JSON and reads its record.
pub fn load(name: &str, json: &serde_json::Value) -> (Summary, LogContents, OutputFolder) {
    let out = OutputFolder::new(name);
    let config = Config::from_json(&json.to_string()).unwrap();
    let summary = run(&config, &out.0, &mut |_| {}, &AtomicBool::new(false)).unwrap();
    let log = read(&out.0.join("requests.rec")).unwrap();
    (summary, log, out)
}

/// An open Poisson load on one URL.
pub fn poisson(url: &str, rate_per_s: f64, duration_s: f64) -> serde_json::Value {
    serde_json::json!({
        "duration_s": duration_s, "seed": 1,
        "lanes": [{
            "targets": [{"url": url}], "connections": 4,
            "arrivals": {"kind": "poisson", "rate_per_s": rate_per_s},
        }],
    })
}
