//! A thread that opens sessions for a loop which must not wait for that.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::session::Session;
use crate::session_pool::SessionPool;

/// How often a database that is away is asked for, at most; `SessionPool` has longer and longer pauses.
const PAUSE: Duration = Duration::from_millis(10);

#[derive(Debug, Default)]
struct ConnectorState {
    wanted: Vec<usize>,
    opened: Vec<(usize, Session)>,
}

/// Sessions that are wanted, and those that were had, each with its place.
#[derive(Debug, Default)]
pub struct SessionConnector {
    state: Mutex<ConnectorState>,
    some: Condvar,
}

impl SessionConnector {
    fn lock(&self) -> MutexGuard<'_, ConnectorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn want(&self, place: usize) {
        self.lock().wanted.push(place);
        self.some.notify_one();
    }

    pub fn opened(&self) -> Vec<(usize, Session)> {
        std::mem::take(&mut self.lock().opened)
    }

    /// Works until `shutdown` is set; `told` after each attempt.
    pub fn run(&self, pool: &SessionPool, shutdown: &AtomicBool, told: &dyn Fn()) {
        while !shutdown.load(Ordering::Relaxed) {
            let place = {
                let state = self.lock();
                let waited = self.some.wait_timeout_while(state, PAUSE, |state| state.wanted.is_empty());
                waited.unwrap_or_else(PoisonError::into_inner).0.wanted.last().copied()
            };
            let Some(place) = place else { continue };
            let opened = pool.open();
            let failed = opened.is_err();
            if let Ok(session) = opened {
                let mut state = self.lock();
                state.wanted.retain(|one| *one != place);
                state.opened.push((place, session));
            }
            told();
            if failed {
                std::thread::sleep(PAUSE);
            }
        }
    }
}
