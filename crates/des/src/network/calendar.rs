//! The next event of each source of events, in a tournament: the earliest is at the root.
//!
//! A source is a station, a class's arrivals, a class's thinkers, a server's breakdowns. Whoever has many future
//! events (a delay, many servers) keeps them in a heap of its own and shows the first here, so that the tournament
//! stays as small as the model. Events are totally ordered by one number: time, priority, sequence, source.

/// What happens first at one time: servers come and go, then services end, then customers come.
#[derive(Clone, Copy)]
pub enum Priority {
    Control = 0,
    Completion = 1,
    Arrival = 2,
}

/// Key of no event: after all others.
pub const NEVER: u128 = u128::MAX;
const SOURCE_BITS: u32 = 16;
const SEQUENCE_BITS: u32 = 44;

/// Time of a key, s.
#[inline]
pub fn time(key: u128) -> f64 {
    f64::from_bits((key >> 64) as u64)
}

/// The part of a key that orders events of one time.
#[inline]
pub fn tie(priority: Priority, sequence: u64, source: usize) -> u64 {
    (priority as u64) << (SEQUENCE_BITS + SOURCE_BITS) | sequence << SOURCE_BITS | source as u64
}

/// Key of an event at `time` ≥ 0: non-negative numbers are ordered as their bits are.
#[inline]
pub fn key(time: f64, tie: u64) -> u128 {
    u128::from(time.to_bits()) << 64 | u128::from(tie)
}

#[derive(Debug, Clone)]
pub struct Calendar {
    /// A complete binary tree: `pairs[i]` is the earliest below each of the two children of node i, 1 the root.
    pairs: Vec<[u128; 2]>,
    first: u128,
}

impl Calendar {
    pub const MOST: usize = 1 << SOURCE_BITS;

    pub fn new(sources: usize) -> Calendar {
        Calendar { pairs: vec![[NEVER; 2]; sources.next_power_of_two()], first: NEVER }
    }

    /// Time (s) and source of the earliest event; the time is not a number if there is none.
    #[inline(always)]
    pub fn first(&self) -> (f64, usize) {
        (time(self.first), self.first as usize & (Self::MOST - 1))
    }

    /// Sets the next event of `source`.
    ///
    /// A minimum over the times of few sources has fewer instructions and takes longer: it waits for what was just stored.
    #[inline(always)]
    pub fn set(&mut self, source: usize, key: u128) {
        let (mut node, mut first) = (self.pairs.len() + source, key);
        while node > 1 {
            let pair = &mut self.pairs[node / 2];
            pair[node & 1] = first;
            first = earlier(first, pair[(node & 1) ^ 1]);
            node /= 2;
        }
        self.first = first;
    }
}

/// The smaller, without a branch: which one it is cannot be foreseen, and a jump gone wrong costs more than all else.
#[inline(always)]
fn earlier(a: u128, b: u128) -> u128 {
    let mask = u64::from(a < b).wrapping_neg();
    let mask = u128::from(mask) << 64 | u128::from(mask);
    b ^ ((a ^ b) & mask)
}

/// A binary heap of (key, customer), smallest first, from which any entry can be taken.
#[derive(Debug, Clone, Default)]
pub struct Heap {
    entries: Vec<(u128, u32)>,
}

impl Heap {
    #[inline]
    pub fn first(&self) -> u128 {
        self.entries.first().map_or(NEVER, |e| e.0)
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn entries(&self) -> &[(u128, u32)] {
        &self.entries
    }

    /// The first key after it.
    #[inline]
    pub fn push(&mut self, key: u128, id: u32) -> u128 {
        self.entries.push((key, id));
        if self.entries.len() == 1 {
            return key; // not to be loaded again
        }
        self.rise(self.entries.len() - 1);
        self.entries[0].0
    }

    #[inline]
    pub fn pop(&mut self) -> Option<(u128, u32)> {
        if self.entries.len() < 2 {
            return self.entries.pop();
        }
        Some(self.take(0))
    }

    /// Takes the entry at `index` of `entries`.
    pub fn take(&mut self, index: usize) -> (u128, u32) {
        let taken = self.entries.swap_remove(index);
        if index < self.entries.len() {
            self.sink(index);
            self.rise(index);
        }
        taken
    }

    fn rise(&mut self, mut i: usize) {
        while i > 0 {
            let parent = (i - 1) / 2;
            if self.entries[parent].0 <= self.entries[i].0 {
                return;
            }
            self.entries.swap(parent, i);
            i = parent;
        }
    }

    fn sink(&mut self, mut i: usize) {
        loop {
            let left = 2 * i + 1;
            if left >= self.entries.len() {
                return;
            }
            let right = left + 1;
            let smaller = right < self.entries.len() && self.entries[right].0 < self.entries[left].0;
            let child = if smaller { right } else { left };
            if self.entries[i].0 <= self.entries[child].0 {
                return;
            }
            self.entries.swap(i, child);
            i = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_time_then_priority_then_sequence() {
        let event = |t, p, s, source| key(t, tie(p, s, source));
        for sources in [5, 8, 9, 40] {
            let mut calendar = Calendar::new(sources);
            calendar.set(3, event(1.0, Priority::Arrival, 1, 3));
            calendar.set(4, event(1.0, Priority::Completion, 9, 4));
            calendar.set(0, event(1.5, Priority::Control, 0, 0));
            calendar.set(1, event(1.0, Priority::Completion, 8, 1));
            let mut order = Vec::new();
            for _ in 0..4 {
                let (time_s, source) = calendar.first();
                order.push((source, time_s));
                calendar.set(source, NEVER);
            }
            assert!(!calendar.first().0.is_finite());
            assert_eq!(order, [(1, 1.0), (4, 1.0), (3, 1.0), (0, 1.5)]);
        }
    }

    #[test]
    fn a_heap_sorts_and_gives_up_any_entry() {
        let mut heap = Heap::default();
        for i in 0..100u32 {
            heap.push(u128::from(i * 37 % 101), i);
        }
        let index = heap.entries().iter().position(|e| e.0 == 50).unwrap();
        heap.take(index);
        let keys: Vec<u128> = std::iter::from_fn(|| heap.pop()).map(|e| e.0).collect();
        assert_eq!(keys.len(), 99);
        assert!(keys.is_sorted() && !keys.contains(&50));
    }
}
