//! How stations serve: a visit begins, a service starts, is taken over by another, ends.

use super::calendar::{self, Priority};
use super::control::Change;
use super::routes::Way;
use super::station::{Order, ServiceKind, Station};
use super::world::World;

impl Station {
    /// `id` comes as one of `class`, and its room was seen to.
    #[inline(always)]
    pub fn visit(&mut self, world: &mut World, id: u32, class: usize) {
        let flow = &mut self.flows[class];
        let work_s = flow.service.draw();
        flow.cell.come(world.since);
        let customer = &mut world.customers[id];
        customer.class = class as u32;
        customer.arrived_s = world.now_s;
        customer.work_s = work_s;
        customer.left_s = work_s;
        self.present += 1;
        if self.order == Order::Ranked {
            self.rank(world, id);
        }
        if !matches!(self.way, ServiceKind::Serve | ServiceKind::Delay) {
            self.visit_otherwise(world, id);
        } else if self.idle() {
            self.start(world, id);
        } else {
            self.wait(world, id);
        }
    }

    /// Its place among those who are not served in the order in which they came.
    fn rank(&mut self, world: &mut World, id: u32) {
        let sequence = world.sequence();
        let customer = &mut world.customers[id];
        customer.rank = if self.last_come_first {
            u128::from(u64::MAX - sequence)
        } else {
            u128::from(world.priority[customer.class as usize]) << 64 | u128::from(sequence)
        };
    }

    #[inline(always)]
    pub fn wait(&mut self, world: &World, id: u32) {
        if self.order == Order::Ranked {
            self.ranked.push(world.customers[id].rank, id);
        } else {
            self.line.push_back(id);
        }
    }

    /// A service begins, or goes on, at a seat that is free: counted, and the station's next event set.
    #[inline(always)]
    pub fn start(&mut self, world: &mut World, id: u32) {
        let (class, next) = self.begin(world, id);
        self.flows[class].cell.start(world.since);
        world.calendar.set(self.index, next);
    }

    /// The same, with both left to the caller. Its class, and the station's next event.
    #[inline(always)]
    fn begin(&mut self, world: &mut World, id: u32) -> (usize, u128) {
        let customer = &mut world.customers[id];
        if customer.left_s == customer.work_s {
            customer.started_s = world.now_s;
        }
        let (end_s, class) = (world.now_s + customer.left_s, customer.class as usize);
        let key = world.event(end_s, Priority::Completion, self.index);
        (class, self.running.push(key, id))
    }

    /// The earliest service ends; who was served is still present.
    #[inline(always)]
    pub fn complete(&mut self, world: &World) -> Option<u32> {
        let (key, id) = self.running.pop()?;
        if self.way == ServiceKind::Share {
            self.clock.advance(world.now_s);
            self.clock.work = calendar::time(key);
        }
        Some(id)
    }

    /// Who was served leaves: counted, and whoever waits has the seat. Its class, and the only way from here, if there is one.
    #[inline(always)]
    pub fn depart(&mut self, world: &mut World, id: u32) -> (usize, Way) {
        self.present -= 1;
        let customer = &world.customers[id];
        let class = customer.class as usize;
        let response_s = world.now_s - customer.arrived_s;
        let (waiting_s, ended) = if self.way == ServiceKind::Serve {
            (customer.started_s - customer.arrived_s, Some(class))
        } else {
            (self.waited(customer, response_s), self.ended(world, id))
        };
        // The next event first: which one it is cannot be foreseen, and is known the sooner.
        self.succeed(world, ended);
        let flow = &mut self.flows[class];
        if flow.cell.leave(world.since, response_s, waiting_s) {
            world.statistics.count(self.index * world.classes + class, &mut flow.cell);
        }
        (class, flow.only)
    }

    /// Who was served cannot go on, and keeps its seat.
    pub fn hold(&mut self, world: &mut World, id: u32) {
        self.clock.advance(world.now_s);
        self.held += 1;
        self.end_service(world, id);
        let customer = &mut world.customers[id];
        customer.left_s = 0.0;
        self.flows[customer.class as usize].cell.block(world.since);
        self.refill(world, None);
    }

    /// Who was held can go on: it departs as if it were served now.
    pub fn release(&mut self, world: &mut World, id: u32) {
        self.clock.advance(world.now_s);
        self.held -= 1;
        let cell = &mut self.flows[world.customers[id].class as usize].cell;
        cell.unblock(world.since);
        match self.way {
            ServiceKind::Share => cell.start(self.clock.busy),
            ServiceKind::Fork => {}
            _ => cell.start(world.since),
        }
    }

    pub fn end_service(&mut self, world: &mut World, id: u32) {
        let customer = &world.customers[id];
        let cell = &mut self.flows[customer.class as usize].cell;
        match self.way {
            ServiceKind::Share => cell.stop(self.clock.busy),
            ServiceKind::Fork => cell.served(customer.left_s),
            _ => cell.stop(world.since),
        }
    }

    /// One seat was left, so at most one of those who wait has it; else as `refill`.
    #[inline(always)]
    fn succeed(&mut self, world: &mut World, ended: Option<usize>) {
        if self.way == ServiceKind::Share {
            return self.refill_shared(world);
        }
        let next = if self.idle() { self.take() } else { None };
        let (started, event) = match next.map(|id| self.begin(world, id)) {
            Some((class, event)) => (Some(class), event),
            None => (None, self.running.first()),
        };
        world.calendar.set(self.index, event);
        if started != ended {
            ended.into_iter().for_each(|c| self.flows[c].cell.stop(world.since));
            started.into_iter().for_each(|c| self.flows[c].cell.start(world.since));
        }
    }

    /// Seats that are free are given to those who wait; sets the station's next event. `ended` is the class of a service whose end
    /// was not counted: where one of the same class takes over, the number in service stays as it is.
    #[inline(always)]
    fn refill(&mut self, world: &mut World, mut ended: Option<usize>) {
        if self.way == ServiceKind::Share {
            return self.refill_shared(world);
        }
        while self.idle() {
            let Some(id) = self.take() else { break };
            let ((class, _), before) = (self.begin(world, id), ended.take());
            if before != Some(class) {
                before.into_iter().for_each(|c| self.flows[c].cell.stop(world.since));
                self.flows[class].cell.start(world.since);
            }
        }
        ended.into_iter().for_each(|c| self.flows[c].cell.stop(world.since));
        world.calendar.set(self.index, self.running.first());
    }

    /// Servers come or go.
    pub fn change(&mut self, world: &mut World, change: Change) {
        self.clock.advance(world.now_s);
        self.servers = change.servers.unwrap_or(self.servers);
        self.down = self.down.saturating_add_signed(change.down);
        self.reseat();
        if change.down > 0 && matches!(self.way, ServiceKind::Serve | ServiceKind::Preempt) {
            self.break_down(world);
        }
        self.refill(world, None);
    }

    /// A server that broke down and was serving: the last started is interrupted, and is the first to be resumed.
    fn break_down(&mut self, world: &mut World) {
        let busy = self.running.len() as u64 + u64::from(self.held);
        if busy <= u64::from(self.seats) {
            return;
        }
        let entries = self.running.entries();
        let started = |i: &usize| world.customers[entries[*i].1].started_s.to_bits();
        if let Some(last) = (0..entries.len()).max_by_key(started) {
            let id = self.interrupt(world, last);
            if self.order == Order::Ranked {
                self.wait(world, id);
            } else {
                self.line.push_front(id);
            }
        }
    }
}
