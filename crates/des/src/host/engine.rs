//! The loop over events: the earliest of what the cores, the delayed requests, the arrivals and the sampler have.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sojourn_dist::{Distribution, Schedule, Stream};

use super::config::{Config, HostError, HostLoad, Placement, Steering};
use super::core::{CompletedWork, Core};
use super::host_records::SimulatedRun;
use super::page_scheduler::PageScheduler;

const LEAST_PAUSE_S: f64 = 1e-3;
const NOBODY: u32 = u32::MAX;

/// Simulates a host; the same configuration gives the same run, whatever the machine.
pub fn simulate(config: &Config) -> Result<SimulatedRun, HostError> {
    config.validate()?;
    let mut host = HostSimulation::new(config);
    while host.step() {}
    host.sample();
    host.run.end_s = host.now_s;
    Ok(host.run)
}

/// Something that happens later, in order of (time, number of the entry).
type Later = Reverse<(OrderedTime, u64, ScheduledEvent)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ScheduledEvent {
    /// A page reaches another core.
    Page(u32),
    /// A user has thought.
    User(u32),
}

/// A time that is never NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OrderedTime(f64);

impl Eq for OrderedTime {}

impl PartialOrd for OrderedTime {
    fn partial_cmp(&self, other: &OrderedTime) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedTime {
    fn cmp(&self, other: &OrderedTime) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

struct HostSimulation<'c> {
    config: &'c Config,
    think: Option<&'c Distribution>,
    stay: f64,
    cores: Vec<Core>,
    arrivals: Option<Schedule>,
    arrival_s: f64,
    later: BinaryHeap<Later>,
    entries: u64,
    sample_at_s: f64,
    now_s: f64,
    steering: Stream,
    interrupts: Stream,
    pages: Stream,
    placing: Stream,
    thinking: Stream,
    run: SimulatedRun,
}

impl<'c> HostSimulation<'c> {
    fn new(config: &'c Config) -> HostSimulation<'c> {
        let stream = |name| Stream::new(config.seed, name);
        let pages = PageScheduler::new(config.threads_per_core, config.quantum_s, config.switch_s);
        let (arrivals, think) = match &config.load {
            HostLoad::Open { arrivals } => {
                (Some(arrivals.schedule(config.seed, "arrivals", config.duration_s)), None)
            }
            HostLoad::Closed { think, .. } => (None, Some(think)),
        };
        let mut host = HostSimulation {
            config,
            think,
            stay: stay(config),
            cores: vec![Core::new(pages); config.cores],
            arrivals,
            arrival_s: 0.0,
            later: BinaryHeap::new(),
            entries: 0,
            sample_at_s: 0.0,
            now_s: 0.0,
            steering: stream("steering"),
            interrupts: stream("interrupt work"),
            pages: stream("page work"),
            placing: stream("placement"),
            thinking: stream("think times"),
            run: SimulatedRun { cores: config.cores, ..SimulatedRun::default() },
        };
        host.next_arrival();
        if let HostLoad::Closed { users, .. } = &config.load {
            (0..*users).for_each(|user| host.put(0.0, ScheduledEvent::User(user)));
        }
        host
    }

    /// Handles the earliest event; false when nothing is left to happen.
    fn step(&mut self) -> bool {
        let (core, core_s) = self.first_core();
        let later_s = self.later.peek().map_or(f64::INFINITY, |Reverse((at, ..))| at.0);
        let next_s = core_s.min(later_s).min(self.arrival_s);
        if next_s == f64::INFINITY {
            return false;
        }
        if self.sample_at_s < next_s {
            self.now_s = self.sample_at_s;
            self.sample();
            self.sample_at_s = self.run.samples.t_s.len() as f64 * self.config.sample_s;
            return true;
        }
        self.now_s = next_s;
        self.run.events += 1;
        if core_s <= next_s {
            self.core_event(core);
        } else if later_s <= next_s {
            self.later_event();
        } else {
            let nic = self.choose_nic();
            self.arrive(nic, NOBODY);
            self.next_arrival();
        }
        true
    }

    fn first_core(&self) -> (usize, f64) {
        let mut first = (0, f64::INFINITY);
        for (number, core) in self.cores.iter().enumerate() {
            if core.next_s < first.1 {
                first = (number, core.next_s);
            }
        }
        first
    }

    fn next_arrival(&mut self) {
        self.arrival_s = self.arrivals.as_mut().and_then(Iterator::next).unwrap_or(f64::INFINITY);
    }

    fn put(&mut self, at_s: f64, what: ScheduledEvent) {
        self.entries += 1;
        self.later.push(Reverse((OrderedTime(at_s), self.entries, what)));
    }

    fn choose_nic(&mut self) -> usize {
        match self.config.steering {
            Steering::Hash => self.steering.below(self.config.nics as u64) as usize,
            Steering::Even => self.run.records.len() % self.config.nics,
        }
    }

    /// A request comes to a NIC. Its work is drawn here, in order of arrival: two hosts with one seed see the same.
    fn arrive(&mut self, nic: usize, user: u32) {
        let interrupt_s = self.config.interrupt.sample(&mut self.interrupts);
        let page_s = self.config.page.sample(&mut self.pages);
        let request = self.run.records.begin(self.now_s, nic, user, interrupt_s, page_s);
        if self.config.capacity.is_some_and(|most| self.cores[nic].count() >= most) {
            self.run.records.refused[request as usize] = 1;
            self.answer(user, LEAST_PAUSE_S);
            return;
        }
        self.cores[nic].interrupt(self.now_s, request, interrupt_s);
    }

    fn core_event(&mut self, core: usize) {
        match self.cores[core].happen() {
            CompletedWork::Nothing => {}
            CompletedWork::Interrupt(request) => self.place(request, core),
            CompletedWork::Page(request, taken) => {
                let index = request as usize;
                self.run.records.done_s[index] = self.now_s;
                if let Some(next) = taken {
                    self.run.records.start_s[next as usize] = self.now_s;
                }
                self.answer(self.run.records.user[index], 0.0);
            }
        }
    }

    fn place(&mut self, request: u32, from: usize) {
        let to = self.choose_core(from);
        let index = request as usize;
        self.run.records.ready_s[index] = self.now_s;
        self.run.records.core[index] = to as u16;
        if to == from || self.config.crossing_s == 0.0 {
            self.begin_page(request);
        } else {
            self.put(self.now_s + self.config.crossing_s, ScheduledEvent::Page(request));
        }
    }

    fn begin_page(&mut self, request: u32) {
        let index = request as usize;
        let records = &mut self.run.records;
        let core = &mut self.cores[usize::from(records.core[index])];
        if core.page(self.now_s, request, records.page_s[index]) {
            records.start_s[index] = self.now_s;
        }
    }

    fn choose_core(&mut self, from: usize) -> usize {
        let (cores, nics) = (self.config.cores, self.config.nics);
        match self.config.placement {
            Placement::Uniform => self.placing.below(cores as u64) as usize,
            Placement::Pinned { .. } => {
                if cores == nics || self.placing.uniform() < self.stay {
                    return from;
                }
                nics + self.placing.below((cores - nics) as u64) as usize
            }
            Placement::LeastLoaded => {
                let around = (0..cores).map(|step| (from + step) % cores);
                around.min_by_key(|core| self.cores[*core].count()).unwrap_or(from)
            }
        }
    }

    fn later_event(&mut self) {
        match self.later.pop() {
            Some(Reverse((_, _, ScheduledEvent::Page(request)))) => self.begin_page(request),
            Some(Reverse((_, _, ScheduledEvent::User(user)))) => {
                self.arrive(user as usize % self.config.nics, user)
            }
            None => {}
        }
    }

    /// A user has an answer, thinks, and sends again unless the time is over.
    fn answer(&mut self, user: u32, least_s: f64) {
        let Some(think) = self.think else { return };
        let at_s = self.now_s + think.sample(&mut self.thinking).max(least_s);
        if at_s < self.config.duration_s {
            self.put(at_s, ScheduledEvent::User(user));
        }
    }

    fn sample(&mut self) {
        let samples = &mut self.run.samples;
        if samples.t_s.last() == Some(&self.now_s) {
            return;
        }
        samples.t_s.push(self.now_s);
        for core in &mut self.cores {
            core.advance(self.now_s);
            samples.user_s.push(core.user_s);
            samples.system_s.push(core.system_s);
            samples.softirq_s.push(core.softirq_s);
        }
    }
}

fn stay(config: &Config) -> f64 {
    match config.placement {
        Placement::Pinned { stay: Some(p) } => p,
        _ => config.nics as f64 / config.cores as f64,
    }
}
