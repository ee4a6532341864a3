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

    /// Puts a request at the end, or gives it back where the queue is full. Without `wake` the caller is a worker that
    /// takes one next itself.
    pub fn put(&self, client: &Arc<Client>, job: Job, wake: bool) -> Result<(), Job> {
        let mut state = self.lock();
        if state.jobs.len() >= self.most {
            return Err(job);
        }
        state.jobs.push_back((Arc::clone(client), job));
        let wake = wake && state.asleep > 0 && state.batches < self.lanes;
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

    /// Up to `most` requests at once, into `batch`; while as many others as there are lanes have not said `done`,
    /// requests stay and wait, so that they become a batch. False when the queue is closed and empty.
    pub fn take_batch(&self, most: usize, batch: &mut Vec<Waiting>) -> bool {
        let mut state = self.lock();
        loop {
            if !state.jobs.is_empty() && state.batches < self.lanes {
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

    /// A batch is carried out.
    pub fn done(&self) {
        let mut state = self.lock();
        state.batches -= 1;
        let wake = state.asleep > 0 && (!state.jobs.is_empty() || state.closed);
        drop(state);
        if wake {
            self.some.notify_one();
        }
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
