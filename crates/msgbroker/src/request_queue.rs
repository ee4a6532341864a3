//! The bounded queue between the event loop and the workers: first come, first served.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Requests that are worth another batch at the same time. With 30 clients on 2 cores two batches at a time cost the
/// database 23 µs of CPU time a request, one 15; with 300 clients 7 and 6.
const BESIDE: usize = 100;

#[derive(Debug)]
struct QueueState<T> {
    items: VecDeque<T>,
    closed: bool,
    asleep: usize,
    /// Workers that carry out a batch.
    batches: usize,
}

#[derive(Debug)]
pub(crate) struct RequestQueue<T> {
    state: Mutex<QueueState<T>>,
    some: Condvar,
    most: usize,
    /// Batches at a time.
    concurrency: usize,
}

impl<T> RequestQueue<T> {
    pub fn new(most: usize, concurrency: usize) -> Self {
        let state = QueueState { items: VecDeque::new(), closed: false, asleep: 0, batches: 0 };
        Self { state: Mutex::new(state), some: Condvar::new(), most, concurrency }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a worker that takes requests now does right: a statement for few costs as much as one for many, so that
    /// a second batch beside the first has to be large.
    fn may_begin(&self, state: &QueueState<T>) -> bool {
        state.closed
            || state.batches == 0
            || (state.batches < self.concurrency && state.items.len() >= BESIDE)
    }

    /// Puts a request at the end, or gives it back where the queue is full. Without `wake` the caller is a worker that
    /// takes one next itself.
    pub fn push(&self, item: T, wake: bool) -> Result<(), T> {
        let mut state = self.lock();
        if state.items.len() >= self.most {
            return Err(item);
        }
        state.items.push_back(item);
        let wake = wake && state.asleep > 0 && self.may_begin(&state);
        drop(state);
        if wake {
            self.some.notify_one();
        }
        Ok(())
    }

    /// The first request; waits for one; `None` when the queue is closed and empty.
    pub fn pop(&self) -> Option<T> {
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

    /// The first request, if there is one.
    pub fn try_pop(&self) -> Option<T> {
        self.lock().items.pop_front()
    }

    /// Up to `most` requests at once, into `batch`; while others carry out theirs, requests stay and wait, so that they
    /// become a batch. False when the queue is closed and empty.
    pub fn pop_batch(&self, most: usize, batch: &mut Vec<T>) -> bool {
        let mut state = self.lock();
        loop {
            if !state.items.is_empty() && self.may_begin(&state) {
                state.batches += 1;
                let count = state.items.len().min(most);
                batch.extend(state.items.drain(..count));
                return true;
            }
            if state.closed && state.items.is_empty() {
                return false;
            }
            state = self.sleep(state);
        }
    }

    /// A batch is carried out: up to `most` requests that have come meanwhile become the next at once, in `batch`; where
    /// there is none, false, and another batch may begin.
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
        state
    }

    pub fn len(&self) -> usize {
        self.lock().items.len()
    }

    pub fn close(&self) {
        self.lock().closed = true;
        self.some.notify_all();
    }
}
