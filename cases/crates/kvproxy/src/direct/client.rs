//! A client of one event loop: what it sent, what it is owed, in order.

use std::collections::VecDeque;

use mio::net::TcpStream;

use crate::limits::{OUT_BYTES, PIPELINE};
use crate::reply_merger::ReplyMerger;
use crate::route::Route;
use sojourn_serving::{MemoryCharge, ReadHalf, WriteBuffer};

/// A request under way.
#[derive(Debug)]
pub(super) struct PendingRequest {
    pub route: Route,
    pub received: u64,
    pub gather: ReplyMerger,
    /// The second half of a guarded request: what the other servers get.
    pub then: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Client {
    pub stream: TcpStream,
    pub read_half: ReadHalf,
    pub out: WriteBuffer,
    pub slots: VecDeque<PendingRequest>,
    /// Number of the first slot since the connection began.
    pub head: u32,
    /// Slots whose answer is not complete.
    pub in_flight: usize,
    /// Bytes that slots keep: answers that came before their turn, second halves.
    pub kept: usize,
    /// How many bytes of answer a key is expected to bring.
    pub reply_bytes: usize,
    /// Requests are left unread because too much is under way.
    pub stalled: bool,
    /// Its last request is in two steps; what follows must see both done.
    pub guarded: bool,
    /// No further request is taken up; the connection ends when all is answered.
    pub closing: bool,
    pub charge: MemoryCharge,
    /// The requests whose answers are in `out`: where each ends there, and when it had been received.
    pub unwritten: VecDeque<(u64, u64)>,
    /// In the list of those to be written to.
    pub dirty: bool,
}

impl Client {
    pub fn new(stream: TcpStream, charge: MemoryCharge, reply_bytes: usize, now: u64) -> Self {
        Self {
            stream,
            read_half: ReadHalf::new(now),
            out: WriteBuffer::default(),
            slots: VecDeque::new(),
            head: 0,
            in_flight: 0,
            kept: 0,
            reply_bytes,
            stalled: false,
            guarded: false,
            closing: false,
            charge,
            unwritten: VecDeque::new(),
            dirty: false,
        }
    }

    pub fn is_full(&self) -> bool {
        self.slots.len() >= PIPELINE || self.out.len() + self.kept >= OUT_BYTES
    }

    /// Whether nothing is owed to it any more.
    pub fn is_over(&self) -> bool {
        (self.closing || (self.read_half.has_ended() && !self.stalled))
            && self.slots.is_empty()
            && self.out.is_empty()
    }

    /// Whether it is its turn to do something: to send a request, or to take its answers.
    pub fn is_waited_for(&self) -> bool {
        self.slots.is_empty() || !self.out.is_empty()
    }

    /// Bytes that it makes the proxy hold.
    pub fn size(&self) -> usize {
        self.held() + self.out.size()
    }

    /// The same without its output.
    pub fn held(&self) -> usize {
        self.read_half.input.size() + self.kept + self.slots.capacity() * size_of::<PendingRequest>()
    }

    /// An answer of so many bytes a key came. One that is larger than expected counts at once, smaller ones by and by.
    pub fn saw_reply(&mut self, bytes: usize) {
        self.reply_bytes = smoothed(self.reply_bytes, bytes);
    }
}

pub(super) fn smoothed(before: usize, now: usize) -> usize {
    if now >= before {
        now
    } else {
        before - (before - now).div_ceil(8)
    }
}
