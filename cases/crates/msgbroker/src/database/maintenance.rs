//! What has to be done beside: overdue takes given back, messages of dropped queues deleted, dead rows removed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::database_clock::{ClockReading, DatabaseClock};
use super::statements as sql;
use sojourn_pgsession::connect;
use sojourn_pgsession::Session;
use sojourn_pgsession::SessionPool;
use sojourn_pgsession::{ConnInfo, SocketStream};
use sojourn_pgsession::{DatabaseError, StatementFate};
use sojourn_record::clock::now;
use sojourn_serving::{log, LogLevel};

/// How often overdue takes are looked for.
const TURN: Duration = Duration::from_millis(50);
/// So many messages that were taken leave as many dead rows, which takes have to pass by until they are removed.
const DEAD: u64 = 5_000;
/// Not more often than this, ns.
const LEAST: u64 = 500_000_000;
/// A removal may take this part of the time.
const SHARE: u64 = 10;
/// Queues that another service dropped are looked for so often, ns.
const ORPHANS: u64 = 30_000_000_000;
/// After a failure, ns.
const PAUSE: u64 = 1_000_000_000;

/// What workers tell the maintenance.
#[derive(Debug, Default)]
pub(crate) struct Maintenance {
    /// Rows deleted since the last removal.
    dead: AtomicU64,
    dropped: AtomicBool,
    pub vacuums: AtomicU64,
    pub returned: AtomicU64,
    /// So that a statement under way can be cut off.
    stream: Mutex<Option<SocketStream>>,
}

/// When what is due, ns.
#[derive(Default)]
struct MaintenanceSchedule {
    vacuum: u64,
    orphans: u64,
    session: u64,
    clock: DatabaseClock,
    /// How long this service lends, us; 0 where it does not.
    lent_us: i64,
}

impl Maintenance {
    pub fn deleted(&self, rows: u64) {
        self.dead.fetch_add(rows, Ordering::Relaxed);
    }

    pub fn dropped(&self) {
        self.dropped.store(true, Ordering::Relaxed);
    }

    /// Works until `shutdown` is set; tells `pool` when the database goes and returns, also while nobody asks for anything.
    pub fn run(
        &self,
        conninfo: &ConnInfo,
        pool: &SessionPool,
        redelivery_s: Option<f64>,
        shutdown: &AtomicBool,
    ) {
        let lent_us = (redelivery_s.unwrap_or(0.0) * 1e6) as i64;
        let (mut session, mut schedule) =
            (None, MaintenanceSchedule { lent_us, ..MaintenanceSchedule::default() });
        while !shutdown.load(Ordering::Relaxed) {
            std::thread::sleep(TURN);
            if (session.is_none() || !pool.health.is_up()) && now() >= schedule.session {
                session = self.open(conninfo, pool);
                schedule.session = now() + PAUSE;
            }
            if shutdown.load(Ordering::Relaxed) {
                return;
            }
            if session.as_mut().is_some_and(|open| self.turn(open, &mut schedule).is_err()) {
                session = None;
            }
        }
    }

    /// Ends what is under way.
    pub fn cut(&self) {
        if let Some(stream) = &*self.stream.lock().unwrap_or_else(PoisonError::into_inner) {
            stream.shutdown();
        }
    }

    fn open(&self, conninfo: &ConnInfo, pool: &SessionPool) -> Option<Session> {
        let session = connect(&conninfo.patient()).inspect_err(|fault| pool.health.down(fault)).ok()?;
        pool.is_back();
        *self.stream.lock().unwrap_or_else(PoisonError::into_inner) = session.socket().ok();
        Some(session)
    }

    /// Does what is due; an error where the session is over.
    fn turn(&self, session: &mut Session, schedule: &mut MaintenanceSchedule) -> Result<(), DatabaseError> {
        over(self.return_overdue(session, schedule))?;
        let begun = now();
        if self.dropped.swap(false, Ordering::Relaxed) || begun >= schedule.orphans {
            schedule.orphans = begun + ORPHANS;
            self.orphans(session)?;
        }
        if self.dead.load(Ordering::Relaxed) >= DEAD && begun >= schedule.vacuum {
            self.dead.store(0, Ordering::Relaxed);
            over(session.query(sql::VACUUM, &mut |_| {}))?;
            self.vacuums.fetch_add(1, Ordering::Relaxed);
            schedule.vacuum = now() + ((now() - begun) * SHARE).max(LEAST);
        }
        Ok(())
    }

    /// Gives back what was lent too long ago.
    fn return_overdue(
        &self,
        session: &mut Session,
        schedule: &mut MaintenanceSchedule,
    ) -> Result<(), DatabaseError> {
        let (asked, mut said) = (now(), None);
        session.run(sql::CLOCK, &[], &mut |row| said = row.int(0).zip(row.int(1)))?;
        let Some((database_us, receipt)) = said else { return Ok(()) };
        let reading = ClockReading { database_us, receipt, asked, heard: now() };
        let jump = schedule.clock.jump(&reading);
        let mut longest_us = schedule.lent_us;
        if let Some(jump_us) = jump {
            log(LogLevel::Warn, "database_clock_jumped", &[("by_s", &(jump_us as f64 / 1e6))]);
            let before = schedule.clock.last_receipt().to_be_bytes();
            let mut latest_us = None;
            session.run(sql::LATEST, &[Some(&before)], &mut |row| latest_us = row.int(0))?;
            longest_us = longest_us.max(latest_us.map_or(0, |us| us - (database_us - jump_us)));
        }
        let overdue = schedule.clock.overdue(reading, jump, longest_us);
        let params = [overdue.new_us, overdue.old_us, overdue.old_receipt].map(i64::to_be_bytes);
        let params = params.each_ref().map(|bytes| Some(&bytes[..]));
        let mut given = 0;
        session.run(sql::RETURN_OVERDUE, &params, &mut |_| given += 1)?;
        self.returned.fetch_add(given, Ordering::Relaxed);
        Ok(())
    }

    /// Deletes messages whose queue is no more, some at a time.
    fn orphans(&self, session: &mut Session) -> Result<(), DatabaseError> {
        let mut queues = Vec::new();
        over(session.run(sql::ORPHANS, &[], &mut |row| queues.extend(row.int(0))))?;
        for queue in queues {
            let bytes = (queue as i32).to_be_bytes();
            loop {
                let mut rows = 0;
                over(session.run(sql::DELETE_SOME, &[Some(&bytes)], &mut |_| rows += 1))?;
                self.deleted(rows);
                if rows == 0 {
                    break;
                }
            }
        }
        Ok(())
    }
}

/// What the database refuses now it may do later.
fn over(answer: Result<(), DatabaseError>) -> Result<(), DatabaseError> {
    match answer {
        Err(DatabaseError { effect: StatementFate::RolledBack, .. }) => Ok(()),
        answer => answer,
    }
}
