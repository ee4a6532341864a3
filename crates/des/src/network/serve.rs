//! How stations serve: a visit begins, a service starts, is taken over by another, ends.

use super::calendar::{self, Priority, NEVER};
use super::control::Change;
use super::event_engine::EventEngine;
use super::station::{Order, ServiceKind};

impl EventEngine {
    #[inline]
    pub fn cell(&self, k: usize, id: u32) -> usize {
        k * self.classes + self.customers[id].class as usize
    }

    /// `id` comes to station k, whose room was seen to.
    #[inline]
    pub fn visit(&mut self, k: usize, id: u32) {
        let cell = self.cell(k, id);
        let work_s = self.service[cell].as_mut().map_or(0.0, |s| s.draw());
        self.statistics.cells[cell].come(self.since);
        let sequence = self.sequence();
        let priority = self.priority[self.customers[id].class as usize];
        let station = &mut self.stations[k];
        station.present += 1;
        let customer = &mut self.customers[id];
        customer.arrived_s = self.now_s;
        customer.work_s = work_s;
        customer.left_s = work_s;
        if station.order == Order::Ranked {
            customer.rank = if station.last_come_first {
                u128::from(u64::MAX - sequence)
            } else {
                u128::from(priority) << 64 | u128::from(sequence)
            };
        }
        match station.way {
            ServiceKind::Serve if station.idle() => self.start(k, id),
            ServiceKind::Serve => self.wait(k, id),
            ServiceKind::Delay => self.start(k, id),
            ServiceKind::Share => self.share(k, id),
            ServiceKind::Preempt => self.preempt(k, id),
            ServiceKind::Fork => self.fork(k, id),
        }
    }

    #[inline]
    fn wait(&mut self, k: usize, id: u32) {
        let station = &mut self.stations[k];
        if station.order == Order::Ranked {
            station.ranked.push(self.customers[id].rank, id);
        } else {
            station.line.push_back(id);
        }
    }

    /// A service begins, or goes on, at a seat that is free.
    #[inline]
    fn start(&mut self, k: usize, id: u32) {
        let cell = self.cell(k, id);
        self.statistics.cells[cell].start(self.since);
        let customer = &mut self.customers[id];
        if customer.left_s == customer.work_s {
            customer.started_s = self.now_s;
        }
        let end_s = self.now_s + customer.left_s;
        let key = self.event(end_s, Priority::Completion, k);
        let station = &mut self.stations[k];
        station.running.push(key, id);
        self.calendar.set(k, station.running.first());
    }

    /// Everybody in service is slowed down by the newcomer, or a line's only server changes its speed.
    fn share(&mut self, k: usize, id: u32) {
        self.stations[k].clock.advance(self.now_s);
        if self.stations[k].idle() {
            self.join(k, id);
        } else {
            self.wait(k, id);
        }
        self.reschedule(k);
    }

    /// Service by the station's clock begins.
    fn join(&mut self, k: usize, id: u32) {
        let cell = self.cell(k, id);
        let sequence = self.sequence();
        let station = &mut self.stations[k];
        let customer = &mut self.customers[id];
        customer.started_s = self.now_s;
        self.statistics.cells[cell].start(station.clock.busy);
        let end = station.clock.work + customer.left_s;
        station.running.push(calendar::key(end, calendar::tie(Priority::Completion, sequence, k)), id);
    }

    /// The next completion of a station with a clock.
    pub fn reschedule(&mut self, k: usize) {
        self.stations[k].set_speeds();
        let key = match self.stations[k].next_s(self.now_s) {
            Some(time_s) => self.event(time_s, Priority::Completion, k),
            None => NEVER,
        };
        self.calendar.set(k, key);
    }

    fn preempt(&mut self, k: usize, id: u32) {
        if self.stations[k].idle() {
            return self.start(k, id);
        }
        let rank = |id: u32| self.customers[id].rank;
        let entries = self.stations[k].running.entries();
        match (0..entries.len()).max_by_key(|i| rank(entries[*i].1)) {
            Some(last) if rank(entries[last].1) > rank(id) => {
                let other = self.interrupt(k, last);
                self.wait(k, other);
                self.start(k, id);
            }
            _ => self.wait(k, id),
        }
    }

    /// Takes a customer out of service; what is left of it is kept.
    fn interrupt(&mut self, k: usize, index: usize) -> u32 {
        let (key, id) = self.stations[k].running.take(index);
        let cell = self.cell(k, id);
        self.statistics.cells[cell].stop(self.since);
        // A service that is interrupted at its very beginning is begun again, not gone on with.
        self.customers[id].left_s = (calendar::time(key) - self.now_s).max(0.0);
        self.calendar.set(k, self.stations[k].running.first());
        id
    }

    /// Tasks join their branches; each branch is a line with one server, so that all ends are known now.
    fn fork(&mut self, k: usize, id: u32) {
        let cell = self.cell(k, id);
        let (now_s, mut end_s, mut longest, mut total) = (self.now_s, 0.0f64, 0.0f64, 0.0);
        for b in 0..self.stations[k].branches.len() {
            // The first task's time was drawn with the visit.
            let draw = |s: &mut super::sources::Source| s.draw();
            let work_s = match b {
                0 => self.customers[id].work_s,
                _ => self.service[cell].as_mut().map_or(0.0, draw),
            };
            let free_s = &mut self.stations[k].branches[b];
            *free_s = free_s.max(now_s) + work_s;
            end_s = end_s.max(*free_s);
            longest = longest.max(work_s);
            total += work_s;
        }
        self.customers[id].work_s = longest;
        // What the branches will have worked is kept in `left_s` and credited at the end.
        self.customers[id].left_s = total;
        let key = self.event(end_s, Priority::Completion, k);
        self.stations[k].running.push(key, id);
        self.calendar.set(k, self.stations[k].running.first());
    }

    /// The earliest service at station k ends.
    #[inline]
    pub fn complete(&mut self, k: usize) {
        let Some((key, id)) = self.stations[k].running.pop() else { return };
        let cell = self.cell(k, id);
        match self.stations[k].way {
            ServiceKind::Share => {
                let clock = &mut self.stations[k].clock;
                clock.advance(self.now_s);
                clock.work = calendar::time(key);
                self.statistics.cells[cell].stop(clock.busy);
            }
            ServiceKind::Fork => self.statistics.cells[cell].served(self.customers[id].left_s),
            _ => self.statistics.cells[cell].stop(self.since),
        }
        if self.free {
            self.leave(k, id);
            self.refill(k);
            self.go(k, id);
        } else {
            self.advance(k, id);
        }
    }

    /// A visit ends: counted.
    #[inline]
    pub fn leave(&mut self, k: usize, id: u32) {
        let cell = self.cell(k, id);
        let station = &mut self.stations[k];
        station.present -= 1;
        let customer = &self.customers[id];
        let response_s = self.now_s - customer.arrived_s;
        let waiting_s = match station.way {
            ServiceKind::Serve => customer.started_s - customer.arrived_s,
            ServiceKind::Delay => 0.0,
            ServiceKind::Share if station.seats == 1 => customer.started_s - customer.arrived_s,
            _ => beyond_rounding(response_s - customer.work_s, response_s),
        };
        self.statistics.cells[cell].leave(self.since, response_s, waiting_s);
        self.statistics.record(cell, response_s);
    }

    /// Seats that are free are given to those who wait; sets the station's next event.
    #[inline]
    pub fn refill(&mut self, k: usize) {
        if self.stations[k].way == ServiceKind::Share {
            while self.stations[k].idle() {
                let Some(id) = self.stations[k].line.pop_front() else { break };
                self.join(k, id);
            }
            return self.reschedule(k);
        }
        let mut started = false;
        while self.stations[k].idle() {
            let Some(id) = self.stations[k].take(&mut self.picks[k]) else { break };
            self.start(k, id);
            started = true;
        }
        if !started {
            self.calendar.set(k, self.stations[k].running.first());
        }
    }

    /// Servers come or go.
    pub fn change(&mut self, change: Change) {
        let k = change.station;
        let station = &mut self.stations[k];
        station.clock.advance(self.now_s);
        station.servers = change.servers.unwrap_or(station.servers);
        station.down = station.down.saturating_add_signed(change.down);
        station.reseat();
        if change.down > 0 && matches!(station.way, ServiceKind::Serve | ServiceKind::Preempt) {
            self.break_down(k);
        }
        self.refill(k);
    }

    /// A server that broke down and was serving: the last started is interrupted, and is the first to be resumed.
    fn break_down(&mut self, k: usize) {
        let station = &self.stations[k];
        let busy = station.running.len() as u64 + u64::from(station.held);
        if busy <= u64::from(station.seats) {
            return;
        }
        let entries = station.running.entries();
        let started = |i: &usize| self.customers[entries[*i].1].started_s.to_bits();
        if let Some(last) = (0..entries.len()).max_by_key(started) {
            let id = self.interrupt(k, last);
            if self.stations[k].order == Order::Ranked {
                self.wait(k, id);
            } else {
                self.stations[k].line.push_front(id);
            }
        }
    }
}

/// Differences that are only rounding are no waiting.
fn beyond_rounding(waiting_s: f64, response_s: f64) -> f64 {
    if waiting_s > 1e-9 * response_s {
        waiting_s
    } else {
        0.0
    }
}
