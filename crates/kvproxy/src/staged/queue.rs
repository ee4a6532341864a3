//! The bounded queue between the network thread and the workers: first come, first served.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::client::Client;
use crate::route::Route;

/// A request with all that a worker needs.
#[derive(Debug)]
pub(super) struct Job {
    pub route: Route,
    pub received: u64,
    /// As the servers get it.
    pub bytes: Vec<u8>,
    /// The second half of a guarded request.
    pub then: Vec<u8>,
}

impl Job {
    /// Memory that it holds.
    pub fn size(&self) -> usize {
        size_of::<Self>() + self.bytes.capacity() + self.then.capacity()
    }
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<(Arc<Client>, Job)>,
    closed: bool,
    asleep: usize,
}

#[derive(Debug)]
pub(super) struct JobQueue {
    state: Mutex<State>,
    some: Condvar,
    most: usize,
}

impl JobQueue {
    pub fn new(most: usize) -> Self {
        Self { state: Mutex::default(), some: Condvar::new(), most }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a request at the end, or gives it back where the queue is full.
    pub fn put(&self, client: &Arc<Client>, job: Job) -> Result<(), Job> {
        let mut state = self.lock();
        if state.jobs.len() >= self.most {
            return Err(job);
        }
        state.jobs.push_back((Arc::clone(client), job));
        let wake = state.asleep > 0;
        drop(state);
        if wake {
            self.some.notify_one();
        }
        Ok(())
    }

    /// The first request; waits for one; `None` when the queue is closed and empty.
    pub fn take(&self) -> Option<(Arc<Client>, Job)> {
        let mut state = self.lock();
        loop {
            if let Some(first) = state.jobs.pop_front() {
                return Some(first);
            }
            if state.closed {
                return None;
            }
            state.asleep += 1;
            state = self.some.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep -= 1;
        }
    }

    pub fn len(&self) -> usize {
        self.lock().jobs.len()
    }

    pub fn close(&self) {
        self.lock().closed = true;
        self.some.notify_all();
    }
}
