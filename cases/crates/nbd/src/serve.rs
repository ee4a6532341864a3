//! Accepts; each connection has a thread, and as many connections as there may be.

use std::fmt;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{scope, sleep, Scope};
use std::time::Duration;

use serde::Serialize;
use sojourn_serving::{listen, log, within, LogLevel, MemoryLimit, ServingError, TICK};

use crate::backing::Backing;
use crate::connection::{negotiate, transmit, Shared};
use crate::delayed_answers::DelayedAnswers;
use crate::stoppable_stream::StoppableStream;
use crate::{Config, Summary};

/// What all requests and answers of all connections together may hold.
const MEMORY_BYTES: usize = 256 << 20;
const EXPORT_BYTES_MAX: f64 = (1u64 << 40) as f64;

/// What is told once it accepts connections.
#[derive(Debug, Clone, Serialize)]
pub struct ReadyMessage {
    pub address: String,
    pub pid: u32,
    pub size_bytes: u64,
}

/// Why it cannot serve.
#[derive(Debug)]
pub enum ServeError {
    /// Not one of memory and a file, or direct memory.
    Backing,
    File(PathBuf, io::Error),
    Serving(ServingError),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Backing => f.write_str("memory and file: give one of them (direct: only of a file)"),
            Self::File(path, cause) => {
                write!(f, "{}: {cause}; give a regular file that may be read and written", path.display())
            }
            Self::Serving(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ServeError {}

impl From<ServingError> for ServeError {
    fn from(error: ServingError) -> ServeError {
        ServeError::Serving(error)
    }
}

struct Server<'a> {
    shared: Shared<'a>,
    stop: &'a AtomicBool,
    delay: Duration,
    open: AtomicUsize,
    summary: Mutex<Summary>,
}

/// Serves until `stop` is set; `ready` is called once, when connections are accepted.
///
/// # Errors
/// `ServeError` for an address or a file that cannot be had, or a value out of range.
pub fn serve(
    config: &Config,
    stop: &AtomicBool,
    ready: &mut dyn FnMut(&ReadyMessage),
) -> Result<Summary, ServeError> {
    within("delay_s", config.delay_s, 0.0, 60.0)?;
    within("connections", config.connections as f64, 1.0, 1024.0)?;
    let backing = match (&config.file, config.memory_bytes) {
        (Some(path), None) => {
            Backing::file(path, config.direct).map_err(|cause| ServeError::File(path.clone(), cause))?
        }
        (None, Some(bytes)) if !config.direct => {
            within("memory_bytes", bytes as f64, 512.0, EXPORT_BYTES_MAX)?;
            Backing::memory(bytes)
        }
        _ => return Err(ServeError::Backing),
    };
    let (listener, address) = listen(&config.listen)?;
    let memory = MemoryLimit::new(MEMORY_BYTES, 0);
    let server = Server {
        shared: Shared { backing: &backing, memory: &memory },
        stop,
        delay: Duration::from_secs_f64(config.delay_s),
        open: AtomicUsize::new(0),
        summary: Mutex::new(Summary::default()),
    };
    let size_bytes = backing.size_bytes();
    ready(&ReadyMessage { address: address.to_string(), pid: std::process::id(), size_bytes });
    scope(|scope| accept(scope, &server, &listener, config.connections));
    let summary = server.summary.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(summary)
}

fn accept<'scope>(
    scope: &'scope Scope<'scope, '_>,
    server: &'scope Server<'scope>,
    listener: &TcpListener,
    most: usize,
) {
    while !server.stop.load(Ordering::Relaxed) {
        let Ok((stream, peer)) = listener.accept() else {
            // Nobody there, or out of descriptors: the next look tries anew.
            sleep(TICK);
            continue;
        };
        let full = server.open.load(Ordering::Relaxed) >= most;
        server.count(|summary| {
            *if full { &mut summary.refused_connections } else { &mut summary.connections } += 1
        });
        if full {
            log(LogLevel::Warn, "connection_refused", &[("peer", &peer), ("most", &most)]);
            continue;
        }
        server.open.fetch_add(1, Ordering::Relaxed);
        let run = move || {
            if let Err(error) = server.serve_one(scope, stream) {
                log(LogLevel::Warn, "connection_broken", &[("peer", &peer), ("cause", &error)]);
                server.count(|summary| summary.broken += 1);
            }
            server.open.fetch_sub(1, Ordering::Relaxed);
        };
        if sojourn_serving::spawn(scope, "nbd-connection".to_string(), run).is_err() {
            server.open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Server<'_> {
    fn count(&self, change: impl FnOnce(&mut Summary)) {
        change(&mut self.summary.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn serve_one<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        stream: TcpStream,
    ) -> io::Result<()> {
        let mut stream = StoppableStream::new(stream, self.stop)?;
        if !negotiate(&mut stream, self.shared.backing)? {
            return Ok(());
        }
        let mut answers =
            DelayedAnswers::new(scope, stream.stream.try_clone()?, self.delay, self.shared.memory)?;
        let mut own = Summary::default();
        let ended = transmit(&mut stream, &mut answers, &self.shared, &mut own);
        self.count(|summary| {
            summary.reads += own.reads;
            summary.writes += own.writes;
            summary.flushes += own.flushes;
            summary.read_bytes += own.read_bytes;
            summary.write_bytes += own.write_bytes;
            summary.errors += own.errors;
        });
        ended
    }
}
