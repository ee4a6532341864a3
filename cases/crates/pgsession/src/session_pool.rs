//! Sessions that any worker may use; and a database that went away.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::conninfo::ConnInfo;
use crate::database_error::{DatabaseError, StatementFate};
use crate::health::DatabaseHealth;
use crate::session::{BoundStatement, Session};
use crate::startup::connect;
use sojourn_record::clock::now;

/// Before a database that is away is tried again, ns: at first, at last.
const FIRST_PAUSE: u64 = 10_000_000;
const LONGEST_PAUSE: u64 = 1_000_000_000;
/// A session that was not used for so long, ns, is looked at before it is used.
const FRESH: u64 = 50_000_000;

/// A place for a session, which may have ended.
#[derive(Debug, Default)]
struct SessionSlot {
    session: Option<Session>,
    /// The pool's when it was opened.
    epoch: u64,
    /// When it was last used, ns.
    used: u64,
}

#[derive(Debug)]
struct PoolState {
    free: Vec<SessionSlot>,
    waiting: usize,
}

#[derive(Debug)]
pub struct SessionPool {
    conninfo: ConnInfo,
    state: Mutex<PoolState>,
    returned: Condvar,
    size: usize,
    pub in_use: AtomicUsize,
    /// How often the database went away: sessions from before are not used.
    epoch: AtomicU64,
    /// Not tried before, ns.
    due: AtomicU64,
    pause: AtomicU64,
    pub health: DatabaseHealth,
    pub opened: AtomicU64,
    pub lost: AtomicU64,
}

impl SessionPool {
    pub fn new(conninfo: ConnInfo, size: usize) -> Self {
        let free = (0..size).map(|_| SessionSlot::default()).collect();
        let zero = AtomicU64::default;
        Self {
            conninfo,
            state: Mutex::new(PoolState { free, waiting: 0 }),
            returned: Condvar::new(),
            size,
            in_use: AtomicUsize::new(0),
            epoch: zero(),
            due: zero(),
            pause: AtomicU64::new(FIRST_PAUSE),
            health: DatabaseHealth::default(),
            opened: zero(),
            lost: zero(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens all sessions: the service does not begin without its database.
    pub fn fill(&self) -> Result<(), DatabaseError> {
        let mut state = self.lock();
        for slot in &mut state.free {
            slot.session = Some(connect(&self.conninfo)?);
            slot.used = now();
            self.opened.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// Connections in use, and workers that wait for one.
    pub fn occupancy(&self) -> (usize, usize) {
        (self.in_use.load(Ordering::Relaxed), self.lock().waiting)
    }

    /// The database has let somebody in.
    pub fn is_back(&self) {
        self.due.store(0, Ordering::Relaxed);
        self.pause.store(FIRST_PAUSE, Ordering::Relaxed);
        self.health.up();
    }

    /// The connection that was used last, so that as few as possible are kept busy; waits for one, not longer than `timeout`.
    pub fn get(&self, timeout: Duration) -> Option<PooledSession<'_>> {
        let mut state = self.lock();
        if state.free.is_empty() {
            state.waiting += 1;
            let waited = self.returned.wait_timeout_while(state, timeout, |state| state.free.is_empty());
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
        let slot = state.free.pop()?;
        drop(state);
        self.in_use.fetch_add(1, Ordering::Relaxed);
        Some(PooledSession { pool: self, slot })
    }

    /// A new session, unless one was tried in vain a moment ago.
    pub fn open(&self) -> Result<Session, DatabaseError> {
        let (due, begun) = (self.due.load(Ordering::Relaxed), now());
        if begun < due {
            return Err(DatabaseError::new(StatementFate::NotSent, "it could not be reached a moment ago"));
        }
        let opened = connect(&self.conninfo);
        match &opened {
            Ok(_) => {
                self.is_back();
                self.opened.fetch_add(1, Ordering::Relaxed);
                return opened;
            }
            Err(fault) => self.health.down(fault),
        }
        // Of those that failed at the same time, one makes the pause longer.
        let pause = self.pause.load(Ordering::Relaxed);
        let next = now() + pause;
        if self.due.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.pause.store((pause * 2).min(LONGEST_PAUSE), Ordering::Relaxed);
        }
        opened
    }
}

/// The use of one connection; given back when dropped.
#[derive(Debug)]
pub struct PooledSession<'a> {
    pool: &'a SessionPool,
    slot: SessionSlot,
}

impl PooledSession<'_> {
    /// As `Session::run_all`, on a session that is opened where there is none, which `meanwhile` comes before.
    pub fn run_all(
        &mut self,
        statements: &mut [BoundStatement<'_>],
        meanwhile: &mut dyn FnMut(),
    ) -> Result<(), DatabaseError> {
        self.forget_dead();
        if self.slot.session.is_none() {
            meanwhile();
        }
        let answer = self.session()?.run_all(statements, meanwhile);
        self.slot.used = now();
        if let Err(DatabaseError { effect: StatementFate::Unknown, .. }) = &answer {
            // Others may be as dead; a late answer must reach nobody.
            self.slot.session = None;
            self.pool.lost.fetch_add(1, Ordering::Relaxed);
            let (epoch, all) = (self.slot.epoch, &self.pool.epoch);
            // Only the first of an epoch ends it.
            let _ = all.compare_exchange(epoch, epoch + 1, Ordering::Relaxed, Ordering::Relaxed);
        }
        answer
    }

    /// Ends the session: what it would say next is not known.
    pub fn discard(&mut self) {
        self.slot.session = None;
    }

    /// Drops a session that has ended meanwhile.
    fn forget_dead(&mut self) {
        let slot = &mut self.slot;
        let epoch = self.pool.epoch.load(Ordering::Relaxed);
        let old = slot.epoch != epoch || now().saturating_sub(slot.used) > FRESH;
        if old && slot.session.as_mut().is_some_and(|session| !session.is_alive()) {
            slot.session = None;
        }
        slot.epoch = epoch;
    }

    fn session(&mut self) -> Result<&mut Session, DatabaseError> {
        let slot = &mut self.slot;
        let session = match slot.session.take() {
            Some(session) => session,
            None => self.pool.open()?,
        };
        Ok(slot.session.insert(session))
    }
}

impl Drop for PooledSession<'_> {
    fn drop(&mut self) {
        let mut slot = std::mem::take(&mut self.slot);
        if std::thread::panicking() {
            // In the middle of an answer: the next statement would get the rest of it.
            slot.session = None;
        }
        let mut state = self.pool.lock();
        state.free.push(slot);
        let wake = state.waiting > 0;
        drop(state);
        self.pool.in_use.fetch_sub(1, Ordering::Relaxed);
        if wake {
            self.pool.returned.notify_one();
        }
    }
}
