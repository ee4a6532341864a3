//! `direct`: event loops that parse, forward and answer, each with its own connection to every server.
//!
//! - `event_loop` one loop: events, turns, time, its end
//! - `requests`   a client's bytes to requests under way
//! - `replies`    a server's answer to a client's
//! - `client_lifecycle`    clients come, are written to, and leave
//! - `client`, `server` the two sides' connections
//! - `mailbox`    how a loop is given connections

mod client;
mod client_lifecycle;
mod event_loop;
mod mailbox;
mod replies;
mod requests;
mod server;

use std::io;
use std::net::TcpListener;
use std::sync::atomic::AtomicBool;
use std::sync::Arc;
use std::thread::Scope;

use event_loop::EventLoop;
use mailbox::Mailbox;

use crate::acceptor::Acceptor;
use crate::record_log::RecordLog;
use crate::shared::{connect, join, reachable, watch, SharedState, Total};
use crate::ServeError;
use sojourn_serving::{spawn, system, TICK};

/// Serves until `stop` is set and all that was taken up is answered.
pub(crate) fn serve<'scope>(
    scope: &'scope Scope<'scope, '_>,
    shared: &'scope SharedState<'scope>,
    listener: TcpListener,
    log: Option<RecordLog>,
    ready: &mut dyn FnMut(),
    stop: &AtomicBool,
) -> Result<Total, ServeError> {
    let mailboxes: io::Result<Vec<Mailbox>> = (0..shared.config.threads).map(|_| Mailbox::new()).collect();
    let mailboxes: Vec<_> = mailboxes.map_err(system("epoll"))?.into_iter().map(Arc::new).collect();
    let reachable = reachable(shared)?;
    let mut loops = Vec::new();
    for (thread, mailbox) in mailboxes.iter().enumerate() {
        loops.push(EventLoop::new(shared, Arc::clone(mailbox), thread, connect(shared, &reachable)?)?);
    }
    let mut handles = Vec::new();
    for (thread, one) in loops.into_iter().enumerate() {
        handles.push(spawn(scope, shared.stats[thread + 1].name.clone(), move || one.run())?);
    }
    let mut acceptor = Acceptor::new(listener)?;
    shared.stats[0].begin();
    ready();
    let mut turn = 0;
    let watched = watch(shared, stop, &handles, log, &mut || {
        acceptor.wait(TICK);
        while let Some(stream) = acceptor.accept(shared) {
            turn = (turn + 1) % mailboxes.len();
            mailboxes[turn].give(stream).map_err(system("a wake-up"))?;
        }
        Ok(())
    });
    shared.stats[0].end();
    shared.stop();
    let total = join(shared, handles)?;
    shared.record(&mut watched?);
    Ok(total)
}
