//! What a distribution over the states of a network means: numbers present, servers busy, rates of what happens.

use super::network_spec::{NetworkSpec, ServiceRule};
use super::network_state::NetworkState;
use super::state_space::StateKeys;
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

/// The measures of each of `laws` over the states, where clocks have its `rates`; each state is read once for all.
pub fn measure(
    spec: &NetworkSpec,
    keys: &StateKeys,
    laws: &[&[f64]],
    rates: &[Vec<f64>],
) -> Vec<MeanMeasures> {
    let mut walker = TransitionWalker::new(spec);
    walker.marking = true;
    let mut all: Vec<MeanMeasures> = laws.iter().map(|_| MeanMeasures::none(&walker)).collect();
    let (mut state, mut numbers, mut marks) = (walker.at.empty(), StateNumbers::default(), Vec::new());
    for i in (0..keys.len()).filter(|&i| laws.iter().any(|p| p[i] > 0.0)) {
        walker.at.decode(keys.key(i), &mut state);
        numbers.read(&walker, &state);
        marks.clear();
        walker.successors(&state, &mut |rate, next| {
            marks.extend(next.marks.iter().map(|&what| (what as usize, rate)));
        });
        for ((m, p), rates) in all.iter_mut().zip(laws).zip(rates).filter(|((_, p), _)| p[i] > 0.0) {
            m.add(&numbers, p[i]);
            for (what, rate) in &marks {
                m.marks[*what] += p[i] * rate.times * rates[rate.clock];
            }
        }
    }
    all
}

/// What is in one state; the letters of `MeanMeasures`.
#[derive(Default)]
struct StateNumbers {
    present: Vec<f64>,
    busy: Vec<f64>,
    line: Vec<f64>,
    blocked: Vec<f64>,
    open: usize,
    /// By node.
    numbers: Vec<usize>,
    held: Vec<f64>,
    waiting: Vec<f64>,
}

impl StateNumbers {
    fn read(&mut self, walker: &TransitionWalker<'_>, state: &NetworkState) {
        let (c, nodes) = (walker.spec.classes, walker.spec.stations.len());
        for of_nodes in [&mut self.present, &mut self.busy, &mut self.line, &mut self.blocked] {
            of_nodes.clear();
            of_nodes.resize(nodes * c, 0.0);
        }
        for k in 0..nodes {
            let own = k * c..(k + 1) * c;
            present(walker, state, k, &mut self.present[own.clone()]);
            busy(walker, state, k, &mut self.busy[own.clone()]);
            line(walker, state, k, &mut self.line[own]);
        }
        stuck(walker, state, |at| {
            self.present[at] += 1.0;
            self.blocked[at] += 1.0;
        });
        self.open = usize::from(state.fixed[walker.at.open]);
        self.numbers.clear();
        self.numbers.extend(self.present.chunks(c).map(|own| own.iter().sum::<f64>() as usize));
        self.held.clear();
        self.waiting.clear();
        for l in 0..walker.spec.limits.len() {
            self.held.push(f64::from(state.fixed[walker.at.held + l]));
            self.waiting.resize((l + 1) * c, 0.0);
            for &code in &state.lines[walker.at.queues + l] {
                self.waiting[l * c + walker.at.uncode(code).2] += 1.0;
            }
        }
    }
}

impl MeanMeasures {
    fn none(walker: &TransitionWalker<'_>) -> Self {
        let (nodes, limits, c) = (walker.spec.stations.len(), walker.spec.limits.len(), walker.spec.classes);
        let of_nodes = || vec![0.0; nodes * c];
        Self {
            present: of_nodes(),
            square: of_nodes(),
            busy: of_nodes(),
            line: of_nodes(),
            blocked: of_nodes(),
            open: Vec::new(),
            numbers: vec![Vec::new(); nodes],
            held: vec![0.0; limits],
            waiting: vec![0.0; limits * c],
            marks: vec![0.0; walker.at.marks()],
        }
    }

    fn add(&mut self, state: &StateNumbers, weight: f64) {
        for (mean, there) in [
            (&mut self.present, &state.present),
            (&mut self.busy, &state.busy),
            (&mut self.line, &state.line),
            (&mut self.blocked, &state.blocked),
            (&mut self.held, &state.held),
            (&mut self.waiting, &state.waiting),
        ] {
            mean.iter_mut().zip(there).for_each(|(m, &n)| *m += weight * n);
        }
        self.square.iter_mut().zip(&state.present).for_each(|(m, &n)| *m += weight * n * n);
        add_at(&mut self.open, state.open, weight);
        self.numbers.iter_mut().zip(&state.numbers).for_each(|(own, &n)| add_at(own, n, weight));
    }
}

fn add_at(shares: &mut Vec<f64>, n: usize, weight: f64) {
    shares.resize(shares.len().max(n + 1), 0.0);
    shares[n] += weight;
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

/// Adds those that wait at `k`, by class.
fn line(walker: &TransitionWalker<'_>, state: &NetworkState, k: usize, line: &mut [f64]) {
    let station = &walker.spec.stations[k];
    match station.rule {
        ServiceRule::Ordered | ServiceRule::Random => {
            state.lines[k].iter().for_each(|&class| line[usize::from(class)] += 1.0);
        }
        ServiceRule::Last | ServiceRule::Preemptive => {
            let served = walker.served(state, k);
            for (_, &phase) in state.lines[k].iter().enumerate().filter(|(i, _)| !served.contains(i)) {
                line[station.phases[usize::from(phase)].class] += 1.0;
            }
        }
        ServiceRule::Shared => {
            let all = walker.counts(state, k).iter().map(|&n| usize::from(n)).sum::<usize>();
            let over = all.saturating_sub(station.servers) as f64 / all.max(1) as f64;
            for (phase, &n) in station.phases.iter().zip(walker.counts(state, k)) {
                line[phase.class] += over * f64::from(n);
            }
        }
        ServiceRule::Delay | ServiceRule::ForkJoin => {}
    }
}

/// Adds the servers at work at `k`, by class.
fn busy(walker: &TransitionWalker<'_>, state: &NetworkState, k: usize, busy: &mut [f64]) {
    let station = &walker.spec.stations[k];
    match station.rule {
        ServiceRule::Last | ServiceRule::Preemptive => {
            for place in walker.served(state, k) {
                busy[station.phases[usize::from(state.lines[k][place])].class] += 1.0;
            }
        }
        ServiceRule::ForkJoin => {
            let branches = state.fixed[walker.at.slots[k]..walker.at.slots[k + 1]].iter();
            for &class in branches.filter_map(|&done| state.lines[k].get(usize::from(done))) {
                busy[usize::from(class)] += 1.0;
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
                busy[phase.class] += each * f64::from(n);
            }
        }
    }
}
