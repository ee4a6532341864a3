//! The OpenMetrics endpoint: one small HTTP answer a connection, from a thread of its own.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::stats::Stats;
use crate::tell::open_metrics;
use crate::Config;

/// How often it looks for a connection; and how long one client may keep others waiting.
const PAUSE: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_millis(500);

/// Answers until `halt` is set; the listener does not block.
pub(crate) fn answer(listener: &TcpListener, config: &Config, all: &[&Stats], halt: &AtomicBool) {
    while !halt.load(Ordering::Relaxed) {
        match listener.accept() {
            // A client that fails is its own affair.
            Ok((stream, _)) => drop(one(stream, config, all)),
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

fn one(mut stream: TcpStream, config: &Config, all: &[&Stats]) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut head = [0; 2048];
    let count = stream.read(&mut head)?;
    let found = head[..count].starts_with(b"GET /metrics") || head[..count].starts_with(b"GET / ");
    let (status, body) =
        if found { ("200 OK", open_metrics(config, all)) } else { ("404 Not Found", String::new()) };
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}
