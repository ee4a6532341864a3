//! What all threads of a proxy see, and how they are started, watched and ended.

use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use crate::availability::Availability;
use crate::histograms::Histograms;
use crate::limits::FREE_BYTES;
use crate::record_log::RecordLog;
use crate::stats::Stats;
use crate::{Config, ServeError, ThreadingDesign};
use sojourn_memproto::Refusal;
use sojourn_record::clock::{now, ns};
use sojourn_serving::{log, GracefulShutdown, LogLevel, LostLogs, MemoryLimit};

/// What all threads of a proxy see.
#[derive(Debug)]
pub(crate) struct SharedState<'a> {
    pub config: &'a Config,
    pub addresses: Vec<SocketAddr>,
    pub stats: Vec<Stats>,
    pub memory: Arc<MemoryLimit>,
    /// No further request is taken up.
    pub shutdown: GracefulShutdown,
    pub availability: Availability,
    /// Whether it was logged that a client speaks another protocol.
    foreign_protocol: AtomicBool,
    pub lost_logs: LostLogs,
    /// Of the logs that were given up.
    pub lost_rows: AtomicU64,
    /// Connections of clients.
    pub open: AtomicUsize,
    /// Where the next read goes, for designs whose threads take turns together.
    pub turn: AtomicUsize,
}

impl<'a> SharedState<'a> {
    /// Before any thread has started.
    pub fn new(config: &'a Config) -> Result<Self, ServeError> {
        let (first, others, count) = match config.design {
            ThreadingDesign::Direct => ("kv-accept", "kv-loop", config.threads),
            ThreadingDesign::Staged => ("kv-network", "kv-worker", config.workers),
        };
        let names = std::iter::once(first.to_string()).chain((0..count).map(|n| format!("{others}-{n}")));
        let servers = config.servers.len();
        Ok(Self {
            config,
            addresses: config.addresses()?,
            stats: names.map(|name| Stats::new(name, servers)).collect(),
            memory: Arc::new(MemoryLimit::new(config.memory_bytes, FREE_BYTES)),
            shutdown: GracefulShutdown::default(),
            foreign_protocol: AtomicBool::new(false),
            lost_logs: LostLogs::default(),
            lost_rows: AtomicU64::new(0),
            availability: Availability::new(&config.servers),
            open: AtomicUsize::new(0),
            turn: AtomicUsize::new(0),
        })
    }

    pub fn all(&self) -> Vec<&Stats> {
        self.stats.iter().collect()
    }

    /// A client was refused; one that speaks another protocol is logged, once.
    pub fn refused(&self, refusal: Refusal, client: &mio::net::TcpStream) {
        if refusal == Refusal::Binary && !self.foreign_protocol.swap(true, Ordering::Relaxed) {
            let client = client.peer_addr().map_or_else(|_| "unknown".into(), |address| address.to_string());
            let remedy = "set the client to memcached's text protocol; further ones are not logged";
            log(LogLevel::Warn, "binary_protocol_refused", &[("client", &client), ("remedy", &remedy)]);
        }
    }

    /// Writes a period of the log, if there is one.
    pub fn record(&self, log: &mut Option<RecordLog>) {
        let Some(log) = log else { return };
        log.period(&self.all(), now(), &self.lost_logs);
        self.lost_rows.store(log.lost_rows(), Ordering::Relaxed);
    }

    pub fn stop(&self) {
        self.shutdown.set(self.config.timeout_s);
    }
}

pub(crate) type Handle<'scope> = ScopedJoinHandle<'scope, Result<Histograms, ServeError>>;

/// Which servers can be reached.
///
/// # Errors
/// `ServeError::Server` where none can.
pub(crate) fn reachable(shared: &SharedState<'_>) -> Result<Vec<bool>, ServeError> {
    let tried: Vec<_> = (0..shared.addresses.len()).map(|server| connect_one(shared, server)).collect();
    let found = tried.iter().map(Result::is_ok).collect();
    match tried.into_iter().reduce(|first, next| if first.is_ok() { first } else { next.or(first) }) {
        Some(Err(error)) => Err(error),
        _ => Ok(found),
    }
}

/// A connection to each server that is `reachable`, blocking.
pub(crate) fn connect(
    shared: &SharedState<'_>,
    reachable: &[bool],
) -> Result<Vec<Option<TcpStream>>, ServeError> {
    let one =
        |(server, reachable): (usize, &bool)| reachable.then(|| connect_one(shared, server)).transpose();
    reachable.iter().enumerate().map(one).collect()
}

fn connect_one(shared: &SharedState<'_>, server: usize) -> Result<TcpStream, ServeError> {
    let patience = Duration::from_secs_f64(shared.config.connect_timeout_s);
    let opened = TcpStream::connect_timeout(&shared.addresses[server], patience).and_then(|stream| {
        stream.set_nodelay(true)?;
        Ok(stream)
    });
    opened.map_err(|source| ServeError::Server { address: shared.config.servers[server].clone(), source })
}

pub(crate) fn join(shared: &SharedState<'_>, handles: Vec<Handle<'_>>) -> Result<Total, ServeError> {
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
    shared: &SharedState<'_>,
    stop: &AtomicBool,
    handles: &[Handle<'_>],
    mut log: Option<RecordLog>,
    each: &mut dyn FnMut() -> Result<(), ServeError>,
) -> Result<Option<RecordLog>, ServeError> {
    let period = ns(shared.config.period_s);
    let mut due = now() + period;
    while !stop.load(Ordering::Relaxed) && !handles.iter().any(ScopedJoinHandle::is_finished) {
        each()?;
        if now() >= due {
            shared.record(&mut log);
            due += period;
        }
    }
    Ok(log)
}
