//! What all threads of a proxy see, and how they are started, watched and ended.

use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use crate::histograms::Histograms;
use crate::limits::FREE_BYTES;
use crate::log::Log;
use crate::stats::Stats;
use crate::{Config, Design, ServeError};
use sojourn_record::clock::{now, ns};
use sojourn_serving::{Halt, Memory};

/// What all threads of a proxy see.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub config: &'a Config,
    pub addresses: Vec<SocketAddr>,
    pub stats: Vec<Stats>,
    pub memory: Arc<Memory>,
    /// No further request is taken up.
    pub halt: Halt,
    /// Connections of clients.
    pub open: AtomicUsize,
    /// Where the next read goes, for designs whose threads take turns together.
    pub turn: AtomicUsize,
}

impl<'a> Shared<'a> {
    /// Before any thread has started.
    pub fn new(config: &'a Config) -> Result<Self, ServeError> {
        let (first, others, count) = match config.design {
            Design::Direct => ("kv-accept", "kv-loop", config.threads),
            Design::Staged => ("kv-network", "kv-worker", config.workers),
        };
        let names = std::iter::once(first.to_string()).chain((0..count).map(|n| format!("{others}-{n}")));
        let servers = config.servers.len();
        Ok(Self {
            config,
            addresses: config.addresses()?,
            stats: names.map(|name| Stats::new(name, servers)).collect(),
            memory: Arc::new(Memory::new(config.memory_bytes, FREE_BYTES)),
            halt: Halt::default(),
            open: AtomicUsize::new(0),
            turn: AtomicUsize::new(0),
        })
    }

    pub fn all(&self) -> Vec<&Stats> {
        self.stats.iter().collect()
    }

    pub fn stop(&self) {
        self.halt.set(self.config.timeout_s);
    }
}

pub(crate) type Handle<'scope> = ScopedJoinHandle<'scope, Result<Histograms, ServeError>>;

/// A connection to each server, blocking.
pub(crate) fn connect(shared: &Shared<'_>) -> Result<Vec<TcpStream>, ServeError> {
    let patience = Duration::from_secs_f64(shared.config.connect_timeout_s);
    let one = |(name, address): (&String, &SocketAddr)| {
        let opened = TcpStream::connect_timeout(address, patience).and_then(|stream| {
            stream.set_nodelay(true)?;
            Ok(stream)
        });
        opened.map_err(|source| ServeError::Server { address: name.clone(), source })
    };
    shared.config.servers.iter().zip(&shared.addresses).map(one).collect()
}

pub(crate) fn join(shared: &Shared<'_>, handles: Vec<Handle<'_>>) -> Result<Total, ServeError> {
    let mut total = Histograms::new();
    for handle in handles {
        total.merge(&handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
    }
    Ok((total, shared.stats.iter().map(|stats| stats.cpu_s()).collect()))
}

/// What the threads brought together, and the CPU time of each.
pub(crate) type Total = (Histograms, Vec<Option<f64>>);

/// Does `each` again and again, and writes the log each period, until `stop` is set or a thread has ended.
pub(crate) fn watch(
    shared: &Shared<'_>,
    stop: &AtomicBool,
    handles: &[Handle<'_>],
    mut log: Option<Log>,
    each: &mut dyn FnMut() -> Result<(), ServeError>,
) -> Result<Option<Log>, ServeError> {
    let period = ns(shared.config.period_s);
    let mut due = now() + period;
    while !stop.load(Ordering::Relaxed) && !handles.iter().any(ScopedJoinHandle::is_finished) {
        each()?;
        if let (Some(log), true) = (&mut log, now() >= due) {
            log.period(&shared.all(), now())?;
            due += period;
        }
    }
    Ok(log)
}
