//! A bounded queue between threads: first come, first served, one by one or in batches.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// When items are taken in batches: how many batches are worked on at a time, and of how many items one has to be to begin
/// beside others.
#[derive(Debug, Clone, Copy)]
pub struct Batches {
    pub at_once: usize,
    pub least: usize,
}

#[derive(Debug)]
struct QueueState<T> {
    items: VecDeque<T>,
    closed: bool,
    asleep: usize,
    /// Those of them that were woken by `wake` and have not come yet.
    woken: usize,
    /// Batches that are worked on.
    batches: usize,
}

/// Items that wait to be taken; of more than it may hold none is added.
#[derive(Debug)]
pub struct BoundedQueue<T> {
    state: Mutex<QueueState<T>>,
    some: Condvar,
    most: usize,
    batches: Batches,
}

impl<T> BoundedQueue<T> {
    /// For at most `most` items.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self::in_batches(most, Batches { at_once: usize::MAX, least: 1 })
    }

    /// The same for those who call `take_batch`.
    #[must_use]
    pub fn in_batches(most: usize, batches: Batches) -> Self {
        let state = QueueState { items: VecDeque::new(), closed: false, asleep: 0, woken: 0, batches: 0 };
        Self { state: Mutex::new(state), some: Condvar::new(), most, batches }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a batch that begins now is worth it: a small one beside another costs as much as both together.
    fn may_begin(&self, state: &QueueState<T>) -> bool {
        let beside = state.batches < self.batches.at_once && state.items.len() >= self.batches.least;
        state.closed || state.batches == 0 || beside
    }

    /// Puts an item at the end, and wakes one who waits for it.
    ///
    /// # Errors
    /// The item, where the queue is full.
    pub fn put(&self, item: T) -> Result<(), T> {
        let mut state = self.add(item)?;
        let wakes = self.wakes(&mut state);
        drop(state);
        if wakes {
            self.some.notify_one();
        }
        Ok(())
    }

    /// The same without waking: for one who takes an item next itself.
    ///
    /// # Errors
    /// The item, where the queue is full.
    pub fn put_quietly(&self, item: T) -> Result<(), T> {
        self.add(item).map(drop)
    }

    fn add(&self, item: T) -> Result<MutexGuard<'_, QueueState<T>>, T> {
        let mut state = self.lock();
        if state.items.len() >= self.most {
            return Err(item);
        }
        state.items.push_back(item);
        Ok(state)
    }

    /// Whether to wake one who waits, for what may be taken now. Where items are taken in batches, whoever comes takes all that is
    /// there then, so that nobody else is woken before.
    fn wakes(&self, state: &mut QueueState<T>) -> bool {
        if state.asleep == 0 || !self.may_begin(state) {
            return false;
        }
        if self.batches.at_once == usize::MAX {
            return true;
        }
        let first = state.woken == 0;
        state.woken = 1.max(state.woken);
        first
    }

    /// The first item; waits for one. `None` when the queue is closed and empty.
    pub fn take(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(first) = state.items.pop_front() {
                return Some(first);
            }
            if state.closed {
                return None;
            }
            state = self.sleep(state);
        }
    }

    /// Wakes as many as it takes for the items that wait, each for up to `most` of them; what was put quietly is theirs.
    pub fn wake(&self, most: usize) {
        let mut state = self.lock();
        while state.asleep > state.woken && state.items.len() > state.woken * most {
            state.woken += 1;
            self.some.notify_one();
        }
    }

    /// The first item and up to `most` in all of those behind it, as long as `joins` has them in one batch; waits for the
    /// first. False when the queue is closed and empty.
    pub fn take_some(&self, most: usize, mut joins: impl FnMut(&T) -> bool, batch: &mut Vec<T>) -> bool {
        let mut state = self.lock();
        loop {
            if let Some(first) = state.items.pop_front() {
                let alone = !joins(&first);
                batch.push(first);
                while !alone && batch.len() < most && state.items.front().is_some_and(&mut joins) {
                    batch.extend(state.items.pop_front());
                }
                if state.asleep > state.woken && state.items.len() > state.woken * most {
                    state.woken += 1;
                    self.some.notify_one();
                }
                return true;
            }
            if state.closed {
                return false;
            }
            state = self.sleep(state);
        }
    }

    /// The first item, if there is one.
    pub fn try_take(&self) -> Option<T> {
        self.lock().items.pop_front()
    }

    /// Up to `most` items at once, into `batch`; while others work on theirs, items stay and wait, so that they become a
    /// batch. False when the queue is closed and empty.
    pub fn take_batch(&self, most: usize, batch: &mut Vec<T>) -> bool {
        let mut state = self.lock();
        loop {
            if !state.items.is_empty() && self.may_begin(&state) {
                state.batches += 1;
                let count = state.items.len().min(most);
                batch.extend(state.items.drain(..count));
                let wakes = !state.items.is_empty() && self.wakes(&mut state);
                drop(state);
                if wakes {
                    self.some.notify_one();
                }
                return true;
            }
            if state.closed && state.items.is_empty() {
                return false;
            }
            state = self.sleep(state);
        }
    }

    /// A batch is done: up to `most` items that have come meanwhile become the next at once, in `batch`; where there is none,
    /// false, and another batch may begin.
    pub fn next_batch(&self, most: usize, batch: &mut Vec<T>) -> bool {
        let mut state = self.lock();
        let count = state.items.len().min(most);
        batch.extend(state.items.drain(..count));
        if count == 0 {
            state.batches -= 1;
            if state.closed {
                self.some.notify_all();
            }
        }
        count > 0
    }

    fn sleep<'a>(&self, mut state: MutexGuard<'a, QueueState<T>>) -> MutexGuard<'a, QueueState<T>> {
        state.asleep += 1;
        state = self.some.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.asleep -= 1;
        state.woken = state.woken.saturating_sub(1);
        state
    }

    /// Items that wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().items.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whoever takes gets what is left, then `None`.
    pub fn close(&self) {
        self.lock().closed = true;
        self.some.notify_all();
    }
}

#[cfg(test)]
mod tests;
