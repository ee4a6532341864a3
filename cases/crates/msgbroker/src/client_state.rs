//! What the event loop and the workers know of a client: what it is owed, and what that holds of the memory.

use std::collections::VecDeque;

use crate::refusal::Refusal;
use sojourn_serving::{MemoryCharge, WriteBuffer};

/// A request as it was received.
#[derive(Debug)]
pub(crate) struct RawRequest {
    /// When the event loop had read it, ns.
    pub received: u64,
    /// Head, then body.
    pub bytes: Vec<u8>,
    pub head: usize,
}

/// What a client is owed, in the order of its requests.
#[derive(Debug)]
pub(crate) enum RequestSlot {
    Request(RawRequest),
    Refused(Refusal),
}

/// What one client may have under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub requests: usize,
    pub bytes: usize,
}

/// A client's requests and answers, behind its lock.
#[derive(Debug)]
pub(crate) struct ClientState {
    pub out: WriteBuffer,
    pub backlog: VecDeque<RequestSlot>,
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
    /// The event loop reads no further before it is told.
    pub stalled: bool,
    /// When it last took something, ns.
    pub active: u64,
    /// For `held` and `out`.
    charge: MemoryCharge,
}

impl ClientState {
    pub fn new(charge: MemoryCharge, now: u64) -> Self {
        Self {
            out: WriteBuffer::default(),
            backlog: VecDeque::new(),
            held: 0,
            busy: false,
            gone: false,
            last: false,
            ended: false,
            stalled: false,
            active: now,
            charge,
        }
    }

    pub fn owes(&self) -> usize {
        self.out.len()
    }

    pub fn is_over(&self) -> bool {
        !self.busy && self.backlog.is_empty() && self.owes() == 0
    }

    /// Requests that wait behind the one that is served; their bytes; and bytes not yet taken.
    pub fn is_full(&self, limits: &Limits) -> bool {
        self.backlog.len() >= limits.requests || self.held >= limits.bytes || self.owes() >= limits.bytes
    }

    /// Whether the event loop has to look at this client again.
    pub fn wakes(&mut self, limits: &Limits) -> bool {
        let wake = self.last || (self.ended && self.is_over()) || (self.stalled && !self.is_full(limits));
        self.stalled &= !wake;
        wake
    }

    /// What it holds of the memory of all.
    fn size(&self) -> usize {
        self.held + self.out.size()
    }

    /// Whether a request of so many bytes may be kept.
    pub fn grants(&mut self, bytes: usize) -> bool {
        let wants = self.size() + bytes;
        let granted = self.charge.resize(wants);
        self.held += if granted { bytes } else { 0 };
        granted
    }

    /// Tells the memory of all what it holds now.
    pub fn settle(&mut self) {
        self.charge.set(self.size());
    }

    /// A request is there no more.
    pub fn gives(&mut self, job: &RawRequest) {
        self.held -= job.bytes.len();
        self.settle();
    }

    /// Drops requests that will not be served.
    pub fn forget(&mut self) {
        for entry in std::mem::take(&mut self.backlog) {
            if let RequestSlot::Request(job) = entry {
                self.held -= job.bytes.len();
            }
        }
        self.settle();
    }

    /// Nobody takes answers any more.
    pub fn end(&mut self) {
        self.gone = true;
        self.out = WriteBuffer::default();
        self.forget();
    }
}
