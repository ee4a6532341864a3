//! A worker: takes a request, makes its page, takes the CPU time that a page takes, answers.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Duration;

use sojourn_record::clock::now;
use sojourn_serving::cpu_work;
use sojourn_serving::http::{reason, Response};
use sojourn_serving::thread_cpu_time::own_ns;

use crate::board::{Answer, BoardError};
use crate::client::WaitingRequest;
use crate::interaction::{InteractionRequest, INTERACTIONS};
use crate::pages::{Page, PageMaker};
use crate::postgres::PostgresBoard;
use crate::shared::SharedState;
use crate::spans::{AskedTables, Times, TracedBoard, Tracer, DATABASE, IN_MEMORY};
use crate::tables::Tables;

/// One thread: one request at a time.
pub(crate) struct Worker<'a> {
    shared: &'a SharedState<'a>,
    me: usize,
    pages: PageMaker<'a>,
    tracer: Tracer<'a>,
    /// Rounds of work for a page.
    rounds: u64,
}

impl<'a> Worker<'a> {
    pub fn new(shared: &'a SharedState<'a>, me: usize) -> Self {
        let pages = PageMaker::new(&shared.offers, shared.config.seed, me);
        let (rounds, _) = cpu_work::rounds(shared.config.page_work_s, shared.speed.rounds_per_s);
        let tracer = Tracer::new(shared.traces.as_ref(), shared.config.seed ^ now(), me);
        Self { shared, me, pages, tracer, rounds }
    }

    /// Serves until the queue is closed and empty.
    pub fn run(mut self) {
        while let Some(request) = self.shared.queue.take() {
            self.serve(&request);
        }
    }

    fn serve(&mut self, request: &WaitingRequest) {
        let taken = now();
        let trace = self.tracer.begin();
        let called = if self.shared.config.database.is_some() { DATABASE } else { IN_MEMORY };
        let mut tables = AskedTables::new(trace.is_some(), called);
        let asked = InteractionRequest::from_target(&request.target);
        let (status, text) =
            asked.as_ref().map_or_else(|| refusal(404, ""), |asked| self.page(asked, &mut tables));
        let close = request.close || self.shared.shutdown.is_set();
        let body = text.as_bytes();
        let page = Response { status, body, cookie: None, head_only: request.head_only, close };
        let sent = request.client.send(&page);
        let interaction = asked.as_ref().map_or(INTERACTIONS.len(), |asked| asked.interaction);
        self.count(interaction, status, request, taken);
        let name = asked.as_ref().map_or("other", InteractionRequest::name);
        let times = Times { received: request.received, taken, answered: now() };
        self.tracer.end(trace, name, times, tables);
        // What the client did not take now, and what it asked meanwhile, is the event loop's affair.
        let wanted = request.client.end();
        if wanted || close || !matches!(sent, Ok(true)) {
            self.shared.wake(request.client.index);
        }
    }

    fn page(&mut self, request: &InteractionRequest, asked: &mut AskedTables) -> Page {
        let made = catch_unwind(AssertUnwindSafe(|| self.made(request, asked)));
        cpu_work::work(self.rounds);
        match made {
            Ok(Ok(page)) => page,
            Ok(Err(error)) => refusal(503, &error.to_string()),
            Err(_) => refusal(500, "this interaction failed; the log has why"),
        }
    }

    /// With a session of its own from the first statement to the last.
    fn made(&mut self, request: &InteractionRequest, asked: &mut AskedTables) -> Answer<Page> {
        match &self.shared.tables {
            Tables::Embedded(tables) => self.pages.page(&mut TracedBoard { board: tables, asked }, request),
            Tables::Postgres(pool) => {
                let timeout = Duration::from_secs_f64(self.shared.config.timeout_s);
                let session = pool.get(timeout).ok_or_else(|| BoardError("no session is free".into()))?;
                let mut board = PostgresBoard { session, transactions: 0, asked };
                let page = self.pages.page(&mut board, request);
                self.shared.stats.of_worker(self.me).transactions += board.transactions;
                page
            }
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
