//! The queues are made before the start, at every address, over connections of its own.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::config::MessagesConfig;
use crate::http::Response;

/// Why the queues could not be made.
#[derive(Debug)]
pub enum CreateQueueError {
    Connection(io::Error),
    Refused { queue: String, status: u16, answer: String },
}

/// Connections at once: a queue is a commit or two, and commits of several sessions share a flush of the disk.
const SIDE_BY_SIDE: usize = 8;
/// Fewer queues are made over one connection, in their order.
const FEWEST: usize = 16;

/// Makes all queues at `addr`; `head` is what stands behind each path. Fewer only when `stop` was set.
pub fn make(
    config: &MessagesConfig,
    addr: SocketAddr,
    head: &[u8],
    timeout: Duration,
    stop: &AtomicBool,
) -> Result<(), CreateQueueError> {
    let share = usize::try_from(config.queues).unwrap_or(usize::MAX).div_ceil(SIDE_BY_SIDE).max(FEWEST);
    let queues: Vec<_> = (0..config.queues).collect();
    std::thread::scope(|scope| {
        let parts: Vec<_> = queues
            .chunks(share)
            .map(|part| scope.spawn(move || make_some(part, config, addr, head, timeout, stop)))
            .collect();
        parts.into_iter().try_for_each(|part| part.join().expect("a thread that makes queues"))
    })
}

fn make_some(
    queues: &[u32],
    config: &MessagesConfig,
    addr: SocketAddr,
    head: &[u8],
    timeout: Duration,
    stop: &AtomicBool,
) -> Result<(), CreateQueueError> {
    let mut stream = open(addr, timeout).map_err(CreateQueueError::Connection)?;
    let token = config.token.as_ref().map(|token| format!("Authorization: Bearer {token}\r\n"));
    let tail = [head, token.unwrap_or_default().as_bytes(), b"Content-Length: 0\r\n\r\n"].concat();
    let methods: &[(&str, [u16; 3])] = &[("DELETE", [204, 404, 200]), ("PUT", [201, 200, 204])];
    let methods = if config.fresh { methods } else { &methods[1..] };
    for queue in queues {
        let queue = format!("{}-{queue}", config.prefix);
        for (method, good) in methods {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let start = format!("{method} /queues/{queue}");
            let asked = [start.as_bytes(), &tail].concat();
            let response = ask(&mut stream, &asked).map_err(CreateQueueError::Connection)?;
            if !good.contains(&response.status) {
                let kept = response.body.kept.unwrap_or_default();
                let answer = String::from_utf8_lossy(&kept[..kept.len().min(200)]).trim_end().to_string();
                return Err(CreateQueueError::Refused { queue, status: response.status, answer });
            }
            if !response.keep_alive {
                stream = open(addr, timeout).map_err(CreateQueueError::Connection)?;
            }
        }
    }
    Ok(())
}

fn open(addr: SocketAddr, timeout: Duration) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&addr, timeout)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(timeout))?;
    stream.set_write_timeout(Some(timeout))?;
    Ok(stream)
}

fn ask(stream: &mut TcpStream, request: &[u8]) -> io::Result<Response> {
    stream.write_all(request)?;
    let (mut response, mut part) = (Response::keeping(&[]), [0; 4096]);
    loop {
        let count = stream.read(&mut part)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match response.feed(&part[..count]) {
            Ok(Some(_)) => return Ok(response),
            Ok(None) => {}
            Err(_) => return Err(io::Error::new(io::ErrorKind::InvalidData, "this is not HTTP/1.1")),
        }
    }
}
