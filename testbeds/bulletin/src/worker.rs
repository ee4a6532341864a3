//! A worker: takes a request, makes its page, takes the CPU time that a page takes, answers.

use std::panic::{catch_unwind, AssertUnwindSafe};

use sojourn_record::clock::now;
use sojourn_serving::cpu_work;
use sojourn_serving::http::{reason, Response};
use sojourn_serving::thread_cpu_time::own_ns;

use crate::board::Board;
use crate::client::WaitingRequest;
use crate::interaction::{InteractionRequest, INTERACTIONS};
use crate::pages::{Page, PageMaker};
use crate::shared::SharedState;

/// One thread: one request at a time.
pub(crate) struct Worker<'a, B> {
    shared: &'a SharedState<'a>,
    me: usize,
    board: B,
    pages: PageMaker<'a>,
    /// Rounds of work for a page.
    rounds: u64,
}

impl<'a, B: Board> Worker<'a, B> {
    pub fn new(shared: &'a SharedState<'a>, me: usize, board: B) -> Self {
        let pages = PageMaker::new(shared.generator, shared.config.seed, me);
        let (rounds, _) = cpu_work::rounds(shared.config.page_work_s, shared.speed.rounds_per_s);
        Self { shared, me, board, pages, rounds }
    }

    /// Serves until the queue is closed and empty.
    pub fn run(mut self) {
        while let Some(request) = self.shared.queue.take() {
            self.serve(&request);
        }
    }

    fn serve(&mut self, request: &WaitingRequest) {
        let taken = now();
        let asked = InteractionRequest::from_target(&request.target);
        let (status, text) = asked.as_ref().map_or_else(|| refusal(404, ""), |asked| self.page(asked));
        let close = request.close || self.shared.shutdown.is_set();
        let body = text.as_bytes();
        let page = Response { status, body, cookie: None, head_only: request.head_only, close };
        let sent = request.client.send(&page);
        self.count(asked.map_or(INTERACTIONS.len(), |asked| asked.interaction), status, request, taken);
        // What the client did not take now, and what it asked meanwhile, is the event loop's affair.
        let wanted = request.client.end();
        if wanted || close || !matches!(sent, Ok(true)) {
            self.shared.wake(request.client.index);
        }
    }

    fn page(&mut self, request: &InteractionRequest) -> Page {
        let (pages, board) = (&mut self.pages, &mut self.board);
        let made = catch_unwind(AssertUnwindSafe(|| pages.page(board, request)));
        cpu_work::work(self.rounds);
        match made {
            Ok(Ok(page)) => page,
            Ok(Err(error)) => refusal(503, &error.to_string()),
            Err(_) => refusal(500, "this interaction failed; the log has why"),
        }
    }

    fn count(&self, interaction: usize, status: u16, request: &WaitingRequest, taken: u64) {
        let mut counts = self.shared.stats.of_worker(self.me);
        counts.completions[interaction] += 1;
        *counts.statuses.entry(status).or_default() += 1;
        counts.waited_ns += taken.saturating_sub(request.received);
        counts.served_ns += now() - taken;
        counts.cpu_ns = own_ns().unwrap_or(0);
    }
}

/// A page that says what is wrong.
pub(crate) fn refusal(status: u16, why: &str) -> Page {
    let words = reason(status);
    (status, format!("<!doctype html><title>{status}</title><h1>{status} {words}</h1>{why}\n"))
}
