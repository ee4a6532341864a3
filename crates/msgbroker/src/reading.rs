//! The dispatcher's reading: a client's bytes to requests in the queue.

use std::io::{ErrorKind, Read};

use crate::client::Entry;
use crate::dispatcher::{Dispatcher, Seat};
use crate::frame::{frame, Step};
use crate::line::Job;
use crate::refusal::Refusal;
use sojourn_record::clock::now;

/// Up to so many bytes of an unfinished request are a client's without asking.
pub(crate) const FREE: usize = 4096;
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

impl Dispatcher<'_> {
    /// Reads and takes up all that a client has sent, as far as it may have waiting; whether its connection is good.
    pub(super) fn pump(&mut self, seat: &mut Seat) -> bool {
        seat.stalled = false;
        self.take_pending(seat);
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut good = true;
        while good && seat.readable && !seat.stalled && !seat.ended {
            match (&seat.client.stream).read(&mut scratch) {
                Ok(0) => self.end(seat),
                Ok(count) => {
                    // A short read has emptied the socket, unless its end is still to come.
                    seat.readable = count == scratch.len() || seat.hung_up;
                    self.now = now();
                    seat.active = self.now;
                    self.arrived(seat, &scratch[..count]);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => seat.readable = false,
                Err(_) => good = false,
            }
        }
        self.scratch = scratch;
        good && self.grant(seat)
    }

    fn end(&mut self, seat: &mut Seat) {
        seat.ended = true;
        seat.client.side().ended = true;
    }

    fn arrived(&mut self, seat: &mut Seat, bytes: &[u8]) {
        if seat.closing {
            return;
        }
        if !seat.pending.is_empty() {
            seat.pending.extend_from_slice(bytes);
            return self.take_pending(seat);
        }
        let used = self.take_up(seat, bytes);
        if used < bytes.len() && !seat.closing {
            seat.begun = self.now;
            seat.pending.extend_from_slice(&bytes[used..]);
        }
    }

    fn take_pending(&mut self, seat: &mut Seat) {
        if seat.closing {
            seat.pending = Vec::new();
        }
        if seat.pending.is_empty() || seat.pending.len() < seat.need {
            return;
        }
        let mut pending = std::mem::take(&mut seat.pending);
        let used = self.take_up(seat, &pending);
        if used == pending.len() {
            pending = Vec::new();
        } else if used > 0 {
            seat.begun = self.now;
            pending.drain(..used);
        }
        seat.pending = pending;
    }

    /// Takes up the requests at the start of `bytes`; how many bytes they were.
    fn take_up(&mut self, seat: &mut Seat, bytes: &[u8]) -> usize {
        let mut used = 0;
        seat.need = 0;
        while used < bytes.len() && !seat.closing {
            seat.stalled = seat.client.is_full(&self.shared.desk);
            if seat.stalled {
                break;
            }
            match frame(&bytes[used..], self.shared.config.message_bytes) {
                Step::Need { whole, expects } => {
                    seat.need = whole;
                    self.go_on(seat, expects);
                    break;
                }
                Step::Done { start, body, end } => {
                    self.begin(seat, &bytes[used + start..used + end], body - start);
                    used += end;
                }
                Step::Refuse(refusal) => self.refuse(seat, refusal),
            }
        }
        used
    }

    fn begin(&mut self, seat: &mut Seat, bytes: &[u8], head: usize) {
        seat.continued = false;
        if self.shared.desk.memory.take(bytes.len()) {
            self.add(seat, Entry::Job(Job { received: self.now, bytes: bytes.to_vec(), head }));
        } else {
            self.refuse(seat, Refusal::Memory);
        }
    }

    fn refuse(&mut self, seat: &mut Seat, refusal: Refusal) {
        seat.closing = true;
        self.add(seat, Entry::Refused(refusal));
    }

    fn add(&mut self, seat: &mut Seat, entry: Entry) {
        self.shared.gate.arrived();
        let refused = seat.client.add(entry, &self.shared.desk);
        self.shared.refused(&refused);
    }

    /// A client that waits for it is told that it may send its body, once, if nothing else is being said.
    fn go_on(&mut self, seat: &mut Seat, expects: bool) {
        if !expects || seat.continued {
            return;
        }
        let mut side = seat.client.side();
        if side.is_over() {
            seat.continued = true;
            seat.client.write(&mut side, CONTINUE);
        }
    }

    /// Memory for what is not whole; whether it may be kept.
    fn grant(&mut self, seat: &mut Seat) -> bool {
        let memory = &self.shared.desk.memory;
        if !memory.change(&mut seat.held, seat.pending.capacity()) {
            seat.pending = Vec::new();
            memory.change(&mut seat.held, 0);
            self.refuse(seat, Refusal::Memory);
        }
        true
    }
}
