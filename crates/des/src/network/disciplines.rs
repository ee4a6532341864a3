//! Stations that do not serve one after the other: sharing, preemption, fork-join.

use super::calendar::{self, Priority, NEVER};
use super::customer::Customer;
use super::station::{ServiceKind, Station};
use super::world::World;

impl Station {
    #[inline(never)]
    pub fn visit_otherwise(&mut self, world: &mut World, id: u32) {
        match self.way {
            ServiceKind::Share => self.share(world, id),
            ServiceKind::Fork => self.fork(world, id),
            _ => self.preempt(world, id),
        }
    }

    /// Everybody in service is slowed down by the newcomer, or a line's only server changes its speed.
    fn share(&mut self, world: &mut World, id: u32) {
        self.clock.advance(world.now_s);
        if self.idle() {
            self.join(world, id);
        } else {
            self.wait(world, id);
        }
        self.reschedule(world);
    }

    /// Service by the station's clock begins.
    fn join(&mut self, world: &mut World, id: u32) {
        let sequence = world.sequence();
        let customer = &mut world.customers[id];
        customer.started_s = world.now_s;
        self.flows[customer.class as usize].cell.start(self.clock.busy);
        let end = self.clock.work + customer.left_s;
        self.running.push(calendar::key(end, calendar::tie(Priority::Completion, sequence, self.index)), id);
    }

    /// The next completion by the station's clock.
    fn reschedule(&mut self, world: &mut World) {
        self.set_speeds();
        let key = match self.next_s(world.now_s) {
            Some(time_s) => world.event(time_s, Priority::Completion, self.index),
            None => NEVER,
        };
        world.calendar.set(self.index, key);
    }

    fn preempt(&mut self, world: &mut World, id: u32) {
        if self.idle() {
            return self.start(world, id);
        }
        let rank = |id: u32| world.customers[id].rank;
        let entries = self.running.entries();
        match (0..entries.len()).max_by_key(|i| rank(entries[*i].1)) {
            Some(last) if rank(entries[last].1) > rank(id) => {
                let other = self.interrupt(world, last);
                self.wait(world, other);
                self.start(world, id);
            }
            _ => self.wait(world, id),
        }
    }

    /// Takes a customer out of service; what is left of it is kept.
    pub fn interrupt(&mut self, world: &mut World, index: usize) -> u32 {
        let (key, id) = self.running.take(index);
        let customer = &mut world.customers[id];
        self.flows[customer.class as usize].cell.stop(world.since);
        // A service that is interrupted at its very beginning is begun again, not gone on with.
        customer.left_s = (calendar::time(key) - world.now_s).max(0.0);
        world.calendar.set(self.index, self.running.first());
        id
    }

    /// Tasks join their branches; each branch is a line with one server, so that all ends are known now.
    fn fork(&mut self, world: &mut World, id: u32) {
        let customer = &mut world.customers[id];
        let service = &mut self.flows[customer.class as usize].service;
        let (mut end_s, mut longest, mut total) = (0.0f64, 0.0f64, 0.0);
        for (b, free_s) in self.branches.iter_mut().enumerate() {
            // The first task's time was drawn with the visit.
            let work_s = if b == 0 { customer.work_s } else { service.draw() };
            *free_s = free_s.max(world.now_s) + work_s;
            end_s = end_s.max(*free_s);
            longest = longest.max(work_s);
            total += work_s;
        }
        customer.work_s = longest;
        // What the branches will have worked is kept in `left_s` and credited at the end.
        customer.left_s = total;
        let key = world.event(end_s, Priority::Completion, self.index);
        self.running.push(key, id);
        world.calendar.set(self.index, self.running.first());
    }

    pub fn refill_shared(&mut self, world: &mut World) {
        while self.idle() {
            let Some(id) = self.line.pop_front() else { break };
            self.join(world, id);
        }
        self.reschedule(world);
    }

    /// The waiting time of a visit, s.
    pub fn waited(&self, customer: &Customer, response_s: f64) -> f64 {
        match self.way {
            ServiceKind::Delay => 0.0,
            ServiceKind::Share if self.seats == 1 => customer.started_s - customer.arrived_s,
            _ => beyond_rounding(response_s - customer.work_s, response_s),
        }
    }

    /// The class of a service whose end is still to be counted; others are counted.
    pub fn ended(&mut self, world: &mut World, id: u32) -> Option<usize> {
        if matches!(self.way, ServiceKind::Share | ServiceKind::Fork) {
            self.end_service(world, id);
            return None;
        }
        Some(world.customers[id].class as usize)
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
