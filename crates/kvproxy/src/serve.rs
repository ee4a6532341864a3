//! Opens a proxy, watches the clock while it serves, and closes it.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use serde::Serialize;

use crate::direct::{Lane, Post};
use crate::door::Door;
use crate::log::Log;
use crate::own::Own;
use crate::rules::FREE_BYTES;
use crate::stats::Stats;
use crate::summary::{summary, Summary};
use crate::tell::open_metrics;
use crate::{hlog, staged, Config, Design, ServeError};
use sojourn_record::clock::{now, ns};
use sojourn_serving::{answer, listen, spawn, system, Halt, Memory, Told, TICK};

/// The proxy accepts clients.
#[derive(Clone, Debug, Serialize)]
pub struct Ready {
    pub address: String,
    pub metrics: Option<String>,
    pub pid: u32,
}

/// What all threads of a proxy see.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub config: &'a Config,
    pub addresses: Vec<SocketAddr>,
    pub stats: Vec<Stats>,
    pub memory: Memory,
    /// No further request is taken up.
    pub halt: Halt,
    /// Connections of clients.
    pub open: AtomicUsize,
    /// Where the next read goes, for designs whose threads take turns together.
    pub turn: AtomicUsize,
}

impl Shared<'_> {
    pub fn all(&self) -> Vec<&Stats> {
        self.stats.iter().collect()
    }

    pub fn stop(&self) {
        self.halt.set(self.config.timeout_s);
    }
}

pub(crate) type Handle<'scope> = ScopedJoinHandle<'scope, Result<Own, ServeError>>;

/// Serves until `stop` is set; `ready` is called once, when connections to all servers are open and clients accepted.
///
/// # Errors
/// A value out of range, an address or a server that cannot be had, a limit of the process, a log that cannot be
/// written.
pub fn serve(
    config: &Config,
    stop: &AtomicBool,
    ready: &mut dyn FnMut(&Ready),
) -> Result<Summary, ServeError> {
    config.check()?;
    let shared = shared(config)?;
    let (listener, address) = listen(&config.listen)?;
    let metrics = config.metrics.as_deref().map(listen).transpose()?;
    let said = metrics.as_ref().map(|(_, address)| address.to_string());
    let told = Ready { address: address.to_string(), metrics: said, pid: std::process::id() };
    let log = Log::open(config, &shared.all(), now())?;
    let histogram = config.histogram.as_deref().map(hlog::create).transpose()?;
    let (begun, begun_wall, ended) = (now(), hlog::date(), AtomicBool::new(false));
    let own = std::thread::scope(|scope| {
        if let Some((listener, _)) = &metrics {
            let (shared, ended) = (&shared, &ended);
            spawn(scope, "kv-metrics".into(), move || {
                let metrics = &|| open_metrics(shared.config, &shared.all());
                answer(listener, ended, Told { metrics, ready: &|| Ok(()) });
            })?;
        }
        let served = match config.design {
            Design::Direct => direct(scope, &shared, listener, log, &mut || ready(&told), stop),
            Design::Staged => staged::serve(scope, &shared, listener, log, &mut || ready(&told), stop),
        };
        shared.stop();
        ended.store(true, Ordering::Relaxed);
        served
    })?;
    let (total, cpu_s) = own;
    let lasted = Duration::from_nanos(now() - begun);
    if let (Some(path), Some(file)) = (&config.histogram, histogram) {
        hlog::write(path, file, &total, begun_wall, lasted)?;
    }
    Ok(summary(config, &shared.all(), &total, lasted.as_secs_f64(), &cpu_s))
}

fn shared(config: &Config) -> Result<Shared<'_>, ServeError> {
    let (first, others, count) = match config.design {
        Design::Direct => ("kv-door", "kv-loop", config.threads),
        Design::Staged => ("kv-net", "kv-worker", config.workers),
    };
    let names = std::iter::once(first.to_string()).chain((0..count).map(|n| format!("{others}-{n}")));
    let servers = config.servers.len();
    Ok(Shared {
        config,
        addresses: config.addresses()?,
        stats: names.map(|name| Stats::new(name, servers)).collect(),
        memory: Memory::new(config.memory_bytes, FREE_BYTES),
        halt: Halt::default(),
        open: AtomicUsize::new(0),
        turn: AtomicUsize::new(0),
    })
}

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
    let mut total = Own::new();
    for handle in handles {
        total.merge(&handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
    }
    Ok((total, shared.stats.iter().map(|stats| stats.cpu_s()).collect()))
}

/// What the threads brought together, and the CPU time of each.
pub(crate) type Total = (Own, Vec<Option<f64>>);

fn direct<'scope>(
    scope: &'scope Scope<'scope, '_>,
    shared: &'scope Shared<'scope>,
    listener: TcpListener,
    log: Option<Log>,
    ready: &mut dyn FnMut(),
    stop: &AtomicBool,
) -> Result<Total, ServeError> {
    let posts: io::Result<Vec<Post>> = (0..shared.config.threads).map(|_| Post::new()).collect();
    let posts: Vec<Arc<Post>> = posts.map_err(system("epoll"))?.into_iter().map(Arc::new).collect();
    let mut lanes = Vec::new();
    for (thread, post) in posts.iter().enumerate() {
        lanes.push(Lane::new(shared, Arc::clone(post), thread, connect(shared)?)?);
    }
    let mut handles = Vec::new();
    for (thread, lane) in lanes.into_iter().enumerate() {
        handles.push(spawn(scope, shared.stats[thread + 1].name.clone(), move || lane.run())?);
    }
    let mut door = Door::new(listener)?;
    shared.stats[0].begin();
    ready();
    let mut turn = 0;
    let watched = watch(shared, stop, &handles, log, &mut || {
        door.wait(TICK);
        while let Some(stream) = door.accept(shared) {
            turn = (turn + 1) % posts.len();
            posts[turn].give(stream).map_err(system("a wake-up"))?;
        }
        Ok(())
    });
    shared.stats[0].end();
    shared.stop();
    let total = join(shared, handles)?;
    watched?.map_or(Ok(()), |mut log| log.period(&shared.all(), now()))?;
    Ok(total)
}

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
