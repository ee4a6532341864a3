//! The operators' endpoint: metrics and health over HTTP, from a thread of its own, whatever clients do to the service.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often it looks for a connection, and how often for more of a request.
const IDLE_PAUSE: Duration = Duration::from_millis(50);
const PAUSE: Duration = Duration::from_millis(2);
/// A request has to be there, and its answer taken, within this time.
const PATIENCE: Duration = Duration::from_millis(500);
/// Connections at a time: of more, the oldest is closed.
const MOST: usize = 64;
const HEAD_BYTES: usize = 8192;
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// What the endpoint answers with.
#[derive(Clone, Copy)]
pub struct EndpointContent<'a> {
    /// `/metrics`, as OpenMetrics text.
    pub metrics: &'a dyn Fn() -> String,
    /// `/readyz`: 200 where requests are served, or why they are not with 503. `/healthz` is 200 while this thread answers.
    pub ready: &'a dyn Fn() -> Result<(), String>,
}

/// Answers until `shutdown` is set; the listener does not block, and no client keeps another waiting.
pub fn answer(listener: &TcpListener, shutdown: &AtomicBool, told: EndpointContent<'_>) {
    let mut open: Vec<EndpointConnection> = Vec::new();
    while !shutdown.load(Ordering::Relaxed) {
        while let Ok((stream, _)) = listener.accept() {
            if open.len() == MOST {
                open.remove(0);
            }
            // A client that fails is its own affair.
            open.extend(EndpointConnection::new(stream));
        }
        open.retain_mut(|connection| connection.goes_on(&told));
        std::thread::sleep(if open.is_empty() { IDLE_PAUSE } else { PAUSE });
    }
}

struct EndpointConnection {
    stream: TcpStream,
    deadline: Instant,
    request: Vec<u8>,
    response: Vec<u8>,
    sent: usize,
}

impl EndpointConnection {
    fn new(stream: TcpStream) -> Option<Self> {
        stream.set_nonblocking(true).ok()?;
        let deadline = Instant::now() + PATIENCE;
        Some(Self { stream, deadline, request: Vec::new(), response: Vec::new(), sent: 0 })
    }

    fn goes_on(&mut self, told: &EndpointContent<'_>) -> bool {
        Instant::now() < self.deadline && self.step(told).is_ok_and(|done| !done)
    }

    /// Reads and writes what can be; whether the whole answer is written.
    fn step(&mut self, told: &EndpointContent<'_>) -> std::io::Result<bool> {
        let mut bytes = [0; 2048];
        while self.response.is_empty() {
            match self.stream.read(&mut bytes) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.request.extend_from_slice(&bytes[..count]),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(e) => return Err(e),
            }
            if self.request.windows(4).any(|four| four == b"\r\n\r\n") {
                self.response = response(&self.request, told);
            } else if self.request.len() > HEAD_BYTES {
                return Err(ErrorKind::InvalidData.into());
            }
        }
        while self.sent < self.response.len() {
            match self.stream.write(&self.response[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(e) => return Err(e),
            }
        }
        Ok(true)
    }
}

fn response(request: &[u8], told: &EndpointContent<'_>) -> Vec<u8> {
    let path = request.strip_prefix(b"GET ").and_then(|rest| rest.split(|b| b" ?\r".contains(b)).next());
    let (status, kind, body) = match path {
        Some(b"/metrics" | b"/") => ("200 OK", OPEN_METRICS, (told.metrics)()),
        Some(b"/healthz") => ("200 OK", PLAIN, "ok\n".into()),
        Some(b"/readyz") => match (told.ready)() {
            Ok(()) => ("200 OK", PLAIN, "ok\n".into()),
            Err(reason) => ("503 Service Unavailable", PLAIN, format!("{reason}\n")),
        },
        _ => ("404 Not Found", PLAIN, "use /metrics, /healthz or /readyz\n".into()),
    };
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
        .into_bytes()
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn asked(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    /// Starts an endpoint, and does something with its address.
    fn with_endpoint(ready: fn() -> Result<(), String>, act: impl FnOnce(SocketAddr)) {
        let (listener, address) = crate::listen("127.0.0.1:0").expect("loopback");
        let shutdown = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                answer(&listener, &shutdown, EndpointContent { metrics: &|| "# EOF\n".into(), ready: &ready })
            });
            act(address);
            shutdown.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn it_answers_its_own_paths_and_refuses_others() {
        with_endpoint(
            || Err("the database is away".into()),
            |address| {
                let found = asked(address, "GET /metrics HTTP/1.1\r\n\r\n");
                assert!(found.starts_with("HTTP/1.1 200 OK\r\n") && found.ends_with("\r\n\r\n# EOF\n"));
                assert!(asked(address, "GET /healthz HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
                let away = asked(address, "GET /readyz?verbose HTTP/1.1\r\n\r\n");
                assert!(
                    away.starts_with("HTTP/1.1 503 ") && away.ends_with("\r\n\r\nthe database is away\n")
                );
                for other in ["GET /metric", "POST /metrics", "GET /metricsx"] {
                    assert!(asked(address, &format!("{other} HTTP/1.1\r\n\r\n")).starts_with("HTTP/1.1 404 "));
                }
            },
        );
    }

    /// Issue 13: one connection after the other, a silent client kept the next waiting for 0.5 s, twenty for 10 s.
    #[test]
    fn silent_clients_keep_nobody_waiting() {
        with_endpoint(
            || Ok(()),
            |address| {
                let silent: Vec<_> =
                    (0..20).map(|_| TcpStream::connect(address).expect("it listens")).collect();
                let mut first = &silent[0];
                assert!(asked(address, "GET /readyz HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
                // Still open, so the answer came before its time was over.
                first.set_nonblocking(true).expect("a socket");
                let error = first.read(&mut [0]).expect_err("nothing said");
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
            },
        );
    }
}
