//! A client's bytes to requests under way.

use std::ops::Range;

use sojourn_memproto::{parse, ParseStep, Refusal, Reply, ReplyKind, Request};

use super::client::PendingRequest;
use super::event_loop::EventLoop;
use super::server::{AwaitedReply, ServerConnection};
use crate::limits::{refusal, FREE_BYTES, NO_MEMORY, QUEUE_FULL, REFUSED};
use crate::reply_merger::ReplyMerger;
use crate::route::{as_set, route, shard, upstream, Route, Target};
use sojourn_record::clock::now;
use sojourn_serving::{ReadHalf, ReadProgress, TurnBudget};

/// Why no further request is taken up.
enum StopReason {
    /// The next one is not whole: so many bytes in all.
    Need(usize),
    TurnOver,
    /// Servers have no room.
    Blocked,
    /// Until answers have left, or for good.
    Stalled,
}

impl EventLoop<'_> {
    /// Reads and takes up what a client has sent, as far as its turn goes and it may have under way.
    pub(super) fn pump(&mut self, index: u32) {
        let mut budget = TurnBudget::default();
        loop {
            let Some(client) = self.clients.get(index) else { return };
            let mut read_half = std::mem::take(&mut client.read_half);
            let pause = self.requests(index, &mut read_half, &mut budget);
            let Some(client) = self.clients.get(index) else { return };
            client.read_half = read_half;
            match pause {
                StopReason::Need(need) if need > FREE_BYTES && need > client.read_half.input.size() => {
                    let wants = client.size() + need;
                    if !client.charge.resize(wants) {
                        client.read_half.pass_over(need);
                        self.answer(index, REFUSED, NO_MEMORY);
                        continue;
                    }
                    client.read_half.input.make_room(need);
                }
                StopReason::Need(_) => {}
                StopReason::TurnOver => break self.ready.push(index),
                StopReason::Blocked => break self.blocked.push(index),
                StopReason::Stalled => break,
            }
            match client.read_half.read(&mut client.stream, &mut budget, self.now) {
                Ok(ReadProgress::Some) => self.now = now(),
                Ok(ReadProgress::Nothing) => break,
                Ok(ReadProgress::TurnOver) => break self.ready.push(index),
                Err(_) => return self.close(index),
            }
        }
        self.settle(index);
    }

    /// After reading: counts what is held, ends a connection that is over.
    fn settle(&mut self, index: u32) {
        let Some(client) = self.clients.get(index) else { return };
        client.charge.set(client.size());
        if client.closing || client.read_half.has_ended() {
            self.mark(index);
        }
    }

    /// Takes up the requests that are there.
    fn requests(&mut self, index: u32, read_half: &mut ReadHalf, budget: &mut TurnBudget) -> StopReason {
        loop {
            let Some(client) = self.clients.get(index) else { return StopReason::Stalled };
            if read_half.deadline.is_lingering() {
                read_half.discard();
                return StopReason::Need(0);
            }
            if client.closing {
                return StopReason::Stalled;
            }
            if read_half.data().is_empty() {
                return StopReason::Need(0);
            }
            client.stalled = client.is_full() || client.guarded;
            if client.stalled {
                return StopReason::Stalled;
            }
            if !budget.request() {
                return StopReason::TurnOver;
            }
            match parse(read_half.input.data(), &self.limits) {
                ParseStep::Need(bytes) => return StopReason::Need(bytes),
                ParseStep::Done { request, used } => {
                    let route = route(&request);
                    if !self.has_room(index, route.target) {
                        return StopReason::Blocked;
                    }
                    self.begin(index, route, &request, &read_half.input.data()[..used]);
                    read_half.input.consume(used);
                    if route.target == Target::Quit {
                        self.clients.get(index).into_iter().for_each(|client| client.closing = true);
                        return StopReason::Stalled;
                    }
                }
                ParseStep::Forget { key, skip, silent } => {
                    let forgotten = Request::Delete { key, noreply: true };
                    let route = route(&forgotten);
                    if !self.has_room(index, route.target) {
                        return StopReason::Blocked;
                    }
                    self.begin(index, route, &forgotten, &[]);
                    read_half.pass_over(skip);
                    self.answer(index, Route { answered: !silent, ..REFUSED }, Refusal::TooLarge.reply());
                }
                ParseStep::Refuse { refusal, skip, silent, close } => {
                    read_half.pass_over(skip);
                    client.closing |= close;
                    self.shared.refused(refusal, &client.stream);
                    self.answer(index, Route { answered: !silent, ..REFUSED }, refusal.reply());
                }
            }
            read_half.acted(self.now);
        }
    }

    /// Whether the servers that a client's request goes to have room for it; for the first of a client they always have.
    fn has_room(&mut self, index: u32, target: Target) -> bool {
        if self.clients.get(index).is_none_or(|client| client.in_flight == 0) {
            return true;
        }
        let mut up = self.servers.iter().filter(|server| server.is_up()).peekable();
        match target {
            Target::Local | Target::Quit => true,
            Target::Any => up.peek().is_none() || up.any(ServerConnection::has_room),
            Target::First => self.servers[0].has_room(),
            Target::All | Target::Guarded => up.all(ServerConnection::has_room),
        }
    }

    /// Sends a request to where it goes.
    fn begin(&mut self, index: u32, route: Route, request: &Request<'_>, raw: &[u8]) {
        let up = || self.servers.iter().filter(|server| server.is_up()).count();
        let refusal = if self.under_way >= self.queue {
            Some(QUEUE_FULL)
        } else if self.servers.iter().any(ServerConnection::is_behind) {
            Some(NO_MEMORY)
        } else {
            refusal(route.target, up(), self.servers.len())
        };
        if let Some(refusal) = refusal {
            return self.answer(index, route, refusal);
        }
        match (route.target, request) {
            (Target::Quit, _) => {
                self.stats.arrivals.add(1);
                self.stats.done(route.kind, false);
            }
            (Target::Local, Request::Stats { arguments }) => {
                let mut out = Vec::new();
                crate::metrics_exposition::stats(self.shared, arguments, &mut out);
                self.answer(index, route, &out);
            }
            (Target::Any, Request::Get { keys, .. }) if self.shared.config.sharded && route.keys > 1 => {
                let parts = up().min(route.keys);
                let slot = self.open(index, route, ReplyMerger::new(parts, parts > 1));
                for part in 0..parts {
                    let server = self.next();
                    let share = Route { keys: route.keys.div_ceil(parts), ..route };
                    let at = self.pending(index, slot, part, share, raw.len() / parts);
                    shard(self.servers[server].take(at), keys, route.keys, part, parts);
                    self.stats.servers[server].requests.add(1);
                }
            }
            (Target::Any, _) => {
                let server = self.next();
                self.forward(index, route, request, raw, server..server + 1);
            }
            (Target::First, _) if !self.servers[0].is_up() => {
                let server = self.next();
                self.forward(
                    index,
                    Route { foreign_unique: true, ..route },
                    request,
                    raw,
                    server..server + 1,
                );
            }
            (Target::First | Target::Guarded, _) => self.forward(index, route, request, raw, 0..1),
            _ => self.forward(index, route, request, raw, 0..self.servers.len()),
        }
    }

    /// Opens a slot and sends the request as it is to some servers.
    fn forward(
        &mut self,
        index: u32,
        route: Route,
        request: &Request<'_>,
        raw: &[u8],
        servers: Range<usize>,
    ) {
        let slot = self.open(index, route, ReplyMerger::new(servers.len(), false));
        if route.target == Target::Guarded && self.servers.len() > 1 {
            if let Some(client) = self.clients.get(index) {
                client.guarded = true;
                client.slots.iter_mut().last().into_iter().for_each(|slot| as_set(&mut slot.then, request));
                client.kept += client.slots.iter().last().map_or(0, |slot| slot.then.len());
            }
        }
        for (part, server) in servers.enumerate() {
            let at = self.pending(index, slot, part, route, raw.len());
            upstream(self.servers[server].take(at), request, raw);
            self.stats.servers[server].requests.add(1);
        }
    }

    /// The second half of a guarded request; all servers but the first.
    pub(super) fn forward_again(&mut self, index: u32, slot: u32, bytes: &[u8]) {
        for server in 1..self.servers.len() {
            let at = self.pending(index, slot, server, REFUSED, bytes.len());
            self.servers[server].take(at).extend_from_slice(bytes);
            self.stats.servers[server].requests.add(1);
        }
    }

    /// A slot at the end of a client's row; its number.
    fn open(&mut self, index: u32, route: Route, gather: ReplyMerger) -> u32 {
        self.stats.arrivals.add(1);
        self.stats.queue_seen.add(self.under_way as u64);
        self.under_way += 1;
        self.fruitful = true;
        self.stats.queue.set(self.under_way as u64);
        let slot = PendingRequest { route, received: self.now, gather, then: Vec::new() };
        let Some(client) = self.clients.get(index) else { return 0 };
        client.in_flight += 1;
        client.slots.push_back(slot);
        client.head.wrapping_add(client.slots.len() as u32 - 1)
    }

    /// Answers here, when all before it are answered.
    fn answer(&mut self, index: u32, route: Route, bytes: &[u8]) {
        let slot = self.open(index, route, ReplyMerger::new(1, false));
        let at = self.pending(index, slot, 0, route, 0);
        let error = !bytes.starts_with(b"STAT ");
        self.deliver(at, if error { Reply::Error } else { Reply::Stats }, bytes, None);
    }

    /// `bytes`: those of the request.
    fn pending(&mut self, client: u32, slot: u32, part: usize, route: Route, bytes: usize) -> AwaitedReply {
        let expected = match (route.shape, self.clients.get(client)) {
            (ReplyKind::Values, Some(client)) => client.reply_bytes.saturating_mul(route.keys),
            _ => 0,
        };
        AwaitedReply {
            client,
            generation: self.clients.generation(client),
            slot,
            part: part as u8,
            shape: route.shape,
            keys: route.keys.max(1) as u32,
            bytes: u32::try_from(bytes.saturating_add(expected)).unwrap_or(u32::MAX),
            since: self.now,
        }
    }

    /// The next server that is up, by turns; one that has room, if there is any.
    fn next(&mut self) -> usize {
        let all = self.servers.len();
        let mut turns =
            (1..=all).map(|k| (self.turn + k) % all).filter(|server| self.servers[*server].is_up());
        let first = turns.clone().next().unwrap_or(0);
        self.turn = turns.find(|server| self.servers[*server].has_room()).unwrap_or(first);
        self.turn
    }
}
