//! A station of the recursion: arriving in, served by Lindley or Kiefer and Wolfowitz, out in the order of time.

use super::config::{self, Kind};
use super::sources::VariateGenerator;
use super::statistical_counters::{DepartureTotals, StatisticalCounters};
use std::collections::VecDeque;

/// Who comes to a station, s.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    pub time_s: f64,
    pub entered_s: f64,
    pub class: u32,
    pub origin: u32,
}

/// Who has come, and when its service starts and ends, s.
#[derive(Debug, Clone, Copy)]
pub struct Visit {
    pub arrived_s: f64,
    pub started_s: f64,
    pub end_s: f64,
    pub entered_s: f64,
    pub class: u32,
    pub origin: u32,
}

impl Visit {
    /// The arrival that comes to the next station.
    #[inline]
    pub fn on(&self, class: u32) -> Arrival {
        Arrival { time_s: self.end_s, entered_s: self.entered_s, class, origin: self.origin }
    }
}

#[derive(Debug, Clone, Default)]
pub struct RecursionStation {
    delay: bool,
    /// When each server will be free, s: a heap, the first one on top.
    free_s: Vec<f64>,
    /// Who comes in this window.
    pub arriving: Vec<Arrival>,
    /// Where in `arriving` the flow of another source begins.
    flows: Vec<usize>,
    work_s: Vec<f64>,
    /// Services that have not been counted as started, in the order of arrival, which is that of starts.
    ahead: VecDeque<Visit>,
    /// Services that were started and have not ended.
    running: Vec<Visit>,
    /// Who leaves in this window, in the order of time.
    pub done: Vec<Visit>,
}

impl RecursionStation {
    pub fn new(station: &config::Station) -> RecursionStation {
        let delay = station.kind == Kind::Delay;
        let servers = if delay { 0 } else { station.servers as usize };
        RecursionStation { delay, free_s: vec![0.0; servers], ..RecursionStation::default() }
    }

    /// A source of arriving is finished for this window.
    pub fn mark(&mut self) {
        if self.flows.last().copied().unwrap_or(0) < self.arriving.len() {
            self.flows.push(self.arriving.len());
        }
    }

    /// Flows that meet are merged in the order of time.
    fn merge(&mut self) {
        if self.flows.len() > 1 {
            self.arriving.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        }
        self.flows.clear();
    }

    /// Serves arriving of one class; `start_s` is where the segment began.
    pub fn serve_one(&mut self, source: &mut VariateGenerator, start_s: f64, cell: &mut StatisticalCounters) {
        self.merge();
        self.work_s.clear();
        self.work_s.resize(self.arriving.len(), 0.0);
        source.fill(&mut self.work_s);
        let sum: f64 = self.arriving.iter().map(|g| g.time_s - start_s).sum();
        cell.come_many(self.arriving.len(), sum);
        if let [free] = self.free_s.as_mut_slice() {
            let mut free_s = *free;
            let visits = self.arriving.iter().zip(&self.work_s).map(|(g, work_s)| {
                let started_s = if g.time_s > free_s { g.time_s } else { free_s };
                free_s = started_s + work_s;
                visit(g, started_s, free_s)
            });
            self.ahead.extend(visits);
            *free = free_s;
        } else {
            for (i, g) in self.arriving.iter().enumerate() {
                let (started_s, end_s) = seat(&mut self.free_s, self.delay, g.time_s, self.work_s[i]);
                self.ahead.push_back(visit(g, started_s, end_s));
            }
        }
        self.arriving.clear();
    }

    /// Serves arriving of several classes.
    pub fn serve(
        &mut self,
        sources: &mut [VariateGenerator],
        start_s: f64,
        cells: &mut [StatisticalCounters],
    ) {
        self.merge();
        for g in &self.arriving {
            let class = g.class as usize;
            let work_s = sources[class].draw();
            cells[class].come(g.time_s - start_s);
            let (started_s, end_s) = seat(&mut self.free_s, self.delay, g.time_s, work_s);
            self.ahead.push_back(visit(g, started_s, end_s));
        }
        self.arriving.clear();
    }

    /// Counts what starts and ends before `end_s`; who is done is in `done`, in the order of time.
    pub fn finish(&mut self, end_s: f64, start_s: f64, cells: &mut [StatisticalCounters]) {
        let started = self.ahead.partition_point(|v| v.started_s < end_s);
        if let [cell] = cells {
            let sum: f64 = self.ahead.range(..started).map(|v| v.started_s - start_s).sum();
            cell.start_many(started, sum);
        } else {
            for v in self.ahead.range(..started) {
                cells[v.class as usize].start(v.started_s - start_s);
            }
        }
        self.part(started, end_s);
        if let [cell] = cells {
            let mut sums = DepartureTotals::default();
            for v in &self.done {
                sums.add(v.end_s - start_s, v.end_s - v.arrived_s, v.started_s - v.arrived_s);
            }
            return cell.leave_many(&sums, true);
        }
        for v in &self.done {
            let mut sums = DepartureTotals::default();
            sums.add(v.end_s - start_s, v.end_s - v.arrived_s, v.started_s - v.arrived_s);
            cells[v.class as usize].leave_many(&sums, true);
        }
    }

    /// The first `started` of `ahead` are in service now, or done.
    fn part(&mut self, started: usize, end_s: f64) {
        self.done.append(&mut self.running);
        let (front, back) = self.ahead.as_slices();
        let split = started.min(front.len());
        self.done.extend_from_slice(&front[..split]);
        self.done.extend_from_slice(&back[..started - split]);
        self.ahead.drain(..started);
        if self.free_s.len() == 1 {
            // In the order of time already; at most the last is not done.
            if self.done.last().is_some_and(|v| v.end_s >= end_s) {
                self.running.extend(self.done.pop());
            }
            return;
        }
        self.done.sort_by(|a, b| a.end_s.total_cmp(&b.end_s));
        let ended = self.done.partition_point(|v| v.end_s < end_s);
        self.running.extend(self.done.drain(ended..));
    }
}

#[inline]
fn visit(g: &Arrival, started_s: f64, end_s: f64) -> Visit {
    Visit { arrived_s: g.time_s, started_s, end_s, entered_s: g.entered_s, class: g.class, origin: g.origin }
}

/// Start and end of a service at the server that is free first.
fn seat(free_s: &mut [f64], delay: bool, time_s: f64, work_s: f64) -> (f64, f64) {
    if delay {
        return (time_s, time_s + work_s);
    }
    let started_s = time_s.max(free_s[0]);
    let end_s = started_s + work_s;
    let (mut i, n) = (0, free_s.len());
    loop {
        let left = 2 * i + 1;
        if left >= n {
            break;
        }
        let child = if left + 1 < n && free_s[left + 1] < free_s[left] { left + 1 } else { left };
        if free_s[child] >= end_s {
            break;
        }
        free_s[i] = free_s[child];
        i = child;
    }
    free_s[i] = end_s;
    (started_s, end_s)
}
