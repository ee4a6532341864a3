//! A server's answer to a client's.

use sojourn_memproto::{Reply, ReplyKind};

use super::client::{smoothed, Client, PendingRequest};
use super::event_loop::EventLoop;
use super::server::{AwaitedReply, ServerConnection};
use crate::histograms::Histograms;
use crate::limits::{NO_MEMORY, ONLY_FIRST};
use crate::reply_merger::{rank, ERROR};
use crate::route::{without_uniques, Target};
use crate::stats::Stats;
use sojourn_record::clock::now;
use sojourn_serving::time_histogram::record;

impl EventLoop<'_> {
    /// All whole answers in a server's input.
    pub(super) fn replies(&mut self, index: usize) -> Result<(), &'static str> {
        if self.servers[index].is_probing() {
            return match self.servers[index].probed() {
                Some(false) => Err("is no memcached"),
                Some(true) => {
                    self.shared.availability.regained(index);
                    Ok(())
                }
                None => Ok(()),
            };
        }
        let now = now();
        self.fruitful = true;
        while let Some((pending, reply, length)) = self.servers[index].next()? {
            let stats = &self.stats.servers[index];
            stats.replies.add(1);
            stats.service_ns.add(now - pending.since);
            stats.errors.add(u64::from(rank(reply) == ERROR));
            if matches!(reply, Reply::Values(_)) {
                let bytes = length / pending.keys as usize;
                self.reply_bytes = smoothed(self.reply_bytes, bytes);
                let client = self.clients.same(pending.client, pending.generation);
                client.into_iter().for_each(|client| client.saw_reply(bytes));
            }
            // The input is taken out for as long as a client's side is written from it.
            let mut input = std::mem::take(&mut self.servers[index].input);
            self.deliver(pending, reply, &input.data()[..length], Some(now));
            input.consume(length);
            self.servers[index].input = input;
        }
        self.second_halves();
        Ok(())
    }

    /// Second halves that have become due.
    fn second_halves(&mut self) {
        while let Some((index, generation, number)) = self.second_halves.pop() {
            let all = self.servers.iter().all(ServerConnection::is_up);
            let others = self.servers.len() - 1;
            let Some(client) = self.clients.same(index, generation) else { continue };
            let at = number.wrapping_sub(client.head) as usize;
            let Some(slot) = client.slots.get_mut(at) else { continue };
            let bytes = std::mem::take(&mut slot.then);
            client.kept -= bytes.len();
            if all {
                slot.gather.waiting = others;
                self.forward_again(index, number, &bytes);
            } else {
                slot.gather.waiting = 1;
                let (shape, since) = (ReplyKind::Line, self.now);
                let at = AwaitedReply {
                    client: index,
                    generation,
                    slot: number,
                    part: 0,
                    shape,
                    keys: 1,
                    bytes: 0,
                    since,
                };
                self.deliver(at, Reply::Error, ONLY_FIRST, None);
            }
        }
    }

    /// One answer to where it is awaited; `at` when it came, where it came from a server.
    pub(super) fn deliver(&mut self, from: AwaitedReply, reply: Reply, bytes: &[u8], at: Option<u64>) {
        let Some(client) = self.clients.same(from.client, from.generation) else { return };
        let wants = client.held() + client.out.len() + bytes.len();
        let place = from.slot.wrapping_sub(client.head) as usize;
        let Some(slot) = client.slots.get_mut(place) else { return };
        let cleared = slot.route.foreign_unique.then(|| without_uniques(bytes));
        let bytes = cleared.as_deref().unwrap_or(bytes);
        let (reply, bytes) =
            if client.charge.resize(wants) { (reply, bytes) } else { (Reply::Error, NO_MEMORY) };
        let plain = place == 0 && slot.gather.is_plain() && slot.then.is_empty();
        if plain {
            (slot.gather.waiting, slot.gather.rank) = (0, rank(reply));
            slot.gather.found = if let Reply::Values(found) = reply { found } else { 0 };
            if slot.route.answered {
                client.out.tail().extend_from_slice(bytes);
            }
        } else {
            client.kept -= slot.gather.size();
            slot.gather.add(usize::from(from.part), reply, bytes);
            client.kept += slot.gather.size();
            if slot.gather.waiting > 0 {
                return;
            }
            if reply == Reply::Stored && !slot.then.is_empty() {
                slot.gather.waiting = 1;
                return self.second_halves.push((from.client, from.generation, from.slot));
            }
        }
        client.guarded &= slot.route.target != Target::Guarded;
        client.in_flight -= 1;
        finished(self.stats, &mut self.histograms, slot, &from, at);
        self.under_way -= 1;
        self.stats.queue.set(self.under_way as u64);
        if place == 0 {
            leave(client, plain);
            self.mark(from.client);
        }
    }

    /// Takes a server for dead: what it owed is answered with an error.
    pub(super) fn fail(&mut self, index: usize, why: &str) {
        if self.servers[index].is_up() {
            self.shared.availability.lost(index, why);
        }
        let owed = self.servers[index].fail(self.now);
        if owed.is_empty() {
            return;
        }
        let address = self.shared.addresses[index];
        let line = format!("SERVER_ERROR server {address} {why}\r\n");
        for pending in owed {
            self.stats.servers[index].errors.add(1);
            self.deliver(pending, Reply::Error, line.as_bytes(), None);
        }
        self.second_halves();
    }
}

/// Counts a request that is done.
fn finished(
    stats: &Stats,
    histograms: &mut Histograms,
    slot: &PendingRequest,
    from: &AwaitedReply,
    at: Option<u64>,
) {
    let error = slot.gather.rank == ERROR;
    stats.done(slot.route.kind, error);
    if slot.route.keys > 0 && !error {
        stats.hits.add(slot.gather.found as u64);
        stats.misses.add(slot.route.keys.saturating_sub(slot.gather.found) as u64);
    }
    if let Some(at) = at {
        let (queue, service) = (from.since.saturating_sub(slot.received), at.saturating_sub(from.since));
        stats.served.add(1);
        stats.queue_ns.add(queue);
        stats.service_ns.add(service);
        record(&mut histograms.queue, queue);
        record(&mut histograms.service, service);
    }
}

/// Moves the answers of the first slots, as far as they are done, to the client's output; with `written`, that of
/// the first is there already.
fn leave(client: &mut Client, mut written: bool) {
    while client.slots.front().is_some_and(|slot| slot.gather.waiting == 0) {
        let Some(slot) = client.slots.pop_front() else { return };
        client.head = client.head.wrapping_add(1);
        client.kept -= slot.gather.size() + slot.then.len();
        if slot.route.answered {
            if !std::mem::replace(&mut written, false) {
                slot.gather.finish(client.out.tail());
            }
            client.unwritten.push_back((client.out.end(), slot.received));
        }
        written = false;
    }
}
