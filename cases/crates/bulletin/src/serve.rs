//! Opens the service, waits while it serves, and closes it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

use mio::{Poll, Waker};
use serde::Serialize;
use sojourn_record::clock::{now, s};
use sojourn_serving::cpu_work::{calibrate, CoreSpeedCalibration};
use sojourn_serving::thread_cpu_time::of_all_ns;
use sojourn_serving::{listen, spawn, system, BoundedQueue, GracefulShutdown, TraceFile, TICK};

use crate::event_loop::{EventLoop, WAKE};
use crate::shared::SharedState;
use crate::stats::Stats;
use crate::tables::Tables;
use crate::worker::Worker;
use crate::{metrics, Config, ServeError, Summary};

/// How long requests under way may take when the service halts, s.
const DRAIN_S: f64 = 5.0;

/// What is told once the service accepts clients.
#[derive(Clone, Debug, Serialize)]
pub struct ReadyMessage {
    pub address: String,
    pub metrics: Option<String>,
    pub pid: u32,
    /// Where the tables are.
    pub board: &'static str,
    pub users: u32,
    pub stories: u32,
    pub core_speed: CoreSpeedCalibration,
}

/// Serves until `stop` is set, then answers what is under way; `ready` is called once, when clients are accepted.
///
/// # Errors
/// A value out of range, an address that cannot be had, a limit of the process.
pub fn serve(
    config: &Config,
    stop: &AtomicBool,
    ready: &mut dyn FnMut(&ReadyMessage),
) -> Result<Summary, ServeError> {
    config.check()?;
    let (listener, address) = listen(&config.listen)?;
    let metrics = config.metrics.as_deref().map(listen).transpose()?;
    let (tables, offers) = Tables::open(config)?;
    let traces = config.traces.as_deref().map(|path| TraceFile::create(Path::new(path), config.trace_share));
    let (traces, trace_file) = traces.transpose()?.unzip();
    let poll = Poll::new().map_err(system("epoll"))?;
    let waker = Waker::new(poll.registry(), WAKE).map_err(system("epoll"))?;
    let shared = SharedState {
        config,
        tables,
        offers,
        queue: BoundedQueue::new(config.queue),
        stats: Stats::new(config.workers),
        shutdown: GracefulShutdown::default(),
        speed: calibrate(),
        woken: Mutex::default(),
        waker,
        traces,
    };
    let told = ReadyMessage {
        address: address.to_string(),
        metrics: metrics.as_ref().map(|(_, address)| address.to_string()),
        pid: std::process::id(),
        board: if config.database.is_some() { "PostgreSQL" } else { "embedded" },
        users: shared.offers.users,
        stories: shared.offers.stories,
        core_speed: shared.speed,
    };
    let event_loop = EventLoop::new(&shared, poll, listener)?;
    let (begun, cpu_before) = (now(), of_all_ns());
    let mut cpu_s = 0.0;
    let serve_all = || {
        std::thread::scope(|scope| {
            let run = || {
                let event_loop = spawn(scope, "bul-loop".into(), move || event_loop.run())?;
                for me in 0..config.workers {
                    let shared = &shared;
                    spawn(scope, format!("bul-worker-{me}"), move || Worker::new(shared, me).run())?;
                }
                if let Some((listener, _)) = &metrics {
                    let shared = &shared;
                    spawn(scope, "bul-metrics".into(), move || metrics::answer(listener, shared))?;
                }
                ready(&told);
                while !stop.load(Ordering::Relaxed) && !event_loop.is_finished() {
                    std::thread::sleep(TICK);
                }
                shared.shutdown.set(DRAIN_S);
                let ended = event_loop.join();
                // Before the threads end, since their account ends with them.
                cpu_s = s(of_all_ns().saturating_sub(cpu_before));
                ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            let served = run();
            // Whatever went wrong, no thread waits for ever.
            shared.shutdown.set(0.0);
            shared.queue.close();
            served
        })
    };
    // The file of traces is closed when no worker is left that could add to it.
    std::thread::scope(|scope| {
        let traces = shared.traces.as_ref().zip(trace_file);
        if let Some((traces, file)) = traces {
            spawn(scope, "bul-traces".into(), move || traces.write(file, "bulletin"))?;
        }
        let served = serve_all();
        shared.traces.iter().for_each(TraceFile::close);
        served
    })?;
    let traces = shared.traces.as_ref().map(TraceFile::counts).unwrap_or_default();
    Ok(shared.stats.summary(s(now() - begun), cpu_s, traces))
}
