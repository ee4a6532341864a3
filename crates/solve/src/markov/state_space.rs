//! Every state that can be reached from the first, numbered in the order of their discovery.

use super::generator_pattern::{GeneratorPattern, PatternRows};
use super::network_spec::NetworkSpec;
use super::network_state::{CustomerMove, NetworkState};
use super::state_transitions::TransitionWalker;
use super::transition_rates::TransitionRate;

/// Why a network has no chain.
#[derive(Debug, PartialEq, Eq)]
pub enum NoChain {
    /// More states than allowed.
    TooMany,
    /// Nothing happens any more in a state that can be reached: customers block each other.
    Deadlock,
    /// The closed customers do not fit into the stations.
    NoRoom,
    /// Stations × classes, or customers, are too many for the encoding.
    TooWide,
}

/// States as keys, one after another.
#[derive(Default)]
pub struct StateKeys {
    data: Vec<u16>,
    start: Vec<usize>,
    table: Vec<u32>,
}

const FREE: u32 = u32::MAX;

impl StateKeys {
    pub fn len(&self) -> usize {
        self.start.len()
    }

    pub fn is_empty(&self) -> bool {
        self.start.is_empty()
    }

    pub fn key(&self, i: usize) -> &[u16] {
        let end = self.start.get(i + 1).copied().unwrap_or(self.data.len());
        &self.data[self.start[i]..end]
    }

    /// The number of a key, which is new if it was not there.
    fn number(&mut self, key: &[u16]) -> u32 {
        if 2 * self.start.len() >= self.table.len() {
            self.grow();
        }
        let mut place = hash(key) as usize & (self.table.len() - 1);
        while self.table[place] != FREE {
            if self.key(self.table[place] as usize) == key {
                return self.table[place];
            }
            place = (place + 1) & (self.table.len() - 1);
        }
        let number = self.start.len() as u32;
        self.table[place] = number;
        self.start.push(self.data.len());
        self.data.extend_from_slice(key);
        number
    }

    fn grow(&mut self) {
        let size = (4 * self.table.len()).max(64);
        self.table = vec![FREE; size];
        for i in 0..self.start.len() {
            let mut place = hash(self.key(i)) as usize & (size - 1);
            while self.table[place] != FREE {
                place = (place + 1) & (size - 1);
            }
            self.table[place] = i as u32;
        }
    }
}

/// Multiply and rotate over the words; keys are short and differ in few places.
fn hash(key: &[u16]) -> u64 {
    let step = |h: u64, &w: &u16| (h.rotate_left(5) ^ u64::from(w)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = key.iter().fold(0, step);
    mixed ^ (mixed >> 32)
}

/// A network's states and their generator, whatever its rates are.
pub struct StateSpace {
    pub keys: StateKeys,
    pub pattern: GeneratorPattern,
}

/// All states reachable from the start, at most `most`.
pub fn explore(spec: &NetworkSpec, most: usize) -> Result<StateSpace, NoChain> {
    let walker = TransitionWalker::new(spec);
    let customers: usize = spec.population.iter().sum();
    let open = if spec.sources.is_empty() { 0 } else { spec.most_open };
    if !walker.at.fits() || customers.saturating_add(open) >= usize::from(u16::MAX) {
        return Err(NoChain::TooWide);
    }
    let mut keys = StateKeys::default();
    let mut key = Vec::new();
    walker.at.encode(&start(&walker)?, &mut key);
    keys.number(&key);
    let mut rows = PatternRows::default();
    let mut state = walker.at.empty();
    let mut i = 0;
    while i < keys.len() {
        walker.at.decode(keys.key(i), &mut state);
        let own = i as u32;
        walker.successors(&state, &mut |rate, next| {
            walker.at.encode(next, &mut key);
            let to = keys.number(&key);
            if to != own {
                rows.push(to, rate);
            }
        });
        if keys.len() > most {
            return Err(NoChain::TooMany);
        }
        if !rows.close() && keys.len() > 1 {
            return Err(NoChain::Deadlock);
        }
        i += 1;
    }
    Ok(StateSpace { pattern: rows.pattern(), keys })
}

/// Everybody thinks, or is where there is room first.
pub fn start(walker: &TransitionWalker<'_>) -> Result<NetworkState, NoChain> {
    let (spec, mut state) = (walker.spec, walker.at.empty());
    for class in 0..spec.classes {
        for _ in 0..spec.population[class] {
            let place = room(walker, &state, class).ok_or(NoChain::NoRoom)?;
            state.moving.push(CustomerMove { from: spec.outside(), to: place, class, limit: 0 });
            let mut settled = Vec::new();
            let at_once = TransitionRate { clock: 0, times: 1.0 };
            walker.settle(state.clone(), at_once, true, &mut |_, next| settled.push(next.clone()));
            state = settled.swap_remove(0);
        }
    }
    Ok(state)
}

fn room(walker: &TransitionWalker<'_>, state: &NetworkState, class: usize) -> Option<usize> {
    let spec = walker.spec;
    let serves = |k: usize| spec.stations[k].phases.iter().any(|p| p.class == class);
    let free = |k: usize| walker.number(state, k) < spec.stations[k].capacity;
    let out = spec.outside();
    std::iter::once(out).chain(0..out).find(|&k| serves(k) && free(k))
}
