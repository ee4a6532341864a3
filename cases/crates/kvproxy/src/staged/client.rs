//! A client as the network thread and the workers share it: requests in their order, answers not yet taken.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mio::net::TcpStream;

use super::resume_queue::ResumeQueue;
use crate::histograms::Histograms;
use crate::limits::{BACKLOG_BYTES, BATCH_BYTES, NO_MEMORY, OUT_BYTES, PIPELINE, QUEUE_FULL};
use crate::reply_merger::ERROR;
use crate::route::{Route, Target};
use crate::stats::Stats;
use sojourn_record::clock::now;
use sojourn_serving::time_histogram::record;
use sojourn_serving::{BoundedQueue, MemoryCharge, WriteBuffer};

/// A request as the queue has it.
pub(super) type Taken = (Arc<Client>, QueuedRequest);

/// Requests that wait for a worker, each with whose it is.
pub(super) type JobQueue = BoundedQueue<Taken>;

/// A request with all that a worker needs.
#[derive(Debug)]
pub(super) struct QueuedRequest {
    pub route: Route,
    pub received: u64,
    /// As the servers get it.
    pub bytes: Vec<u8>,
    /// The second half of a guarded request.
    pub then: Vec<u8>,
}

impl QueuedRequest {
    /// Memory that it holds.
    fn size(&self) -> usize {
        size_of::<Self>() + self.bytes.capacity() + self.then.capacity()
    }
}

/// What a client is owed, in the order of its requests.
#[derive(Debug)]
pub(super) enum ReplySlot {
    Job(QueuedRequest),
    Answer { route: Route, received: u64, bytes: Vec<u8> },
}

impl ReplySlot {
    fn size(&self) -> usize {
        match self {
            Self::Job(job) => job.size(),
            Self::Answer { bytes, .. } => size_of::<Self>() + bytes.capacity(),
        }
    }
}

/// A client: its socket, and what threads share of it.
#[derive(Debug)]
pub(super) struct Client {
    pub stream: TcpStream,
    /// Its number at the network thread.
    index: u32,
    state: Mutex<ClientState>,
}

#[derive(Debug)]
pub(super) struct ClientState {
    pub out: WriteBuffer,
    /// The requests whose answers are in `out`: where each ends there, and when it had been received.
    unwritten: VecDeque<(u64, u64)>,
    /// Behind the request that is being served.
    pub backlog: VecDeque<ReplySlot>,
    /// Bytes of the requests in `backlog` and of the one that is being served.
    backlog_bytes: usize,
    /// Whether a request of this client is queued or served.
    pub busy: bool,
    /// Requests are left unread because too much is waiting.
    pub stalled: bool,
    /// The connection has ended: nobody takes answers.
    pub gone: bool,
    /// When it last took something.
    pub active: u64,
    charge: MemoryCharge,
}

/// What the thread that answers has of its own.
pub(super) struct Responder<'a> {
    pub stats: &'a Stats,
    pub histograms: &'a mut Histograms,
    pub queue: &'a JobQueue,
    pub resume: &'a ResumeQueue,
    /// Whether who answers sees to it that what it puts into the queue is taken.
    pub quiet: bool,
}

impl Responder<'_> {
    fn put(&self, item: Taken) -> Result<(), Taken> {
        if self.quiet {
            self.queue.put_quietly(item)
        } else {
            self.queue.put(item)
        }
    }
}

impl Client {
    pub fn new(stream: TcpStream, index: u32, charge: MemoryCharge, now: u64) -> Self {
        let state = ClientState {
            out: WriteBuffer::default(),
            unwritten: VecDeque::new(),
            backlog: VecDeque::new(),
            backlog_bytes: 0,
            busy: false,
            stalled: false,
            gone: false,
            active: now,
            charge,
        };
        Self { stream, index, state: Mutex::new(state) }
    }

    pub fn state(&self) -> MutexGuard<'_, ClientState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what the socket takes, and goes on with requests that waited for that.
    ///
    /// # Errors
    /// As `write`: the connection is of no use any more.
    pub fn flush(self: &Arc<Self>, state: &mut ClientState, responder: &mut Responder<'_>) -> io::Result<()> {
        loop {
            let before = state.out.len();
            let written = state.out.flush(&mut &self.stream);
            if state.out.len() < before {
                state.active = now();
                while let Some(&(end, received)) = state.unwritten.front() {
                    if end > state.out.written() {
                        break;
                    }
                    state.unwritten.pop_front();
                    let time = state.active.saturating_sub(received);
                    responder.stats.responded(time);
                    record(&mut responder.histograms.response, time);
                }
            }
            state.charge.set(state.size());
            written?;
            if state.busy || state.backlog.is_empty() || state.out.len() >= OUT_BYTES {
                return Ok(());
            }
            self.advance(state, responder);
        }
    }

    /// Adds the next request: served at once if none is before it. What it is answered is not written yet.
    pub fn add(self: &Arc<Self>, entry: ReplySlot, responder: &mut Responder<'_>) {
        let mut state = self.state();
        let bytes = state.backlog_bytes + entry.size();
        let wants = state.out.size() + bytes;
        let entry = match entry {
            ReplySlot::Job(job) if !state.charge.resize(wants) => {
                ReplySlot::Answer { route: job.route, received: job.received, bytes: NO_MEMORY.to_vec() }
            }
            entry => entry,
        };
        state.backlog_bytes += entry.size();
        state.backlog.push_back(entry);
        if !state.busy {
            self.advance(&mut state, responder);
        }
    }

    /// Answers the request that was served, and goes on to the next.
    pub fn served(
        self: &Arc<Self>,
        job: &QueuedRequest,
        rank: u8,
        bytes: &[u8],
        responder: &mut Responder<'_>,
    ) {
        let mut state = self.state();
        state.backlog_bytes -= job.size();
        state.busy = false;
        answer(&mut state, &job.route, job.received, rank, bytes, responder);
        self.advance(&mut state, responder);
        // What is wrong with the socket the network thread finds out.
        let _ = self.flush(&mut state, responder);
        if state.stalled && state.has_room() {
            state.stalled = false;
            responder.resume.tell(self.index);
        }
    }

    /// Answers what is ready, and puts the next request that servers are needed for into the queue, unless too much is
    /// waiting to be written.
    fn advance(self: &Arc<Self>, state: &mut ClientState, responder: &mut Responder<'_>) {
        while !state.busy && state.out.len() < OUT_BYTES {
            let Some(entry) = state.backlog.pop_front() else { return };
            let size = entry.size();
            let (route, received, bytes) = match entry {
                ReplySlot::Answer { route, received, bytes } => (route, received, bytes),
                ReplySlot::Job(job) => match responder.put((Arc::clone(self), job)) {
                    Ok(()) => return state.busy = true,
                    Err((_, job)) => (job.route, job.received, QUEUE_FULL.to_vec()),
                },
            };
            state.backlog_bytes -= size;
            let rank = if bytes.starts_with(b"STAT ") { 0 } else { ERROR };
            answer(state, &route, received, rank, &bytes, responder);
        }
    }
}

impl ClientState {
    fn size(&self) -> usize {
        self.out.size() + self.backlog_bytes
    }

    /// Whether further requests stay unread.
    pub fn is_full(&self) -> bool {
        self.backlog.len() >= PIPELINE || self.backlog_bytes >= BACKLOG_BYTES || self.out.len() >= OUT_BYTES
    }

    /// Whether a good part of that has gone.
    fn has_room(&self) -> bool {
        self.backlog.len() < PIPELINE / 2
            && self.backlog_bytes < BACKLOG_BYTES / 2
            && self.out.len() < OUT_BYTES / 2
    }

    /// Nobody takes answers any more; how many requests nobody will serve.
    pub fn end(&mut self) -> usize {
        self.gone = true;
        let left = std::mem::take(&mut self.backlog);
        self.backlog_bytes -= left.iter().map(ReplySlot::size).sum::<usize>();
        self.out = WriteBuffer::default();
        self.charge.set(self.size());
        left.len()
    }
}

fn answer(
    state: &mut ClientState,
    route: &Route,
    received: u64,
    rank: u8,
    bytes: &[u8],
    responder: &mut Responder<'_>,
) {
    if state.gone {
        return responder.stats.abandoned.add(1);
    }
    let wants = state.backlog_bytes + state.out.len() + bytes.len();
    let granted = !route.answered || state.charge.resize(wants);
    let (rank, bytes) = if granted { (rank, bytes) } else { (ERROR, NO_MEMORY) };
    responder.stats.done(route.kind, rank == ERROR);
    if route.answered {
        state.out.tail().extend_from_slice(bytes);
        state.unwritten.push_back((state.out.end(), received));
    }
}

/// Says of one request after the other whether it may share a batch with those before it.
///
/// What is sent before an answer is read stays so small that a server's socket takes it at once: a server that waits until we read
/// and a worker that waits until it reads would wait for each other.
pub(super) fn joins(sharded: bool) -> impl FnMut(&Taken) -> bool {
    let mut bytes = 0;
    move |(_, job)| {
        bytes += job.bytes.len();
        let plain = match job.route.target {
            Target::Any => !sharded || job.route.keys <= 1,
            target => target == Target::All,
        };
        plain && bytes <= BATCH_BYTES
    }
}
