//! From a state to the next ones: who ends a phase or a service, who arrives.

use super::network_spec::{NetworkSpec, RouteTarget, ServiceRule};
use super::network_state::{CustomerMove, NetworkState, StateLayout};
use super::transition_rates::{Clocks, TransitionRate};

/// Walks the states of a network. With `marking` the states that it emits say what happened.
pub struct TransitionWalker<'a> {
    pub spec: &'a NetworkSpec,
    pub at: StateLayout,
    pub clocks: Clocks,
    pub marking: bool,
}

/// Takes a rate and where it leads.
pub type Emit<'e> = dyn FnMut(TransitionRate, &NetworkState) + 'e;

impl<'a> TransitionWalker<'a> {
    pub fn new(spec: &'a NetworkSpec) -> Self {
        Self { spec, at: StateLayout::new(spec), clocks: Clocks::of(spec), marking: false }
    }

    pub fn mark(&self, state: &mut NetworkState, what: usize) {
        if self.marking {
            state.marks.push(what as u32);
        }
    }

    /// All transitions out of `state`; a target may come more than once.
    pub fn successors(&self, state: &NetworkState, emit: &mut Emit<'_>) {
        for k in 0..self.spec.stations.len() {
            match self.spec.stations[k].rule {
                ServiceRule::Last | ServiceRule::Preemptive => self.listed(state, k, emit),
                ServiceRule::ForkJoin => self.branches(state, k, emit),
                _ => self.counted(state, k, emit),
            }
        }
        for i in 0..self.spec.sources.len() {
            self.source(state, i, emit);
        }
    }

    /// Customers present at `k`, those stuck there included.
    pub fn number(&self, state: &NetworkState, k: usize) -> usize {
        let jobs = match self.spec.stations[k].rule {
            ServiceRule::Last | ServiceRule::Preemptive | ServiceRule::ForkJoin => 0,
            _ => self.counts(state, k).iter().map(|&n| usize::from(n)).sum(),
        };
        jobs + state.lines[k].len() + usize::from(state.fixed[self.at.stuck + k])
    }

    pub fn counts<'s>(&self, state: &'s NetworkState, k: usize) -> &'s [u16] {
        &state.fixed[self.at.slots[k]..self.at.slots[k + 1]]
    }

    /// Places in the line of `k` that are served, where interrupted jobs keep their phase.
    pub fn served(&self, state: &NetworkState, k: usize) -> std::ops::Range<usize> {
        let (n, m) = (state.lines[k].len(), self.spec.stations[k].servers);
        match self.spec.stations[k].rule {
            ServiceRule::Last => n.saturating_sub(m)..n,
            _ => 0..n.min(m),
        }
    }

    fn counted(&self, state: &NetworkState, k: usize, emit: &mut Emit<'_>) {
        let station = &self.spec.stations[k];
        let first = self.at.slots[k];
        let scale = if station.speed.is_empty() { 1.0 } else { station.scale(self.number(state, k)) };
        for (t, phase) in station.phases.iter().enumerate().filter(|&(t, _)| state.fixed[first + t] > 0) {
            let times = scale * f64::from(state.fixed[first + t]);
            for (n, &(to, _)) in phase.moves.iter().enumerate() {
                let mut next = state.clone();
                next.fixed[first + t] -= 1;
                next.fixed[first + to] += 1;
                emit(TransitionRate { clock: self.clocks.moved(k, t, n), times }, &next);
            }
            if phase.done > 0.0 {
                let mut next = state.clone();
                next.fixed[first + t] -= 1;
                let clock = self.clocks.done(k, t);
                self.leave(&next, k, phase.class, TransitionRate { clock, times }, emit);
            }
        }
    }

    fn listed(&self, state: &NetworkState, k: usize, emit: &mut Emit<'_>) {
        let station = &self.spec.stations[k];
        let times = station.scale(state.lines[k].len());
        for place in self.served(state, k) {
            let t = usize::from(state.lines[k][place]);
            let phase = &station.phases[t];
            for (n, &(to, _)) in phase.moves.iter().enumerate() {
                let mut next = state.clone();
                next.lines[k][place] = to as u16;
                emit(TransitionRate { clock: self.clocks.moved(k, t, n), times }, &next);
            }
            if phase.done > 0.0 {
                let mut next = state.clone();
                next.lines[k].remove(place);
                let clock = self.clocks.done(k, t);
                self.leave(&next, k, phase.class, TransitionRate { clock, times }, emit);
            }
        }
    }

    /// Fork-join: slot b counts the jobs from the front of the line that branch b has done; equal branches are one
    /// state, so slots are kept in order.
    fn branches(&self, state: &NetworkState, k: usize, emit: &mut Emit<'_>) {
        let station = &self.spec.stations[k];
        let slots = self.at.slots[k]..self.at.slots[k + 1];
        for b in slots.clone() {
            let Some(&class) = state.lines[k].get(usize::from(state.fixed[b])) else { continue };
            let class = usize::from(class);
            let Some(t) = station.phases.iter().position(|p| p.class == class) else { continue };
            let rate = TransitionRate { clock: self.clocks.done(k, t), times: 1.0 };
            let mut next = state.clone();
            next.fixed[b] += 1;
            next.fixed[slots.clone()].sort_unstable();
            if next.fixed[slots.start] == 0 {
                emit(rate, &next);
                continue;
            }
            next.fixed[slots.clone()].iter_mut().for_each(|n| *n -= 1);
            let first = usize::from(next.lines[k].remove(0));
            self.leave(&next, k, first, rate, emit);
        }
    }

    fn source(&self, state: &NetworkState, i: usize, emit: &mut Emit<'_>) {
        let (source, place) = (&self.spec.sources[i], self.at.sources + i);
        let phase = usize::from(state.fixed[place]);
        let rate = |n| TransitionRate { clock: self.clocks.changed(i, phase, n), times: 1.0 };
        for (n, &(to, _)) in source.silent[phase].iter().enumerate() {
            let mut next = state.clone();
            next.fixed[place] = to as u16;
            emit(rate(n), &next);
        }
        let silent = source.silent[phase].len();
        for (n, &(to, _)) in source.arriving[phase].iter().enumerate() {
            let rate = rate(silent + n);
            let mut next = state.clone();
            next.fixed[place] = to as u16;
            if usize::from(next.fixed[self.at.open]) >= self.spec.most_open {
                self.mark(&mut next, self.at.cut(source.class));
                emit(rate, &next);
            } else {
                next.fixed[self.at.open] += 1;
                self.leave(&next, self.spec.outside(), source.class, rate, emit);
            }
        }
    }

    /// A customer has ended its service at `k` (and is no longer in `state` there): to each place it may go next.
    fn leave(&self, state: &NetworkState, k: usize, class: usize, rate: TransitionRate, emit: &mut Emit<'_>) {
        let number = k * self.spec.classes + class;
        let targets = &self.spec.routes[number];
        let least = if self.spec.shortest[number] {
            targets.iter().map(|t| self.number(state, t.node)).min()
        } else {
            None
        };
        let chosen = |t: &&RouteTarget| least.is_none_or(|n| self.number(state, t.node) == n);
        let whole: f64 = targets.iter().filter(chosen).map(|t| t.p).sum();
        for target in targets.iter().filter(chosen) {
            let mut next = state.clone();
            self.mark(&mut next, self.at.done(k, class));
            self.go(&mut next, k, class, target);
            let share = if least.is_some() { target.p / whole } else { target.p };
            self.settle(next, rate * share, false, emit);
        }
    }

    /// Gives back what is held no longer, and sets out for the target, or stays stuck at `k`.
    fn go(&self, state: &mut NetworkState, k: usize, class: usize, target: &RouteTarget) {
        if let Some(ended) = target.ended {
            self.mark(state, self.at.exit(ended));
        }
        for (l, limit) in self.spec.limits.iter().enumerate() {
            if limit.inside[k] && (target.ended.is_some() || !limit.inside[target.node]) {
                state.fixed[self.at.held + l] -= 1;
            }
        }
        let from_source = k == self.spec.outside() && self.spec.open[class];
        if self.spec.stations[target.node].block
            && k != target.node
            && !from_source
            && self.shut(state, target.node)
        {
            state.fixed[self.at.stuck + k] += 1;
            state.lines[self.at.blocked + target.node].push(self.at.code(k, class, target.class));
        } else {
            let from = if target.ended.is_some() { self.spec.outside() } else { k };
            state.moving.push(CustomerMove { from, to: target.node, class: target.class, limit: 0 });
        }
    }

    /// Whether a blocking station takes nobody now.
    fn shut(&self, state: &NetworkState, k: usize) -> bool {
        !state.lines[self.at.blocked + k].is_empty()
            || self.number(state, k) >= self.spec.stations[k].capacity
    }
}
