//! A client's bytes to requests in the queue.

use sojourn_memproto::{parse, ParseStep, Refusal, Request};

use super::client::{QueuedRequest, ReplySlot, Responder};
use super::network_thread::{Connection, NetworkThread, ReadResult};
use crate::limits::{FREE_BYTES, NO_MEMORY, REFUSED};
use crate::route::{as_set, route, upstream, Route, Target};
use sojourn_record::clock::now;
use sojourn_serving::{ReadProgress, TurnBudget};

/// Why no further request is taken up.
enum StopReason {
    /// The next one is not whole: so many bytes in all.
    Need(usize),
    TurnOver,
    /// Until answers have left, or for good.
    Stalled,
}

impl NetworkThread<'_> {
    /// Reads and takes up what a client has sent, as far as its turn goes and it may have waiting.
    pub(super) fn pump(&mut self, connection: &mut Connection) -> ReadResult {
        let mut budget = TurnBudget::default();
        let (mut good, mut more) = (true, false);
        loop {
            match self.requests(connection, &mut budget) {
                StopReason::Need(need) if need > FREE_BYTES && need > connection.read_half.input.size() => {
                    if !connection.charge.resize(need + connection.read_half.input.size()) {
                        connection.read_half.pass_over(need);
                        self.answer(connection, REFUSED, NO_MEMORY.to_vec());
                        continue;
                    }
                    connection.read_half.input.make_room(need);
                }
                StopReason::Need(_) => {}
                StopReason::TurnOver => break more = true,
                StopReason::Stalled => break,
            }
            match connection.read_half.read(&mut &connection.client.stream, &mut budget, self.now) {
                Ok(ReadProgress::Some) => self.now = now(),
                Ok(ReadProgress::Nothing) => break,
                Ok(ReadProgress::TurnOver) => break more = true,
                Err(_) => break good = false,
            }
        }
        connection.charge.set(connection.read_half.input.size());
        ReadResult { good: good && self.flush(connection), more }
    }

    /// Takes up the requests that are there.
    fn requests(&mut self, connection: &mut Connection, budget: &mut TurnBudget) -> StopReason {
        let mut read_half = std::mem::take(&mut connection.read_half);
        let pause = loop {
            if read_half.deadline.is_lingering() {
                read_half.discard();
                break StopReason::Need(0);
            }
            if connection.closing {
                break StopReason::Stalled;
            }
            if read_half.data().is_empty() {
                break StopReason::Need(0);
            }
            if connection.is_stalled() {
                break StopReason::Stalled;
            }
            if !budget.request() {
                break StopReason::TurnOver;
            }
            match parse(read_half.input.data(), &self.limits) {
                ParseStep::Need(bytes) => break StopReason::Need(bytes),
                ParseStep::Done { request, used } => {
                    self.begin(connection, &request, &read_half.input.data()[..used]);
                    read_half.input.consume(used);
                }
                ParseStep::Forget { key, skip, silent } => {
                    self.begin(connection, &Request::Delete { key, noreply: true }, &[]);
                    read_half.pass_over(skip);
                    let route = Route { answered: !silent, ..REFUSED };
                    self.answer(connection, route, Refusal::TooLarge.reply().to_vec());
                }
                ParseStep::Refuse { refusal, skip, silent, close } => {
                    read_half.pass_over(skip);
                    connection.closing |= close;
                    self.shared.refused(refusal, &connection.client.stream);
                    self.answer(connection, Route { answered: !silent, ..REFUSED }, refusal.reply().to_vec());
                }
            }
            read_half.acted(self.now);
        };
        connection.read_half = read_half;
        pause
    }

    fn begin(&mut self, connection: &mut Connection, request: &Request<'_>, raw: &[u8]) {
        let route = route(request);
        match (route.target, request) {
            (Target::Quit, _) => {
                self.stats.arrivals.add(1);
                self.stats.done(route.kind, false);
                connection.closing = true;
            }
            (Target::Local, Request::Stats { arguments }) => {
                let mut out = Vec::new();
                crate::metrics_exposition::stats(self.shared, arguments, &mut out);
                self.answer(connection, route, out);
            }
            _ => {
                let bytes = Vec::with_capacity(raw.len() + 8);
                let mut job = QueuedRequest { route, received: self.now, bytes, then: Vec::new() };
                upstream(&mut job.bytes, request, raw);
                if route.target == Target::Guarded {
                    as_set(&mut job.then, request);
                }
                self.add(connection, ReplySlot::Job(job));
            }
        }
    }

    fn answer(&mut self, connection: &mut Connection, route: Route, bytes: Vec<u8>) {
        self.add(connection, ReplySlot::Answer { route, received: self.now, bytes });
    }

    fn add(&mut self, connection: &mut Connection, entry: ReplySlot) {
        let waiting = self.queue.len() as u64;
        self.stats.arrivals.add(1);
        self.stats.queue_seen.add(waiting);
        self.stats.queue.set(waiting);
        let Self { stats, queue, resume, histograms, .. } = self;
        connection.client.add(entry, &mut Responder { stats, histograms, queue, resume, quiet: true });
    }

    /// Writes what a client's requests were answered here; whether its connection is good.
    pub(super) fn flush(&mut self, connection: &Connection) -> bool {
        let Self { stats, queue, resume, histograms, .. } = self;
        let mut state = connection.client.state();
        state.out.is_empty()
            || connection
                .client
                .flush(&mut state, &mut Responder { stats, histograms, queue, resume, quiet: true })
                .is_ok()
    }
}
