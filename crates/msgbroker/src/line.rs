//! The bounded queue between the dispatcher and the workers: first come, first served.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::client::Client;

/// A request as it was received.
#[derive(Debug)]
pub(crate) struct Job {
    /// When the dispatcher had read it, ns.
    pub received: u64,
    /// Head, then body.
    pub bytes: Vec<u8>,
    pub head: usize,
}

/// Requests that are worth another batch at the same time. With 30 clients on 2 cores two batches at a time cost the
/// database 23 µs of CPU time a request, one 15; with 300 clients 7 and 6.
const BESIDE: usize = 100;

pub(crate) type Waiting = (Arc<Client>, Job);

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Waiting>,
    closed: bool,
    asleep: usize,
    /// Workers that carry out a batch.
    batches: usize,
}

#[derive(Debug)]
pub(crate) struct Line {
    state: Mutex<State>,
    some: Condvar,
    most: usize,
    /// Batches at a time.
    lanes: usize,
}

impl Line {
    pub fn new(most: usize, lanes: usize) -> Self {
        Self { state: Mutex::default(), some: Condvar::new(), most, lanes }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a worker that takes requests now does right: a statement for few costs as much as one for many, so that
    /// a second batch beside the first has to be large.
    fn may_begin(&self, state: &State) -> bool {
        state.closed || state.batches == 0 || (state.batches < self.lanes && state.jobs.len() >= BESIDE)
    }

    /// Puts a request at the end, or gives it back where the queue is full. Without `wake` the caller is a worker that
    /// takes one next itself.
    pub fn put(&self, client: &Arc<Client>, job: Job, wake: bool) -> Result<(), Job> {
        let mut state = self.lock();
        if state.jobs.len() >= self.most {
            return Err(job);
        }
        state.jobs.push_back((Arc::clone(client), job));
        let wake = wake && state.asleep > 0 && self.may_begin(&state);
        drop(state);
        if wake {
            self.some.notify_one();
        }
        Ok(())
    }

    /// The first request; waits for one; `None` when the queue is closed and empty.
    pub fn take(&self) -> Option<Waiting> {
        let mut state = self.lock();
        loop {
            if let Some(first) = state.jobs.pop_front() {
                return Some(first);
            }
            if state.closed {
                return None;
            }
            state = self.sleep(state);
        }
    }

    /// The first request, if there is one.
    pub fn try_take(&self) -> Option<Waiting> {
        self.lock().jobs.pop_front()
    }

    /// Up to `most` requests at once, into `batch`; while others carry out theirs, requests stay and wait, so that they
    /// become a batch. False when the queue is closed and empty.
    pub fn take_batch(&self, most: usize, batch: &mut Vec<Waiting>) -> bool {
        let mut state = self.lock();
        loop {
            if !state.jobs.is_empty() && self.may_begin(&state) {
                state.batches += 1;
                let count = state.jobs.len().min(most);
                batch.extend(state.jobs.drain(..count));
                return true;
            }
            if state.closed && state.jobs.is_empty() {
                return false;
            }
            state = self.sleep(state);
        }
    }

    /// A batch is carried out: up to `most` requests that have come meanwhile become the next at once, in `batch`; where
    /// there is none, false, and the lane is free.
    pub fn next_batch(&self, most: usize, batch: &mut Vec<Waiting>) -> bool {
        let mut state = self.lock();
        let count = state.jobs.len().min(most);
        batch.extend(state.jobs.drain(..count));
        if count == 0 {
            state.batches -= 1;
            if state.closed {
                self.some.notify_all();
            }
        }
        count > 0
    }

    fn sleep<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.asleep += 1;
        state = self.some.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.asleep -= 1;
        state
    }

    pub fn len(&self) -> usize {
        self.lock().jobs.len()
    }

    pub fn close(&self) {
        self.lock().closed = true;
        self.some.notify_all();
    }
}
