//! A station: who is in service, who waits, and what is next; how it serves is in `serve`.

use super::calendar::{self, Heap};
use super::config::{self, Config, Discipline, Kind, OnFull};
use super::limits::Transition;
use super::routes::Way;
use super::sources::{self, VariateGenerator};
use super::statistical_counters::StatisticalCounters;
use sojourn_dist::Stream;
use std::collections::VecDeque;

/// How a station serves; several disciplines share a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceKind {
    /// Servers that finish what they began: FCFS, SIRO, priority without preemption.
    Serve,
    /// Everybody at once.
    Delay,
    /// Processor sharing, and load-dependent stations: service by a clock whose speed depends on who is there.
    Share,
    /// The newcomer may take a server from somebody: LCFS-PR, priority with preemption.
    Preempt,
    /// Tasks in queues of their own.
    Fork,
}

/// How the next one is taken from those who wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Line,
    Ranked,
    Random,
}

/// One class at a station: how long it is served, where it goes, what is counted.
#[derive(Debug, Clone)]
pub struct Flow {
    pub cell: StatisticalCounters,
    pub service: VariateGenerator,
    pub only: Way,
}

#[derive(Debug, Clone)]
pub struct Station {
    /// Its number, which is that of its events too.
    pub index: usize,
    pub way: ServiceKind,
    pub order: Order,
    pub last_come_first: bool,
    /// Servers by the schedule, and how many of them are down.
    pub servers: u32,
    pub down: u32,
    /// How many can be in service at once.
    pub seats: u32,
    /// Seats held by customers that are blocked.
    pub held: u32,
    pub present: u32,
    pub capacity: u32,
    pub on_full: OnFull,
    /// In service: keys are the times of completion, or of the clock at completion (`Share`).
    pub running: Heap,
    pub line: VecDeque<u32>,
    /// Waiting by rank.
    pub ranked: Heap,
    /// Those who wait for room here.
    pub blocked: VecDeque<Transition>,
    pub clock: Clock,
    /// Fork-join: when each branch will be free, s.
    pub branches: Vec<f64>,
    /// By class.
    pub flows: Vec<Flow>,
    /// Chooses whom to serve at random.
    pick: Stream,
}

/// Clocks of a `Share` station: the service that each in service has had since it was last empty (`work`), and the
/// servers that each has occupied since the segment began (`busy`).
#[derive(Debug, Clone, Default)]
pub struct Clock {
    pub work: f64,
    pub busy: f64,
    last_s: f64,
    speed: f64,
    share: f64,
    /// Load-dependent: speed with 1, 2, … present, relative to the first; empty for a queue.
    speeds: Vec<f64>,
}

impl Clock {
    /// Brings the clocks to `now_s`.
    #[inline]
    pub fn advance(&mut self, now_s: f64) {
        let passed = now_s - self.last_s;
        self.work += passed * self.speed;
        self.busy += passed * self.share;
        self.last_s = now_s;
    }
}

impl Station {
    /// Station k of a config that was checked; `only` is where those of a class go, if there is only one way.
    pub fn new(network: &Config, k: usize, only: impl Fn(usize) -> Way) -> Station {
        let config = &network.stations[k];
        let first = config.rates.first().copied().unwrap_or(1.0);
        let services = sources::services_at(network, k).into_iter().enumerate();
        let flows = services.map(|(c, service)| Flow {
            service,
            only: only(c),
            cell: StatisticalCounters::default(),
        });
        let mut station = Station {
            index: k,
            way: way(config),
            order: order(config.discipline),
            last_come_first: config.discipline == Discipline::LcfsPr,
            servers: if config.kind == Kind::LoadDependent { 1 } else { config.servers },
            down: 0,
            seats: 0,
            held: 0,
            present: 0,
            capacity: config.capacity.unwrap_or(u32::MAX),
            on_full: config.on_full,
            running: Heap::default(),
            line: VecDeque::new(),
            ranked: Heap::default(),
            blocked: VecDeque::new(),
            clock: Clock { speeds: config.rates.iter().map(|r| r / first).collect(), ..Clock::default() },
            branches: vec![0.0; config.branches as usize],
            flows: flows.collect(),
            pick: network.stream("pick", &config.name, ""),
        };
        // Sharing has no line; a load-dependent line serves its first only.
        let everybody = match station.way {
            ServiceKind::Delay | ServiceKind::Fork => true,
            ServiceKind::Share => config.discipline == Discipline::Ps,
            ServiceKind::Serve | ServiceKind::Preempt => false,
        };
        station.seats = if everybody { u32::MAX } else { station.servers };
        station
    }

    /// Each class's cell, and the service that one customer could have had since the segment began, of `length_s`.
    pub fn cells(&mut self, length_s: f64) -> impl Iterator<Item = (&mut StatisticalCounters, f64)> {
        let clock = if self.way == ServiceKind::Share { self.clock.busy } else { length_s };
        self.flows.iter_mut().map(move |flow| (&mut flow.cell, clock))
    }

    /// After `servers` or `down` changed.
    pub fn reseat(&mut self) {
        if self.seats != u32::MAX {
            self.seats = self.servers.saturating_sub(self.down);
        }
    }

    /// Whether a service could begin now.
    #[inline(always)]
    pub fn idle(&self) -> bool {
        self.running.len() as u64 + u64::from(self.held) < u64::from(self.seats)
    }

    #[inline]
    pub fn full(&self) -> bool {
        self.present >= self.capacity
    }

    /// Takes the next one from those who wait.
    #[inline(always)]
    pub fn take(&mut self) -> Option<u32> {
        match self.order {
            Order::Line => self.line.pop_front(),
            Order::Ranked => self.ranked.pop().map(|e| e.1),
            Order::Random if self.line.len() > 1 => {
                let pick = self.pick.below(self.line.len() as u64) as usize;
                self.line.swap_remove_back(pick)
            }
            Order::Random => self.line.pop_front(),
        }
    }

    /// Sets the speeds of the clocks for those who are there now; `advance` has been called.
    pub fn set_speeds(&mut self) {
        let running = self.running.len();
        if running == 0 {
            (self.clock.work, self.clock.speed, self.clock.share) = (0.0, 0.0, 0.0);
            return;
        }
        let n = running as f64;
        let up = f64::from(self.servers.saturating_sub(self.down));
        self.clock.share = (up / n).min(1.0);
        let there = (self.present - self.held) as usize;
        self.clock.speed = match self.clock.speeds.get(there.min(self.clock.speeds.len()).wrapping_sub(1)) {
            Some(speed) => up * speed / n,
            None => self.clock.share,
        };
    }

    /// When the first in service ends, s; none if none does.
    #[inline]
    pub fn next_s(&self, now_s: f64) -> Option<f64> {
        let first = self.running.first();
        if first == calendar::NEVER || self.clock.speed <= 0.0 {
            return None;
        }
        Some(now_s + ((calendar::time(first) - self.clock.work) / self.clock.speed).max(0.0))
    }
}

fn way(config: &config::Station) -> ServiceKind {
    match (config.kind, config.discipline) {
        (Kind::Delay, _) => ServiceKind::Delay,
        (Kind::ForkJoin, _) => ServiceKind::Fork,
        (Kind::LoadDependent, _) | (_, Discipline::Ps) => ServiceKind::Share,
        (_, Discipline::LcfsPr | Discipline::PriorityPreemptive) => ServiceKind::Preempt,
        _ => ServiceKind::Serve,
    }
}

fn order(discipline: Discipline) -> Order {
    match discipline {
        Discipline::Siro => Order::Random,
        Discipline::Priority | Discipline::PriorityPreemptive | Discipline::LcfsPr => Order::Ranked,
        Discipline::Fcfs | Discipline::Ps => Order::Line,
    }
}
