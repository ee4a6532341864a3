//! The engine by recursion: open networks of first-come-first-served queues and delays that lead only forward.
//!
//! With one server, a service starts at the later of arrival and the end of the service before (Lindley, The theory of
//! queues with a single server, 1952); with m, when the first of m is free (Kiefer and Wolfowitz, On the theory of
//! queues with many servers, 1955). No calendar is needed: stations are taken in the order of the flow, a window of
//! time after the other, so that flows that meet can be merged in the order of time. Streams are those of the engine
//! by events, so that both see the same customers.

use super::config::{Config, Discipline, Engine, Kind};
use super::recursion_station::{Arrival, RecursionStation, Visit};
use super::routes::Routes;
use super::sources::{self, VariateGenerator};
use super::statistical_counters::DepartureTotals;
use super::statistics::Statistics;
use sojourn_dist::{ArrivalProcess, ArrivalTimes, NonRenewalProcess};

/// Arrivals in a window that are aimed at: enough to spread its cost, few enough for the first-level cache.
const AIM: usize = 512;

#[derive(Debug, Clone)]
pub struct Recursion {
    pub now_s: f64,
    pub completions: u64,
    pub events: u64,
    classes: usize,
    window_s: f64,
    /// Stations in the order of the flow.
    order: Vec<usize>,
    stations: Vec<RecursionStation>,
    service: Vec<VariateGenerator>,
    sources: Vec<Option<(ArrivalTimes, f64)>>,
    routes: Routes,
    inside: u64,
    /// A buffer that is used again.
    times_s: Vec<f64>,
    pub statistics: Statistics,
}

/// The stations in the order of the flow, if the recursion can do this model.
pub fn order(config: &Config) -> Option<Vec<usize>> {
    let plain = config.stations.iter().all(|s| {
        let queue = s.kind == Kind::Queue && s.discipline == Discipline::Fcfs;
        let still = s.capacity.is_none() && s.schedule.is_empty() && s.breakdowns.is_none();
        still && (queue || s.kind == Kind::Delay)
    });
    let trace = |p: &ArrivalProcess| matches!(p, ArrivalProcess::NonRenewal(NonRenewalProcess::Trace { .. }));
    let open =
        config.classes.iter().all(|c| c.population.is_none() && !c.arrivals.as_ref().is_some_and(trace));
    let arrives = config.classes.iter().any(|c| c.arrivals.is_some());
    let told = config.engine != Engine::Events
        && config.requests == 0
        && config.routes.iter().all(|r| r.choice.is_none());
    if !(plain && open && arrives && told && config.limits.is_empty()) {
        return None;
    }
    sorted(config)
}

/// Topological order of the stations; none where the flow comes back.
fn sorted(config: &Config) -> Option<Vec<usize>> {
    let k = config.stations.len();
    let mut order = Vec::with_capacity(k);
    while order.len() < k {
        let fed = |to: usize| {
            config.routes.iter().any(|r| {
                r.node < k && !order.contains(&r.node) && r.to.iter().any(|t| t.0 == to && t.2 > 0.0)
            })
        };
        let next = (0..k).find(|s| !order.contains(s) && !fed(*s))?;
        order.push(next);
    }
    Some(order)
}

impl Recursion {
    /// Of a config that was checked and has an `order`.
    pub fn new(config: &Config, order: Vec<usize>) -> Recursion {
        let start = |times: Option<ArrivalTimes>| {
            let mut times = times?;
            let first_s = times.next()?;
            Some((times, first_s))
        };
        Recursion {
            now_s: 0.0,
            completions: 0,
            events: 0,
            classes: config.classes.len(),
            window_s: config.batch_s,
            order,
            stations: config.stations.iter().map(RecursionStation::new).collect(),
            service: sources::services(config),
            sources: sources::arrivals(config).into_iter().map(start).collect(),
            routes: Routes::new(config),
            inside: 0,
            times_s: Vec::new(),
            statistics: Statistics::new(config, true),
        }
    }

    pub fn customers(&self) -> usize {
        self.inside as usize
    }

    /// As for the engine by events, but `completions` and `most` are looked at after each window only.
    pub fn run(&mut self, until_s: f64, completions: u64, most: u64) -> bool {
        let last = self.events.saturating_add(most);
        while self.completions < completions && self.events < last && self.now_s < until_s {
            let end_s = (self.now_s + self.window_s).min(self.statistics.segment_end_s).min(until_s);
            let whole = end_s < self.statistics.segment_end_s;
            let alone = self.now_s <= self.statistics.segment_start_s;
            let arrived = self.window(end_s);
            // Short windows at the ends of segments say nothing about the rate.
            if arrived > 2 * AIM {
                self.window_s *= 0.5;
            } else if arrived < AIM / 2 && whole && end_s < until_s {
                self.window_s *= 2.0;
            }
            self.window_s = self.window_s.max(1e-12 * self.now_s);
            if self.now_s >= self.statistics.segment_end_s {
                let length_s = self.statistics.segment_end_s - self.statistics.segment_start_s;
                self.statistics.close(std::iter::empty());
                // Only where the segment was one window: its last piece is short whatever the rate, and a window as
                // long as a segment of a long run would hold a million customers at once.
                if alone && arrived < AIM / 2 {
                    self.window_s = self.window_s.max(2.0 * length_s);
                }
            }
        }
        true
    }

    /// All that happens before `end_s`; returns how many arrived.
    fn window(&mut self, end_s: f64) -> usize {
        let mut arrived = 0;
        for class in 0..self.classes {
            arrived += self.source(class, end_s);
        }
        self.inside = self.inside.wrapping_add(arrived as u64); // whom `source` already let out were taken off
        self.events += arrived as u64;
        for i in 0..self.order.len() {
            self.station(self.order[i], end_s);
        }
        self.now_s = end_s;
        arrived
    }

    /// Arrivals of a class from outside before `end_s`.
    fn source(&mut self, class: usize, end_s: f64) -> usize {
        let Some((times, next_s)) = &mut self.sources[class] else { return 0 };
        let (start_s, outside) = (self.statistics.segment_start_s, self.stations.len());
        let mut times_s = std::mem::take(&mut self.times_s);
        times.before(end_s, next_s, &mut times_s);
        let cell = &mut self.statistics.cells[outside * self.classes + class];
        cell.come_many(times_s.len(), times_s.iter().map(|t| t - start_s).sum());
        let arrival = |to: usize, time_s: f64| Arrival {
            time_s,
            entered_s: time_s,
            class: to as u32,
            origin: class as u32,
        };
        if let Some((node, to)) = self.routes.only(outside, class).filter(|(node, _)| *node < outside) {
            self.stations[node].arriving.extend(times_s.iter().map(|t| arrival(to, *t)));
        } else {
            let (mut through_none, mut sums) = (0, DepartureTotals::default());
            for time_s in &times_s {
                let (node, to) = self.routes.next(outside, class, |_| 0);
                if let Some(station) = self.stations.get_mut(node) {
                    station.arriving.push(arrival(to, *time_s));
                } else {
                    sums.add(time_s - start_s, 0.0, 0.0);
                    through_none += 1;
                }
            }
            cell.leave_many(&sums, false);
            self.completions += through_none;
            self.inside = self.inside.wrapping_sub(through_none);
            let cell = outside * self.classes + class;
            self.statistics.record_many(cell, (0..through_none).map(|_| 0.0));
        }
        let arrived = times_s.len();
        times_s.clear();
        self.times_s = times_s;
        self.stations.iter_mut().for_each(|l| l.mark());
        arrived
    }

    /// Station k: who comes before `end_s` is served, who leaves before it goes on.
    fn station(&mut self, k: usize, end_s: f64) {
        let (first, start_s) = (k * self.classes, self.statistics.segment_start_s);
        let mut station = std::mem::take(&mut self.stations[k]);
        if self.classes == 1 {
            // One class: the sums stay in registers.
            let mut cell = std::mem::take(&mut self.statistics.cells[first]);
            station.serve_one(&mut self.service[first], start_s, &mut cell);
            station.finish(end_s, start_s, std::slice::from_mut(&mut cell));
            self.statistics.cells[first] = cell;
        } else {
            let cells = &mut self.statistics.cells[first..first + self.classes];
            station.serve(&mut self.service[first..first + self.classes], start_s, cells);
            station.finish(end_s, start_s, cells);
        }
        self.events += station.done.len() as u64;
        self.on(k, &mut station, start_s);
        self.stations[k] = station;
    }

    /// Those who are done at k go to the next station, or out.
    fn on(&mut self, k: usize, station: &mut RecursionStation, start_s: f64) {
        if self.classes == 1 {
            self.statistics.record_many(k, station.done.iter().map(|v| v.end_s - v.arrived_s));
        } else if (0..self.classes).any(|c| self.statistics.records(k * self.classes + c)) {
            for v in &station.done {
                let response_s = std::iter::once(v.end_s - v.arrived_s);
                self.statistics.record_many(k * self.classes + v.class as usize, response_s);
            }
        }
        let outside = self.stations.len();
        match self.routes.only(k, 0).filter(|_| self.classes == 1) {
            Some((node, _)) if node == outside => self.out(&station.done, start_s),
            Some((node, _)) => {
                self.stations[node].arriving.extend(station.done.iter().map(|v| v.on(v.class)))
            }
            None => {
                for v in &station.done {
                    let (node, class) = self.routes.next(k, v.class as usize, |_| 0);
                    match self.stations.get_mut(node) {
                        Some(next) => next.arriving.push(v.on(class as u32)),
                        None => self.out(std::slice::from_ref(v), start_s),
                    }
                }
            }
        }
        station.done.clear();
        self.stations.iter_mut().for_each(|l| l.mark());
    }

    /// Passes end, all of one origin.
    fn out(&mut self, done: &[Visit], start_s: f64) {
        let Some(first) = done.first() else { return };
        let cell = self.stations.len() * self.classes + first.origin as usize;
        let mut sums = DepartureTotals::default();
        for v in done {
            sums.add(v.end_s - start_s, v.end_s - v.entered_s, 0.0);
        }
        self.statistics.cells[cell].leave_many(&sums, false);
        self.statistics.record_many(cell, done.iter().map(|v| v.end_s - v.entered_s));
        self.completions += done.len() as u64;
        self.inside -= done.len() as u64;
    }
}
