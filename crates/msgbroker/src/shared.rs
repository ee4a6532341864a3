//! What all threads of a service see.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::answer::Answer;
use crate::book::Book;
use crate::client::Desk;
use crate::database::{Connector, Effect, Fault, Keeper, Pool, Reply};
use crate::operation::Kind;
use crate::refusal::Refusal;
use crate::Config;
use sojourn_record::clock::now;
use sojourn_serving::{log, Halt, Level};

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
    pub connector: Connector,
    pub keeper: Keeper,
    pub book: Book,
    /// Workers that serve a request.
    pub busy: AtomicUsize,
    /// No further request is taken up.
    pub halt: Halt,
    complained: AtomicU64,
}

impl<'a> Shared<'a> {
    pub fn new(config: &'a Config, desk: Desk, pool: Pool) -> Self {
        Self {
            config,
            desk,
            gate: Gate::default(),
            pool,
            connector: Connector::default(),
            keeper: Keeper::default(),
            book: Book::new(config.log.is_some()),
            busy: AtomicUsize::new(0),
            halt: Halt::default(),
            complained: AtomicU64::new(0),
        }
    }

    pub fn stop(&self) {
        self.halt.set(self.config.timeout_s);
    }

    /// Requests that no worker was needed for.
    pub fn refused(&self, refused: &[Refusal]) {
        for refusal in refused {
            self.book.refused(refusal.status());
        }
    }

    /// Tells the keeper what it has to know.
    pub fn note(&self, answer: &Answer) {
        match answer {
            Answer::Done(Reply::Message(_) | Reply::Acknowledged) => self.keeper.deleted(1),
            Answer::Done(Reply::Dropped) => self.keeper.dropped(),
            _ => {}
        }
    }

    /// What a client is told of a fault; the database's own words go to the log.
    pub fn as_refusal(&self, fault: &Fault, kind: Kind) -> Refusal {
        let (at, last) = (now(), self.complained.load(Ordering::Relaxed));
        // That no session could be had is told by `Health`, once.
        let turn = fault.effect != Effect::NotSent && (at.saturating_sub(last) > COMPLAINT_NS || last == 0);
        if turn && self.complained.compare_exchange(last, at, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            let lost = fault.effect == Effect::Unknown;
            let event = if lost { "database_session_lost" } else { "statement_refused" };
            log(Level::Warn, event, &[("reason", &fault.text())]);
        }
        match fault.effect {
            Effect::Unknown if kind.changes() => Refusal::Unknown,
            Effect::NotSent | Effect::Unknown => Refusal::Away,
            Effect::RolledBack => Refusal::Refused,
        }
    }
}
