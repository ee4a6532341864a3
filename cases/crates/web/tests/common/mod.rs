//! An open shop and a plain client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{mpsc, Arc};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{json, Value};
use sojourn_web::{serve, Config, ReadyMessage, ServeError, Summary};

/// A configuration with a free port and unpinned threads, changed by `changes`.
pub fn config(changes: Value) -> Config {
    let mut all =
        json!({"listen": ["127.0.0.1:0"], "cores": [0, 1], "leading": [0], "pinned": false, "seed": 7});
    for (key, value) in changes.as_object().unwrap() {
        all[key] = value.clone();
    }
    serde_json::from_value(all).unwrap()
}

pub struct TestShop {
    pub ready: ReadyMessage,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Summary, ServeError>>,
}

impl TestShop {
    pub fn open(config: Config) -> TestShop {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let (sender, receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            serve(&config, &stopped, &mut |ready| {
                sender.send(ready.clone()).ok();
            })
        });
        let ready = receiver.recv_timeout(Duration::from_secs(30)).expect("the shop opens");
        TestShop { ready, stop, thread }
    }

    pub fn close(self) -> Summary {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap().unwrap()
    }

    pub fn client(&self, nic: usize) -> HttpClient {
        let stream = TcpStream::connect(&self.ready.addresses[nic]).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        HttpClient { stream, left: Vec::new() }
    }
}

pub struct HttpClient {
    pub stream: TcpStream,
    left: Vec<u8>,
}

#[derive(Debug)]
pub struct HttpAnswer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl HttpClient {
    pub fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
    }

    pub fn get(&mut self, target: &str) -> HttpAnswer {
        self.send(&format!("GET {target} HTTP/1.1\r\nHost: shop\r\n\r\n"));
        self.answer()
    }

    fn more(&mut self) -> usize {
        let mut part = [0; 65536];
        let length = self.stream.read(&mut part).unwrap();
        self.left.extend_from_slice(&part[..length]);
        length
    }

    /// True if the other side has ended and nothing is left.
    pub fn is_closed(&mut self) -> bool {
        self.left.is_empty() && self.more() == 0
    }

    pub fn answer(&mut self) -> HttpAnswer {
        self.answer_to("GET")
    }

    pub fn answer_to(&mut self, method: &str) -> HttpAnswer {
        let end = loop {
            if let Some(at) = self.left.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            assert!(self.more() > 0, "closed before the end of a head");
        };
        let head = String::from_utf8(self.left.drain(..end).collect()).unwrap();
        let length = head.split("Content-Length: ").nth(1).unwrap().split("\r\n").next().unwrap();
        let length = if method == "HEAD" { 0 } else { length.parse().unwrap() };
        while self.left.len() < length {
            assert!(self.more() > 0, "closed before the end of a body");
        }
        let body = String::from_utf8(self.left.drain(..length).collect()).unwrap();
        HttpAnswer { status: head[9..12].parse().unwrap(), head, body }
    }
}

/// A folder of its own, removed when dropped.
pub struct TempFolder(pub PathBuf);

impl TempFolder {
    pub fn new() -> TempFolder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("sojourn-web-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        TempFolder(path)
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}
