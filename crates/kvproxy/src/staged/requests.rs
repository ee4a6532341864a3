//! A client's bytes to requests in the queue.

use sojourn_memproto::{parse, Request, Step};

use super::client::{Entry, Job, Responder};
use super::network::{Connection, Network, Pumped};
use crate::limits::{FREE_BYTES, NO_MEMORY, REFUSED};
use crate::route::{as_set, route, upstream, Route, Target};
use sojourn_record::clock::now;
use sojourn_serving::{Budget, Reading};

/// Why no further request is taken up.
enum Pause {
    /// The next one is not whole: so many bytes in all.
    Need(usize),
    TurnOver,
    /// Until answers have left, or for good.
    Stalled,
}

impl Network<'_> {
    /// Reads and takes up what a client has sent, as far as its turn goes and it may have waiting.
    pub(super) fn pump(&mut self, connection: &mut Connection) -> Pumped {
        let mut budget = Budget::default();
        let (mut good, mut more) = (true, false);
        loop {
            match self.requests(connection, &mut budget) {
                Pause::Need(need) if need > FREE_BYTES && need > connection.intake.inbox.size() => {
                    if !connection.charge.resize(need + connection.intake.inbox.size()) {
                        connection.intake.pass_over(need);
                        self.answer(connection, REFUSED, NO_MEMORY.to_vec());
                        continue;
                    }
                    connection.intake.inbox.make_room(need);
                }
                Pause::Need(_) => {}
                Pause::TurnOver => break more = true,
                Pause::Stalled => break,
            }
            match connection.intake.read(&mut &connection.client.stream, &mut budget, self.now) {
                Ok(Reading::Some) => self.now = now(),
                Ok(Reading::Nothing) => break,
                Ok(Reading::TurnOver) => break more = true,
                Err(_) => break good = false,
            }
        }
        connection.charge.set(connection.intake.inbox.size());
        Pumped { good: good && self.flush(connection), more }
    }

    /// Takes up the requests that are there.
    fn requests(&mut self, connection: &mut Connection, budget: &mut Budget) -> Pause {
        let mut intake = std::mem::take(&mut connection.intake);
        let pause = loop {
            if connection.lingers.is_some() {
                let all = intake.data().len();
                intake.inbox.consume(all);
                break Pause::Need(0);
            }
            if connection.closing {
                break Pause::Stalled;
            }
            if intake.data().is_empty() {
                break Pause::Need(0);
            }
            if connection.is_stalled() {
                break Pause::Stalled;
            }
            if !budget.request() {
                break Pause::TurnOver;
            }
            match parse(intake.inbox.data(), &self.limits) {
                Step::Need(bytes) => break Pause::Need(bytes),
                Step::Done { request, used } => {
                    self.begin(connection, &request, &intake.inbox.data()[..used]);
                    intake.inbox.consume(used);
                }
                Step::Refuse { refusal, skip, silent, close } => {
                    intake.pass_over(skip);
                    connection.closing |= close;
                    self.shared.refused(refusal, &connection.client.stream);
                    self.answer(connection, Route { answered: !silent, ..REFUSED }, refusal.reply().to_vec());
                }
            }
            intake.acted(self.now);
        };
        connection.intake = intake;
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
                crate::exposition::stats(self.shared, arguments, &mut out);
                self.answer(connection, route, out);
            }
            _ => {
                let bytes = Vec::with_capacity(raw.len() + 8);
                let mut job = Job { route, received: self.now, bytes, then: Vec::new() };
                upstream(&mut job.bytes, request, raw);
                if route.target == Target::Guarded {
                    as_set(&mut job.then, request);
                }
                self.add(connection, Entry::Job(job));
            }
        }
    }

    fn answer(&mut self, connection: &mut Connection, route: Route, bytes: Vec<u8>) {
        self.add(connection, Entry::Answer { route, received: self.now, bytes });
    }

    fn add(&mut self, connection: &mut Connection, entry: Entry) {
        let waiting = self.queue.len() as u64;
        self.stats.arrivals.add(1);
        self.stats.queue_seen.add(waiting);
        self.stats.queue.set(waiting);
        let Self { stats, queue, resume, histograms, .. } = self;
        connection.client.add(entry, &mut Responder { stats, histograms, queue, resume });
    }

    /// Writes what a client's requests were answered here; whether its connection is good.
    pub(super) fn flush(&mut self, connection: &Connection) -> bool {
        let Self { stats, queue, resume, histograms, .. } = self;
        let mut state = connection.client.state();
        state.out.is_empty()
            || connection
                .client
                .flush(&mut state, &mut Responder { stats, histograms, queue, resume })
                .is_ok()
    }
}
