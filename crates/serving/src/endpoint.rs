//! The OpenMetrics endpoint: one small HTTP answer a connection, from a thread of its own.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often it looks for a connection; and how long one client may keep others waiting.
const PAUSE: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_millis(500);
const KIND: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Answers with `text` until `halt` is set; the listener does not block.
pub fn answer(listener: &TcpListener, halt: &AtomicBool, text: &dyn Fn() -> String) {
    while !halt.load(Ordering::Relaxed) {
        match listener.accept() {
            // A client that fails is its own affair.
            Ok((stream, _)) => drop(one(stream, text)),
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

fn one(mut stream: TcpStream, text: &dyn Fn() -> String) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut head = [0; 2048];
    let count = stream.read(&mut head)?;
    let found = head[..count].starts_with(b"GET /metrics") || head[..count].starts_with(b"GET / ");
    let (status, body) = if found { ("200 OK", text()) } else { ("404 Not Found", String::new()) };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {KIND}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(address: std::net::SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        answer
    }

    #[test]
    fn it_answers_its_own_path_and_refuses_others() {
        let (listener, address) = crate::listen("127.0.0.1:0").expect("loopback");
        let halt = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| answer(&listener, &halt, &|| "# EOF\n".into()));
            let (found, other) = ("GET /metrics HTTP/1.1\r\n\r\n", "GET /metric HTTP/1.1\r\n\r\n");
            let found = asked(address, found);
            assert!(
                found.starts_with("HTTP/1.1 200 OK\r\n") && found.ends_with("\r\n\r\n# EOF\n"),
                "{found}"
            );
            assert!(asked(address, other).starts_with("HTTP/1.1 404 Not Found\r\n"));
            halt.store(true, Ordering::Relaxed);
        });
    }
}
