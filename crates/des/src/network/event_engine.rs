//! The engine by events: a clock, a calendar, and what happens at each event.
//!
//! Customers move by `moves`; how a station serves is in `serve`.

use super::calendar::{self, Calendar, Priority, NEVER};
use super::config::Config;
use super::control::Control;
use super::customer::{Customer, Customers};
use super::moves::{FreedCapacity, Limit};
use super::routes::Routes;
use super::single_server::SingleServerQueue;
use super::sources::{self, ArrivalTimes, EventKind, Source, Think};
use super::station::{Order, ServiceKind, Station};
use super::statistics::Statistics;
use sojourn_dist::Stream;
use std::collections::VecDeque;

#[derive(Debug, Clone)]
pub struct EventEngine {
    pub now_s: f64,
    /// Time since the segment began, s.
    pub since: f64,
    pub sequence: u64,
    pub completions: u64,
    pub events: u64,
    pub classes: usize,
    /// No capacity and no limit anywhere: nobody can be refused.
    pub free: bool,
    pub calendar: Calendar,
    event_kinds: Vec<EventKind>,
    pub stations: Vec<Station>,
    /// Stations of the short way: a line served in order, in a network where nobody can be refused.
    pub several_servers: Vec<bool>,
    /// Stations of a still shorter way, with one server; looked at before `several_servers`.
    pub single_servers: Vec<SingleServerQueue>,
    /// K×C.
    pub service: Vec<Option<Source>>,
    /// Streams of the stations that choose whom to serve at random.
    pub picks: Vec<Stream>,
    pub customers: Customers,
    pub routes: Routes,
    arrivals: Vec<Option<ArrivalTimes>>,
    pub think: Vec<Option<Think>>,
    arrival_slot: Vec<usize>,
    think_slot: Vec<usize>,
    pub closed: Vec<bool>,
    pub priority: Vec<u32>,
    pub controls: Vec<Control>,
    control_slot: usize,
    pub limits: Vec<Limit>,
    pub limits_of: Vec<Vec<usize>>,
    pub pending: VecDeque<FreedCapacity>,
    pub statistics: Statistics,
}

impl EventEngine {
    /// Of a config that was checked.
    pub fn new(config: &Config) -> EventEngine {
        let (k, classes) = (config.stations.len(), config.classes.len());
        let controls = Control::all(config);
        let event_kinds = sources::event_kinds(config, controls.len());
        let free = config.limits.is_empty() && config.stations.iter().all(|s| s.capacity.is_none());
        let stations: Vec<Station> = config.stations.iter().map(Station::new).collect();
        let mut engine = EventEngine {
            now_s: 0.0,
            since: 0.0,
            sequence: 0,
            completions: 0,
            events: 0,
            classes,
            free,
            calendar: Calendar::new(event_kinds.len()),
            several_servers: stations
                .iter()
                .map(|s| free && s.way == ServiceKind::Serve && s.order == Order::Line)
                .collect(),
            single_servers: stations
                .iter()
                .zip(&config.stations)
                .map(|(s, c)| SingleServerQueue::new(s, c, free))
                .collect(),
            stations,
            service: sources::services(config),
            picks: config.stations.iter().map(|s| sources::stream(config, "pick", &s.name, "")).collect(),
            customers: Customers::default(),
            routes: Routes::new(config),
            arrivals: sources::arrivals(config)
                .into_iter()
                .map(|times| times.map(ArrivalTimes::new))
                .collect(),
            think: sources::thinks(config),
            arrival_slot: sources::slots(&event_kinds, classes, |h| match h {
                EventKind::Arrival(c) => Some(*c),
                _ => None,
            }),
            think_slot: sources::slots(&event_kinds, classes, |h| match h {
                EventKind::Think(c) => Some(*c),
                _ => None,
            }),
            closed: config.classes.iter().map(|c| c.population.is_some()).collect(),
            priority: config.classes.iter().map(|c| c.priority).collect(),
            control_slot: event_kinds.len() - controls.len(),
            controls,
            limits: Limit::all(config),
            limits_of: (0..k)
                .map(|k| {
                    (0..config.limits.len()).filter(|l| config.limits[*l].stations.contains(&k)).collect()
                })
                .collect(),
            pending: VecDeque::new(),
            statistics: Statistics::new(config),
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
        for c in 0..self.classes {
            self.next_arrival(c);
            for _ in 0..config.classes[c].population.unwrap_or(0) {
                let id = self.customers.add(Customer { class: c as u32, ..Customer::default() });
                self.outside(id);
            }
        }
        self.settle();
    }

    /// Up to `until_s`, to `completions` passes in all, or for `most` events, whichever is first; false if nothing
    /// will ever happen again.
    pub fn run(&mut self, until_s: f64, completions: u64, most: u64) -> bool {
        let last = self.events.saturating_add(most);
        while self.completions < completions && self.events < last {
            let first = self.calendar.first();
            let time_s = calendar::time(first);
            // NEVER is not a number, which is not less than anything.
            let ahead = time_s < until_s;
            if !ahead {
                self.pass(until_s);
                return first != NEVER;
            }
            if time_s >= self.statistics.segment_end_s {
                self.pass(time_s);
            }
            self.now_s = time_s;
            self.since = time_s - self.statistics.segment_start_s;
            self.events += 1;
            let source = Calendar::source(first);
            if self.single_servers.get(source).is_some_and(|l| l.on) {
                self.complete_single(source);
                continue;
            }
            if self.several_servers.get(source) == Some(&true) {
                self.complete_several(source);
                continue;
            }
            match self.event_kinds[source] {
                EventKind::Completion(k) => self.complete(k),
                EventKind::Arrival(c) => self.arrive(c),
                EventKind::Think(c) => self.thought(c),
                EventKind::Control(i) => self.control(i),
            }
            if !self.free {
                self.settle();
            }
        }
        true
    }

    /// Time goes by without an event: segments that end before or at `time_s` are closed.
    fn pass(&mut self, time_s: f64) {
        if !time_s.is_finite() {
            return;
        }
        while self.statistics.segment_end_s <= time_s {
            let end_s = self.statistics.segment_end_s;
            for station in self.stations.iter_mut().filter(|s| s.way == ServiceKind::Share) {
                station.clock.advance(end_s);
            }
            let (length_s, stations) = (end_s - self.statistics.segment_start_s, &self.stations);
            self.statistics.close(self.classes, |row| match stations.get(row) {
                Some(station) if station.way == ServiceKind::Share => station.clock.busy,
                _ => length_s,
            });
            self.stations.iter_mut().for_each(|s| s.clock.busy = 0.0);
        }
        self.now_s = time_s;
        self.since = time_s - self.statistics.segment_start_s;
    }

    #[inline]
    pub fn sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// The key of an event of `source`.
    #[inline]
    pub fn event(&mut self, time_s: f64, priority: Priority, source: usize) -> u128 {
        let sequence = self.sequence();
        calendar::key(time_s, calendar::tie(priority, sequence, source))
    }

    #[inline]
    fn next_arrival(&mut self, c: usize) {
        if self.arrivals[c].is_none() {
            return;
        }
        let source = self.arrival_slot[c];
        let next = self.arrivals[c].as_mut().and_then(ArrivalTimes::next_s);
        let key = match next {
            Some(time_s) => self.event(time_s, Priority::Arrival, source),
            None => NEVER,
        };
        self.calendar.set(source, key);
    }

    fn arrive(&mut self, c: usize) {
        self.next_arrival(c);
        let class = c as u32;
        let id = self.customers.add(Customer {
            class,
            origin: class,
            entered_s: self.now_s,
            ..Customer::default()
        });
        self.enter_network(id);
    }

    fn thought(&mut self, c: usize) {
        if let Some(think) = &mut self.think[c] {
            let id = think.thinking.pop();
            self.calendar.set(self.think_slot[c], think.thinking.first());
            if let Some((_, id)) = id {
                self.customers[id].entered_s = self.now_s;
                self.enter_network(id);
            }
        }
    }

    /// A pass begins.
    #[inline]
    pub fn enter_network(&mut self, id: u32) {
        let class = self.customers[id].class as usize;
        self.customers[id].origin = class as u32;
        let outside = self.stations.len();
        self.statistics.cells[outside * self.classes + class].come(self.since);
        self.go(outside, id);
    }

    /// A pass has ended at its customer's class: an open one is gone, a closed one thinks or begins again.
    pub fn outside(&mut self, id: u32) {
        let class = self.customers[id].class as usize;
        if !self.closed[class] {
            self.customers.remove(id);
            return;
        }
        let Some(think) = &mut self.think[class] else {
            self.customers[id].entered_s = self.now_s;
            self.enter_network(id);
            return;
        };
        let time_s = self.now_s + think.source.draw();
        let slot = self.think_slot[class];
        self.sequence += 1;
        think.thinking.push(calendar::key(time_s, calendar::tie(Priority::Arrival, self.sequence, slot)), id);
        self.calendar.set(slot, think.thinking.first());
    }

    fn control(&mut self, i: usize) {
        let slot = self.control_slot + i;
        let change = self.controls[i].happen(self.now_s);
        let key = change.next_s.map_or(NEVER, |t| self.event(t, Priority::Control, slot));
        self.calendar.set(slot, key);
        self.change(change);
    }
}
