//! A client's bytes to requests under way.

use sojourn_memproto::{parse, Reply, ReplyKind, Request, Step};

use super::client::Slot;
use super::lane::Lane;
use super::server::{Pending, Server};
use crate::buffer::{Fill, Inbox};
use crate::gather::Gather;
use crate::route::{as_set, route, shard, upstream, Route, Way};
use crate::rules::{refusal, FREE_BYTES, NO_MEMORY, QUEUE_FULL, REFUSED};
use sojourn_record::clock::now;

impl Lane<'_> {
    /// Reads and takes up all that a client has sent, as far as it may have under way.
    pub(super) fn pump(&mut self, index: u32) {
        loop {
            let Some(client) = self.clients.get(index) else { return };
            let mut inbox = std::mem::take(&mut client.inbox);
            let need = self.requests(index, &mut inbox);
            let Some(client) = self.clients.get(index) else { return };
            client.inbox = inbox;
            let Some(need) = need else { break };
            if need > FREE_BYTES && need > client.inbox.size() {
                let wants = need + client.size();
                if !self.shared.memory.change(&mut client.held, wants) {
                    client.skip = need;
                    self.answer(index, REFUSED, NO_MEMORY);
                    continue;
                }
                client.inbox.make_room(need);
            }
            if client.ended || !client.readable {
                break;
            }
            match client.inbox.fill(&mut client.stream) {
                Ok(Fill::Some { more }) => {
                    client.readable = more || client.hung_up;
                    client.active = self.now;
                }
                Ok(Fill::Empty) => client.readable = false,
                Ok(Fill::Closed) => client.ended = true,
                Err(_) => return self.close(index),
            }
            self.now = now();
        }
        self.settle(index);
    }

    /// After reading: gives back memory, ends a connection that is over.
    fn settle(&mut self, index: u32) {
        let Some(client) = self.clients.get(index) else { return };
        if client.held > 0 {
            let size = client.size();
            self.shared.memory.change(&mut client.held, size);
        }
        if client.closing || client.ended {
            self.mark(index);
        }
    }

    /// Takes up the requests in `inbox`; how many bytes the next one needs, or `None` if it is not to be read now.
    fn requests(&mut self, index: u32, inbox: &mut Inbox) -> Option<usize> {
        loop {
            let client = self.clients.get(index)?;
            if client.closing {
                return None;
            }
            let skipped = client.skip.min(inbox.data().len());
            inbox.consume(skipped);
            client.skip -= skipped;
            if client.skip > 0 || inbox.data().is_empty() {
                return Some(0);
            }
            client.stalled = client.is_full() || client.guarded;
            if client.stalled {
                return None;
            }
            match parse(inbox.data(), &self.limits) {
                Step::Need(bytes) => return Some(bytes),
                Step::Done { request, used } => {
                    let route = route(&request);
                    self.begin(index, route, &request, &inbox.data()[..used]);
                    if route.way == Way::Quit {
                        self.clients.get(index)?.closing = true;
                        return None;
                    }
                    inbox.consume(used);
                }
                Step::Refuse { refusal, skip, silent, close } => {
                    client.skip = skip;
                    client.closing |= close;
                    self.answer(index, Route { answered: !silent, ..REFUSED }, refusal.reply());
                }
            }
        }
    }

    /// Sends a request to where it goes.
    fn begin(&mut self, index: u32, route: Route, request: &Request<'_>, raw: &[u8]) {
        let up = || self.servers.iter().filter(|server| server.is_up()).count();
        let refusal = if self.under_way >= self.queue {
            Some(QUEUE_FULL)
        } else if self.servers.iter().any(Server::is_behind) {
            Some(NO_MEMORY)
        } else {
            refusal(route.way, up(), self.servers.len(), self.servers[0].is_up())
        };
        if let Some(refusal) = refusal {
            return self.answer(index, route, refusal);
        }
        match (route.way, request) {
            (Way::Quit, _) => {
                self.stats.arrivals.add(1);
                self.stats.done(route.kind, false);
            }
            (Way::Own, Request::Stats { arguments }) => {
                let mut out = Vec::new();
                crate::tell::stats(self.shared.config, &self.shared.all(), arguments, &mut out);
                self.answer(index, route, &out);
            }
            (Way::One, Request::Get { keys, .. }) if self.shared.config.sharded && route.keys > 1 => {
                let parts = up().min(route.keys);
                let slot = self.open(index, route, Gather::new(parts, parts > 1));
                for part in 0..parts {
                    let server = self.next();
                    let at = self.pending(index, slot, part, route.shape);
                    shard(self.servers[server].take(at), keys, route.keys, part, parts);
                    self.count(server);
                }
            }
            (Way::One, _) => {
                let server = self.next();
                self.forward(index, route, request, raw, server..server + 1);
            }
            (Way::First | Way::Guarded, _) => self.forward(index, route, request, raw, 0..1),
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
        servers: std::ops::Range<usize>,
    ) {
        let slot = self.open(index, route, Gather::new(servers.len(), false));
        if route.way == Way::Guarded && self.servers.len() > 1 {
            if let Some(client) = self.clients.get(index) {
                client.guarded = true;
                client.slots.iter_mut().last().into_iter().for_each(|slot| as_set(&mut slot.then, request));
            }
        }
        for (part, server) in servers.enumerate() {
            let at = self.pending(index, slot, part, route.shape);
            upstream(self.servers[server].take(at), request, raw);
            self.count(server);
        }
    }

    /// The second half of a guarded request; all servers but the first.
    pub(super) fn forward_again(&mut self, index: u32, slot: u32, bytes: &[u8]) {
        for server in 1..self.servers.len() {
            let at = self.pending(index, slot, server, ReplyKind::Line);
            self.servers[server].take(at).extend_from_slice(bytes);
            self.count(server);
        }
    }

    /// A slot at the end of a client's row; its number.
    fn open(&mut self, index: u32, route: Route, gather: Gather) -> u32 {
        self.stats.arrivals.add(1);
        self.stats.queue_seen.add(self.under_way as u64);
        self.under_way += 1;
        self.stats.queue.set(self.under_way as u64);
        let slot = Slot { route, received: self.now, gather, then: Vec::new() };
        let Some(client) = self.clients.get(index) else { return 0 };
        client.slots.push_back(slot);
        client.head.wrapping_add(client.slots.len() as u32 - 1)
    }

    /// Answers here, when all before it are answered.
    fn answer(&mut self, index: u32, route: Route, bytes: &[u8]) {
        let slot = self.open(index, route, Gather::new(1, false));
        let at = self.pending(index, slot, 0, route.shape);
        let error = !bytes.starts_with(b"STAT ");
        self.deliver(at, if error { Reply::Error } else { Reply::Stats }, bytes, None);
    }

    fn pending(&self, client: u32, slot: u32, part: usize, shape: ReplyKind) -> Pending {
        let generation = self.clients.generation(client);
        Pending { client, generation, slot, part: part as u8, shape, since: self.now }
    }

    fn count(&mut self, server: usize) {
        self.servers[server].dirty = true;
        self.stats.servers[server].requests.add(1);
    }

    /// The next server that is up, by turns; there is one.
    fn next(&mut self) -> usize {
        loop {
            self.turn = (self.turn + 1) % self.servers.len();
            if self.servers[self.turn].is_up() {
                return self.turn;
            }
        }
    }
}
