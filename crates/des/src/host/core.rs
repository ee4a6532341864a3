//! One core: soft interrupts in order of arrival; pages run only while there are none.

use std::collections::VecDeque;

use super::page_scheduler::{NextPageEvent, PageScheduler};

#[derive(Debug, Clone)]
pub(super) struct Core {
    /// Requests whose interrupt waits or runs, with the work left, s.
    interrupts: VecDeque<(u32, f64)>,
    pages: PageScheduler,
    since_s: f64,
    /// When something happens here next; infinite if nothing does.
    pub(super) next_s: f64,
    step: CoreActivity,
    /// Time in each state until `since_s`, s.
    pub(super) user_s: f64,
    pub(super) system_s: f64,
    pub(super) softirq_s: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CoreActivity {
    Nothing,
    Interrupt,
    Page(NextPageEvent),
}

/// What came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompletedWork {
    Nothing,
    Interrupt(u32),
    /// The page, and the one that was taken up in its place.
    Page(u32, Option<u32>),
}

impl Core {
    pub(super) fn new(pages: PageScheduler) -> Core {
        Core {
            interrupts: VecDeque::new(),
            pages,
            since_s: 0.0,
            next_s: f64::INFINITY,
            step: CoreActivity::Nothing,
            user_s: 0.0,
            system_s: 0.0,
            softirq_s: 0.0,
        }
    }

    /// Requests here, in interrupts or as pages.
    pub(super) fn count(&self) -> usize {
        self.interrupts.len() + self.pages.count()
    }

    /// Brings the counters up to `now_s`; nothing else changes.
    pub(super) fn advance(&mut self, now_s: f64) {
        let time_s = now_s - self.since_s;
        self.since_s = now_s;
        match self.step {
            CoreActivity::Nothing => {}
            CoreActivity::Interrupt => {
                self.softirq_s += time_s;
                if let Some((_, left_s)) = self.interrupts.front_mut() {
                    *left_s = (*left_s - time_s).max(0.0);
                }
            }
            CoreActivity::Page(_) if self.pages.work(time_s) => self.system_s += time_s,
            CoreActivity::Page(_) => self.user_s += time_s,
        }
    }

    /// A soft interrupt for `request` begins, or waits for those before it.
    pub(super) fn interrupt(&mut self, now_s: f64, request: u32, work_s: f64) {
        self.advance(now_s);
        self.interrupts.push_back((request, work_s));
        // the second of several changes nothing
        if self.interrupts.len() == 1 {
            self.plan();
        }
    }

    /// A page comes to this core; whether a thread took it up at once.
    pub(super) fn page(&mut self, now_s: f64, request: u32, work_s: f64) -> bool {
        self.advance(now_s);
        let taken = self.pages.push(request, work_s);
        if self.interrupts.is_empty() {
            self.plan();
        }
        taken
    }

    /// What was planned for `next_s` happens.
    pub(super) fn happen(&mut self) -> CompletedWork {
        self.advance(self.next_s);
        let ended = match self.step {
            CoreActivity::Interrupt => self
                .interrupts
                .pop_front()
                .map_or(CompletedWork::Nothing, |(r, _)| CompletedWork::Interrupt(r)),
            CoreActivity::Page(NextPageEvent::Finish) => match self.pages.finish() {
                (Some(done), taken) => CompletedWork::Page(done, taken),
                (None, _) => CompletedWork::Nothing,
            },
            CoreActivity::Page(NextPageEvent::Slice) => {
                self.pages.rotate();
                CompletedWork::Nothing
            }
            CoreActivity::Page(NextPageEvent::Switched) => {
                self.pages.switched();
                CompletedWork::Nothing
            }
            CoreActivity::Nothing => CompletedWork::Nothing,
        };
        self.plan();
        ended
    }

    fn plan(&mut self) {
        let next = match self.interrupts.front() {
            Some((_, left_s)) => Some((*left_s, CoreActivity::Interrupt)),
            None => self.pages.next().map(|(time_s, next)| (time_s, CoreActivity::Page(next))),
        };
        let (time_s, step) = next.unwrap_or((f64::INFINITY, CoreActivity::Nothing));
        self.next_s = self.since_s + time_s;
        self.step = step;
    }
}
