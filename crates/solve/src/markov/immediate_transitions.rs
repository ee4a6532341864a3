//! What follows at once from a move: limits, full stations, who may start service; until nothing more can happen.

use super::network_spec::ServiceRule;
use super::network_state::{CustomerMove, NetworkState};
use super::state_transitions::{Emit, TransitionWalker};
use super::transition_rates::TransitionRate;

/// States on the way, with the rate that leads there.
type Stack = Vec<(NetworkState, TransitionRate)>;

impl TransitionWalker<'_> {
    /// Emits where `state`, with customers moving, comes to rest. `first`: only the first of several outcomes.
    pub fn settle(&self, state: NetworkState, rate: TransitionRate, first: bool, emit: &mut Emit<'_>) {
        let mut stack: Stack = vec![(state, rate)];
        while let Some((mut state, rate)) = stack.pop() {
            // A free server chooses among those who wait before anybody arrives: who returns at once is not among them.
            if let Some(k) = self.idle(&state) {
                self.begin(state, k, rate, &mut stack);
            } else if let Some(step) = state.moving.pop() {
                self.place(state, step, rate, &mut stack);
            } else if self.unblock(&mut state) || self.admit(&mut state) {
                stack.push((state, rate));
            } else {
                emit(rate, &state);
            }
            if first && stack.len() > 1 {
                stack.truncate(1);
            }
        }
    }

    /// A customer arrives: at a limit, then at the station.
    fn place(&self, mut state: NetworkState, step: CustomerMove, rate: TransitionRate, stack: &mut Stack) {
        for l in step.limit..self.spec.limits.len() {
            let limit = &self.spec.limits[l];
            if !limit.inside[step.to] || limit.inside[step.from] {
                continue;
            }
            self.mark(&mut state, self.at.limit(0, l, step.class));
            let waiting = &state.lines[self.at.queues + l];
            if waiting.is_empty() && usize::from(state.fixed[self.at.held + l]) < limit.size {
                state.fixed[self.at.held + l] += 1;
            } else if limit.lose {
                self.mark(&mut state, self.at.limit(2, l, step.class));
                self.give_up(&mut state, step, l);
                return stack.push((state, rate));
            } else {
                self.mark(&mut state, self.at.limit(1, l, step.class));
                state.lines[self.at.queues + l].push(self.at.code(step.from, step.to, step.class));
                return stack.push((state, rate));
            }
        }
        let station = &self.spec.stations[step.to];
        if step.to == self.spec.outside() {
            self.mark(&mut state, self.at.exit(step.class));
            if self.spec.open[step.class] {
                state.fixed[self.at.open] -= 1;
                return stack.push((state, rate));
            }
        } else if self.number(&state, step.to) >= station.capacity {
            self.mark(&mut state, self.at.lost(step.to, step.class));
            self.give_up(&mut state, step, self.spec.limits.len());
            return stack.push((state, rate));
        }
        self.enter(state, step.to, step.class, rate, stack);
    }

    /// A lost customer returns what it holds of the limits before `most`, and of those that it brought along.
    fn give_up(&self, state: &mut NetworkState, step: CustomerMove, most: usize) {
        for (l, limit) in self.spec.limits.iter().enumerate() {
            if limit.inside[step.to] && (limit.inside[step.from] || l < most) {
                state.fixed[self.at.held + l] -= 1;
            }
        }
        if self.spec.open[step.class] {
            state.fixed[self.at.open] -= 1;
        }
    }

    fn enter(
        &self,
        mut state: NetworkState,
        k: usize,
        class: usize,
        rate: TransitionRate,
        stack: &mut Stack,
    ) {
        let station = &self.spec.stations[k];
        let priority = &self.spec.priority;
        let line = &mut state.lines[k];
        match station.rule {
            ServiceRule::Ordered => {
                let level = |c: &u16| !station.levels || priority[usize::from(*c)] <= priority[class];
                let place = line.partition_point(level);
                line.insert(place, class as u16);
                stack.push((state, rate));
            }
            ServiceRule::Random => {
                let place = line.partition_point(|&c| usize::from(c) <= class);
                line.insert(place, class as u16);
                stack.push((state, rate));
            }
            ServiceRule::ForkJoin => {
                line.push(class as u16);
                stack.push((state, rate));
            }
            _ => self.spread(&state, k, class, rate, stack),
        }
    }

    /// One state for each phase in which `class` may start at `k`.
    fn spread(&self, state: &NetworkState, k: usize, class: usize, rate: TransitionRate, stack: &mut Stack) {
        let station = &self.spec.stations[k];
        let phases = station.phases.iter().enumerate().rev();
        for (t, phase) in phases.filter(|(_, p)| p.class == class && p.start > 0.0) {
            let mut next = state.clone();
            match station.rule {
                ServiceRule::Last => next.lines[k].push(t as u16),
                ServiceRule::Preemptive => {
                    let level = |&t: &u16| {
                        let there = station.phases[usize::from(t)].class;
                        self.spec.priority[there] <= self.spec.priority[class]
                    };
                    let place = next.lines[k].partition_point(level);
                    next.lines[k].insert(place, t as u16);
                }
                _ => next.fixed[self.at.slots[k] + t] += 1,
            }
            stack.push((next, rate * phase.start));
        }
    }

    /// The first of those stuck goes on to a station that has room again.
    fn unblock(&self, state: &mut NetworkState) -> bool {
        for to in (0..self.spec.outside()).filter(|&k| self.spec.stations[k].block) {
            let line = self.at.blocked + to;
            if !state.lines[line].is_empty() && self.number(state, to) < self.spec.stations[to].capacity {
                let (from, _, class) = self.at.uncode(state.lines[line].remove(0));
                state.fixed[self.at.stuck + from] -= 1;
                state.moving.push(CustomerMove { from, to, class, limit: 0 });
                return true;
            }
        }
        false
    }

    /// The first of those waiting at a limit gets a token that is free.
    fn admit(&self, state: &mut NetworkState) -> bool {
        for (l, limit) in self.spec.limits.iter().enumerate() {
            let held = self.at.held + l;
            if !state.lines[self.at.queues + l].is_empty() && usize::from(state.fixed[held]) < limit.size {
                let (from, to, class) = self.at.uncode(state.lines[self.at.queues + l].remove(0));
                state.fixed[held] += 1;
                state.moving.push(CustomerMove { from, to, class, limit: l + 1 });
                return true;
            }
        }
        false
    }

    /// A station with a free server and somebody waiting.
    fn idle(&self, state: &NetworkState) -> Option<usize> {
        (0..self.spec.outside()).find(|&k| {
            let station = &self.spec.stations[k];
            let ordered = matches!(station.rule, ServiceRule::Ordered | ServiceRule::Random);
            ordered && !state.lines[k].is_empty() && self.busy(state, k) < station.servers
        })
    }

    /// Servers taken at a station that keeps its order, by jobs in service or stuck.
    fn busy(&self, state: &NetworkState, k: usize) -> usize {
        let serving: usize = self.counts(state, k).iter().map(|&n| usize::from(n)).sum();
        serving + usize::from(state.fixed[self.at.stuck + k])
    }

    fn begin(&self, mut state: NetworkState, k: usize, rate: TransitionRate, stack: &mut Stack) {
        if self.spec.stations[k].rule != ServiceRule::Random {
            let class = usize::from(state.lines[k].remove(0));
            return self.spread(&state, k, class, rate, stack);
        }
        let waiting = state.lines[k].clone();
        let mut place = 0;
        for run in waiting.chunk_by(|a, b| a == b) {
            let mut next = state.clone();
            next.lines[k].remove(place);
            place += run.len();
            let share = run.len() as f64 / waiting.len() as f64;
            self.spread(&next, k, usize::from(run[0]), rate * share, stack);
        }
    }
}
