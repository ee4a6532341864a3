//! What has to be done beside: overdue takes given back, messages of dropped queues deleted, dead rows removed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::link::{Fault, Link};
use super::statements as sql;
use super::target::{Stream, Target};
use sojourn_record::clock::now;

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

/// What workers tell the keeper.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    /// Rows deleted since the last removal.
    dead: AtomicU64,
    dropped: AtomicBool,
    pub vacuums: AtomicU64,
    pub given_back: AtomicU64,
    /// So that a statement under way can be cut off.
    stream: Mutex<Option<Stream>>,
}

/// When what is due, ns.
#[derive(Default)]
struct Diary {
    vacuum: u64,
    orphans: u64,
    link: u64,
}

impl Keeper {
    pub fn deleted(&self, rows: u64) {
        self.dead.fetch_add(rows, Ordering::Relaxed);
    }

    pub fn dropped(&self) {
        self.dropped.store(true, Ordering::Relaxed);
    }

    /// Works until `halt` is set.
    pub fn run(&self, target: &Target, halt: &AtomicBool) {
        let (mut link, mut diary) = (None, Diary::default());
        while !halt.load(Ordering::Relaxed) {
            std::thread::sleep(TURN);
            if link.is_none() && now() >= diary.link {
                link = self.open(target);
                diary.link = now() + PAUSE;
            }
            if halt.load(Ordering::Relaxed) {
                return;
            }
            if link.as_mut().is_some_and(|open| self.turn(open, &mut diary).is_err()) {
                link = None;
            }
        }
    }

    /// Ends what is under way.
    pub fn cut(&self) {
        if let Some(stream) = &*self.stream.lock().unwrap_or_else(PoisonError::into_inner) {
            stream.shutdown();
        }
    }

    fn open(&self, target: &Target) -> Option<Link> {
        let link = Link::open(&target.patient()).ok()?;
        *self.stream.lock().unwrap_or_else(PoisonError::into_inner) = link.stream.try_clone().ok();
        Some(link)
    }

    /// Does what is due; an error where the session is over.
    fn turn(&self, link: &mut Link, diary: &mut Diary) -> Result<(), Fault> {
        let mut given = 0;
        over(link.run(sql::GIVE_BACK, &[], &mut |_| given += 1))?;
        self.given_back.fetch_add(given, Ordering::Relaxed);
        let begun = now();
        if self.dropped.swap(false, Ordering::Relaxed) || begun >= diary.orphans {
            diary.orphans = begun + ORPHANS;
            self.orphans(link)?;
        }
        if self.dead.load(Ordering::Relaxed) >= DEAD && begun >= diary.vacuum {
            self.dead.store(0, Ordering::Relaxed);
            over(link.query(sql::VACUUM, &mut |_| {}))?;
            self.vacuums.fetch_add(1, Ordering::Relaxed);
            diary.vacuum = now() + ((now() - begun) * SHARE).max(LEAST);
        }
        Ok(())
    }

    /// Deletes messages whose queue is no more, some at a time.
    fn orphans(&self, link: &mut Link) -> Result<(), Fault> {
        let mut queues = Vec::new();
        over(link.run(sql::ORPHANS, &[], &mut |row| queues.extend(row.int(0))))?;
        for queue in queues {
            let bytes = (queue as i32).to_be_bytes();
            loop {
                let mut rows = 0;
                over(link.run(sql::DELETE_SOME, &[Some(&bytes)], &mut |_| rows += 1))?;
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
fn over(answer: Result<(), Fault>) -> Result<(), Fault> {
    match answer {
        Err(Fault::Refused(_)) => Ok(()),
        answer => answer,
    }
}
