//! `staged`: one network thread that parses and queues, workers that serve one request at a time, as the report has it.
//!
//! - `net`    the network thread: accepts, reads, parses, stamps, queues
//! - `begin`  a client's bytes to requests in the queue
//! - `line`   the bounded queue
//! - `worker` takes a request, asks servers, answers
//! - `link`   a worker's connection to one server
//! - `patron` the side of a client that workers see: requests in their order, answers not yet taken
//! - `health` which servers are up; the thread that finds out when one is back
//!
//! Requests of one client are served one after the other, as memcached does, so that a pipelined read sees the write
//! before it; requests of different clients are served at the same time.

mod begin;
mod health;
mod line;
mod link;
mod net;
mod patron;
mod worker;

use std::net::TcpListener;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::thread::Scope;

use health::Health;
use line::Line;
use net::Net;
use worker::Worker;

use crate::log::Log;
use crate::serve::{connect, join, watch, Shared, Total};
use crate::ServeError;
use sojourn_record::clock::now;
use sojourn_serving::{spawn, TICK};

/// Serves until `stop` is set and all that was taken up is answered.
pub(crate) fn serve<'scope>(
    scope: &'scope Scope<'scope, '_>,
    shared: &'scope Shared<'scope>,
    listener: TcpListener,
    log: Option<Log>,
    ready: &mut dyn FnMut(),
    stop: &AtomicBool,
) -> Result<Total, ServeError> {
    let health = Arc::new(Health::new(shared.addresses.len()));
    let line = Arc::new(Line::new(shared.config.queue));
    let mut workers = Vec::new();
    for me in 0..shared.config.workers {
        workers.push(Worker::new(shared, Arc::clone(&health), Arc::clone(&line), me, connect(shared)?));
    }
    let net = Net::new(shared, Arc::clone(&line), listener)?;
    let mut handles = Vec::new();
    for (me, worker) in workers.into_iter().enumerate() {
        handles.push(spawn(scope, shared.stats[me + 1].name.clone(), move || Ok(worker.run()))?);
    }
    spawn(scope, "kv-medic".into(), move || health.watch(shared))?;
    handles.push(spawn(scope, shared.stats[0].name.clone(), move || net.run())?);
    ready();
    let watched = watch(shared, stop, &handles, log, &mut || {
        std::thread::sleep(TICK);
        Ok(())
    });
    shared.stop();
    let total = join(shared, handles)?;
    watched?.map_or(Ok(()), |mut log| log.period(&shared.all(), now()))?;
    Ok(total)
}
