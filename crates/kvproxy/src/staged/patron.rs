//! The side of a client that workers see.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mio::net::TcpStream;

use super::line::{Job, Line};
use crate::buffer::Outbox;
use crate::gather::ERROR;
use crate::own::Own;
use crate::route::Route;
use crate::rules::{NO_MEMORY, QUEUE_FULL};
use crate::stats::Stats;
use sojourn_record::clock::now;
use sojourn_serving::times::record;
use sojourn_serving::Memory;

/// What a client is owed, in the order of its requests.
#[derive(Debug)]
pub(super) enum Entry {
    Job(Job),
    Answer { route: Route, received: u64, bytes: Vec<u8> },
}

/// A client: its socket, and what threads share of it.
#[derive(Debug)]
pub(super) struct Patron {
    pub stream: TcpStream,
    side: Mutex<Side>,
}

#[derive(Debug, Default)]
pub(super) struct Side {
    pub out: Outbox,
    /// The requests whose answers are in `out`: where each ends there, and when it had been received.
    leaving: VecDeque<(u64, u64)>,
    /// Behind the request that is being served.
    pub backlog: VecDeque<Entry>,
    /// Whether a request of this client is queued or served.
    pub busy: bool,
    /// The connection has ended: nobody takes answers.
    pub gone: bool,
    /// When it last took something.
    pub active: u64,
    /// Bytes granted for `out`.
    pub held: usize,
}

/// What the thread that answers has of its own.
pub(super) struct Scribe<'a> {
    pub stats: &'a Stats,
    pub own: &'a mut Own,
    pub memory: &'a Memory,
    pub line: &'a Line,
}

impl Patron {
    pub fn new(stream: TcpStream, now: u64) -> Self {
        Self { stream, side: Mutex::new(Side { active: now, ..Side::default() }) }
    }

    pub fn side(&self) -> MutexGuard<'_, Side> {
        self.side.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what the socket takes; an error shows at the network thread, which reads.
    pub fn flush(&self, side: &mut Side, stats: &Stats, own: &mut Own, memory: &Memory) -> io::Result<()> {
        let before = side.out.len();
        let written = side.out.flush(&mut &self.stream);
        if side.out.len() < before {
            side.active = now();
            while let Some((_, received)) = side.leaving.pop_front_if(|(end, _)| *end <= side.out.written()) {
                let time = side.active.saturating_sub(received);
                stats.responded(time);
                record(&mut own.response, time);
            }
        }
        if side.held > 0 {
            let size = side.out.size();
            memory.change(&mut side.held, size);
        }
        written.map(|_| ())
    }

    /// Adds the next request: served at once if none is before it.
    pub fn add(self: &Arc<Self>, entry: Entry, scribe: &mut Scribe<'_>) {
        let mut side = self.side();
        side.backlog.push_back(entry);
        if !side.busy {
            self.advance(&mut side, scribe);
        }
    }

    /// Answers the request that was served, and goes on to the next.
    pub fn served(self: &Arc<Self>, job: &Job, rank: u8, bytes: &[u8], scribe: &mut Scribe<'_>) {
        let mut side = self.side();
        answer(&mut side, &job.route, job.received, rank, bytes, scribe);
        self.advance(&mut side, scribe);
    }

    /// Answers what is ready, and puts the next request that servers are needed for into the queue.
    fn advance(self: &Arc<Self>, side: &mut Side, scribe: &mut Scribe<'_>) {
        side.busy = false;
        while let Some(entry) = side.backlog.pop_front() {
            let (route, received, bytes) = match entry {
                Entry::Answer { route, received, bytes } => (route, received, bytes),
                Entry::Job(job) => match scribe.line.put(self, job) {
                    Ok(_) => {
                        side.busy = true;
                        break;
                    }
                    Err(job) => (job.route, job.received, QUEUE_FULL.to_vec()),
                },
            };
            let rank = if bytes.starts_with(b"STAT ") { 0 } else { ERROR };
            answer(side, &route, received, rank, &bytes, scribe);
        }
        // What is wrong with the socket the network thread finds out.
        let _ = self.flush(side, scribe.stats, scribe.own, scribe.memory);
    }
}

fn answer(side: &mut Side, route: &Route, received: u64, rank: u8, bytes: &[u8], scribe: &mut Scribe<'_>) {
    if side.gone {
        return scribe.stats.abandoned.add(1);
    }
    let wants = side.out.len() + bytes.len();
    let granted = !route.answered || scribe.memory.change(&mut side.held, wants);
    let (rank, bytes) = if granted { (rank, bytes) } else { (ERROR, NO_MEMORY) };
    scribe.stats.done(route.kind, rank == ERROR);
    if route.answered {
        side.out.tail().extend_from_slice(bytes);
        side.leaving.push_back((side.out.end(), received));
    }
}
