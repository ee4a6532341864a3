//! A client as workers see it: its requests in their order, its answers not yet taken.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mio::net::TcpStream;
use mio::Waker;

use crate::answer::Answer;
use crate::line::{Job, Line};
use crate::refusal::Refusal;
use sojourn_serving::Memory;

/// A buffer above this is given back when it is empty.
const KEPT: usize = 64 * 1024;

/// What a client is owed, in the order of its requests.
#[derive(Debug)]
pub(crate) enum Entry {
    Job(Job),
    Refused(Refusal),
}

/// A client: its socket, and what threads share of it.
#[derive(Debug)]
pub(crate) struct Client {
    pub stream: TcpStream,
    /// Its place at the dispatcher.
    pub seat: usize,
    side: Mutex<Side>,
}

#[derive(Debug, Default)]
pub(crate) struct Side {
    out: Vec<u8>,
    /// How much of `out` was taken.
    sent: usize,
    backlog: VecDeque<Entry>,
    /// Bytes of the requests in `backlog` and of the one that is served.
    held: usize,
    /// A request of this client is queued or served.
    pub busy: bool,
    /// Nobody takes answers any more.
    pub gone: bool,
    /// The answer that ends the connection is in `out`.
    pub last: bool,
    /// All that it sent has been read.
    pub ended: bool,
    /// The dispatcher reads no further before it is told.
    stalled: bool,
    /// When it last took something, ns.
    pub active: u64,
}

/// What happened when an answer was handed over.
#[derive(Debug)]
pub(crate) struct Served {
    /// The client had gone.
    pub gone: bool,
    /// Requests behind it that no worker was needed for.
    pub refused: Vec<Refusal>,
}

impl Side {
    pub fn owes(&self) -> usize {
        self.out.len() - self.sent
    }

    pub fn is_over(&self) -> bool {
        !self.busy && self.backlog.is_empty() && self.owes() == 0
    }

    /// Requests that wait behind the one that is served; their bytes; and bytes not yet taken.
    fn is_full(&self, limits: &Limits) -> bool {
        self.backlog.len() >= limits.requests || self.held >= limits.bytes || self.owes() >= limits.bytes
    }

    /// Whether the dispatcher has to look at this client again.
    fn wakes(&mut self, desk: &Desk) -> bool {
        let wake =
            self.last || (self.ended && self.is_over()) || (self.stalled && !self.is_full(&desk.limits));
        self.stalled &= !wake;
        wake
    }

    /// Drops requests that will not be served.
    pub fn forget(&mut self, desk: &Desk) {
        for entry in self.backlog.drain(..) {
            if let Entry::Job(job) = entry {
                self.held -= job.bytes.len();
                desk.memory.give(job.bytes.len());
            }
        }
    }
}

/// What one client may have under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub requests: usize,
    pub bytes: usize,
}

/// What all clients share.
#[derive(Debug)]
pub(crate) struct Desk {
    pub line: Line,
    pub memory: Memory,
    pub limits: Limits,
    /// Seats that the dispatcher has to look at.
    seats: Mutex<Vec<usize>>,
    waker: Waker,
}

impl Desk {
    pub fn new(line: Line, memory: Memory, limits: Limits, waker: Waker) -> Self {
        Self { line, memory, limits, seats: Mutex::default(), waker }
    }

    fn wake(&self, seat: usize) {
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.push(seat);
        if seats.len() == 1 {
            // Where it fails, the dispatcher looks at its next sweep.
            let _ = self.waker.wake();
        }
    }

    /// The dispatcher looks at what others have for it.
    pub fn wake_loop(&self) {
        let _ = self.waker.wake();
    }

    /// Seats to look at, each as often as it was named.
    pub fn woken(&self) -> Vec<usize> {
        std::mem::take(&mut *self.seats.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Client {
    pub fn new(stream: TcpStream, seat: usize, now: u64) -> Self {
        Self { stream, seat, side: Mutex::new(Side { active: now, ..Side::default() }) }
    }

    pub fn side(&self) -> MutexGuard<'_, Side> {
        self.side.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it has as much under way as it may; if so, `served` and `flush` say when that is over.
    pub fn is_full(&self, desk: &Desk) -> bool {
        let mut side = self.side();
        side.stalled = side.is_full(&desk.limits);
        side.stalled
    }

    /// Adds the next request: queued at once if none is before it. Says how many were refused on the way.
    pub fn add(self: &Arc<Self>, entry: Entry, desk: &Desk) -> Vec<Refusal> {
        let mut side = self.side();
        if let Entry::Job(job) = &entry {
            side.held += job.bytes.len();
        }
        side.backlog.push_back(entry);
        if side.last {
            // RFC 9112, 9.6: behind the answer that ends the connection no request is processed.
            side.forget(desk);
            return Vec::new();
        }
        if side.busy {
            return Vec::new();
        }
        self.advance(&mut side, true, desk)
    }

    /// Hands over the answer to the request that was served, and goes on to the next, for which a worker is woken
    /// with `wake`; without, the caller comes back for it.
    pub fn served(self: &Arc<Self>, job: Job, bytes: &[u8], last: bool, wake: bool, desk: &Desk) -> Served {
        let (gone, owes) = {
            let side = self.side();
            (side.gone, side.owes() > 0)
        };
        // Nobody else writes while it is busy; the dispatcher, which has its next request at once, is not kept waiting.
        let sent = if gone || owes { 0 } else { some(&self.stream, bytes).unwrap_or(bytes.len()) };
        let mut side = self.side();
        side.busy = false;
        side.held -= job.bytes.len();
        desk.memory.give(job.bytes.len());
        if sent < bytes.len() && !gone {
            // Once more: that there is room was perhaps said before it was known that there is a rest.
            self.write(&mut side, &bytes[sent..]);
        }
        side.last |= last;
        let mut refused = Vec::new();
        if last {
            side.forget(desk);
        } else {
            refused = self.advance(&mut side, wake, desk);
        }
        if side.wakes(desk) {
            desk.wake(self.seat);
        }
        Served { gone, refused }
    }

    /// Answers what needs no worker, and puts the next request into the queue.
    fn advance(self: &Arc<Self>, side: &mut Side, wake: bool, desk: &Desk) -> Vec<Refusal> {
        let mut refused = Vec::new();
        while let Some(entry) = side.backlog.pop_front() {
            let refusal = match entry {
                Entry::Refused(refusal) => refusal,
                Entry::Job(job) => match desk.line.put(self, job, wake) {
                    Ok(()) => {
                        side.busy = true;
                        break;
                    }
                    Err(job) => {
                        side.held -= job.bytes.len();
                        desk.memory.give(job.bytes.len());
                        Refusal::Full
                    }
                },
            };
            refused.push(refusal);
            let mut bytes = Vec::new();
            Answer::Refused(refusal).compose(refusal.closes(), &mut bytes);
            self.write(side, &bytes);
            if refusal.closes() {
                side.last = true;
                side.forget(desk);
                break;
            }
        }
        refused
    }

    /// Writes as much as the socket takes, and keeps the rest. An error shows at the dispatcher, which reads.
    pub fn write(&self, side: &mut Side, bytes: &[u8]) {
        if side.owes() > 0 {
            return side.out.extend_from_slice(bytes);
        }
        let sent = some(&self.stream, bytes).unwrap_or(bytes.len());
        side.out.extend_from_slice(&bytes[sent..]);
    }

    /// Writes what was kept; whether the dispatcher may read on.
    pub fn flush(&self, desk: &Desk, now: u64) -> io::Result<bool> {
        let mut side = self.side();
        if side.owes() > 0 {
            let sent = some(&self.stream, &side.out[side.sent..])?;
            side.sent += sent;
            if sent > 0 {
                side.active = now;
            }
            if side.owes() == 0 {
                side.sent = 0;
                side.out.clear();
                side.out.shrink_to(KEPT);
            }
        }
        Ok(side.wakes(desk))
    }
}

/// As much as is taken now.
fn some(mut stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    let mut sent = 0;
    while sent < bytes.len() {
        match stream.write(&bytes[sent..]) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => sent += count,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) if e.kind() == ErrorKind::WouldBlock => break,
            Err(e) => return Err(e),
        }
    }
    Ok(sent)
}

#[cfg(test)]
mod tests;
