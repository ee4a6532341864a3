//! Clients come, are written to, and leave.

use std::net::Shutdown;
use std::sync::atomic::Ordering;

use mio::{Interest, Token};

use super::client::Client;
use super::event_loop::EventLoop;
use sojourn_record::clock::now;
use sojourn_serving::time_histogram::record;
use sojourn_serving::MemoryCharge;

impl EventLoop<'_> {
    /// New connections.
    pub(super) fn admit(&mut self) {
        for mut stream in self.mailbox.take() {
            let index = self.clients.reserve();
            let token = Token(self.servers.len() + index as usize);
            let both = Interest::READABLE | Interest::WRITABLE;
            if self.stopping || self.poll.registry().register(&mut stream, token, both).is_err() {
                self.clients.remove(index);
                self.shared.open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let charge = MemoryCharge::new(&self.shared.memory);
            self.clients.put(index, Client::new(stream, charge, self.reply_bytes, self.now));
            self.stats.connections.add(1);
            self.ready.push(index);
        }
    }

    pub(super) fn mark(&mut self, index: u32) {
        if let Some(client) = self.clients.get(index) {
            if !std::mem::replace(&mut client.dirty, true) {
                self.dirty.push(index);
            }
        }
    }

    pub(super) fn flush_client(&mut self, index: u32) {
        let Some(client) = self.clients.get(index) else { return };
        client.dirty = false;
        let before = client.out.len();
        let flushed = client.out.flush(&mut client.stream);
        if client.out.len() < before {
            let now = now();
            client.read_half.acted(now);
            while let Some(&(end, received)) = client.unwritten.front() {
                if end > client.out.written() {
                    break;
                }
                client.unwritten.pop_front();
                self.stats.responded(now - received);
                record(&mut self.histograms.response, now - received);
            }
        }
        client.charge.set(client.size());
        if flushed.is_err() {
            return self.close(index);
        }
        if client.is_over() {
            return self.linger(index);
        }
        if client.stalled && !client.is_full() && !client.guarded {
            client.stalled = false;
            self.ready.push(index);
        }
    }

    /// Ends a connection on which nothing is owed; one whose client may still be sending when it has read the last answer.
    pub(super) fn linger(&mut self, index: u32) {
        let Some(client) = self.clients.get(index) else { return };
        if client.read_half.has_ended() || self.stopping || client.stream.shutdown(Shutdown::Write).is_err() {
            return self.close(index);
        }
        if client.read_half.deadline.linger(self.now) {
            self.ready.push(index);
        }
    }

    pub(super) fn close(&mut self, index: u32) {
        let Some(client) = self.clients.remove(index) else { return };
        self.under_way -= client.in_flight;
        self.stats.abandoned.add(client.in_flight as u64);
        self.stats.connections.set(self.stats.connections.get() - 1);
        self.stats.queue.set(self.under_way as u64);
        self.shared.open.fetch_sub(1, Ordering::Relaxed);
    }
}
