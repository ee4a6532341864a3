//! The short way: lines of several servers, served in order, where nobody can be refused. What `serve` and `moves`
//! do, in one piece.

use super::calendar::{self, Priority};
use super::event_engine::EventEngine;
use super::station::Station;

impl EventEngine {
    /// A service at a line ends; the next begins; the customer goes on.
    #[inline(always)]
    pub fn complete_several(&mut self, k: usize) {
        let (now_s, since) = (self.now_s, self.since);
        let station = &mut self.stations[k];
        let Some((_, id)) = station.running.pop() else { return };
        station.present -= 1;
        let next = if station.idle() { station.line.pop_front() } else { None };
        let customer = &self.customers[id];
        let class = customer.class as usize;
        let cell = k * self.classes + class;
        let response_s = now_s - customer.arrived_s;
        let waiting_s = customer.started_s - customer.arrived_s;
        // Where one of the same class takes over, the number in service stays as it is.
        let same = next.is_some_and(|next| self.customers[next].class as usize == class);
        let counts = &mut self.statistics.cells[cell];
        if !same {
            counts.stop(since);
        }
        counts.leave(since, response_s, waiting_s);
        self.statistics.record(cell, response_s);
        match next {
            Some(next) => {
                if !same {
                    self.start_several(k, next);
                }
                self.begin_several(k, next);
            }
            None => self.calendar.set(k, self.stations[k].running.first()),
        }
        self.go(k, id);
    }

    #[inline(always)]
    pub fn visit_several(&mut self, k: usize, id: u32) {
        let customer = &mut self.customers[id];
        let cell = k * self.classes + customer.class as usize;
        let work_s = self.service[cell].as_mut().map_or(0.0, |s| s.draw());
        customer.arrived_s = self.now_s;
        customer.work_s = work_s;
        customer.left_s = work_s;
        self.statistics.cells[cell].come(self.since);
        let station: &mut Station = &mut self.stations[k];
        station.present += 1;
        if station.idle() {
            self.start_several(k, id);
            self.begin_several(k, id);
        } else {
            station.line.push_back(id);
        }
    }

    #[inline(always)]
    fn start_several(&mut self, k: usize, id: u32) {
        let class = self.customers[id].class as usize;
        self.statistics.cells[k * self.classes + class].start(self.since);
    }

    #[inline(always)]
    fn begin_several(&mut self, k: usize, id: u32) {
        let customer = &mut self.customers[id];
        if customer.left_s == customer.work_s {
            customer.started_s = self.now_s;
        }
        self.sequence += 1;
        let tie = calendar::tie(Priority::Completion, self.sequence, k);
        let station = &mut self.stations[k];
        station.running.push(calendar::key(self.now_s + customer.left_s, tie), id);
        self.calendar.set(k, station.running.first());
    }
}
