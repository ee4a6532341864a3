//! What other threads hand to a serving thread, and it to them.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sojourn_serving::Slab;

use crate::backend_pool::ServedRequest;
use crate::connection::Connection;
use crate::request_log::RequestRow;
use crate::sys::{Epoll, TriggerMode, WakeUp};

/// The token of the descriptor that only wakes.
pub(crate) const WAKE: u64 = u64::MAX;
/// The token of a connection: its number and generation.
pub(crate) fn token(connections: &Slab<Connection>, index: u32) -> u64 {
    u64::from(connections.generation(index)) << 32 | u64::from(index)
}

/// Where a thread's connections come in and its rows go out.
#[derive(Debug)]
pub(crate) struct Mailbox {
    pub epoll: Epoll,
    connections: Mutex<Slab<Connection>>,
    pub rows: Mutex<Vec<RequestRow>>,
    answers: Mutex<Vec<ServedRequest>>,
    bell: WakeUp,
}

impl Mailbox {
    pub(crate) fn new() -> io::Result<Self> {
        let (epoll, bell) = (Epoll::new()?, WakeUp::new()?);
        epoll.add(&bell, WAKE, TriggerMode::Edge)?;
        let (connections, rows, answers) = Default::default();
        Ok(Self { epoll, connections, rows, answers, bell })
    }

    /// The backend has served a request: wakes the thread.
    pub(crate) fn answer(&self, served: ServedRequest) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).push(served);
        self.bell.ring();
    }

    pub(crate) fn take_answers(&self) -> Vec<ServedRequest> {
        std::mem::take(&mut self.answers.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Held while the acceptor adds one: its first event finds it. No thread holds it while it waits or serves.
    pub(crate) fn connections(&self) -> MutexGuard<'_, Slab<Connection>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
