//! Which servers are up, as all workers know it; and the thread that finds out when one is back.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::now;
use crate::serve::{Shared, TICK};

const FIRST_PAUSE: u64 = 50_000_000;
const LONGEST_PAUSE: u64 = 2_000_000_000;
const LONGEST_PROBE_S: f64 = 0.5;

#[derive(Debug)]
struct One {
    up: AtomicBool,
    /// How often it went down: a connection from before is not to be used.
    epoch: AtomicU64,
}

#[derive(Debug)]
pub(super) struct Health(Vec<One>);

impl Health {
    pub fn new(servers: usize) -> Self {
        Self((0..servers).map(|_| One { up: AtomicBool::new(true), epoch: AtomicU64::new(0) }).collect())
    }

    pub fn is_up(&self, server: usize) -> bool {
        self.0[server].up.load(Ordering::Acquire)
    }

    pub fn ups(&self) -> usize {
        (0..self.0.len()).filter(|server| self.is_up(*server)).count()
    }

    pub fn epoch(&self, server: usize) -> u64 {
        self.0[server].epoch.load(Ordering::Acquire)
    }

    /// A connection of that epoch has failed.
    pub fn failed(&self, server: usize, epoch: u64) {
        let next = self.0[server].epoch.compare_exchange(epoch, epoch + 1, Ordering::AcqRel, Ordering::Acquire);
        if next.is_ok() {
            self.0[server].up.store(false, Ordering::Release);
        }
    }

    /// Asks servers that are down, with longer and longer pauses, until the proxy halts.
    pub fn watch(&self, shared: &Shared<'_>) {
        let patience = |s: f64| Duration::from_secs_f64(s.min(LONGEST_PROBE_S));
        let config = shared.config;
        let (connect, answer) = (patience(config.connect_timeout_s), patience(config.timeout_s));
        let mut pauses = vec![(FIRST_PAUSE, 0); self.0.len()];
        while !shared.halt.load(Ordering::Relaxed) {
            std::thread::sleep(TICK);
            for (server, (pause, due)) in pauses.iter_mut().enumerate() {
                if self.is_up(server) || now() < *due {
                    continue;
                }
                if probe(&shared.addresses[server], connect, answer).is_ok() {
                    *pause = FIRST_PAUSE;
                    self.0[server].up.store(true, Ordering::Release);
                } else {
                    *due = now() + *pause;
                    *pause = (*pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }
}

/// A frozen server's kernel accepts connections too: it has to say something.
fn probe(address: &SocketAddr, connect: Duration, answer: Duration) -> std::io::Result<()> {
    let mut stream = TcpStream::connect_timeout(address, connect)?;
    stream.set_read_timeout(Some(answer))?;
    stream.write_all(b"version\r\n")?;
    let mut start = [0; 8];
    stream.read_exact(&mut start)?;
    if start == *b"VERSION " {
        Ok(())
    } else {
        Err(std::io::ErrorKind::InvalidData.into())
    }
}
