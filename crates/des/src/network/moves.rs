//! Moves between stations: straight on where nobody can be refused, else by limits and room.
//!
//! Who has been served and cannot go on stays in its seat (blocking after service). Whoever frees a place leaves a
//! note in `pending`; notes are worked off at the end of the event, so that no chain of moves is a recursion.

use super::config::{Config, LimitPolicy, OnFull};
use super::event_engine::EventEngine;
use super::log::Pass;
use std::collections::VecDeque;

/// Something was freed.
#[derive(Debug, Clone, Copy)]
pub enum FreedCapacity {
    /// At a station.
    Room(usize),
    /// Of a limit.
    Place(usize),
}

/// A customer on its way: where it comes from, whether it still has a seat there, where it goes, and as which class.
#[derive(Debug, Clone, Copy)]
pub struct Transition {
    id: u32,
    from: usize,
    seated: bool,
    node: usize,
    class: usize,
}

/// A limit, who is inside, and who waits for it.
#[derive(Debug, Clone)]
pub struct Limit {
    size: u32,
    lose: bool,
    inside: u32,
    line: VecDeque<Transition>,
    stations: Vec<bool>,
}

impl Limit {
    pub fn all(config: &Config) -> Vec<Limit> {
        let limit = |l: &super::config::Limit| Limit {
            size: l.size,
            lose: l.on_full == LimitPolicy::Lose,
            inside: 0,
            line: VecDeque::new(),
            stations: (0..=config.stations.len()).map(|k| l.stations.contains(&k)).collect(),
        };
        config.limits.iter().map(limit).collect()
    }
}

impl EventEngine {
    /// Straight on from a node, by the routes.
    #[inline]
    pub fn go(&mut self, from: usize, id: u32) {
        if !self.free {
            return self.advance(from, id);
        }
        let (node, class) = self.chosen(from, id);
        self.customers[id].class = class as u32;
        self.into(node, id);
    }

    #[inline]
    fn chosen(&mut self, from: usize, id: u32) -> (usize, usize) {
        let (stations, single_servers) = (&self.stations, &self.single_servers);
        let present = |k: usize| stations[k].present + single_servers[k].present;
        self.routes.next(from, self.customers[id].class as usize, present)
    }

    #[inline]
    pub fn into(&mut self, node: usize, id: u32) {
        if self.single_servers.get(node).is_some_and(|l| l.on) {
            let class = self.customers[id].class;
            self.visit_single(node, id, class);
        } else if self.several_servers.get(node) == Some(&true) {
            self.visit_several(node, id);
        } else if node < self.stations.len() {
            self.visit(node, id);
        } else {
            self.passed(id);
        }
    }

    /// A pass ends: counted for the class in which it began.
    #[inline]
    fn passed(&mut self, id: u32) {
        let customer = &self.customers[id];
        let cell = self.stations.len() * self.classes + customer.origin as usize;
        let response_s = self.now_s - customer.entered_s;
        self.statistics.cells[cell].leave(self.since, response_s, 0.0);
        self.statistics.record(cell, response_s);
        self.log(id, false);
        self.completions += 1;
        self.outside(id);
    }

    /// `id` has been served at `from` (or comes from outside) and wants to go on.
    pub fn advance(&mut self, from: usize, id: u32) {
        let (node, class) = self.chosen(from, id);
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
            self.statistics.cells[cell].come(self.since);
            if self.limits[l].inside < self.limits[l].size && self.limits[l].line.is_empty() {
                self.limits[l].inside += 1;
                self.statistics.cells[cell].taken(self.since, 0.0);
            } else if self.limits[l].lose {
                self.statistics.cells[cell].losses += 1.0;
                self.statistics.cells[cell].gone(self.since);
                return self.give_up(way, i);
            } else {
                self.part(way);
                self.customers[way.id].arrived_s = self.now_s;
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
            self.customers[way.id].class = way.class as u32;
            return self.into(way.node, way.id);
        }
        let nowhere = !way.seated && !self.closed[way.class];
        if self.stations[way.node].on_full == OnFull::Lose || nowhere {
            let cell = &mut self.statistics.cells[way.node * self.classes + way.class];
            cell.arrivals += 1.0;
            cell.losses += 1.0;
            let all = self.limits_of[way.node].len();
            return self.give_up(way, all);
        }
        self.stations[way.node].blocked.push_back(way);
        if way.seated {
            self.stations[way.from].clock.advance(self.now_s);
            self.stations[way.from].held += 1;
            let cell = self.cell(way.from, way.id);
            self.statistics.cells[cell].block(self.since);
            self.refill(way.from);
        }
    }

    /// Leaves its seat: visit counted, seat freed, and the limits that the next node is not in.
    fn part(&mut self, way: Transition) {
        if !way.seated {
            return;
        }
        self.leave(way.from, way.id);
        self.refill(way.from);
        self.pending.push_back(FreedCapacity::Room(way.from));
        let class = self.customers[way.id].class as usize;
        for i in 0..self.limits_of[way.from].len() {
            let l = self.limits_of[way.from][i];
            if !self.limits[l].stations[way.node] {
                self.give_back(l, class);
            }
        }
    }

    fn limit_cell(&self, l: usize, class: usize) -> usize {
        (self.stations.len() + 1 + l) * self.classes + class
    }

    fn give_back(&mut self, l: usize, class: usize) {
        self.limits[l].inside -= 1;
        let cell = self.limit_cell(l, class);
        self.statistics.cells[cell].given_back(self.since);
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
        self.customers[way.id].class = way.class as u32;
        let cell = self.stations.len() * self.classes + self.customers[way.id].origin as usize;
        self.statistics.cells[cell].losses += 1.0;
        self.statistics.cells[cell].gone(self.since);
        self.log(way.id, true);
        self.outside(way.id);
    }

    #[inline]
    fn log(&mut self, id: u32, lost: bool) {
        let customer = &self.customers[id];
        let (class, start_s) = (customer.origin, customer.entered_s);
        self.statistics.log.add(Pass { class, start_s, end_s: self.now_s, lost });
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
                self.stations[way.from].clock.advance(self.now_s);
                self.stations[way.from].held -= 1;
                let cell = self.cell(way.from, way.id);
                self.statistics.cells[cell].unblock(self.since);
            }
            self.part(way);
            self.customers[way.id].class = way.class as u32;
            self.into(k, way.id);
        }
    }

    /// Those who wait for a limit take its free places.
    fn grant(&mut self, l: usize) {
        while self.limits[l].inside < self.limits[l].size {
            let Some(way) = self.limits[l].line.pop_front() else { return };
            self.limits[l].inside += 1;
            let cell = self.limit_cell(l, way.class);
            let waited_s = self.now_s - self.customers[way.id].arrived_s;
            self.statistics.cells[cell].taken(self.since, waited_s);
            let next = self.limits_of[way.node].iter().position(|x| *x == l).map_or(0, |i| i + 1);
            self.acquire(way, next);
        }
    }
}
