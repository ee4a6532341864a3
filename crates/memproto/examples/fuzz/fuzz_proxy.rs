//! A proxy under mutated streams of several clients at once: each request has its one answer, in order, and no more.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sojourn_memproto::{Reply, ReplyKind, ReplyScan};

use crate::corpus::REQUESTS;
use crate::expected_replies::{ExpectedReply, Script};
use crate::mutate::{cuts, stream};
use crate::random::Random;
use crate::{ensure, Checked, Fault};

const CLIENTS: u64 = 4;
const MOST_BYTES: usize = 70_000;
/// Streams on one connection, at most.
const STREAMS: usize = 30;
/// Far above the proxy's own time limits.
const PATIENCE: Duration = Duration::from_secs(10);
const ANSWER_BYTES: usize = 64 << 20;
const SENTINEL: &[u8] = b"version\r\n";

#[derive(Default)]
struct Counts {
    connections: AtomicU64,
    streams: AtomicU64,
    bytes: AtomicU64,
    answers: AtomicU64,
    errors: AtomicU64,
}

/// Counts as JSON.
pub fn run(address: &str, seed: u64, until: Instant) -> Checked<String> {
    let (counts, over) = (Counts::default(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let (counts, over) = (&counts, &over);
                scope.spawn(move || {
                    let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(client));
                    while Instant::now() < until && !over.load(Ordering::Relaxed) {
                        connection(address, &mut random, counts)
                            .inspect_err(|_| over.store(true, Ordering::Relaxed))?;
                    }
                    Ok(())
                })
            })
            .collect();
        let panicked = |_| Err(Fault { what: "a client panicked".into(), bytes: Vec::new() });
        clients.into_iter().try_for_each(|client| client.join().unwrap_or_else(panicked))
    })?;
    let [connections, streams, bytes, answers, errors] =
        [&counts.connections, &counts.streams, &counts.bytes, &counts.answers, &counts.errors]
            .map(|count| count.load(Ordering::Relaxed));
    Ok(format!(
        "{{\"connections\": {connections}, \"streams\": {streams}, \"bytes\": {bytes}, \"answers\": {answers}, \
         \"errors\": {errors}}}"
    ))
}

/// Some streams on one connection, up to one that ends it; nothing may come behind the last answer.
fn connection(address: &str, random: &mut Random, counts: &Counts) -> Checked<()> {
    let opened = TcpStream::connect(address).and_then(|stream| {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(stream)
    });
    let socket = opened.map_err(|e| Fault { what: format!("no connection: {e}"), bytes: Vec::new() })?;
    counts.connections.fetch_add(1, Ordering::Relaxed);
    let (mut talk, mut sent) = (Conversation { socket, heard: Vec::new() }, Vec::new());
    for _ in 0..=random.below(STREAMS) {
        let script = Script::new(stream(random, &REQUESTS, MOST_BYTES));
        sent.extend_from_slice(&script.bytes);
        talk.say(random, &script).map_err(|what| Fault { what, bytes: sent.clone() })?;
        for due in &script.due {
            talk.hear(due, counts).map_err(|what| Fault { what, bytes: sent.clone() })?;
        }
        counts.streams.fetch_add(1, Ordering::Relaxed);
        counts.bytes.fetch_add(script.bytes.len() as u64, Ordering::Relaxed);
        if !script.goes_on {
            break;
        }
        let version = ExpectedReply::Shape(ReplyKind::Line, |reply| *reply == Reply::Version);
        talk.hear(&version, counts)
            .map_err(|what| Fault { what: format!("sentinel: {what}"), bytes: sent.clone() })?;
        ensure(
            talk.heard.is_empty(),
            || format!("behind the sentinel: {}", talk.heard.escape_ascii()),
            &sent,
        )?;
    }
    talk.end().map_err(|what| Fault { what, bytes: sent })
}

struct Conversation {
    socket: TcpStream,
    heard: Vec<u8>,
}

impl Conversation {
    /// Sends the stream in pieces, and the sentinel with the last of them.
    fn say(&mut self, random: &mut Random, script: &Script) -> Result<(), String> {
        let sentinel = if script.goes_on { SENTINEL } else { b"" };
        let bytes = [&script.bytes[..], sentinel].concat();
        let whole = bytes.len() > 4096 || random.below(4) > 0;
        let mut start = 0;
        for end in if whole { vec![bytes.len()] } else { cuts(random, bytes.len()) } {
            self.socket.write_all(&bytes[start..end]).map_err(|e| format!("cannot send: {e}"))?;
            start = end;
        }
        Ok(())
    }

    /// The next answer, which must be the one that is due.
    fn hear(&mut self, due: &ExpectedReply, counts: &Counts) -> Result<(), String> {
        counts.answers.fetch_add(1, Ordering::Relaxed);
        let kind = due.kind();
        let mut scan = ReplyScan::new(kind, ANSWER_BYTES);
        loop {
            let shown = || self.heard[..self.heard.len().min(300)].escape_ascii().to_string();
            match scan.scan(&self.heard) {
                Err(_) => return Err(format!("for {kind:?} came {}", shown())),
                Ok(None) => {}
                Ok(Some((reply, length))) => {
                    let line = &self.heard[..length];
                    // The servers are well: who says that one is not has been led to think so by a client.
                    let down = line.starts_with(b"SERVER_ERROR server")
                        || line.starts_with(b"SERVER_ERROR a server");
                    if down || !due.is(&reply, line) {
                        return Err(format!("for {kind:?} came {reply:?}: {}", shown()));
                    }
                    counts.errors.fetch_add(u64::from(reply == Reply::Error), Ordering::Relaxed);
                    self.heard.drain(..length);
                    return Ok(());
                }
            }
            if !self.more()? {
                return Err(format!("the connection ended before an answer of {kind:?}"));
            }
        }
    }

    /// Reads once; whether there was something.
    fn more(&mut self) -> Result<bool, String> {
        let mut part = [0; 16 * 1024];
        match self.socket.read(&mut part) {
            Ok(count) => {
                self.heard.extend_from_slice(&part[..count]);
                Ok(count > 0)
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => Ok(true),
            Err(e) => Err(format!("no answer: {e}")),
        }
    }

    /// Says that nothing follows, and hears that nothing comes.
    fn end(mut self) -> Result<(), String> {
        let _ = self.socket.shutdown(Shutdown::Write); // it may have closed already
        while self.more()? {}
        if self.heard.is_empty() {
            Ok(())
        } else {
            Err(format!("behind the last answer: {}", self.heard.escape_ascii()))
        }
    }
}
