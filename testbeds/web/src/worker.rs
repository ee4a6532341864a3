//! One serving thread: epoll in edge mode, connections in the order in which they became ready, one
//! request at a time.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use sojourn_dist::{Distribution, Stream};
use sojourn_record::clock::WallOffset;

use crate::account::Account;
use crate::catalogue::Catalogue;
use crate::connection::{Connection, Next};
use crate::html::Sheet;
use crate::http::{self, Parsed, Response};
use crate::record::Row;
use crate::route::{self, ERROR, HEALTH};
use crate::sys::{self, Epoll};
use crate::work::{self, Calibration};
use crate::Config;

/// What all threads share.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub config: &'a Config,
    pub catalogue: Catalogue,
    pub open: AtomicUsize,
    pub halt: AtomicBool,
}

/// Where a thread's connections come in and its rows go out.
#[derive(Debug)]
pub(crate) struct Post {
    pub epoll: Epoll,
    pub inbox: Mutex<Vec<(u64, TcpStream, usize)>>,
    pub rows: Mutex<Vec<Row>>,
}

/// The token of the descriptor that only wakes.
pub(crate) const WAKE: u64 = u64::MAX;
const SCRATCH_BYTES: usize = 64 * 1024;
const LONGEST_WAIT_MS: i32 = 1000;
/// How often clocks are compared and idle connections looked for.
const ROUND_S: f64 = 0.25;

pub(crate) struct Worker<'a> {
    shared: &'a Shared<'a>,
    post: &'a Post,
    thread: usize,
    calibration: Calibration,
    draw: Option<(&'a Distribution, Stream)>,
    connections: HashMap<u64, Connection>,
    queue: VecDeque<u64>,
    again: Option<u64>,
    scratch: Vec<u8>,
    sheet: Sheet,
    response: Vec<u8>,
    account: Account,
    wall: WallOffset,
    next_round_s: f64,
}

/// A response that is ready to be sent.
struct Made {
    status: u16,
    page: u8,
    length: usize,
    close: bool,
}

impl<'a> Worker<'a> {
    pub(crate) fn new(
        shared: &'a Shared<'a>,
        post: &'a Post,
        thread: usize,
        calibration: Calibration,
    ) -> Self {
        let config = shared.config;
        let stream = Stream::new(config.seed, &format!("web-demand-{thread}"));
        Self {
            shared,
            post,
            thread,
            calibration,
            draw: config.demand.as_ref().map(|demand| (demand, stream)),
            connections: HashMap::new(),
            queue: VecDeque::new(),
            again: None,
            scratch: vec![0; SCRATCH_BYTES],
            sheet: Sheet::default(),
            response: Vec::new(),
            account: Account::default(),
            wall: WallOffset::now(),
            next_round_s: 0.0,
        }
    }

    /// Serves until told to halt.
    pub(crate) fn run(mut self) -> io::Result<Account> {
        while !self.shared.halt.load(Ordering::Relaxed) {
            if self.queue.is_empty() || self.again.is_some() {
                self.poll()?;
            }
            if let Some(id) = self.queue.pop_front() {
                self.turn(id);
            }
        }
        self.shared.open.fetch_sub(self.connections.len(), Ordering::Relaxed);
        Ok(self.account)
    }

    /// Queues what became ready, then a connection that has another request: it goes behind the others.
    fn poll(&mut self) -> io::Result<()> {
        let timeout_ms = if self.again.is_none() { LONGEST_WAIT_MS } else { 0 };
        let (connections, queue, post) = (&mut self.connections, &mut self.queue, self.post);
        post.epoll.wait(timeout_ms, |event| {
            if event.token == WAKE {
                return;
            }
            if !connections.contains_key(&event.token) {
                take_in(post, connections);
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
            self.wall = WallOffset::now();
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
            Next::Wait => true,
            Next::Close => false,
            Next::Request => self.request(&mut connection, start_s).is_ok(),
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
        let made = self.make(connection.input());
        let (drawn_s, work_s) = self.work(made.page);
        connection.respond(&self.response)?;
        let end_s = sys::monotonic_s();
        connection.active_s = end_s;
        connection.closing = made.close;
        connection.served(made.length);
        let fixed_s = end_s - start_s - work_s;
        self.account.add(made.page, fixed_s, drawn_s, work_s);
        let received_s = connection.stamp_ns.map_or(f64::NAN, |ns| (ns - self.wall.ns) as f64 * 1e-9);
        let row = Row {
            received_s,
            start_s,
            end_s,
            drawn_s,
            work_s,
            fixed_s,
            thread: self.thread as u16,
            core: sys::current_core(),
            nic: connection.nic as u16,
            status: made.status,
            bytes: self.response.len() as u32,
            page: made.page,
        };
        if self.shared.config.out.is_some() {
            self.post.rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
        }
        Ok(())
    }

    /// Makes the response to the request at the start of `input`.
    fn make(&mut self, input: &[u8]) -> Made {
        self.response.clear();
        let (request, length) = match http::parse(input) {
            Parsed::Complete { request, length } => (request, length),
            Parsed::Refused(status) => return self.refuse(status, input.len(), true, false),
            Parsed::Partial => return self.refuse(400, input.len(), true, false),
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
        Made { status: 200, page, length, close }
    }

    fn refuse(&mut self, status: u16, length: usize, close: bool, head_only: bool) -> Made {
        let body =
            format!("<!doctype html><title>{status}</title><h1>{status} {}</h1>\n", http::reason(status));
        let response = Response { status, body: body.as_bytes(), cookie: None, head_only, close };
        http::compose(&response, &mut self.response);
        Made { status, page: ERROR, length, close }
    }

    /// Does the drawn work of a page: the demand that was done, and the time it took, in s.
    fn work(&mut self, page: u8) -> (f64, f64) {
        let Some((demand, stream)) = self.draw.as_mut().filter(|_| page < HEALTH) else { return (0.0, 0.0) };
        let (rounds, drawn_s) = work::rounds(demand.sample(stream), self.calibration.rounds_per_s);
        let start_s = sys::monotonic_s();
        work::work(rounds);
        (drawn_s, sys::monotonic_s() - start_s)
    }
}

fn take_in(post: &Post, connections: &mut HashMap<u64, Connection>) {
    let now_s = sys::monotonic_s();
    let mut inbox = post.inbox.lock().unwrap_or_else(PoisonError::into_inner);
    for (id, stream, nic) in inbox.drain(..) {
        connections.insert(id, Connection::new(stream, nic, now_s));
    }
}
