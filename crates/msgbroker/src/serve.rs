//! Opens a service, watches the clock while it serves, and closes it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};

use mio::{Poll, Waker};
use serde::Serialize;

use crate::client::{Desk, Limits};
use crate::database::{prepare, About, Fault, Link, Pool, Target};
use crate::dispatcher::{Dispatcher, WAKE};
use crate::frame::HEAD_BYTES;
use crate::line::Line;
use crate::log::Log;
use crate::reading::FREE;
use crate::shared::Shared;
use crate::summary::{summary, Summary};
use crate::worker::Worker;
use crate::{metrics, Config, ServeError};
use sojourn_record::clock::{now, ns, s};
use sojourn_serving::{listen, spawn, system, Level, Memory, TICK};

/// Requests that one client may have waiting.
const PIPELINE: usize = 64;

/// The service accepts clients.
#[derive(Clone, Debug, Serialize)]
pub struct Ready {
    pub address: String,
    pub metrics: Option<String>,
    pub pid: u32,
    pub database: About,
}

/// Serves until `stop` is set; `ready` is called once, when the database is prepared and clients are accepted.
///
/// # Errors
/// A value out of range, an address or a database that cannot be had, tables of a later version, a limit of the process,
/// a log that cannot be written.
pub fn serve(
    config: &Config,
    stop: &AtomicBool,
    ready: &mut dyn FnMut(&Ready),
) -> Result<Summary, ServeError> {
    config.check()?;
    let target = Target::new(config)?;
    let about = prepare(&target)?;
    let (listener, address) = listen(&config.listen)?;
    let metrics = config.metrics.as_deref().map(listen).transpose()?;
    let poll = Poll::new().map_err(system("epoll"))?;
    let shared = shared(config, &target, &poll)?;
    let create = |path: &String| Log::create(path, config, &about);
    let log = config.log.as_ref().map(create).transpose()?;
    let told = Ready {
        address: address.to_string(),
        metrics: metrics.as_ref().map(|(_, address)| address.to_string()),
        pid: std::process::id(),
        database: about.clone(),
    };
    let links = open_sessions(&shared)?;
    let dispatcher = Dispatcher::new(&shared, poll, listener, links)?;
    let begun = now();
    std::thread::scope(|scope| {
        let threads = Threads::start(scope, &shared, &target, dispatcher);
        let served = threads.and_then(|threads| {
            if let Some((listener, _)) = &metrics {
                let shared = &shared;
                spawn(scope, "msg-metrics".into(), move || metrics::answer(listener, shared))?;
            }
            ready(&told);
            let watched = watch(&shared, stop, &threads, log);
            shared.stop();
            threads.join(&shared)?;
            watched?.map_or(Ok(()), |mut log| log.period(&shared, now()))
        });
        // Whatever went wrong, no thread waits for ever.
        shared.stop();
        shared.desk.line.close();
        shared.keeper.cut();
        served
    })?;
    Ok(summary(&shared, s(now() - begun), about))
}

fn shared<'a>(config: &'a Config, target: &Target, poll: &Poll) -> Result<Shared<'a>, ServeError> {
    let waker = Waker::new(poll.registry(), WAKE).map_err(system("epoll"))?;
    let pool = Pool::new(target.clone(), config.connections);
    let lanes = if config.batch { config.batch_lanes.min(config.connections) } else { usize::MAX };
    let line = Line::new(config.queue, lanes);
    // Two whole requests, so that one can be read while the other is served.
    let limits = Limits { requests: PIPELINE, bytes: 2 * (HEAD_BYTES + config.message_bytes) };
    let desk = Desk::new(line, Memory::new(config.memory_bytes, FREE), limits, waker);
    Ok(Shared::new(config, desk, pool))
}

/// All of them, for the service does not begin without its database; for the dispatcher, or in the pool for workers.
fn open_sessions(shared: &Shared<'_>) -> Result<Option<Vec<Link>>, ServeError> {
    let failed = |fault: Fault| ServeError::Database { what: fault.text(), remedy: fault.remedy() };
    if shared.config.is_threaded() {
        return shared.pool.fill().map_err(failed).map(|()| None);
    }
    let links = (0..shared.config.connections).map(|_| shared.pool.open());
    links.collect::<Result<_, _>>().map_err(failed).map(Some)
}

struct Threads<'scope> {
    dispatcher: ScopedJoinHandle<'scope, Result<(), ServeError>>,
    /// Workers, and those beside; each with its name.
    others: Vec<(String, ScopedJoinHandle<'scope, ()>)>,
}

impl<'scope> Threads<'scope> {
    fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        shared: &'scope Shared<'scope>,
        target: &'scope Target,
        dispatcher: Dispatcher<'scope>,
    ) -> Result<Self, ServeError> {
        let mut others = Vec::new();
        let mut start = |name: String, run: Box<dyn FnOnce() + Send + 'scope>| {
            others.push((name.clone(), spawn(scope, name, run)?));
            Ok::<(), ServeError>(())
        };
        let workers = if shared.config.is_threaded() { shared.config.workers } else { 0 };
        for me in 0..workers {
            let worker = Worker::new(shared, me);
            let run = move || {
                sojourn_spin::wait_for_a_turn();
                worker.run();
            };
            start(format!("msg-worker-{me}"), Box::new(run))?;
        }
        if workers == 0 {
            let told = || shared.desk.wake_loop();
            let run = move || shared.connector.run(&shared.pool, shared.halt.flag(), &told);
            start("msg-connector".into(), Box::new(run))?;
        }
        let keeper = move || {
            let (pool, redelivery_s) = (&shared.pool, shared.config.redelivery_s);
            shared.keeper.run(target, pool, redelivery_s, shared.halt.flag());
            shared.book.thread_ends("msg-keeper".into());
        };
        start("msg-keeper".into(), Box::new(keeper))?;
        let dispatcher = spawn(scope, "msg-dispatcher".into(), move || {
            sojourn_spin::wait_for_a_turn();
            let ended = dispatcher.run();
            shared.book.thread_ends("msg-dispatcher".into());
            ended
        })?;
        Ok(Self { dispatcher, others })
    }

    /// A thread that has ended before the service halts.
    fn ended(&self) -> Option<&str> {
        let others = self.others.iter().map(|(name, thread)| (name.as_str(), thread.is_finished()));
        let mut all = others.chain([("msg-dispatcher", self.dispatcher.is_finished())]);
        all.find_map(|(name, ended)| ended.then_some(name))
    }

    /// Waits for all of them; whatever the dispatcher has left is not served.
    fn join(self, shared: &Shared<'_>) -> Result<(), ServeError> {
        let panicked = |name: String| ServeError::Thread { name };
        let mut ended = self.dispatcher.join().unwrap_or_else(|_| Err(panicked("msg-dispatcher".into())));
        shared.desk.line.close();
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
    shared: &Shared<'_>,
    stop: &AtomicBool,
    threads: &Threads<'_>,
    mut log: Option<Log>,
) -> Result<Option<Log>, ServeError> {
    let period = ns(shared.config.period_s);
    let mut due = now() + period;
    while !stop.load(Ordering::Relaxed) {
        if let Some(thread) = threads.ended() {
            sojourn_serving::log(Level::Error, "thread_ended", &[("thread", &thread)]);
            break;
        }
        let left = std::time::Duration::from_nanos(due.saturating_sub(now()));
        std::thread::sleep(left.min(TICK));
        if now() < due {
            continue;
        }
        due = now().max(due + period);
        if let Some(log) = &mut log {
            log.period(shared, now())?;
        }
    }
    Ok(log)
}

#[cfg(test)]
mod tests;
