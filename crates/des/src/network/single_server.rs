//! The quick way: one server, first come first served, where nobody can be refused and the server never goes away.
//!
//! What `serve` and `moves` do, in one piece, and with all that a visit needs in the line itself, so that nothing is
//! looked up at the customer on the way from queue to queue.

use super::calendar::{self, Priority, NEVER};
use super::config;
use super::event_engine::EventEngine;
use super::station::{Order, ServiceKind, Station};

/// One customer at a queue.
#[derive(Debug, Clone, Copy, Default)]
struct QueuedCustomer {
    arrived_s: f64,
    work_s: f64,
    id: u32,
    class: u32,
}

/// A ring of those present, the one in service first.
#[derive(Debug, Clone)]
pub struct SingleServerQueue {
    /// Whether the station is one.
    pub on: bool,
    /// How many are present.
    pub present: u32,
    first: u32,
    /// When the service of the first began, s.
    started_s: f64,
    /// As many as a power of two.
    customers: Vec<QueuedCustomer>,
}

impl SingleServerQueue {
    /// Of a station in a network where nobody can be refused, if `free`.
    pub fn new(station: &Station, config: &config::Station, free: bool) -> SingleServerQueue {
        let line = station.way == ServiceKind::Serve && station.order == Order::Line && station.servers == 1;
        let still = config.schedule.is_empty() && config.breakdowns.is_none();
        let on = free && line && still;
        SingleServerQueue {
            on,
            present: 0,
            first: 0,
            started_s: 0.0,
            customers: vec![QueuedCustomer::default(); 16],
        }
    }

    #[inline(always)]
    fn at(&mut self, i: u32) -> &mut QueuedCustomer {
        let last = self.customers.len() - 1;
        &mut self.customers[(self.first.wrapping_add(i)) as usize & last]
    }

    #[inline(always)]
    fn push(&mut self, place: QueuedCustomer) {
        if self.present as usize == self.customers.len() {
            self.grow();
        }
        *self.at(self.present) = place;
        self.present += 1;
    }

    #[inline(always)]
    fn pop(&mut self) -> QueuedCustomer {
        let place = *self.at(0);
        self.first = self.first.wrapping_add(1);
        self.present -= 1;
        place
    }

    #[cold]
    fn grow(&mut self) {
        let n = self.customers.len();
        self.customers.rotate_left(self.first as usize & (n - 1));
        self.customers.resize(2 * n, QueuedCustomer::default());
        self.first = 0;
    }
}

impl EventEngine {
    /// A service at a queue ends; the next begins; the customer goes on.
    #[inline(always)]
    pub fn complete_single(&mut self, k: usize) {
        let (now_s, since) = (self.now_s, self.since);
        let queue = &mut self.single_servers[k];
        let done = queue.pop();
        let class = done.class as usize;
        let waiting_s = queue.started_s - done.arrived_s;
        queue.started_s = now_s;
        let (another, next) = (queue.present > 0, *queue.at(0));
        if another {
            self.sequence += 1;
            let tie = calendar::tie(Priority::Completion, self.sequence, k);
            self.calendar.set(k, calendar::key(now_s + next.work_s, tie));
        } else {
            self.calendar.set(k, NEVER);
        }
        let cell = k * self.classes + class;
        let response_s = now_s - done.arrived_s;
        // Where one of the same class takes over, the number in service stays as it is.
        let same = another && next.class == done.class;
        if !same {
            self.statistics.cells[cell].stop(since);
        }
        self.statistics.cells[cell].leave(since, response_s, waiting_s);
        self.statistics.record(cell, response_s);
        if another && !same {
            self.statistics.cells[k * self.classes + next.class as usize].start(since);
        }
        let (stations, single_servers) = (&self.stations, &self.single_servers);
        let (node, class) = self.routes.next(k, class, |k| stations[k].present + single_servers[k].present);
        if self.single_servers.get(node).is_some_and(|l| l.on) {
            self.visit_single(node, done.id, class as u32);
        } else {
            self.customers[done.id].class = class as u32;
            self.into(node, done.id);
        }
    }

    #[inline(always)]
    pub fn visit_single(&mut self, k: usize, id: u32, class: u32) {
        let cell = k * self.classes + class as usize;
        let work_s = self.service[cell].as_mut().map_or(0.0, |s| s.draw());
        self.statistics.cells[cell].come(self.since);
        let queue = &mut self.single_servers[k];
        let idle = queue.present == 0;
        queue.push(QueuedCustomer { arrived_s: self.now_s, work_s, id, class });
        if idle {
            queue.started_s = self.now_s;
            self.statistics.cells[cell].start(self.since);
            self.sequence += 1;
            let tie = calendar::tie(Priority::Completion, self.sequence, k);
            self.calendar.set(k, calendar::key(self.now_s + work_s, tie));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_keeps_its_order_when_it_grows() {
        let config = serde_json::from_str(r#"{"name": "q", "kind": "queue"}"#).unwrap();
        let mut queue = SingleServerQueue::new(&Station::new(&config), &config, true);
        assert!(queue.on);
        let mut left = 0;
        for id in 0..100 {
            queue.push(QueuedCustomer { id, ..QueuedCustomer::default() });
            if id % 3 == 0 {
                assert_eq!(queue.pop().id, left);
                left += 1;
            }
        }
        assert_eq!(queue.present, 100 - left);
        assert!((left..100).all(|id| queue.pop().id == id));
    }
}
