//! What every load has in common, whatever it asks for: its threads make outcomes, this records them and tells how it goes.

use std::io::LineWriter;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError, Sender};
use std::thread::scope;
use std::time::Duration;

use hdrhistogram::serialization::V2DeflateSerializer;
use sojourn_record::new_file;

use super::lane_placement::LanePlacement;
use super::run_summary::{self, steal_s, FinishedRun};
use crate::client_thread::{LiveCounts, OutcomeBatch};
use crate::clock::{now_s, wall_time};
use crate::error::LoadError;
use crate::run_terms::{RunTerms, StopFlags};
use crate::sink::{IntervalLog, OutcomeSink};
use crate::summary::{ClientThreadSummary, Progress, Summary};
use crate::sys;

/// Of the thread that records: it uses a tenth of a core where others want all of it.
const NICENESS: i32 = 10;
const PROGRESS_S: f64 = 0.25;
const FLUSH_S: f64 = 1.0;

/// Runs `threads`, each of which sends its outcomes and returns its account, and writes `requests.rec` and `latency.hlog`
/// into `out`; the caller's thread records and calls `progress` four times a second. `tallies` may add counts to the sink.
///
/// # Errors
/// What cannot be written, and the first error of a thread, which ends the others.
pub fn record_run<T, E>(
    terms: &RunTerms,
    out: &Path,
    classes: &[String],
    tallies: impl FnOnce(&mut OutcomeSink),
    threads: Vec<T>,
    flags: StopFlags,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Summary, E>
where
    T: FnOnce(&LiveCounts, Sender<OutcomeBatch>) -> Result<ClientThreadSummary, E> + Send,
    E: From<LoadError> + Send,
{
    let path = out.join("latency.hlog");
    let log_error = |cause: String| LoadError::Log { path: path.clone(), cause };
    let mut file = LineWriter::new(new_file(&path).map_err(|e| log_error(e.to_string()))?);
    let mut serializer = V2DeflateSerializer::new();
    let start = (terms.start_s, wall_time(terms.start_s));
    let interval_log = IntervalLog::begin(&mut file, &mut serializer, start.0, start.1, terms.timeout_s);
    let interval_log = interval_log.map_err(|e| log_error(e.to_string()))?;
    let mut sink = OutcomeSink::create(&out.join("requests.rec"), terms, classes, interval_log)
        .map_err(LoadError::from)?;
    tallies(&mut sink);
    let steal_before_s = steal_s();
    let lanes = drive(terms, threads, flags, &mut sink, progress, &log_error)?;
    let steal_s = steal_s() - steal_before_s;
    let stopped = flags.stop.load(Ordering::Relaxed);
    Ok(FinishedRun { terms, stopped, sink: &sink, lanes, steal_s, ended_s: now_s() }.summary())
}

/// Runs the threads, and the sink on this one.
fn drive<T, E>(
    terms: &RunTerms,
    threads: Vec<T>,
    flags: StopFlags,
    sink: &mut OutcomeSink,
    progress: &mut dyn FnMut(&Progress),
    log_error: &dyn Fn(String) -> LoadError,
) -> Result<Vec<ClientThreadSummary>, E>
where
    T: FnOnce(&LiveCounts, Sender<OutcomeBatch>) -> Result<ClientThreadSummary, E> + Send,
    E: From<LoadError> + Send,
{
    let gauges: Vec<LiveCounts> = threads.iter().map(|_| LiveCounts::default()).collect();
    let (sender, receiver) = channel();
    scope(|scope| {
        let spawn = |(thread, gauges): (T, _)| {
            let sender = sender.clone();
            scope.spawn(move || {
                let result = thread(gauges, sender);
                if result.is_err() {
                    // One lane alone is not the load that was asked for.
                    flags.halt.store(true, Ordering::Relaxed);
                }
                result
            })
        };
        let lanes: Vec<_> = threads.into_iter().zip(&gauges).map(spawn).collect();
        drop(sender);
        sys::give_way(NICENESS);
        let drained = drain(terms, &gauges, &receiver, sink, progress, log_error);
        if drained.is_err() {
            flags.halt.store(true, Ordering::Relaxed);
        }
        let joined = lanes.into_iter().enumerate();
        let lanes: Result<Vec<_>, E> = joined
            .map(|(lane, handle)| handle.join().unwrap_or_else(|_| Err(LoadError::Panic { lane }.into())))
            .collect::<Vec<_>>()
            .into_iter()
            .collect();
        drained.map_err(E::from).and(lanes)
    })
}

/// Takes outcomes until all threads have ended.
fn drain(
    terms: &RunTerms,
    gauges: &[LiveCounts],
    receiver: &Receiver<OutcomeBatch>,
    sink: &mut OutcomeSink,
    progress: &mut dyn FnMut(&Progress),
    log_error: &dyn Fn(String) -> LoadError,
) -> Result<(), LoadError> {
    let (mut told_s, mut flushed_s, mut placement) = (now_s(), now_s(), LanePlacement::default());
    loop {
        let batch = receiver.recv_timeout(Duration::from_secs_f64(PROGRESS_S / 2.0));
        let now = now_s();
        match &batch {
            Ok(batch) => sink.take(batch)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if now >= told_s + PROGRESS_S && now >= terms.start_s {
            progress(&run_summary::progress(terms, gauges, sink, now, now - told_s));
            sink.interval.clear();
            placement.look(gauges, now);
            told_s = now;
        }
        if now >= flushed_s + FLUSH_S {
            sink.flush()?;
            sink.interval_log.write_ended(now).map_err(log_error)?;
            flushed_s = now;
        }
    }
    sink.flush()?;
    sink.interval_log.finish(terms.end_s.min(now_s())).map_err(log_error)
}
