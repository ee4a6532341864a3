//! The engine by events: a clock, a calendar, and what happens at each event.
//!
//! Customers move by `customer_transitions`; how a station serves is in `serve`.

use super::calendar::{Priority, NEVER};
use super::config::Config;
use super::control::Control;
use super::limits::{FreedCapacity, Limit};
use super::routes::{Routes, Way};
use super::sources::{self, BufferedArrivalTimes, EventKind, Think};
use super::station::{ServiceKind, Station};
use super::world::World;
use std::collections::VecDeque;

#[derive(Debug, Clone)]
pub struct EventEngine {
    pub world: World,
    pub completions: u64,
    pub events: u64,
    /// No capacity and no limit anywhere: nobody can be refused.
    pub free: bool,
    /// Of the sources behind the stations.
    event_kinds: Vec<EventKind>,
    pub stations: Vec<Station>,
    pub routes: Routes,
    arrivals: Vec<Option<BufferedArrivalTimes>>,
    think: Vec<Option<Think>>,
    think_slot: Vec<usize>,
    pub closed: Vec<bool>,
    controls: Vec<Control>,
    pub limits: Vec<Limit>,
    pub limits_of: Vec<Vec<usize>>,
    pub pending: VecDeque<FreedCapacity>,
}

impl EventEngine {
    /// Of a config that was checked.
    pub fn new(config: &Config) -> EventEngine {
        let (k, classes) = (config.stations.len(), config.classes.len());
        let controls = Control::all(config);
        let event_kinds = sources::event_kinds(config, controls.len());
        let arrival_slot = sources::slots(&event_kinds, k, classes, |h| match h {
            EventKind::Arrival(c) => Some(*c),
            _ => None,
        });
        let limits_of =
            |k| (0..config.limits.len()).filter(|l| config.limits[*l].stations.contains(&k)).collect();
        let routes = Routes::new(config);
        let arrivals = sources::arrivals(config).into_iter().zip(arrival_slot).enumerate();
        let times = |(c, (times, source)): (usize, (Option<_>, usize))| {
            Some(BufferedArrivalTimes::new(times?, source, routes.only(k, c)))
        };
        let mut engine = EventEngine {
            world: World::new(config, k + event_kinds.len()),
            completions: 0,
            events: 0,
            free: config.limits.is_empty() && config.stations.iter().all(|s| s.capacity.is_none()),
            stations: (0..k).map(|k| Station::new(config, k, |c| routes.only(k, c))).collect(),
            arrivals: arrivals.map(times).collect(),
            routes,
            think: sources::thinks(config),
            think_slot: sources::slots(&event_kinds, k, classes, |h| match h {
                EventKind::Think(c) => Some(*c),
                _ => None,
            }),
            closed: config.classes.iter().map(|c| c.population.is_some()).collect(),
            controls,
            limits: Limit::all(config),
            limits_of: (0..k).map(limits_of).collect(),
            pending: VecDeque::new(),
            event_kinds,
        };
        engine.begin(config);
        engine
    }

    /// Time 0: sources are started, closed customers think or begin their first pass.
    fn begin(&mut self, config: &Config) {
        for i in 0..self.controls.len() {
            self.control(i);
        }
        for c in 0..self.world.classes {
            self.next_arrival(c);
            for _ in 0..config.classes[c].population.unwrap_or(0) {
                let id = self.world.customers.add(c as u32);
                self.outside(id, c).into_iter().for_each(|c| self.enter_network(id, c));
            }
        }
        self.settle();
    }

    /// Up to `until_s`, to `completions` passes in all, or for `most` events, whichever is first; false if nothing
    /// will ever happen again.
    pub fn run(&mut self, until_s: f64, completions: u64, most: u64) -> bool {
        let mut left = most;
        let goes_on = if self.free {
            self.events::<true>(until_s, completions, &mut left)
        } else {
            self.events::<false>(until_s, completions, &mut left)
        };
        self.events += most - left;
        goes_on
    }

    /// The same for at most `left` events, which are taken from it; `FREE` is what `free` says.
    #[inline(never)]
    fn events<const FREE: bool>(&mut self, until_s: f64, completions: u64, left: &mut u64) -> bool {
        while self.completions < completions && *left > 0 {
            let (time_s, source) = self.world.calendar.first();
            // Not a number is not less than anything.
            let ahead = time_s < until_s;
            if !ahead {
                self.pass(until_s);
                return time_s.is_finite();
            }
            if time_s >= self.world.statistics.segment_end_s {
                self.pass(time_s);
            }
            self.world.now_s = time_s;
            self.world.since = time_s - self.world.statistics.segment_start_s;
            *left -= 1;
            if source < self.stations.len() {
                self.complete::<FREE>(source);
            } else {
                match self.event_kinds[source - self.stations.len()] {
                    EventKind::Arrival(c) => self.arrive::<FREE>(c),
                    EventKind::Think(c) => self.thought(c),
                    EventKind::Control(i) => self.control(i),
                }
            }
            if !FREE {
                self.settle();
            }
        }
        true
    }

    /// The earliest service at station k ends.
    #[inline(always)]
    fn complete<const FREE: bool>(&mut self, k: usize) {
        let station = &mut self.stations[k];
        let Some(id) = station.complete(&self.world) else { return };
        if FREE {
            let (class, next) = station.depart(&mut self.world, id);
            self.go_freely(k, id, class, next);
        } else {
            self.advance(k, id);
        }
    }

    /// Time goes by without an event: segments that end before or at `time_s` are closed.
    fn pass(&mut self, time_s: f64) {
        if !time_s.is_finite() {
            return;
        }
        let statistics = &mut self.world.statistics;
        while statistics.segment_end_s <= time_s {
            let end_s = statistics.segment_end_s;
            for station in self.stations.iter_mut().filter(|s| s.way == ServiceKind::Share) {
                station.clock.advance(end_s);
            }
            let length_s = end_s - statistics.segment_start_s;
            statistics.close(self.stations.iter_mut().flat_map(|s| s.cells(length_s)));
            self.stations.iter_mut().for_each(|s| s.clock.busy = 0.0);
        }
        self.world.since = time_s - statistics.segment_start_s;
        self.world.now_s = time_s;
    }

    /// Where those of class `c` who arrive go, if there is only one way.
    #[inline(always)]
    fn next_arrival(&mut self, c: usize) -> Way {
        let times = self.arrivals[c].as_mut()?;
        let key = match times.next_s() {
            Some(time_s) => self.world.event(time_s, Priority::Arrival, times.source),
            None => NEVER,
        };
        self.world.calendar.set(times.source, key);
        times.only
    }

    fn arrive<const FREE: bool>(&mut self, c: usize) {
        let only = self.next_arrival(c);
        let id = self.world.customers.begin(c as u32, self.world.now_s);
        self.world.statistics.pass_begins(c, self.world.since);
        if FREE {
            self.go_freely(self.stations.len(), id, c, only);
        } else {
            self.advance(self.stations.len(), id);
        }
    }

    fn thought(&mut self, c: usize) {
        let Some(think) = &mut self.think[c] else { return };
        let id = think.thinking.pop();
        self.world.calendar.set(self.think_slot[c], think.thinking.first());
        id.into_iter().for_each(|(_, id)| self.enter_network(id, c));
    }

    /// A pass of a customer of class `c` begins.
    #[inline(always)]
    pub fn enter_network(&mut self, id: u32, c: usize) {
        self.begin_pass(id, c);
        self.go(self.stations.len(), id, c);
    }

    #[inline(always)]
    pub fn begin_pass(&mut self, id: u32, c: usize) {
        let customer = &mut self.world.customers[id];
        (customer.origin, customer.entered_s) = (c as u32, self.world.now_s);
        self.world.statistics.pass_begins(c, self.world.since);
    }

    /// A pass has ended as one of class `c`: an open one is gone, a closed one thinks or begins again now, as the class
    /// that is returned.
    #[inline(always)]
    pub fn outside(&mut self, id: u32, c: usize) -> Option<usize> {
        if !self.closed[c] {
            self.world.customers.remove(id);
            return None;
        }
        self.world.customers[id].class = c as u32;
        let Some(think) = &mut self.think[c] else { return Some(c) };
        let time_s = self.world.now_s + think.source.draw();
        let slot = self.think_slot[c];
        let first = think.thinking.push(self.world.event(time_s, Priority::Arrival, slot), id);
        self.world.calendar.set(slot, first);
        None
    }

    fn control(&mut self, i: usize) {
        let slot = self.stations.len() + self.event_kinds.len() - self.controls.len() + i;
        let change = self.controls[i].happen(self.world.now_s);
        let key = change.next_s.map_or(NEVER, |t| self.world.event(t, Priority::Control, slot));
        self.world.calendar.set(slot, key);
        self.stations[change.station].change(&mut self.world, change);
    }
}
