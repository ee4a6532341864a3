//! A client's bytes to requests in the queue.

use sojourn_memproto::{parse, Request, Step};

use super::line::Job;
use super::net::{Net, Seat};
use super::patron::{Entry, Scribe};
use crate::buffer::Fill;
use crate::route::{as_set, route, upstream, Route, Way};
use crate::rules::{FREE_BYTES, NO_MEMORY, OUT_BYTES, PIPELINE, REFUSED};
use sojourn_record::clock::now;

impl Net<'_> {
    /// Reads and takes up all that a client has sent, as far as it may have waiting; whether its connection is good.
    pub(super) fn pump(&mut self, seat: &mut Seat) -> bool {
        while let Some(need) = self.requests(seat) {
            if need > FREE_BYTES && need > seat.inbox.size() {
                let wants = need + seat.inbox.size();
                if !self.shared.memory.change(&mut seat.held, wants) {
                    seat.skip = need;
                    self.answer(seat, REFUSED, NO_MEMORY.to_vec());
                    continue;
                }
                seat.inbox.make_room(need);
            }
            if seat.ended || !seat.readable {
                break;
            }
            match seat.inbox.fill(&mut &seat.patron.stream) {
                Ok(Fill::Some { more }) => {
                    seat.readable = more || seat.hung_up;
                    seat.active = now();
                    self.now = seat.active;
                }
                Ok(Fill::Empty) => seat.readable = false,
                Ok(Fill::Closed) => seat.ended = true,
                Err(_) => return false,
            }
        }
        if seat.held > 0 {
            let size = seat.inbox.size();
            self.shared.memory.change(&mut seat.held, size);
        }
        true
    }

    /// Takes up the requests that are there; how many bytes the next one needs, or `None` if it is not to be read now.
    fn requests(&mut self, seat: &mut Seat) -> Option<usize> {
        let mut inbox = std::mem::take(&mut seat.inbox);
        let need = loop {
            if seat.closing {
                break None;
            }
            let skipped = seat.skip.min(inbox.data().len());
            inbox.consume(skipped);
            seat.skip -= skipped;
            if seat.skip > 0 || inbox.data().is_empty() {
                break Some(0);
            }
            seat.stalled = is_full(seat);
            if seat.stalled {
                break None;
            }
            match parse(inbox.data(), &self.limits) {
                Step::Need(bytes) => break Some(bytes),
                Step::Done { request, used } => {
                    self.begin(seat, &request, &inbox.data()[..used]);
                    inbox.consume(used);
                }
                Step::Refuse { refusal, skip, silent, close } => {
                    (seat.skip, seat.closing) = (skip, close);
                    self.answer(seat, Route { answered: !silent, ..REFUSED }, refusal.reply().to_vec());
                }
            }
        };
        seat.inbox = inbox;
        need
    }

    fn begin(&mut self, seat: &mut Seat, request: &Request<'_>, raw: &[u8]) {
        let route = route(request);
        match (route.way, request) {
            (Way::Quit, _) => {
                self.stats.arrivals.add(1);
                self.stats.done(route.kind, false);
                seat.closing = true;
            }
            (Way::Own, Request::Stats { arguments }) => {
                let mut out = Vec::new();
                crate::tell::stats(self.shared.config, &self.shared.all(), arguments, &mut out);
                self.answer(seat, route, out);
            }
            _ => {
                let mut job = Job {
                    route,
                    received: self.now,
                    bytes: Vec::with_capacity(raw.len() + 8),
                    then: Vec::new(),
                };
                upstream(&mut job.bytes, request, raw);
                if route.way == Way::Guarded {
                    as_set(&mut job.then, request);
                }
                self.add(seat, Entry::Job(job));
            }
        }
    }

    fn answer(&mut self, seat: &mut Seat, route: Route, bytes: Vec<u8>) {
        self.add(seat, Entry::Answer { route, received: self.now, bytes });
    }

    fn add(&mut self, seat: &mut Seat, entry: Entry) {
        let waiting = self.line.len() as u64;
        self.stats.arrivals.add(1);
        self.stats.queue_seen.add(waiting);
        self.stats.queue.set(waiting);
        let Self { shared, stats, line, own, .. } = self;
        seat.patron.add(entry, &mut Scribe { stats, own, memory: &shared.memory, line });
    }
}

fn is_full(seat: &Seat) -> bool {
    let side = seat.patron.side();
    side.backlog.len() >= PIPELINE || side.out.len() >= OUT_BYTES
}
