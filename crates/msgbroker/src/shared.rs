//! What all threads of a service see.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::book::Book;
use crate::client::Desk;
use crate::database::{Fault, Keeper, Pool};
use crate::refusal::Refusal;
use crate::request::Operation;
use crate::Config;
use sojourn_record::clock::{now, ns};

/// How often the stop flag is looked at.
pub(crate) const TICK: Duration = Duration::from_millis(20);
/// How long clients may take their last answers after the database has given its.
const GRACE_NS: u64 = 500_000_000;
/// Complaints about the database, at most one in this time, ns.
const COMPLAINT_NS: u64 = 1_000_000_000;

/// What the dispatcher counts.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    pub accepted: AtomicU64,
    pub turned_away: AtomicU64,
    pub arrivals: AtomicU64,
    pub clients: AtomicUsize,
}

impl Gate {
    pub fn arrived(&self) {
        self.arrivals.fetch_add(1, Ordering::Relaxed);
    }
}

#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub config: &'a Config,
    pub desk: Desk,
    pub gate: Gate,
    pub pool: Pool,
    pub keeper: Keeper,
    pub book: Book,
    /// Workers that serve a request.
    pub busy: AtomicUsize,
    /// No further request is taken up.
    pub halt: AtomicBool,
    deadline: AtomicU64,
    complained: AtomicU64,
}

impl<'a> Shared<'a> {
    pub fn new(config: &'a Config, desk: Desk, pool: Pool) -> Self {
        Self {
            config,
            desk,
            gate: Gate::default(),
            pool,
            keeper: Keeper::default(),
            book: Book::new(config.log.is_some()),
            busy: AtomicUsize::new(0),
            halt: AtomicBool::new(false),
            deadline: AtomicU64::new(u64::MAX),
            complained: AtomicU64::new(0),
        }
    }

    /// Whether it halts and has had the time to answer what was under way.
    pub fn is_overdue(&self, now: u64) -> bool {
        self.halt.load(Ordering::Relaxed) && now > self.deadline.load(Ordering::Relaxed)
    }

    pub fn stop(&self) {
        self.deadline.store(now() + ns(self.config.timeout_s) + GRACE_NS, Ordering::Relaxed);
        self.halt.store(true, Ordering::Relaxed);
    }

    /// Requests that no worker was needed for.
    pub fn refused(&self, refused: &[Refusal]) {
        for refusal in refused {
            self.book.refused(refusal.status());
        }
    }

    /// What a client is told of a fault; the database's own words go to the log.
    pub fn as_refusal(&self, fault: &Fault, operation: &Operation<'_>) -> Refusal {
        let (at, last) = (now(), self.complained.load(Ordering::Relaxed));
        let turn = at.saturating_sub(last) > COMPLAINT_NS || last == 0;
        if turn && self.complained.compare_exchange(last, at, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            eprintln!("database: {}", fault.text());
        }
        match fault {
            Fault::Unknown(_) if operation.changes() => Refusal::Unknown,
            Fault::Away(_) | Fault::Unknown(_) => Refusal::Away,
            Fault::Refused(_) => Refusal::Refused,
        }
    }
}
