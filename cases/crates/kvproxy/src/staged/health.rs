//! Which servers are up, as all workers know it; and the thread that finds out when one is back.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::limits::{FIRST_PAUSE, LONGEST_PAUSE};
use crate::shared::SharedState;
use sojourn_record::clock::now;
use sojourn_serving::TICK;

const LONGEST_PROBE_S: f64 = 0.5;
const LONGEST_VERSION: usize = 256;

#[derive(Debug)]
struct ServerHealth {
    up: AtomicBool,
    /// How often it went down: a connection from before is not to be used.
    epoch: AtomicU64,
}

#[derive(Debug)]
pub(super) struct HealthChecker<'a> {
    shared: &'a SharedState<'a>,
    servers: Vec<ServerHealth>,
}

impl<'a> HealthChecker<'a> {
    pub fn new(shared: &'a SharedState<'a>, reachable: &[bool]) -> Self {
        let found = |(server, up): (usize, &bool)| {
            if !up {
                shared.availability.lost(server, "cannot be reached");
            }
            ServerHealth { up: AtomicBool::new(*up), epoch: AtomicU64::new(0) }
        };
        Self { shared, servers: reachable.iter().enumerate().map(found).collect() }
    }

    pub fn is_up(&self, server: usize) -> bool {
        self.servers[server].up.load(Ordering::Acquire)
    }

    pub fn ups(&self) -> usize {
        (0..self.servers.len()).filter(|server| self.is_up(*server)).count()
    }

    pub fn epoch(&self, server: usize) -> u64 {
        self.servers[server].epoch.load(Ordering::Acquire)
    }

    /// A connection of that epoch has failed.
    pub fn failed(&self, server: usize, epoch: u64, why: &str) {
        let next = self.servers[server].epoch.compare_exchange(
            epoch,
            epoch + 1,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        if next.is_ok() && self.servers[server].up.swap(false, Ordering::AcqRel) {
            self.shared.availability.lost(server, why);
        }
    }

    /// Watches a connection of its own to each server, to see at once that one has ended; asks those that are down,
    /// with longer and longer pauses, until the proxy halts.
    pub fn watch(&self) {
        let shared = self.shared;
        let patience = |s: f64| Duration::from_secs_f64(s.min(LONGEST_PROBE_S));
        let config = shared.config;
        let (connect, answer) = (patience(config.connect_timeout_s), patience(config.timeout_s));
        let mut watched: Vec<WatchedServer> = self.servers.iter().map(|_| WatchedServer::default()).collect();
        while !shared.shutdown.is_set() {
            std::thread::sleep(TICK);
            for (server, one) in watched.iter_mut().enumerate() {
                if self.is_up(server) && one.has_ended() {
                    self.failed(server, self.epoch(server), "closed the connection");
                }
                let up = self.is_up(server);
                if (up && one.stream.is_some()) || now() < one.due {
                    continue;
                }
                one.ask(&shared.addresses[server], connect, answer);
                if one.stream.is_some() {
                    if !self.servers[server].up.swap(true, Ordering::AcqRel) {
                        shared.availability.regained(server);
                    }
                } else if up {
                    self.failed(server, self.epoch(server), "cannot be reached");
                }
            }
        }
    }
}

/// A server as the watching thread has it.
#[derive(Debug)]
struct WatchedServer {
    stream: Option<TcpStream>,
    pause: u64,
    due: u64,
}

impl Default for WatchedServer {
    fn default() -> Self {
        Self { stream: None, pause: FIRST_PAUSE, due: 0 }
    }
}

impl WatchedServer {
    /// Whether the connection was there and is no more.
    fn has_ended(&mut self) -> bool {
        let Some(stream) = &self.stream else { return false };
        let alive = matches!(stream.peek(&mut [0]), Err(e) if e.kind() == ErrorKind::WouldBlock);
        if !alive {
            self.stream = None;
        }
        !alive
    }

    /// Connects and hears whether it is alive.
    fn ask(&mut self, address: &SocketAddr, connect: Duration, answer: Duration) {
        self.stream = probe(address, connect, answer).ok();
        if self.stream.is_some() {
            self.pause = FIRST_PAUSE;
        } else {
            self.due = now() + self.pause;
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// A frozen server's kernel accepts connections too: it has to say something.
fn probe(address: &SocketAddr, connect: Duration, answer: Duration) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect_timeout(address, connect)?;
    stream.set_read_timeout(Some(answer))?;
    stream.write_all(b"version\r\n")?;
    let mut said = Vec::new();
    while said.last() != Some(&b'\n') && said.len() < LONGEST_VERSION {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        said.push(byte[0]);
    }
    stream.set_nonblocking(true)?;
    if said.starts_with(b"VERSION ") {
        Ok(stream)
    } else {
        Err(ErrorKind::InvalidData.into())
    }
}
