//! Every key is stored before the start, at every target, over a connection of its own.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sojourn_memproto::{Reply, ReplyKind, ReplyScan};

use super::keys_and_values::KeysAndValues;
use crate::config::KvConfig;

/// Requests go out in batches of about this size; their answers are awaited before the next.
const BATCH_BYTES: usize = 128 * 1024;
const BATCH_KEYS: u64 = 256;
const LINE_BYTES: usize = 4096;

/// Why the keys could not be stored.
#[derive(Debug)]
pub enum PopulateError {
    Connection(io::Error),
    /// The answer to a set, and the number of the key.
    Refused {
        key: u64,
        answer: String,
    },
}

/// Stores all keys at `addr`; returns how many were stored, fewer only when `stop` was set.
pub fn populate(
    config: &KvConfig,
    addr: SocketAddr,
    timeout: Duration,
    stop: &AtomicBool,
) -> Result<u64, PopulateError> {
    let content = KeysAndValues::new(config);
    let mut stream = TcpStream::connect_timeout(&addr, timeout).map_err(PopulateError::Connection)?;
    let set = [
        stream.set_nodelay(true),
        stream.set_read_timeout(Some(timeout)),
        stream.set_write_timeout(Some(timeout)),
    ];
    set.into_iter().collect::<io::Result<()>>().map_err(PopulateError::Connection)?;
    let (mut stored, mut out) = (0, Vec::with_capacity(2 * BATCH_BYTES));
    while stored < config.keys && !stop.load(Ordering::Relaxed) {
        out.clear();
        let first = stored;
        while stored < config.keys && stored - first < BATCH_KEYS && out.len() < BATCH_BYTES {
            content.push_set(stored, config.exptime_s, &mut out);
            stored += 1;
        }
        stream.write_all(&out).map_err(PopulateError::Connection)?;
        await_stored(&mut stream, first..stored)?;
    }
    Ok(stored)
}

fn await_stored(stream: &mut TcpStream, mut keys: std::ops::Range<u64>) -> Result<(), PopulateError> {
    let (mut buffer, mut part) = (Vec::new(), [0; 16 * 1024]);
    let closed = || PopulateError::Connection(io::ErrorKind::UnexpectedEof.into());
    while !keys.is_empty() {
        let count = stream.read(&mut part).map_err(PopulateError::Connection)?;
        if count == 0 {
            return Err(closed());
        }
        buffer.extend_from_slice(&part[..count]);
        let mut used = 0;
        loop {
            let answer = &buffer[used..];
            let refused = |key, length: usize| {
                let answer = String::from_utf8_lossy(&answer[..length.min(200)]).trim_end().to_string();
                PopulateError::Refused { key, answer }
            };
            match ReplyScan::new(ReplyKind::Line, LINE_BYTES).scan(answer) {
                Ok(None) => break,
                Ok(Some((Reply::Stored, length))) if keys.next().is_some() => used += length,
                Ok(Some((_, length))) => return Err(refused(keys.start, length)),
                Err(_) => return Err(refused(keys.start, answer.len())),
            }
        }
        buffer.drain(..used);
    }
    Ok(())
}
