//! A run from its configuration to its summary.

mod lane_placement;
mod recorded_run;
mod run_summary;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::client_thread::{ClientThread, LiveCounts, SharedState};
use crate::clock::now_s;
use crate::config::Config;
use crate::error::LoadError;
use crate::kv::{self, KvTally};
use crate::messages::{self, MessagesTally};
use crate::prepared_load::{Address, PreparedLoad};
use crate::run_terms::{RunTerms, StopFlags};
use crate::sessions::SessionsTally;
use crate::sink::OutcomeSink;
use crate::summary::{Progress, Summary};
use crate::sys;

pub use recorded_run::record_run;

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
    let terms = RunTerms {
        seed: config.seed,
        start_s,
        end_s,
        timeout_s: config.timeout_s,
        record_limit: config.record_limit,
        realtime: config.realtime,
        slack_s: config.slack_s,
    };
    let tallies = |sink: &mut OutcomeSink| {
        (sink.kv, sink.messages) = (kv, messages);
        sink.tell_counts = config.agent.is_some();
        sink.sessions = SessionsTally::new(config, start_s);
    };
    let shared = &shared;
    let client = |plan| {
        move |gauges: &LiveCounts, sender| {
            ClientThread::new(shared, gauges, plan, sender).and_then(ClientThread::run)
        }
    };
    let threads = plan.lanes.into_iter().map(client).collect();
    record_run(&terms, out, &plan.classes, tallies, threads, StopFlags { stop, halt: &halt }, progress)
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
