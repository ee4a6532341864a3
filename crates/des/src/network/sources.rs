//! What events come from: stations, arrivals, thinkers, servers that come and go; and the streams they draw from.

use super::calendar::Heap;
use super::config::{Class, Config};
use super::routes::Way;
use sojourn_dist::{ArrivalTimes, Distribution, Sampler, Stream};

/// Values that are drawn at once.
const BLOCK: usize = 64;

/// A distribution and the stream that it is drawn with, which nothing else draws from: so values are drawn in blocks, in a loop
/// that keeps the stream in registers, and come in the same order as one by one.
#[derive(Debug, Clone)]
pub struct VariateGenerator {
    sampler: Sampler,
    stream: Stream,
    /// The next of the block.
    next: usize,
    block: [f64; BLOCK],
}

impl VariateGenerator {
    pub fn new(sampler: Sampler, stream: Stream) -> VariateGenerator {
        VariateGenerator { sampler, stream, next: BLOCK, block: [0.0; BLOCK] }
    }

    #[inline(always)]
    pub fn draw(&mut self) -> f64 {
        if self.next == BLOCK {
            self.refill();
        }
        self.next += 1;
        self.block[(self.next - 1) % BLOCK]
    }

    #[inline(never)]
    fn refill(&mut self) {
        fill(&self.sampler, &mut self.stream, &mut self.block);
        self.next = 0;
    }

    /// Many at once; not to be mixed with `draw`.
    pub fn fill(&mut self, values: &mut [f64]) {
        fill(&self.sampler, &mut self.stream, values);
    }
}

fn fill(sampler: &Sampler, stream: &mut Stream, values: &mut [f64]) {
    let mut own = stream.clone();
    match sampler {
        Sampler::Exponential(mean) => values.iter_mut().for_each(|v| *v = mean * own.quick_exponential()),
        other => values.iter_mut().for_each(|v| *v = other.draw(&mut own)),
    }
    *stream = own;
}

/// Arrival times from outside, made in blocks as the values of a [`VariateGenerator`].
#[derive(Debug, Clone)]
pub struct BufferedArrivalTimes {
    times: ArrivalTimes,
    block: Vec<f64>,
    next: usize,
    /// Its number among the sources of events.
    pub source: usize,
    /// Where they go, if there is only one way.
    pub only: Way,
}

impl BufferedArrivalTimes {
    pub fn new(times: ArrivalTimes, source: usize, only: Way) -> BufferedArrivalTimes {
        BufferedArrivalTimes { times, block: Vec::new(), next: 0, source, only }
    }

    /// The next one, s; `None` after the last.
    #[inline(always)]
    pub fn next_s(&mut self) -> Option<f64> {
        if self.next == self.block.len() {
            self.refill();
        }
        let time_s = self.block.get(self.next).copied();
        self.next += usize::from(time_s.is_some());
        time_s
    }

    #[inline(never)]
    fn refill(&mut self) {
        self.block.clear();
        self.next = 0;
        self.times.append(BLOCK, &mut self.block);
    }
}

/// Who thinks in a class, and when each will have thought.
#[derive(Debug, Clone)]
pub struct Think {
    pub source: VariateGenerator,
    pub thinking: Heap,
}

/// What a source of events that is no station does when its time has come.
#[derive(Debug, Clone, Copy)]
pub enum EventKind {
    Arrival(usize),
    Think(usize),
    Control(usize),
}

/// Sources of events behind the stations: what exists of arrivals, thinkers and controls.
pub fn event_kinds(config: &Config, controls: usize) -> Vec<EventKind> {
    let classes = || config.classes.iter().enumerate();
    let arrivals = classes().filter(|c| c.1.arrivals.is_some()).map(|c| EventKind::Arrival(c.0));
    let thinkers = classes().filter(|c| c.1.think.is_some()).map(|c| EventKind::Think(c.0));
    arrivals.chain(thinkers).chain((0..controls).map(EventKind::Control)).collect()
}

/// For each class its source of one kind, the first being `first`; 0 where it has none, which is never asked for.
pub fn slots(
    event_kinds: &[EventKind],
    first: usize,
    classes: usize,
    class: impl Fn(&EventKind) -> Option<usize>,
) -> Vec<usize> {
    let slot = |c| event_kinds.iter().position(|h| class(h) == Some(c)).map_or(0, |i| first + i);
    (0..classes).map(slot).collect()
}

pub fn thinks(config: &Config) -> Vec<Option<Think>> {
    let think = |class: &Class| {
        let sampler = Sampler::new(class.think.as_ref()?);
        let source = VariateGenerator::new(sampler, config.stream("think", "", &class.name));
        Some(Think { source, thinking: Heap::default() })
    };
    config.classes.iter().map(think).collect()
}

/// Service times, K×C; 0 where a class has none, which never comes there.
pub fn services(config: &Config) -> Vec<VariateGenerator> {
    (0..config.stations.len()).flat_map(|k| services_at(config, k)).collect()
}

/// Those of station k, by class.
pub fn services_at(config: &Config, k: usize) -> Vec<VariateGenerator> {
    let source = |(class, distribution): (&Class, &Option<Distribution>)| {
        let sampler = distribution.as_ref().map_or(Sampler::Constant(0.0), Sampler::new);
        VariateGenerator::new(sampler, config.stream("service", &config.stations[k].name, &class.name))
    };
    config.classes.iter().zip(&config.service[k]).map(source).collect()
}

/// Arrivals from outside, by class.
pub fn arrivals(config: &Config) -> Vec<Option<ArrivalTimes>> {
    let times = |c: &Class| Some(c.arrivals.as_ref()?.times(config.stream("arrivals", "", &c.name)));
    config.classes.iter().map(times).collect()
}
