//! What a distribution over the states of a network means: numbers present, servers busy, rates of what happens.

use super::network_spec::{NetworkSpec, ServiceRule};
use super::network_state::NetworkState;
use super::state_space::StateSpace;
use super::state_transitions::TransitionWalker;

/// Means under a distribution. By node · classes + class (the last node is outside), or by limit · classes + class.
#[derive(Default)]
pub struct MeanMeasures {
    pub present: Vec<f64>,
    /// Mean of the square of the number present.
    pub square: Vec<f64>,
    /// Mean number of servers at work (a load-dependent station counts as one).
    pub busy: Vec<f64>,
    /// Mean number that waits for a server, by state and not as a difference; shared servers: the share not served.
    pub line: Vec<f64>,
    /// Mean number served, whose server they hold because the next station is full.
    pub blocked: Vec<f64>,
    /// Probability of 0, 1, … open customers in the whole network, those that wait outside for a limit included.
    pub open: Vec<f64>,
    /// Probability of 0, 1, … present, by node.
    pub numbers: Vec<Vec<f64>>,
    /// Mean tokens held, by limit, and customers that wait for one, by class.
    pub held: Vec<f64>,
    pub waiting: Vec<f64>,
    /// Rates of marks in 1/s, by the numbers of `Layout`.
    pub marks: Vec<f64>,
}

/// The measures of distribution `p`.
pub fn measure(spec: &NetworkSpec, explored: &StateSpace, p: &[f64]) -> MeanMeasures {
    let mut walker = TransitionWalker::new(spec);
    walker.marking = true;
    let (nodes, limits, c) = (spec.stations.len(), spec.limits.len(), spec.classes);
    let mut m = MeanMeasures {
        present: vec![0.0; nodes * c],
        square: vec![0.0; nodes * c],
        busy: vec![0.0; nodes * c],
        line: vec![0.0; nodes * c],
        blocked: vec![0.0; nodes * c],
        open: Vec::new(),
        numbers: vec![Vec::new(); nodes],
        held: vec![0.0; limits],
        waiting: vec![0.0; limits * c],
        marks: vec![0.0; walker.at.marks()],
    };
    let (mut state, mut there) = (walker.at.empty(), vec![0.0; nodes * c]);
    for (i, &weight) in p.iter().enumerate().filter(|&(_, &weight)| weight > 0.0) {
        walker.at.decode(explored.keys.key(i), &mut state);
        m.state(&walker, &state, weight, &mut there);
        walker.successors(&state, &mut |rate, next| {
            next.marks.iter().for_each(|&what| m.marks[what as usize] += weight * rate);
        });
    }
    m
}

impl MeanMeasures {
    fn state(&mut self, walker: &TransitionWalker<'_>, state: &NetworkState, weight: f64, there: &mut [f64]) {
        let c = walker.spec.classes;
        there.fill(0.0);
        for k in 0..walker.spec.stations.len() {
            present(walker, state, k, &mut there[k * c..(k + 1) * c]);
            busy(walker, state, k, weight, &mut self.busy[k * c..(k + 1) * c]);
            line(walker, state, k, weight, &mut self.line[k * c..(k + 1) * c]);
        }
        stuck(walker, state, |at| {
            there[at] += 1.0;
            self.blocked[at] += weight;
        });
        let open = usize::from(state.fixed[walker.at.open]);
        self.open.resize(self.open.len().max(open + 1), 0.0);
        self.open[open] += weight;
        for (i, &n) in there.iter().enumerate() {
            self.present[i] += weight * n;
            self.square[i] += weight * n * n;
        }
        for (k, numbers) in self.numbers.iter_mut().enumerate() {
            let n = there[k * c..(k + 1) * c].iter().sum::<f64>() as usize;
            numbers.resize(numbers.len().max(n + 1), 0.0);
            numbers[n] += weight;
        }
        for l in 0..walker.spec.limits.len() {
            self.held[l] += weight * f64::from(state.fixed[walker.at.held + l]);
            for &code in &state.lines[walker.at.queues + l] {
                self.waiting[l * c + walker.at.uncode(code).2] += weight;
            }
        }
    }
}

/// Adds those present at `k` by class, without those stuck there.
fn present(walker: &TransitionWalker<'_>, state: &NetworkState, k: usize, there: &mut [f64]) {
    let station = &walker.spec.stations[k];
    let listed = matches!(station.rule, ServiceRule::Last | ServiceRule::Preemptive);
    if !listed && station.rule != ServiceRule::ForkJoin {
        for (phase, &n) in station.phases.iter().zip(walker.counts(state, k)) {
            there[phase.class] += f64::from(n);
        }
    }
    for &item in &state.lines[k] {
        let item = usize::from(item);
        there[if listed { station.phases[item].class } else { item }] += 1.0;
    }
}

/// Tells of those stuck, at the stations whose servers they hold, as the class that they were served as.
fn stuck(walker: &TransitionWalker<'_>, state: &NetworkState, mut tell: impl FnMut(usize)) {
    for line in &state.lines[walker.at.blocked..walker.at.queues] {
        for &code in line {
            let (from, before, _) = walker.at.uncode(code);
            tell(from * walker.spec.classes + before);
        }
    }
}

/// Adds `weight` times those that wait at `k`, by class.
fn line(walker: &TransitionWalker<'_>, state: &NetworkState, k: usize, weight: f64, line: &mut [f64]) {
    let station = &walker.spec.stations[k];
    match station.rule {
        ServiceRule::Ordered | ServiceRule::Random => {
            state.lines[k].iter().for_each(|&class| line[usize::from(class)] += weight);
        }
        ServiceRule::Last | ServiceRule::Preemptive => {
            let served = walker.served(state, k);
            for (_, &phase) in state.lines[k].iter().enumerate().filter(|(i, _)| !served.contains(i)) {
                line[station.phases[usize::from(phase)].class] += weight;
            }
        }
        ServiceRule::Shared => {
            let all = walker.counts(state, k).iter().map(|&n| usize::from(n)).sum::<usize>();
            let over = all.saturating_sub(station.servers) as f64 / all.max(1) as f64;
            for (phase, &n) in station.phases.iter().zip(walker.counts(state, k)) {
                line[phase.class] += weight * over * f64::from(n);
            }
        }
        ServiceRule::Delay | ServiceRule::ForkJoin => {}
    }
}

/// Adds `weight` times the servers at work at `k`, by class.
fn busy(walker: &TransitionWalker<'_>, state: &NetworkState, k: usize, weight: f64, busy: &mut [f64]) {
    let station = &walker.spec.stations[k];
    match station.rule {
        ServiceRule::Last | ServiceRule::Preemptive => {
            for place in walker.served(state, k) {
                busy[station.phases[usize::from(state.lines[k][place])].class] += weight;
            }
        }
        ServiceRule::ForkJoin => {
            let branches = state.fixed[walker.at.slots[k]..walker.at.slots[k + 1]].iter();
            for &class in branches.filter_map(|&done| state.lines[k].get(usize::from(done))) {
                busy[usize::from(class)] += weight;
            }
        }
        rule => {
            let counts = walker.counts(state, k);
            let all: f64 = counts.iter().map(|&n| f64::from(n)).sum();
            let each = if rule == ServiceRule::Shared {
                all.min(station.servers as f64) / all.max(1.0)
            } else {
                1.0
            };
            for (phase, &n) in station.phases.iter().zip(counts) {
                busy[phase.class] += weight * each * f64::from(n);
            }
        }
    }
}
