//! A run from its configuration to its summary.

mod run_summary;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::LineWriter;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::thread::{scope, Scope, ScopedJoinHandle};
use std::time::Duration;

use hdrhistogram::serialization::V2DeflateSerializer;

use crate::client_thread::{ClientThread, LiveCounts, OutcomeBatch, SharedState};
use crate::clock::{now_s, wall_time};
use crate::config::Config;
use crate::error::LoadError;
use crate::kv::{self, KvTally};
use crate::messages::{self, MessagesTally};
use crate::prepared_load::{Address, PreparedClientThread, PreparedLoad};
use crate::sink::{IntervalLog, OutcomeSink};
use crate::summary::{ClientThreadSummary, Progress, Summary};
use crate::sys;

use run_summary::{steal_s, FinishedRun};

const PROGRESS_S: f64 = 0.25;
const FLUSH_S: f64 = 1.0;
/// That the process has open beside its connections.
const OTHER_FILES: u64 = 64;
/// From everything open to the first request.
const LEAD_S: f64 = 0.02;

/// Puts the load on the service; writes `requests.rec` and `latency.hlog` into `out`.
///
/// `progress` is called four times a second on the caller's thread. When `stop` is set, the run ends within
/// about half a second and its summary says `interrupted`. Nothing is written before all connections are open.
pub fn run(
    config: &Config,
    out: &Path,
    progress: &mut dyn FnMut(&Progress),
    stop: &AtomicBool,
) -> Result<Summary, LoadError> {
    config.validate()?;
    start_time(config)?;
    sys::raise_file_limit(config.connections_max() + OTHER_FILES);
    let plan = PreparedLoad::new(config)?;
    let (kv, messages) = (populate(config, &plan, stop)?, make_queues(config, &plan, stop)?);
    std::fs::create_dir_all(out).map_err(|cause| LoadError::Folder { path: out.to_path_buf(), cause })?;
    let start_s = start_time(config)?;
    let (halt, end_s) = (AtomicBool::new(false), start_s + config.duration_s);
    let shared = SharedState { config, start_s, end_s, stop, halt: &halt };

    let path = out.join("latency.hlog");
    let log_error = |cause: String| LoadError::Log { path: path.clone(), cause };
    let mut file = LineWriter::new(File::create(&path).map_err(|e| log_error(e.to_string()))?);
    let mut serializer = V2DeflateSerializer::new();
    let interval_log =
        IntervalLog::begin(&mut file, &mut serializer, start_s, wall_time(start_s), config.timeout_s);
    let interval_log = interval_log.map_err(|e| log_error(e.to_string()))?;
    let mut sink =
        OutcomeSink::create(&out.join("requests.rec"), config, &plan.classes, end_s, interval_log)?;

    (sink.kv, sink.messages) = (kv, messages);
    let steal_before_s = steal_s();
    let lanes = drive(&shared, plan.lanes, &mut sink, progress, &log_error)?;
    let steal_s = steal_s() - steal_before_s;
    Ok(FinishedRun { shared: &shared, sink: &sink, lanes, steal_s, ended_s: now_s() }.summary())
}

fn start_time(config: &Config) -> Result<f64, LoadError> {
    let now_s = now_s();
    match config.start_at_s {
        Some(start_at_s) if start_at_s < now_s => Err(LoadError::StartPassed { start_at_s, now_s }),
        Some(start_at_s) => Ok(start_at_s),
        None => Ok(now_s + LEAD_S),
    }
}

/// Stores the keys at each address once, where that is asked for; the tally of a load on memcached.
fn populate(config: &Config, plan: &PreparedLoad, stop: &AtomicBool) -> Result<Option<KvTally>, LoadError> {
    let Some(wanted) = config.kv() else {
        return Ok(None);
    };
    let mut tally = KvTally::new(0, wanted.verify);
    let addresses: BTreeSet<SocketAddr> =
        plan.lanes.iter().flat_map(|lane| lane.addresses.iter().filter_map(Address::ip)).collect();
    for addr in addresses.into_iter().filter(|_| wanted.populate) {
        let stored = kv::populate(&wanted, addr, Duration::from_secs_f64(config.timeout_s), stop);
        tally.populated += stored.map_err(|cause| LoadError::Populate { addr, cause })?;
    }
    Ok(Some(tally))
}

/// Makes the queues at each address once; the tally of a load on the message service.
fn make_queues(
    config: &Config,
    plan: &PreparedLoad,
    stop: &AtomicBool,
) -> Result<Option<MessagesTally>, LoadError> {
    let Some(wanted) = config.messages() else {
        return Ok(None);
    };
    let targets = plan.lanes.iter().flat_map(|lane| lane.targets.iter().map(move |target| (lane, target)));
    let heads: BTreeMap<SocketAddr, &[u8]> = targets
        .filter_map(|(lane, target)| Some((lane.addresses[target.pool].ip()?, target.request.as_slice())))
        .collect();
    for (addr, head) in heads {
        let made = messages::make(&wanted, addr, head, Duration::from_secs_f64(config.timeout_s), stop);
        made.map_err(|cause| LoadError::Queues { addr, cause })?;
    }
    Ok(Some(MessagesTally::new(wanted.verify)))
}

/// Runs the lanes on threads of their own and the sink on this one.
fn drive(
    shared: &SharedState,
    plans: Vec<PreparedClientThread>,
    sink: &mut OutcomeSink,
    progress: &mut dyn FnMut(&Progress),
    log_error: &dyn Fn(String) -> LoadError,
) -> Result<Vec<ClientThreadSummary>, LoadError> {
    let gauges: Vec<LiveCounts> = plans.iter().map(|_| LiveCounts::default()).collect();
    let (sender, receiver) = channel();
    scope(|scope| {
        let lanes: Vec<_> = plans
            .into_iter()
            .zip(&gauges)
            .map(|(plan, gauges)| spawn(scope, shared, gauges, plan, sender.clone()))
            .collect();
        drop(sender);
        let drained = drain(shared, &gauges, &receiver, sink, progress, log_error);
        if drained.is_err() {
            shared.halt.store(true, Ordering::Relaxed);
        }
        let joined = lanes.into_iter().enumerate();
        let lanes: Result<Vec<_>, _> = joined
            .map(|(lane, handle)| handle.join().unwrap_or(Err(LoadError::Panic { lane })))
            .collect::<Vec<_>>()
            .into_iter()
            .collect();
        drained.and(lanes)
    })
}

fn spawn<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    shared: &'env SharedState<'env>,
    gauges: &'env LiveCounts,
    plan: PreparedClientThread,
    sender: std::sync::mpsc::Sender<OutcomeBatch>,
) -> ScopedJoinHandle<'scope, Result<ClientThreadSummary, LoadError>> {
    scope.spawn(move || {
        let result = ClientThread::new(shared, gauges, plan, sender).and_then(ClientThread::run);
        if result.is_err() {
            // One lane alone is not the load that was asked for.
            shared.halt.store(true, Ordering::Relaxed);
        }
        result
    })
}

/// Takes outcomes until all lanes have ended.
fn drain(
    shared: &SharedState,
    gauges: &[LiveCounts],
    receiver: &Receiver<OutcomeBatch>,
    sink: &mut OutcomeSink,
    progress: &mut dyn FnMut(&Progress),
    log_error: &dyn Fn(String) -> LoadError,
) -> Result<(), LoadError> {
    let (mut told_s, mut flushed_s) = (now_s(), now_s());
    loop {
        let batch = receiver.recv_timeout(Duration::from_secs_f64(PROGRESS_S / 2.0));
        let now = now_s();
        match &batch {
            Ok(batch) => sink.take(batch)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if now >= told_s + PROGRESS_S && now >= shared.start_s {
            progress(&run_summary::progress(shared, gauges, sink, now, now - told_s));
            sink.interval.clear();
            told_s = now;
        }
        if now >= flushed_s + FLUSH_S {
            sink.flush()?;
            sink.interval_log.write_ended(now).map_err(log_error)?;
            flushed_s = now;
        }
    }
    sink.flush()?;
    sink.interval_log.finish(shared.end_s.min(now_s())).map_err(log_error)
}
