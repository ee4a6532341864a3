//! One serving thread: epoll in edge mode, connections in the order in which they became ready, one
//! request at a time.

use std::io;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, PoisonError};

use sojourn_dist::{Distribution, Stream};
use sojourn_record::clock::{now, ns, s, WallClockOffset};
use sojourn_serving::{GracefulShutdown, ReadyList, TICK};

use crate::backend::Backend;
use crate::catalogue::Catalogue;
use crate::connection::{AtBackend, Connection, ConnectionProgress};
use crate::html::HtmlBuilder;
use crate::mailbox::{token, Mailbox, WAKE};
use crate::request_log::RequestRow;
use crate::route::{self, Page, ERROR, HEALTH};
use crate::sys;
use crate::thread_statistics::ThreadStatistics;
use crate::Config;
use sojourn_serving::cpu_work::{self, CoreSpeedCalibration};
use sojourn_serving::http::{self, ParseStatus, Response};

/// What all threads share.
#[derive(Debug)]
pub(crate) struct SharedState<'a> {
    pub config: &'a Config,
    pub catalogue: Catalogue,
    /// Places taken by connections.
    pub open: Arc<AtomicUsize>,
    pub shutdown: GracefulShutdown,
    pub backend: Option<Backend<'a>>,
}

const LONGEST_WAIT_MS: i32 = 1000;
/// How often clocks are compared and idle connections looked for, ns.
const ROUND: u64 = 250_000_000;

pub(crate) struct Worker<'a> {
    pub(crate) shared: &'a SharedState<'a>,
    pub(crate) mailbox: &'a Mailbox,
    pub(crate) thread: usize,
    calibration: CoreSpeedCalibration,
    draw: Option<(&'a Distribution, Stream)>,
    pub(crate) ready: ReadyList,
    /// Has another request; goes behind those that became ready meanwhile.
    again: Option<u32>,
    sheet: HtmlBuilder,
    pub(crate) response: Vec<u8>,
    pub(crate) statistics: ThreadStatistics,
    pub(crate) wall: WallClockOffset,
    next_round: u64,
}

/// A response that is ready to be sent.
struct PreparedResponse {
    status: u16,
    page: u8,
    length: usize,
    close: bool,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(
        shared: &'a SharedState<'a>,
        mailbox: &'a Mailbox,
        thread: usize,
        calibration: CoreSpeedCalibration,
    ) -> Self {
        let config = shared.config;
        let stream = Stream::new(config.seed, &format!("web-demand-{thread}"));
        Self {
            shared,
            mailbox,
            thread,
            calibration,
            draw: config.demand.as_ref().map(|demand| (demand, stream)),
            ready: ReadyList::default(),
            again: None,
            sheet: HtmlBuilder::default(),
            response: Vec::new(),
            statistics: ThreadStatistics::default(),
            wall: WallClockOffset::now(),
            next_round: 0,
        }
    }

    /// Serves until told to halt, and what has been received until then.
    pub(crate) fn run(mut self) -> io::Result<ThreadStatistics> {
        loop {
            let looked = self.ready.is_empty() || self.again.is_some();
            if looked {
                self.poll()?;
            }
            match self.ready.pop() {
                Some(index) => self.turn(index),
                None if self.shared.shutdown.is_set() && self.sweep(now()) == 0 => break,
                None => {}
            }
            if self.shared.shutdown.is_set() && self.shared.shutdown.is_overdue(now()) {
                break;
            }
        }
        Ok(self.statistics)
    }

    /// Queues what became ready, then a connection that has another request: it goes behind the others.
    fn poll(&mut self) -> io::Result<()> {
        let timeout_ms = match self.again {
            Some(_) => 0,
            None if self.shared.shutdown.is_set() => TICK.as_millis() as i32,
            None => LONGEST_WAIT_MS,
        };
        let (ready, mailbox) = (&mut self.ready, self.mailbox);
        mailbox.epoll.wait(timeout_ms, |event| {
            let (index, generation) = (event.token as u32, (event.token >> 32) as u32);
            if event.token == WAKE {
                return;
            }
            if let Some(connection) = mailbox.connections().same(index, generation) {
                if event.readable {
                    connection.read_half.event(event.hung_up);
                }
                ready.push(index);
            }
        })?;
        self.answer_waiting();
        if let Some(index) = self.again.take() {
            self.ready.push(index);
        }
        let now = now();
        if now >= self.next_round {
            self.next_round = now + ROUND;
            self.wall = WallClockOffset::now();
            self.sweep(now);
        }
        Ok(())
    }

    /// Closes connections that are over by the clock; how many are left.
    fn sweep(&mut self, now: u64) -> usize {
        let (idle, stopping) = (ns(self.shared.config.idle_timeout_s), self.shared.shutdown.is_set());
        let mut connections = self.mailbox.connections();
        let mut left = 0;
        for index in 0..connections.end() {
            match connections.get(index).map(|connection| connection.is_over(now, idle, stopping)) {
                Some(true) => drop(connections.remove(index)),
                Some(false) => left += 1,
                None => {}
            }
        }
        left
    }

    /// One turn of a connection: at most one request.
    fn turn(&mut self, index: u32) {
        let start = now();
        let Some(mut connection) = self.mailbox.connections().take(index) else { return };
        if connection.at_backend.is_some() {
            self.mailbox.connections().give(index, connection);
            return;
        }
        let mut progress = connection.next(start);
        if progress == ConnectionProgress::Request {
            progress = self.request(&mut connection, index, s(start)).unwrap_or(ConnectionProgress::Close);
        }
        if progress == ConnectionProgress::Close {
            drop(connection);
            self.mailbox.connections().remove(index);
            return;
        }
        if progress == ConnectionProgress::Again {
            self.again = Some(index);
        }
        self.mailbox.connections().give(index, connection);
    }

    fn request(
        &mut self,
        connection: &mut Connection,
        index: u32,
        start_s: f64,
    ) -> io::Result<ConnectionProgress> {
        let Some(response) = self.make(connection, index, start_s) else {
            return Ok(ConnectionProgress::Wait);
        };
        let (drawn_s, work_s) = self.work(response.page);
        connection.respond(&self.response, response.length)?;
        let end = now();
        let end_s = s(end);
        connection.read_half.acted(end);
        connection.closing = response.close;
        let fixed_s = end_s - start_s - work_s;
        self.statistics.add(response.page, fixed_s, drawn_s, work_s);
        let received_s = connection.stamp_ns.map_or(f64::NAN, |ns| (ns - self.wall.ns) as f64 * 1e-9);
        let row = RequestRow {
            received_s,
            start_s,
            end_s,
            drawn_s,
            work_s,
            fixed_s,
            thread: self.thread as u16,
            core: sys::current_core(),
            nic: connection.nic as u16,
            status: response.status,
            bytes: self.response.len() as u32,
            page: response.page,
        };
        self.leave_row(row);
        Ok(connection.after_response(end))
    }

    /// For the acceptor, where requests are recorded.
    pub(crate) fn leave_row(&self, row: RequestRow) {
        if self.shared.config.out.is_some() {
            self.mailbox.rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
        }
    }

    /// Makes the response to the request at the start of the input; None where the backend has taken it.
    fn make(&mut self, connection: &mut Connection, index: u32, start_s: f64) -> Option<PreparedResponse> {
        self.response.clear();
        let input = connection.input();
        let (request, length) = match http::parse(input) {
            ParseStatus::Complete { request, length } => (request, length),
            ParseStatus::Refused(status) => return Some(self.refuse(status, input.len(), true, false)),
            ParseStatus::Partial => return Some(self.refuse(400, input.len(), true, false)),
        };
        // While the service ends, what has been received is answered, and the last of it says that it is the last.
        let last = self.shared.shutdown.is_set() && length == input.len();
        let (close, head_only, size) =
            (request.close || last, request.head_only, self.shared.config.page_bytes);
        let page = route::route(request.target);
        let mut cookie = None;
        let index_of_page = match (&page, &self.shared.backend) {
            (Ok(Page::Wait), Some(backend)) => {
                let token = token(&self.mailbox.connections(), index);
                if !backend.arrive(self.thread, token) {
                    return Some(self.refuse(503, length, close, head_only));
                }
                connection.at_backend = Some(AtBackend { length, start_s, head_only, close });
                return None;
            }
            (Ok(page @ Page::Metrics), Some(backend)) => {
                self.sheet.text = backend.metrics();
                Ok(page.index())
            }
            (Ok(page), _) => {
                let catalogue = &self.shared.catalogue;
                let made = crate::pages::render(page, request.cookie, catalogue, size, &mut self.sheet);
                made.map(|cart| {
                    cookie = cart.map(|cart| format!("cart={cart}"));
                    page.index()
                })
            }
            (Err(status), _) => Err(*status),
        };
        let page = match index_of_page {
            Ok(page) => page,
            Err(status) => return Some(self.refuse(status, length, close, head_only)),
        };
        let (body, cookie) = (self.sheet.text.as_bytes(), cookie.as_deref());
        http::compose(&Response { status: 200, body, cookie, head_only, close }, &mut self.response);
        Some(PreparedResponse { status: 200, page, length, close })
    }

    fn refuse(&mut self, status: u16, length: usize, close: bool, head_only: bool) -> PreparedResponse {
        let body =
            format!("<!doctype html><title>{status}</title><h1>{status} {}</h1>\n", http::reason(status));
        let response = Response { status, body: body.as_bytes(), cookie: None, head_only, close };
        http::compose(&response, &mut self.response);
        PreparedResponse { status, page: ERROR, length, close }
    }

    /// Does the drawn work of a page: the demand that was done, and the time it took, in s.
    fn work(&mut self, page: u8) -> (f64, f64) {
        let Some((demand, stream)) = self.draw.as_mut().filter(|_| page < HEALTH) else { return (0.0, 0.0) };
        let (rounds, drawn_s) = cpu_work::rounds(demand.sample(stream), self.calibration.rounds_per_s);
        let start = now();
        cpu_work::work(rounds);
        (drawn_s, s(now() - start))
    }
}
