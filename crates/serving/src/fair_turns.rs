//! Fairness between connections: each does a bounded piece of work, then the next has its turn.

use std::collections::VecDeque;

/// Requests of one connection in one turn. memcached's own limit (`-R`) is 20; more of ours fit in the same time.
const REQUESTS: usize = 64;
/// Bytes read from one connection in one turn, and so the time that one `read` takes.
const BYTES: usize = 256 * 1024;

/// What is left of one connection's turn.
#[derive(Debug, Clone, Copy)]
pub struct TurnBudget {
    requests: usize,
    bytes: usize,
}

impl Default for TurnBudget {
    /// A whole turn.
    fn default() -> Self {
        Self { requests: REQUESTS, bytes: BYTES }
    }
}

impl TurnBudget {
    /// Bytes that may still be read.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// So many were read.
    pub fn read(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Takes one request; false where the turn is over.
    #[inline]
    pub fn request(&mut self) -> bool {
        let left = self.requests > 0;
        self.requests -= usize::from(left);
        left
    }
}

/// Connections that can go on without an event, each once, in the order in which they came.
#[derive(Debug, Default)]
pub struct ReadyList {
    order: VecDeque<u32>,
    listed: Vec<bool>,
}

impl ReadyList {
    /// To the end, but for one that is listed.
    pub fn push(&mut self, index: u32) {
        let at = index as usize;
        if self.listed.len() <= at {
            self.listed.resize(at + 1, false);
        }
        if !std::mem::replace(&mut self.listed[at], true) {
            self.order.push_back(index);
        }
    }

    /// The next one. It may have ended since, and its number may be another's: who has nothing to do loses no more by it.
    pub fn pop(&mut self) -> Option<u32> {
        let index = self.order.pop_front()?;
        self.listed[index as usize] = false;
        Some(index)
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_listed_once_and_comes_in_its_turn() {
        let mut ready = ReadyList::default();
        for index in [3, 0, 3, 5] {
            ready.push(index);
        }
        assert_eq!((ready.len(), ready.pop()), (3, Some(3)));
        ready.push(3);
        assert_eq!([ready.pop(), ready.pop(), ready.pop(), ready.pop()], [Some(0), Some(5), Some(3), None]);
        assert!(ready.is_empty());
    }

    #[test]
    fn a_turn_ends() {
        let mut budget = TurnBudget::default();
        assert_eq!((0..1000).filter(|_| budget.request()).count(), REQUESTS);
        budget.read(BYTES + 1);
        assert_eq!(budget.bytes(), 0);
    }
}
