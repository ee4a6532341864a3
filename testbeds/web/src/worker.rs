//! One serving thread: epoll in edge mode, connections in the order in which they became ready, one
//! request at a time.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use sojourn_dist::{Distribution, Stream};
use sojourn_record::clock::WallClockOffset;

use crate::catalogue::Catalogue;
use crate::connection::{Connection, ConnectionProgress};
use crate::cpu_work::{self, CoreSpeedCalibration};
use crate::html::HtmlBuilder;
use crate::http::{self, ParseStatus, Response};
use crate::request_log::RequestRow;
use crate::route::{self, ERROR, HEALTH};
use crate::sys::{self, Epoll};
use crate::thread_statistics::ThreadStatistics;
use crate::WebConfig;

/// What all threads share.
#[derive(Debug)]
pub(crate) struct SharedState<'a> {
    pub config: &'a WebConfig,
    pub catalogue: Catalogue,
    pub open: AtomicUsize,
    pub halt: AtomicBool,
}

/// Where a thread's connections come in and its rows go out.
#[derive(Debug)]
pub(crate) struct Mailbox {
    pub epoll: Epoll,
    pub inbox: Mutex<Vec<(u64, TcpStream, usize)>>,
    pub rows: Mutex<Vec<RequestRow>>,
}

/// The token of the descriptor that only wakes.
pub(crate) const WAKE: u64 = u64::MAX;
const SCRATCH_BYTES: usize = 64 * 1024;
const LONGEST_WAIT_MS: i32 = 1000;
/// How often clocks are compared and idle connections looked for.
const ROUND_S: f64 = 0.25;

pub(crate) struct Worker<'a> {
    shared: &'a SharedState<'a>,
    mailbox: &'a Mailbox,
    thread: usize,
    calibration: CoreSpeedCalibration,
    draw: Option<(&'a Distribution, Stream)>,
    connections: HashMap<u64, Connection>,
    queue: VecDeque<u64>,
    again: Option<u64>,
    scratch: Vec<u8>,
    sheet: HtmlBuilder,
    response: Vec<u8>,
    statistics: ThreadStatistics,
    wall: WallClockOffset,
    next_round_s: f64,
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
            connections: HashMap::new(),
            queue: VecDeque::new(),
            again: None,
            scratch: vec![0; SCRATCH_BYTES],
            sheet: HtmlBuilder::default(),
            response: Vec::new(),
            statistics: ThreadStatistics::default(),
            wall: WallClockOffset::now(),
            next_round_s: 0.0,
        }
    }

    /// Serves until told to halt.
    pub(crate) fn run(mut self) -> io::Result<ThreadStatistics> {
        while !self.shared.halt.load(Ordering::Relaxed) {
            if self.queue.is_empty() || self.again.is_some() {
                self.poll()?;
            }
            if let Some(id) = self.queue.pop_front() {
                self.turn(id);
            }
        }
        self.shared.open.fetch_sub(self.connections.len(), Ordering::Relaxed);
        Ok(self.statistics)
    }

    /// Queues what became ready, then a connection that has another request: it goes behind the others.
    fn poll(&mut self) -> io::Result<()> {
        let timeout_ms = if self.again.is_none() { LONGEST_WAIT_MS } else { 0 };
        let (connections, queue, mailbox) = (&mut self.connections, &mut self.queue, self.mailbox);
        mailbox.epoll.wait(timeout_ms, |event| {
            if event.token == WAKE {
                return;
            }
            if !connections.contains_key(&event.token) {
                take_in(mailbox, connections);
            }
            if let Some(connection) = connections.get_mut(&event.token) {
                connection.readable |= event.readable;
                connection.hung_up |= event.hung_up;
                if !connection.queued {
                    connection.queued = true;
                    queue.push_back(event.token);
                }
            }
        })?;
        if let Some(id) = self.again.take() {
            if let Some(connection) = self.connections.get_mut(&id).filter(|c| !c.queued) {
                connection.queued = true;
                self.queue.push_back(id);
            }
        }
        let now_s = sys::monotonic_s();
        if now_s >= self.next_round_s {
            self.next_round_s = now_s + ROUND_S;
            self.wall = WallClockOffset::now();
            self.close_idle(now_s);
        }
        Ok(())
    }

    fn close_idle(&mut self, now_s: f64) {
        let limit_s = self.shared.config.idle_timeout_s;
        let before = self.connections.len();
        self.connections.retain(|_, c| c.queued || now_s - c.active_s < limit_s);
        self.shared.open.fetch_sub(before - self.connections.len(), Ordering::Relaxed);
    }

    /// One turn of a connection: at most one request.
    fn turn(&mut self, id: u64) {
        let start_s = sys::monotonic_s();
        let Some(mut connection) = self.connections.remove(&id) else { return };
        connection.queued = false;
        let open = match connection.next(&mut self.scratch) {
            ConnectionProgress::Wait => true,
            ConnectionProgress::Close => false,
            ConnectionProgress::Request => self.request(&mut connection, start_s).is_ok(),
        };
        let finished = connection.closing && !connection.has_unsent();
        if !open || finished {
            // Its place is free before the other side can know that it ended.
            self.shared.open.fetch_sub(1, Ordering::Relaxed);
            if finished {
                connection.finish(&mut self.scratch);
            }
            return;
        }
        if connection.has_more() && !connection.has_unsent() {
            self.again = Some(id);
        }
        self.connections.insert(id, connection);
    }

    fn request(&mut self, connection: &mut Connection, start_s: f64) -> io::Result<()> {
        let response = self.make(connection.input());
        let (drawn_s, work_s) = self.work(response.page);
        connection.respond(&self.response)?;
        let end_s = sys::monotonic_s();
        connection.active_s = end_s;
        connection.closing = response.close;
        connection.served(response.length);
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
        if self.shared.config.out.is_some() {
            self.mailbox.rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
        }
        Ok(())
    }

    /// Makes the response to the request at the start of `input`.
    fn make(&mut self, input: &[u8]) -> PreparedResponse {
        self.response.clear();
        let (request, length) = match http::parse(input) {
            ParseStatus::Complete { request, length } => (request, length),
            ParseStatus::Refused(status) => return self.refuse(status, input.len(), true, false),
            ParseStatus::Partial => return self.refuse(400, input.len(), true, false),
        };
        let size = self.shared.config.page_bytes;
        let page = route::route(request.target);
        let rendered = page.as_ref().map_err(|status| *status).and_then(|page| {
            let catalogue = &self.shared.catalogue;
            crate::pages::render(page, request.cookie, catalogue, size, &mut self.sheet)
        });
        let (page, cookie) = match (page, rendered) {
            (Ok(page), Ok(cookie)) => (page.index(), cookie),
            (_, Err(status)) | (Err(status), _) => {
                return self.refuse(status, length, request.close, request.head_only);
            }
        };
        let (head_only, close) = (request.head_only, request.close);
        let (body, cookie) = (self.sheet.text.as_bytes(), cookie.as_deref());
        http::compose(&Response { status: 200, body, cookie, head_only, close }, &mut self.response);
        PreparedResponse { status: 200, page, length, close }
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
        let start_s = sys::monotonic_s();
        cpu_work::work(rounds);
        (drawn_s, sys::monotonic_s() - start_s)
    }
}

fn take_in(mailbox: &Mailbox, connections: &mut HashMap<u64, Connection>) {
    let now_s = sys::monotonic_s();
    let mut inbox = mailbox.inbox.lock().unwrap_or_else(PoisonError::into_inner);
    for (id, stream, nic) in inbox.drain(..) {
        connections.insert(id, Connection::new(stream, nic, now_s));
    }
}
