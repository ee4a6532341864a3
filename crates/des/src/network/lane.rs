//! The quick way: one server, first come first served, where nobody can be refused and the server never goes away.
//!
//! What `serve` and `moves` do, in one piece, and with all that a visit needs in the line itself, so that nothing is
//! looked up at the customer on the way from lane to lane.

use super::calendar::{self, Priority, NEVER};
use super::config;
use super::events::Events;
use super::station::{Order, Station, Way};

/// One customer at a lane.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    arrived_s: f64,
    work_s: f64,
    id: u32,
    class: u32,
}

/// A ring of those present, the one in service first.
#[derive(Debug, Clone)]
pub struct Lane {
    /// Whether the station is one.
    pub on: bool,
    /// How many are present.
    pub present: u32,
    first: u32,
    /// When the service of the first began, s.
    started_s: f64,
    /// As many as a power of two.
    places: Vec<Place>,
}

impl Lane {
    /// Of a station in a network where nobody can be refused, if `free`.
    pub fn new(station: &Station, config: &config::Station, free: bool) -> Lane {
        let line = station.way == Way::Serve && station.order == Order::Line && station.servers == 1;
        let still = config.schedule.is_empty() && config.breakdowns.is_none();
        let on = free && line && still;
        Lane { on, present: 0, first: 0, started_s: 0.0, places: vec![Place::default(); 16] }
    }

    #[inline(always)]
    fn at(&mut self, i: u32) -> &mut Place {
        let last = self.places.len() - 1;
        &mut self.places[(self.first.wrapping_add(i)) as usize & last]
    }

    #[inline(always)]
    fn push(&mut self, place: Place) {
        if self.present as usize == self.places.len() {
            self.grow();
        }
        *self.at(self.present) = place;
        self.present += 1;
    }

    #[inline(always)]
    fn pop(&mut self) -> Place {
        let place = *self.at(0);
        self.first = self.first.wrapping_add(1);
        self.present -= 1;
        place
    }

    #[cold]
    fn grow(&mut self) {
        let n = self.places.len();
        self.places.rotate_left(self.first as usize & (n - 1));
        self.places.resize(2 * n, Place::default());
        self.first = 0;
    }
}

impl Events {
    /// A service at a lane ends; the next begins; the customer goes on.
    #[inline(always)]
    pub fn complete_lane(&mut self, k: usize) {
        let (now_s, since) = (self.now_s, self.since);
        let lane = &mut self.lanes[k];
        let done = lane.pop();
        let class = done.class as usize;
        let waiting_s = lane.started_s - done.arrived_s;
        lane.started_s = now_s;
        let (another, next) = (lane.present > 0, *lane.at(0));
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
        let (stations, lanes) = (&self.stations, &self.lanes);
        let (node, class) = self.routes.next(k, class, |k| stations[k].present + lanes[k].present);
        if self.lanes.get(node).is_some_and(|l| l.on) {
            self.visit_lane(node, done.id, class as u32);
        } else {
            self.customers[done.id].class = class as u32;
            self.into(node, done.id);
        }
    }

    #[inline(always)]
    pub fn visit_lane(&mut self, k: usize, id: u32, class: u32) {
        let cell = k * self.classes + class as usize;
        let work_s = self.service[cell].as_mut().map_or(0.0, |s| s.draw());
        self.statistics.cells[cell].come(self.since);
        let lane = &mut self.lanes[k];
        let idle = lane.present == 0;
        lane.push(Place { arrived_s: self.now_s, work_s, id, class });
        if idle {
            lane.started_s = self.now_s;
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
        let mut lane = Lane::new(&Station::new(&config), &config, true);
        assert!(lane.on);
        let mut left = 0;
        for id in 0..100 {
            lane.push(Place { id, ..Place::default() });
            if id % 3 == 0 {
                assert_eq!(lane.pop().id, left);
                left += 1;
            }
        }
        assert_eq!(lane.present, 100 - left);
        assert!((left..100).all(|id| lane.pop().id == id));
    }
}
