//! The pages of one core: `most` of them have a thread, the others wait in order of arrival. Those with a thread
//! run in turns (a quantum each), or share the core exactly.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// A page and the work left, s.
type Page = (u32, f64);

#[derive(Debug, Clone)]
pub(super) struct PageScheduler {
    most: usize,
    waiting: VecDeque<Page>,
    order: PageOrder,
}

#[derive(Debug, Clone)]
enum PageOrder {
    /// The first one runs; `slice_s` of its turn is left, after `switch_s` to turn to it.
    Turns {
        running: VecDeque<Page>,
        quantum_s: f64,
        slice_s: f64,
        cost_s: f64,
        switch_s: f64,
        last: Option<u32>,
    },
    /// Each has received `served_s` since the core was last without pages; ends are in that time.
    Shared { running: BinaryHeap<PageEnd>, served_s: f64 },
}

/// What happens next to the pages if nothing disturbs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextPageEvent {
    Switched,
    Slice,
    Finish,
}

#[derive(Debug, Clone, Copy)]
struct PageEnd {
    at_s: f64,
    page: u32,
}

impl Ord for PageEnd {
    /// The heap gives the largest: the earliest end, and of equal ones the older page, is the largest.
    fn cmp(&self, other: &PageEnd) -> Ordering {
        other.at_s.total_cmp(&self.at_s).then(other.page.cmp(&self.page))
    }
}

impl PartialOrd for PageEnd {
    fn partial_cmp(&self, other: &PageEnd) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PageEnd {
    fn eq(&self, other: &PageEnd) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for PageEnd {}

impl PageScheduler {
    /// `most` = 0: no limit; `quantum_s` = 0: shared exactly, or, with one thread, one after the other.
    pub(super) fn new(most: usize, quantum_s: f64, cost_s: f64) -> PageScheduler {
        let most = if most == 0 { usize::MAX } else { most };
        let order = if quantum_s > 0.0 || most == 1 {
            let quantum_s = if quantum_s > 0.0 { quantum_s } else { f64::INFINITY };
            let running = VecDeque::new();
            PageOrder::Turns { running, quantum_s, slice_s: quantum_s, cost_s, switch_s: 0.0, last: None }
        } else {
            PageOrder::Shared { running: BinaryHeap::new(), served_s: 0.0 }
        };
        PageScheduler { most, waiting: VecDeque::new(), order }
    }

    /// Pages here, waiting ones included.
    pub(super) fn count(&self) -> usize {
        self.waiting.len() + self.running()
    }

    fn running(&self) -> usize {
        match &self.order {
            PageOrder::Turns { running, .. } => running.len(),
            PageOrder::Shared { running, .. } => running.len(),
        }
    }

    /// Takes a page in; whether a thread took it up at once.
    pub(super) fn push(&mut self, page: u32, work_s: f64) -> bool {
        if self.running() >= self.most {
            self.waiting.push_back((page, work_s));
            return false;
        }
        self.take_up(page, work_s);
        true
    }

    fn take_up(&mut self, page: u32, work_s: f64) {
        match &mut self.order {
            PageOrder::Turns { running, .. } => {
                running.push_back((page, work_s));
                self.turn();
            }
            PageOrder::Shared { running, served_s } => {
                if running.is_empty() {
                    *served_s = 0.0;
                }
                running.push(PageEnd { at_s: *served_s + work_s, page });
            }
        }
    }

    /// Notes whether the core has to turn to another page than the one it was at.
    fn turn(&mut self) {
        if let PageOrder::Turns { running, cost_s, switch_s, last, .. } = &mut self.order {
            let first = running.front().map(|(page, _)| *page);
            if first.is_some() && first != *last {
                *last = first;
                *switch_s = *cost_s;
            }
        }
    }

    /// How long the core may work at the pages until something happens to them, s, and what; `None` without pages.
    pub(super) fn next(&self) -> Option<(f64, NextPageEvent)> {
        match &self.order {
            PageOrder::Turns { running, slice_s, switch_s, .. } => running.front().map(|(_, left_s)| {
                if *switch_s > 0.0 {
                    (*switch_s, NextPageEvent::Switched)
                } else if left_s <= slice_s {
                    (*left_s, NextPageEvent::Finish)
                } else {
                    (*slice_s, NextPageEvent::Slice)
                }
            }),
            PageOrder::Shared { running, served_s } => running
                .peek()
                .map(|end| ((end.at_s - served_s).max(0.0) * running.len() as f64, NextPageEvent::Finish)),
        }
    }

    /// The core worked at the pages for `time_s`, not beyond what `next` said; whether that was switching.
    pub(super) fn work(&mut self, time_s: f64) -> bool {
        match &mut self.order {
            PageOrder::Turns { running, slice_s, switch_s, .. } => {
                if *switch_s > 0.0 {
                    *switch_s = (*switch_s - time_s).max(f64::MIN_POSITIVE);
                    return true;
                }
                *slice_s = (*slice_s - time_s).max(0.0);
                if let Some((_, left_s)) = running.front_mut() {
                    *left_s = (*left_s - time_s).max(0.0);
                }
            }
            PageOrder::Shared { running, served_s } => *served_s += time_s / running.len().max(1) as f64,
        }
        false
    }

    /// The switch is over.
    pub(super) fn switched(&mut self) {
        if let PageOrder::Turns { switch_s, .. } = &mut self.order {
            *switch_s = 0.0;
        }
    }

    /// The turn is over: the next one's begins.
    pub(super) fn rotate(&mut self) {
        if let PageOrder::Turns { running, quantum_s, slice_s, .. } = &mut self.order {
            running.rotate_left(usize::from(!running.is_empty()));
            *slice_s = *quantum_s;
        }
        self.turn();
    }

    /// The page whose end came, and the one whose thread is free for it now.
    pub(super) fn finish(&mut self) -> (Option<u32>, Option<u32>) {
        let done = match &mut self.order {
            PageOrder::Turns { running, quantum_s, slice_s, .. } => {
                *slice_s = *quantum_s;
                running.pop_front().map(|(page, _)| page)
            }
            PageOrder::Shared { running, served_s } => running.pop().map(|end| {
                *served_s = end.at_s;
                end.page
            }),
        };
        let taken = self.waiting.pop_front();
        if let Some((page, work_s)) = taken {
            self.take_up(page, work_s);
        }
        self.turn();
        (done, taken.map(|(page, _)| page))
    }
}
