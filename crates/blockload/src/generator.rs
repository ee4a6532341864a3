//! One thread: takes I/Os up when they are due, begins them, and takes their ends as they come.
//!
//! Between two ends and between two due times it waits for whichever is first, in one call: an end never waits for the pacer, and
//! what is due never waits for an end.

mod ends;

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use sojourn_dist::Schedule;
use sojourn_loadgen::recording::{
    precise_timers, LiveCounts, OutcomeBatch, RequestInFlight, RunTerms, StopFlags, ThreadCounts, NO_USER,
};
use sojourn_loadgen::{now_s, ClientThreadSummary};

use crate::block_contents::{BlockContents, ReadPromise};
use crate::config::Config;
use crate::error::BlockLoadError;
use crate::late_answers::LateAnswers;
use crate::operation::{Operation, OperationGenerator, OperationKind};
use crate::path::{BlockPath, Completion};
use crate::summary::StorageSummary;
use crate::sys;

/// How often outcomes go to the record, and how soon a stop is seen.
const REPORT_S: f64 = 0.1;
/// What is under way gets this long when the run is stopped.
const STOP_GRACE_S: f64 = 0.5;
/// I/Os taken up before ends are looked at again.
const TAKE_MAX: usize = 64;
/// Other places that are tried for a write beside one to the same place.
const PLACES_MAX: usize = 64;

/// Due, and not begun.
#[derive(Debug, Clone, Copy)]
struct DueIo {
    intended_s: f64,
    taken_s: f64,
    is_flush: bool,
}

/// Begun, and not ended.
#[derive(Debug, Clone, Copy)]
struct InFlight {
    request: RequestInFlight,
    operation: Operation,
    /// Its time is up and told; the path has its buffer still.
    abandoned: bool,
}

pub struct Generator<'a> {
    config: &'a Config,
    terms: &'a RunTerms,
    flags: StopFlags<'a>,
    gauges: &'a LiveCounts,
    path: Box<dyn BlockPath>,
    operations: OperationGenerator,
    contents: Option<BlockContents>,
    schedule: Schedule,
    /// CLOCK_MONOTONIC.
    next_due_s: Option<f64>,
    waiting: VecDeque<DueIo>,
    slots: Vec<Option<InFlight>>,
    promises: Vec<ReadPromise>,
    late: LateAnswers,
    free: Vec<u32>,
    /// By when I/Os must have ended: time, slot, number; ascending.
    deadlines: VecDeque<(f64, u32, u64)>,
    begun: u64,
    counts: ThreadCounts,
    storage: StorageSummary,
    sender: Sender<OutcomeBatch>,
    stopped_s: Option<f64>,
    next_report_s: f64,
}

/// What a generator works on.
pub struct Work {
    pub path: Box<dyn BlockPath>,
    pub span_bytes: u64,
    pub storage: StorageSummary,
}

impl<'a> Generator<'a> {
    /// Called on the thread that will run it.
    pub fn new(
        config: &'a Config,
        terms: &'a RunTerms,
        flags: StopFlags<'a>,
        gauges: &'a LiveCounts,
        work: Work,
        sender: Sender<OutcomeBatch>,
    ) -> Generator<'a> {
        precise_timers();
        let (block, depth) = (&config.block, config.block.depth);
        let mut schedule = config.lane().arrivals.schedule(config.seed, "lane 0 arrivals", config.duration_s);
        let next_due_s = schedule.next().map(|due_s| terms.start_s + due_s);
        let run = config.seed ^ terms.start_s.to_bits();
        let contents = || BlockContents::new(work.span_bytes, config.unit_bytes(), run);
        Generator {
            config,
            terms,
            flags,
            gauges,
            path: work.path,
            operations: OperationGenerator::new(block, work.span_bytes, config.seed),
            contents: block.verify.then(contents),
            schedule,
            next_due_s,
            waiting: VecDeque::new(),
            slots: vec![None; depth as usize],
            promises: vec![ReadPromise::default(); depth as usize],
            late: LateAnswers::default(),
            free: (0..depth).rev().collect(),
            deadlines: VecDeque::new(),
            begun: 0,
            counts: ThreadCounts::new(false),
            storage: work.storage,
            sender,
            stopped_s: None,
            next_report_s: 0.0,
        }
    }

    /// Runs to the end of the schedule and of what is under way then.
    ///
    /// # Errors
    /// The path itself fails.
    pub fn run(mut self) -> Result<(ClientThreadSummary, StorageSummary), BlockLoadError> {
        self.fill_buffers();
        let (process_s, thread_s) = sys::cpu_s();
        let mut ended: Vec<Completion> = Vec::new();
        loop {
            self.take_due();
            self.begin_waiting()?;
            let now = now_s();
            self.expire(now);
            if now >= self.next_report_s {
                self.next_report_s = now + REPORT_S;
                self.report();
            }
            if self.is_over(now) {
                break;
            }
            self.path.wait(self.wake_s(), &mut ended).map_err(path_failed)?;
            if !ended.is_empty() {
                self.storage.reaps += 1;
                let done_s = now_s();
                ended.drain(..).for_each(|completion| self.end(&completion, done_s));
            }
        }
        let (process_end_s, thread_end_s) = sys::cpu_s();
        self.storage.generator_cpu_s = thread_end_s - thread_s;
        self.storage.process_cpu_s = process_end_s - process_s;
        self.counts.abandoned += self.counts.outstanding;
        self.report();
        let network = self.path.network();
        self.storage.reconnects = network.reconnects;
        self.storage.stalled_share = self.stalled_share(&network);
        Ok((self.counts.summary(0, self.config.lane().cpu), self.storage))
    }

    /// Something to write where contents are not verified: no zeros, which devices treat in ways of their own.
    fn fill_buffers(&mut self) {
        if !self.config.block.writes() || self.contents.is_some() {
            return;
        }
        let mut stream = sojourn_dist::Stream::new(self.config.seed, "block contents");
        for slot in 0..self.config.block.depth {
            let buffer = self.path.buffer(slot);
            buffer.chunks_exact_mut(8).for_each(|word| word.copy_from_slice(&stream.bits().to_le_bytes()));
        }
    }

    /// Takes up what is due; what finds the queue full is refused.
    fn take_due(&mut self) {
        if self.stopped_s.is_some() {
            return;
        }
        let now = now_s();
        for _ in 0..TAKE_MAX {
            let Some(intended_s) = self.next_due_s.filter(|due_s| *due_s <= now) else { return };
            self.next_due_s = self.schedule.next().map(|due_s| self.terms.start_s + due_s);
            self.storage.due += 1;
            self.counts.requested += 1;
            self.counts.outstanding += 1;
            let due = DueIo { intended_s, taken_s: now, is_flush: false };
            let room = if self.path.is_up() { self.free.len() } else { 0 };
            if self.waiting.len() >= room + self.config.block.queue as usize {
                self.storage.refused += 1;
                self.end_unsent(due, now);
            } else {
                self.waiting.push_back(due);
            }
        }
    }

    /// Begins what waits, as far as there are free slots.
    fn begin_waiting(&mut self) -> Result<(), BlockLoadError> {
        while self.path.is_up() && !self.waiting.is_empty() {
            let Some(slot) = self.free.pop() else { return Ok(()) };
            let Some(due) = self.waiting.pop_front() else { return Ok(()) };
            let operation = if due.is_flush { Some(Operation::FLUSH) } else { self.draw() };
            let Some(operation) = operation else {
                self.storage.refused += 1;
                self.free.push(slot);
                self.end_unsent(due, now_s());
                continue;
            };
            self.begin(slot, due, operation)?;
            if self.operations.take_flush() {
                self.counts.requested += 1;
                self.counts.outstanding += 1;
                self.waiting.push_front(DueIo { is_flush: true, ..due });
            }
        }
        Ok(())
    }

    /// The next operation; `None` where contents are verified and every place that was tried is being written to.
    fn draw(&mut self) -> Option<Operation> {
        let mut operation = self.operations.draw();
        let Some(contents) = &self.contents else { return Some(operation) };
        if operation.kind == OperationKind::Read {
            return Some(operation);
        }
        for _ in 0..PLACES_MAX {
            if contents.is_free(&operation) {
                return Some(operation);
            }
            operation.offset_bytes = self.operations.place(operation.length_bytes);
        }
        None
    }

    fn begin(&mut self, slot: u32, due: DueIo, operation: Operation) -> Result<(), BlockLoadError> {
        if let Some(contents) = &mut self.contents {
            match operation.kind {
                OperationKind::Read => contents.begin_read(&operation, &mut self.promises[slot as usize]),
                OperationKind::Write => {
                    let buffer = self.path.buffer(slot);
                    contents.begin_write(&operation, &mut buffer[..operation.length_bytes as usize]);
                }
                OperationKind::Flush => {}
            }
        }
        let (class, number) = (operation.kind as u16, self.begun);
        self.begun += 1;
        let request = RequestInFlight {
            sequence: number,
            target: 0,
            class,
            user: NO_USER,
            intended_s: due.intended_s,
            taken_s: due.taken_s,
            sent_s: now_s(),
        };
        self.late.sent(number, request.sent_s);
        self.slots[slot as usize] = Some(InFlight { request, operation, abandoned: false });
        self.deadlines.push_back((due.intended_s + self.terms.timeout_s, slot, number));
        self.counts.sent += 1;
        self.path.begin(slot, &operation).map_err(path_failed)
    }

    fn wake_s(&self) -> f64 {
        let due_s = self.next_due_s.filter(|_| self.stopped_s.is_none()).unwrap_or(f64::INFINITY);
        let deadline_s = self.deadlines.front().map_or(f64::INFINITY, |deadline| deadline.0);
        let patience_s =
            self.waiting.front().map_or(f64::INFINITY, |due| due.intended_s + self.terms.timeout_s);
        self.next_report_s.min(due_s).min(deadline_s).min(patience_s)
    }

    fn is_over(&mut self, now: f64) -> bool {
        let stop = self.flags.stop.load(Ordering::Relaxed) || self.flags.halt.load(Ordering::Relaxed);
        if stop && self.stopped_s.is_none() {
            self.stopped_s = Some(now);
        }
        let nothing_left = self.counts.outstanding == 0;
        if let Some(stopped_s) = self.stopped_s {
            return nothing_left || now >= stopped_s + STOP_GRACE_S;
        }
        let end_s = self.terms.end_s;
        (now >= end_s && nothing_left && self.next_due_s.is_none()) || now >= end_s + self.terms.timeout_s
    }

    fn report(&mut self) {
        self.counts.publish(self.gauges, self.waiting.len());
        let outcomes = std::mem::take(&mut self.counts.outcomes);
        if !outcomes.is_empty() {
            // Without a sink the run has failed, and `halt` says so.
            let _ = self.sender.send(OutcomeBatch { lane: 0, outcomes });
        }
    }
}

fn path_failed(cause: std::io::Error) -> BlockLoadError {
    BlockLoadError::System { call: "the I/O's event loop", cause }
}
