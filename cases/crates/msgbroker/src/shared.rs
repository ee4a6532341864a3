//! What all threads of a service see.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::client::Context;
use crate::database::{
    execute, DatabaseError, Maintenance, OperationResult, PooledSession, SessionConnector, SessionPool,
    StatementFate,
};
use crate::operation::{Operation, OperationKind};
use crate::refusal::Refusal;
use crate::response::Response;
use crate::stats::Stats;
use crate::Config;
use sojourn_record::clock::now;
use sojourn_serving::{log, GracefulShutdown, LogLevel};

/// Complaints about the database, at most one in this time, ns.
const COMPLAINT_NS: u64 = 1_000_000_000;

/// What the event loop counts.
#[derive(Debug, Default)]
pub(crate) struct ClientCounters {
    pub accepted: AtomicU64,
    pub turned_away: AtomicU64,
    pub arrivals: AtomicU64,
    pub clients: AtomicUsize,
}

impl ClientCounters {
    pub fn arrived(&self) {
        self.arrivals.fetch_add(1, Ordering::Relaxed);
    }
}

#[derive(Debug)]
pub(crate) struct SharedState<'a> {
    pub config: &'a Config,
    pub context: Context,
    pub counters: ClientCounters,
    pub pool: SessionPool,
    pub connector: SessionConnector,
    pub maintenance: Maintenance,
    pub stats: Stats,
    /// Workers that serve a request.
    pub busy: AtomicUsize,
    /// No further request is taken up.
    pub shutdown: GracefulShutdown,
    complained: AtomicU64,
}

impl<'a> SharedState<'a> {
    pub fn new(config: &'a Config, context: Context, pool: SessionPool) -> Self {
        Self {
            config,
            context,
            counters: ClientCounters::default(),
            pool,
            connector: SessionConnector::default(),
            maintenance: Maintenance::default(),
            stats: Stats::new(if config.is_threaded() { config.workers } else { 1 }, config.log.is_some()),
            busy: AtomicUsize::new(0),
            shutdown: GracefulShutdown::default(),
            complained: AtomicU64::new(0),
        }
    }

    pub fn stop(&self) {
        self.shutdown.set(self.config.timeout_s);
    }

    /// Requests that no worker was needed for.
    pub fn refused(&self, refused: &[Refusal]) {
        for refusal in refused {
            self.stats.refused(refusal.status());
        }
    }

    /// Tells the maintenance what it has to know.
    pub fn note(&self, answer: &Response) {
        match answer {
            Response::Reply(OperationResult::Message(_) | OperationResult::Acknowledged) => {
                self.maintenance.deleted(1)
            }
            Response::Reply(OperationResult::Dropped) => self.maintenance.dropped(),
            _ => {}
        }
    }

    /// Carries out one operation by itself.
    pub fn execute(&self, session: &mut PooledSession<'_>, operation: &Operation<'_>) -> Response {
        execute(session, operation, self.config.redelivery_s)
            .map_or_else(|fault| Response::Refused(self.refusal(&fault, operation.kind())), Response::from)
    }

    /// What a client is told of a fault; the database's own words go to the log.
    pub fn refusal(&self, fault: &DatabaseError, kind: OperationKind) -> Refusal {
        let (at, last) = (now(), self.complained.load(Ordering::Relaxed));
        // That no session could be had is told by `Health`, once.
        let turn =
            fault.effect != StatementFate::NotSent && (at.saturating_sub(last) > COMPLAINT_NS || last == 0);
        if turn && self.complained.compare_exchange(last, at, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            let lost = fault.effect == StatementFate::Unknown;
            let event = if lost { "database_session_lost" } else { "statement_refused" };
            log(LogLevel::Warn, event, &[("reason", &fault.text())]);
        }
        match fault.effect {
            StatementFate::Unknown if kind.changes() => Refusal::Unknown,
            StatementFate::NotSent | StatementFate::Unknown => Refusal::Away,
            StatementFate::RolledBack => Refusal::Refused,
        }
    }
}
