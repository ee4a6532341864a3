//! Opens a service, watches the clock while it serves, and closes it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};

use mio::{Poll, Waker};
use serde::Serialize;

use crate::batch::BatchWorker;
use crate::client::Context;
use crate::client_state::Limits;
use crate::connection::FREE;
use crate::database::{conninfo, prepare, ConnInfo, DatabaseError, DatabaseInfo, Session, SessionPool};
use crate::event_loop::{EventLoop, WAKE};
use crate::record_log::RecordLog;
use crate::request_framing::HEAD_BYTES;
use crate::shared::SharedState;
use crate::summary::{summary, Summary};
use crate::worker::Worker;
use crate::{metrics, Config, ServeError};
use sojourn_record::clock::{now, ns, s};
use sojourn_serving::{listen, spawn, system, Batches, BoundedQueue, LogLevel, MemoryLimit, TICK};

/// Requests that one client may have waiting.
const PIPELINE: usize = 64;
/// Requests that are worth another batch at the same time. With 30 clients on 2 cores two batches at a time cost the
/// database 23 µs of CPU time a request, one 15; with 300 clients 7 and 6.
const BESIDE: usize = 100;

/// What is told once the service accepts clients.
#[derive(Clone, Debug, Serialize)]
pub struct ReadyMessage {
    pub address: String,
    pub metrics: Option<String>,
    pub pid: u32,
    pub database: DatabaseInfo,
}

/// Serves until `stop` is set; `ready` is called once, when the database is prepared and clients are accepted.
///
/// # Errors
/// A value out of range, an address or a database that cannot be had, tables of a later version, a limit of the process,
/// a log that cannot be created. One that cannot be written later is given up, and the service goes on.
pub fn serve(
    config: &Config,
    stop: &AtomicBool,
    ready: &mut dyn FnMut(&ReadyMessage),
) -> Result<Summary, ServeError> {
    config.check()?;
    let conninfo = conninfo(config)?;
    let about = prepare(&conninfo)?;
    let (listener, address) = listen(&config.listen)?;
    let metrics = config.metrics.as_deref().map(listen).transpose()?;
    let poll = Poll::new().map_err(system("epoll"))?;
    let shared = shared(config, &conninfo, &poll)?;
    let create = |path: &String| RecordLog::create(path, config, &about);
    let log = config.log.as_ref().map(create).transpose()?;
    let told = ReadyMessage {
        address: address.to_string(),
        metrics: metrics.as_ref().map(|(_, address)| address.to_string()),
        pid: std::process::id(),
        database: about.clone(),
    };
    let opened = open_sessions(&shared)?;
    let event_loop = EventLoop::new(&shared, poll, listener, opened)?;
    let begun = now();
    let log = std::thread::scope(|scope| {
        let threads = Threads::start(scope, &shared, &conninfo, event_loop);
        let served = threads.and_then(|threads| {
            if let Some((listener, _)) = &metrics {
                let shared = &shared;
                spawn(scope, "msg-metrics".into(), move || metrics::answer(listener, shared))?;
            }
            ready(&told);
            let watched = watch(&shared, stop, &threads, log);
            shared.stop();
            threads.join(&shared)?;
            let mut log = watched;
            log.iter_mut().for_each(|log| log.period(&shared, now()));
            Ok::<_, ServeError>(log)
        });
        // Whatever went wrong, no thread waits for ever.
        shared.stop();
        shared.context.queue.close();
        shared.maintenance.cut();
        served
    })?;
    let (lost_logs, lost_rows) = log.as_ref().map(RecordLog::lost).unwrap_or_default();
    Ok(Summary { lost_logs, lost_rows, ..summary(&shared, s(now() - begun), about) })
}

fn shared<'a>(config: &'a Config, conninfo: &ConnInfo, poll: &Poll) -> Result<SharedState<'a>, ServeError> {
    let waker = Waker::new(poll.registry(), WAKE).map_err(system("epoll"))?;
    let pool = SessionPool::new(conninfo.clone(), config.connections);
    let at_once = config.batch_concurrency.min(config.connections);
    let queue = if config.batch {
        BoundedQueue::in_batches(config.queue, Batches { at_once, least: BESIDE })
    } else {
        BoundedQueue::new(config.queue)
    };
    // Two whole requests, so that one can be read while the other is served.
    let limits = Limits { requests: PIPELINE, bytes: 2 * (HEAD_BYTES + config.message_bytes) };
    let context = Context::new(queue, MemoryLimit::new(config.memory_bytes, FREE), limits, waker);
    Ok(SharedState::new(config, context, pool))
}

/// All of them, for the service does not begin without its database; for the event loop, or in the pool for workers.
fn open_sessions(shared: &SharedState<'_>) -> Result<Option<Vec<Session>>, ServeError> {
    let failed = |fault: DatabaseError| ServeError::Database { what: fault.text(), remedy: fault.remedy() };
    if shared.config.is_threaded() {
        return shared.pool.fill().map_err(failed).map(|()| None);
    }
    let opened = (0..shared.config.connections).map(|_| shared.pool.open());
    opened.collect::<Result<_, _>>().map_err(failed).map(Some)
}

struct Threads<'scope> {
    event_loop: ScopedJoinHandle<'scope, Result<(), ServeError>>,
    /// Workers, and those beside; each with its name.
    others: Vec<(String, ScopedJoinHandle<'scope, ()>)>,
}

impl<'scope> Threads<'scope> {
    fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        shared: &'scope SharedState<'scope>,
        conninfo: &'scope ConnInfo,
        event_loop: EventLoop<'scope>,
    ) -> Result<Self, ServeError> {
        let mut others = Vec::new();
        let mut start = |name: String, run: Box<dyn FnOnce() + Send + 'scope>| {
            others.push((name.clone(), spawn(scope, name, run)?));
            Ok::<(), ServeError>(())
        };
        let workers = if shared.config.is_threaded() { shared.config.workers } else { 0 };
        for me in 0..workers {
            let run = move || {
                sojourn_spin::set_batch_scheduling();
                if shared.config.batch {
                    BatchWorker::new(shared, me).run();
                } else {
                    Worker::new(shared, me).run();
                }
            };
            start(format!("msg-worker-{me}"), Box::new(run))?;
        }
        if workers == 0 {
            let told = || shared.context.wake_loop();
            let run = move || shared.connector.run(&shared.pool, shared.shutdown.flag(), &told);
            start("msg-connector".into(), Box::new(run))?;
        }
        let maintenance = move || {
            let (pool, redelivery_s) = (&shared.pool, shared.config.redelivery_s);
            shared.maintenance.run(conninfo, pool, redelivery_s, shared.shutdown.flag());
            shared.stats.thread_ends("msg-maintenance".into());
        };
        start("msg-maintenance".into(), Box::new(maintenance))?;
        let event_loop = spawn(scope, "msg-dispatcher".into(), move || {
            sojourn_spin::set_batch_scheduling();
            let ended = event_loop.run();
            shared.stats.thread_ends("msg-dispatcher".into());
            ended
        })?;
        Ok(Self { event_loop, others })
    }

    /// A thread that has ended before the service halts.
    fn ended(&self) -> Option<&str> {
        let others = self.others.iter().map(|(name, thread)| (name.as_str(), thread.is_finished()));
        let mut all = others.chain([("msg-dispatcher", self.event_loop.is_finished())]);
        all.find_map(|(name, ended)| ended.then_some(name))
    }

    /// Waits for all of them; whatever the event loop has left is not served.
    fn join(self, shared: &SharedState<'_>) -> Result<(), ServeError> {
        let panicked = |name: String| ServeError::Thread { name };
        let mut ended = self.event_loop.join().unwrap_or_else(|_| Err(panicked("msg-dispatcher".into())));
        shared.context.queue.close();
        for (name, thread) in self.others {
            if thread.join().is_err() {
                ended = ended.and(Err(panicked(name)));
            }
        }
        ended
    }
}

/// Writes the log each period, until `stop` is set or a thread has ended.
fn watch(
    shared: &SharedState<'_>,
    stop: &AtomicBool,
    threads: &Threads<'_>,
    mut log: Option<RecordLog>,
) -> Option<RecordLog> {
    let period = ns(shared.config.period_s);
    let mut due = now() + period;
    while !stop.load(Ordering::Relaxed) {
        if let Some(thread) = threads.ended() {
            sojourn_serving::log(LogLevel::Error, "thread_ended", &[("thread", &thread)]);
            break;
        }
        let left = std::time::Duration::from_nanos(due.saturating_sub(now()));
        std::thread::sleep(left.min(TICK));
        if now() < due {
            continue;
        }
        due = now().max(due + period);
        if let Some(log) = &mut log {
            log.period(shared, now());
        }
    }
    log
}

#[cfg(test)]
mod tests;
