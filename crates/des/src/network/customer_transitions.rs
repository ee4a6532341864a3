//! Moves between stations: straight on where nobody can be refused, else by limits and room.
//!
//! Who has been served and cannot go on stays in its seat (blocking after service). Whoever frees a place leaves a
//! note in `pending`; notes are worked off at the end of the event, so that no chain of moves is a recursion.

use super::config::OnFull;
use super::event_engine::EventEngine;
use super::limits::{FreedCapacity, Transition};
use super::log::Pass;
use super::routes::Way;

impl EventEngine {
    /// A customer of `class` goes on from a node by the routes.
    #[inline(always)]
    pub fn go(&mut self, from: usize, id: u32, class: usize) {
        if self.free {
            self.go_freely(from, id, class, None);
        } else {
            self.advance(from, id);
        }
    }

    /// The same where nobody can be refused: the `only` way, or by the routes.
    #[inline(always)]
    pub fn go_freely(&mut self, mut from: usize, id: u32, mut class: usize, mut only: Way) {
        loop {
            let (node, next) = only.take().unwrap_or_else(|| self.chosen(from, class));
            if let Some(station) = self.stations.get_mut(node) {
                return station.visit(&mut self.world, id, next);
            }
            let Some(again) = self.passed(id, next) else { return };
            self.begin_pass(id, again);
            (from, class) = (self.stations.len(), again);
        }
    }

    #[inline(always)]
    fn chosen(&mut self, from: usize, class: usize) -> (usize, usize) {
        let stations = &self.stations;
        self.routes.next(from, class, |k| stations[k].present)
    }

    fn into(&mut self, node: usize, id: u32, class: usize) {
        match self.stations.get_mut(node) {
            Some(station) => station.visit(&mut self.world, id, class),
            None => {
                self.passed(id, class).into_iter().for_each(|class| self.enter_network(id, class));
            }
        }
    }

    /// A pass ends as one of `last`: counted for the class in which it began. The class in which the next begins, if it does now.
    #[inline(always)]
    fn passed(&mut self, id: u32, last: usize) -> Option<usize> {
        let (customer, now_s) = (&self.world.customers[id], self.world.now_s);
        let (class, start_s) = (customer.origin, customer.entered_s);
        let statistics = &mut self.world.statistics;
        statistics.pass_ends(class as usize, self.world.since, now_s - start_s);
        statistics.log.add(Pass { class, start_s, end_s: now_s, lost: false });
        self.completions += 1;
        self.outside(id, last)
    }

    /// `id` has been served at `from` (or comes from outside) and wants to go on.
    pub fn advance(&mut self, from: usize, id: u32) {
        let (node, class) = self.chosen(from, self.world.customers[id].class as usize);
        let seated = from < self.stations.len();
        self.acquire(Transition { id, from, seated, node, class }, 0);
    }

    /// Takes the limits of the next node from the `first` on, then its room.
    fn acquire(&mut self, way: Transition, first: usize) {
        let wanted = self.limits_of.get(way.node).map_or(0, Vec::len);
        for i in first..wanted {
            let l = self.limits_of[way.node][i];
            if self.limits[l].stations[way.from] {
                continue;
            }
            let cell = self.limit_cell(l, way.class);
            self.world.statistics.cell(cell).come(self.world.since);
            if self.limits[l].inside < self.limits[l].size && self.limits[l].line.is_empty() {
                self.limits[l].inside += 1;
                self.world.statistics.cell(cell).taken(self.world.since, 0.0);
            } else if self.limits[l].lose {
                self.world.statistics.cell(cell).losses += 1.0;
                self.world.statistics.cell(cell).gone(self.world.since);
                return self.give_up(way, i);
            } else {
                self.part(way);
                self.world.customers[way.id].arrived_s = self.world.now_s;
                self.limits[l].line.push_back(Transition { seated: false, ..way });
                return;
            }
        }
        self.enter(way);
    }

    /// All limits are held; now the room.
    fn enter(&mut self, way: Transition) {
        let full = self.stations.get(way.node).is_some_and(|s| s.full()) && way.from != way.node;
        if !full {
            self.part(way);
            return self.into(way.node, way.id, way.class);
        }
        let nowhere = !way.seated && !self.closed[way.class];
        if self.stations[way.node].on_full == OnFull::Lose || nowhere {
            let cell = &mut self.stations[way.node].flows[way.class].cell;
            cell.arrivals += 1.0;
            cell.losses += 1.0;
            let all = self.limits_of[way.node].len();
            return self.give_up(way, all);
        }
        self.stations[way.node].blocked.push_back(way);
        if way.seated {
            self.stations[way.from].hold(&mut self.world, way.id);
        }
    }

    /// Leaves its seat: visit counted, seat freed, and the limits that the next node is not in.
    fn part(&mut self, way: Transition) {
        if !way.seated {
            return;
        }
        self.stations[way.from].depart(&mut self.world, way.id);
        self.pending.push_back(FreedCapacity::Room(way.from));
        let class = self.world.customers[way.id].class as usize;
        for i in 0..self.limits_of[way.from].len() {
            let l = self.limits_of[way.from][i];
            if !self.limits[l].stations[way.node] {
                self.give_back(l, class);
            }
        }
    }

    fn limit_cell(&self, l: usize, class: usize) -> usize {
        (self.stations.len() + 1 + l) * self.world.classes + class
    }

    fn give_back(&mut self, l: usize, class: usize) {
        self.limits[l].inside -= 1;
        let cell = self.limit_cell(l, class);
        self.world.statistics.cell(cell).given_back(self.world.since);
        self.pending.push_back(FreedCapacity::Place(l));
    }

    /// Lost on the way, with the first `taken` limits of the next node taken: the pass ends without success.
    fn give_up(&mut self, way: Transition, taken: usize) {
        for i in 0..self.limits_of[way.node].len() {
            let l = self.limits_of[way.node][i];
            // Those of the place that it comes from go with its seat, or are still held if that is gone.
            let held = if self.limits[l].stations[way.from] { !way.seated } else { i < taken };
            if held {
                self.give_back(l, way.class);
            }
        }
        self.part(Transition { node: self.stations.len(), ..way });
        let (customer, end_s) = (&self.world.customers[way.id], self.world.now_s);
        let (class, start_s) = (customer.origin, customer.entered_s);
        let cell = self.stations.len() * self.world.classes + class as usize;
        self.world.statistics.cell(cell).losses += 1.0;
        self.world.statistics.cell(cell).gone(self.world.since);
        self.world.statistics.log.add(Pass { class, start_s, end_s, lost: true });
        self.outside(way.id, way.class).into_iter().for_each(|class| self.enter_network(way.id, class));
    }

    /// Works off what was freed.
    #[inline]
    pub fn settle(&mut self) {
        while let Some(pending) = self.pending.pop_front() {
            match pending {
                FreedCapacity::Room(k) => self.admit(k),
                FreedCapacity::Place(l) => self.grant(l),
            }
        }
    }

    /// Blocked ones move into the room at k.
    fn admit(&mut self, k: usize) {
        while !self.stations[k].full() {
            let Some(way) = self.stations[k].blocked.pop_front() else { return };
            if way.seated {
                self.stations[way.from].release(&mut self.world, way.id);
            }
            self.part(way);
            self.into(k, way.id, way.class);
        }
    }

    /// Those who wait for a limit take its free places.
    fn grant(&mut self, l: usize) {
        while self.limits[l].inside < self.limits[l].size {
            let Some(way) = self.limits[l].line.pop_front() else { return };
            self.limits[l].inside += 1;
            let cell = self.limit_cell(l, way.class);
            let waited_s = self.world.now_s - self.world.customers[way.id].arrived_s;
            self.world.statistics.cell(cell).taken(self.world.since, waited_s);
            let next = self.limits_of[way.node].iter().position(|x| *x == l).map_or(0, |i| i + 1);
            self.acquire(way, next);
        }
    }
}
