//! Opens a service, watches the clock while it serves, and closes it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};

use mio::{Poll, Waker};
use serde::Serialize;

use crate::client::{Desk, Limits};
use crate::database::{prepare, About, Pool, Target};
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
use sojourn_serving::{listen, spawn, system, Memory, TICK};

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
    let dispatcher = Dispatcher::new(&shared, poll, listener)?;
    let begun = now();
    std::thread::scope(|scope| {
        let threads = Threads::start(scope, &shared, &target, dispatcher);
        let served = threads.and_then(|threads| {
            if let Some((listener, _)) = &metrics {
                let shared = &shared;
                spawn(scope, "msg-metrics".into(), move || metrics::answer(listener, shared))?;
            }
            ready(&told);
            let watched = watch(&shared, stop, &threads.dispatcher, log);
            shared.stop();
            threads.join()?;
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
    pool.fill().map_err(|fault| ServeError::Database { what: fault.text().into() })?;
    let lanes = if config.batch { config.batch_lanes.min(config.connections) } else { usize::MAX };
    let line = Line::new(config.queue, lanes);
    // Two whole requests, so that one can be read while the other is served.
    let limits = Limits { requests: PIPELINE, bytes: 2 * (HEAD_BYTES + config.message_bytes) };
    let desk = Desk::new(line, Memory::new(config.memory_bytes, FREE), limits, waker);
    Ok(Shared::new(config, desk, pool))
}

struct Threads<'scope> {
    dispatcher: ScopedJoinHandle<'scope, Result<(), ServeError>>,
    workers: Vec<ScopedJoinHandle<'scope, ()>>,
}

impl<'scope> Threads<'scope> {
    fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        shared: &'scope Shared<'scope>,
        target: &'scope Target,
        dispatcher: Dispatcher<'scope>,
    ) -> Result<Self, ServeError> {
        let mut workers = Vec::new();
        for me in 0..shared.config.workers {
            let worker = Worker::new(shared, me);
            let run = move || {
                sojourn_spin::wait_for_a_turn();
                worker.run();
            };
            workers.push(spawn(scope, format!("msg-worker-{me}"), run)?);
        }
        spawn(scope, "msg-keeper".into(), move || {
            shared.keeper.run(target, shared.halt.flag());
            shared.book.thread_ends("msg-keeper".into());
        })?;
        let dispatcher = spawn(scope, "msg-dispatcher".into(), move || {
            sojourn_spin::wait_for_a_turn();
            let ended = dispatcher.run();
            shared.book.thread_ends("msg-dispatcher".into());
            ended
        })?;
        Ok(Self { dispatcher, workers })
    }

    fn join(self) -> Result<(), ServeError> {
        let ended = self.dispatcher.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        for worker in self.workers {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
        ended
    }
}

/// Writes the log each period, until `stop` is set or the dispatcher has ended.
fn watch(
    shared: &Shared<'_>,
    stop: &AtomicBool,
    dispatcher: &ScopedJoinHandle<'_, Result<(), ServeError>>,
    mut log: Option<Log>,
) -> Result<Option<Log>, ServeError> {
    let period = ns(shared.config.period_s);
    let mut due = now() + period;
    while !stop.load(Ordering::Relaxed) && !dispatcher.is_finished() {
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
