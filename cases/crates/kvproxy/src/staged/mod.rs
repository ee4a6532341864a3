//! `staged`: one network thread that parses and queues, workers that serve what waits: one request at a time, as the
//! report has it, with `batch = 1`.
//!
//! - `network_thread`  the network thread: accepts, reads, stamps, queues; `requests` a client's bytes to requests in the queue
//! - `client`   what threads share of a client: requests in their order, answers not yet taken
//! - `resume_queue`   how a client whose requests were left unread is taken up again
//! - `worker`   takes a request, asks servers, answers; `batch` several at once; `server` its connection to one of them
//! - `health`   which servers are up; the thread that finds out when one is back
//!
//! Requests of one client are served one after the other, as memcached does, so that a pipelined read sees the write
//! before it; requests of different clients are served at the same time.

mod batch;
mod client;
mod health;
mod network_thread;
mod requests;
mod resume_queue;
mod server;
mod worker;

use std::net::TcpListener;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::thread::Scope;

use client::JobQueue;
use health::HealthChecker;
use network_thread::NetworkThread;
use worker::Worker;

use crate::record_log::RecordLog;
use crate::shared::{connect, join, reachable, watch, SharedState, Total};
use crate::ServeError;
use sojourn_serving::{spawn, TICK};

/// Serves until `stop` is set and all that was taken up is answered.
pub(crate) fn serve<'scope>(
    scope: &'scope Scope<'scope, '_>,
    shared: &'scope SharedState<'scope>,
    listener: TcpListener,
    log: Option<RecordLog>,
    ready: &mut dyn FnMut(),
    stop: &AtomicBool,
) -> Result<Total, ServeError> {
    let reachable = reachable(shared)?;
    let health = Arc::new(HealthChecker::new(shared, &reachable));
    let queue = Arc::new(JobQueue::new(shared.config.queue));
    let network = NetworkThread::new(shared, Arc::clone(&queue), listener)?;
    let mut workers = Vec::new();
    for me in 0..shared.config.workers {
        let (health, queue, resume) = (Arc::clone(&health), Arc::clone(&queue), Arc::clone(&network.resume));
        workers.push(Worker::new(shared, health, queue, resume, me, connect(shared, &reachable)?));
    }
    let mut handles = Vec::new();
    for (me, worker) in workers.into_iter().enumerate() {
        let run = move || {
            let_others_finish(shared);
            Ok(worker.run())
        };
        handles.push(spawn(scope, shared.stats[me + 1].name.clone(), run)?);
    }
    spawn(scope, "kv-health".into(), move || health.watch())?;
    let run = move || {
        let_others_finish(shared);
        network.run()
    };
    handles.push(spawn(scope, shared.stats[0].name.clone(), run)?);
    ready();
    let watched = watch(shared, stop, &handles, log, &mut || {
        std::thread::sleep(TICK);
        Ok(())
    });
    shared.stop();
    let total = join(shared, handles)?;
    shared.record(&mut watched?);
    Ok(total)
}

/// Where requests are handed over in batches, a thread that is woken lets the one that woke it go on: a worker answers all of its batch,
/// and the network thread then finds all that came of it, not one request at a time.
fn let_others_finish(shared: &SharedState<'_>) {
    if shared.config.batch > 1 {
        sojourn_spin::set_batch_scheduling();
    }
}
