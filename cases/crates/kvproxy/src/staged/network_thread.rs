//! The network thread.

use std::io;
use std::net::{Shutdown, TcpListener as Bound};
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use sojourn_memproto::RequestLimits;

use super::client::{Client, JobQueue};
use super::resume_queue::{ResumeQueue, RESUME};
use crate::acceptor::accept;
use crate::histograms::Histograms;
use crate::shared::SharedState;
use crate::stats::Stats;
use crate::ServeError;
use sojourn_record::clock::{now, ns};
use sojourn_serving::{system, MemoryCharge, ReadHalf, ReadyList, Slab, TICK};

const EVENTS: usize = 1024;
const LISTENER: Token = Token(usize::MAX);

/// A client as the network thread has it.
pub(super) struct Connection {
    pub client: Arc<Client>,
    pub read_half: ReadHalf,
    /// No further request is taken up; the connection ends when all is answered.
    pub closing: bool,
    /// For `read_half`.
    pub charge: MemoryCharge,
}

/// Whether a connection is good, and whether it has more to do without an event.
pub(super) struct ReadResult {
    pub good: bool,
    pub more: bool,
}

pub(super) struct NetworkThread<'a> {
    pub shared: &'a SharedState<'a>,
    pub stats: &'a Stats,
    pub queue: Arc<JobQueue>,
    pub resume: Arc<ResumeQueue>,
    pub histograms: Histograms,
    pub limits: RequestLimits,
    pub now: u64,
    poll: Poll,
    listener: TcpListener,
    connections: Slab<Connection>,
    /// Those that have more to be taken up, or to be read.
    ready: ReadyList,
}

impl<'a> NetworkThread<'a> {
    pub fn new(
        shared: &'a SharedState<'a>,
        queue: Arc<JobQueue>,
        listener: Bound,
    ) -> Result<Self, ServeError> {
        let poll = Poll::new().map_err(system("epoll"))?;
        let mut listener = TcpListener::from_std(listener);
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE).map_err(system("epoll"))?;
        Ok(Self {
            shared,
            stats: &shared.stats[0],
            queue,
            resume: Arc::new(ResumeQueue::new(poll.registry()).map_err(system("epoll"))?),
            histograms: Histograms::new(),
            limits: shared.config.limits(),
            now: now(),
            poll,
            listener,
            connections: Slab::default(),
            ready: ReadyList::default(),
        })
    }

    /// Serves until the proxy halts and all that was taken up is answered; then the workers may end.
    pub fn run(mut self) -> Result<Histograms, ServeError> {
        self.stats.begin();
        let mut events = Events::with_capacity(EVENTS);
        let (mut swept, mut awake) = (0, now());
        // Whether some of the requests beyond the first `handed` wait in the queue for a batch.
        let (mut held, mut handed, batch) = (false, 0, self.shared.config.batch as u64);
        loop {
            self.stats.busy_ns.add(now() - awake);
            // Whoever shares this core goes first: what it sends meanwhile is read and handed over with the rest. Where each request
            // wakes a worker all the same, that costs more than it saves.
            if held && self.ready.is_empty() {
                std::thread::yield_now();
            }
            let patience = if self.ready.is_empty() && !held { TICK } else { Duration::ZERO };
            match self.poll.poll(&mut events, Some(patience)) {
                Err(e) if e.kind() != io::ErrorKind::Interrupted => {
                    self.queue.close();
                    return Err(system("epoll")(e).into());
                }
                _ => awake = now(),
            }
            self.now = awake;
            events.iter().for_each(|event| self.on_event(event));
            let before = self.stats.arrivals.get();
            for _ in 0..self.ready.len() {
                self.ready.pop().into_iter().for_each(|index| self.take_turn(index));
                if self.stats.arrivals.get() - handed >= batch {
                    handed = self.stats.arrivals.get();
                    self.queue.wake(self.shared.config.batch);
                }
            }
            // What has come now may be joined by more, until nothing comes or it is a batch.
            held = batch > 1 && handed < self.stats.arrivals.get() && before < self.stats.arrivals.get();
            if !held {
                handed = self.stats.arrivals.get();
                self.queue.wake(self.shared.config.batch);
            }
            if self.now - swept >= TICK.as_nanos() as u64 {
                swept = self.now;
                if self.sweep() {
                    self.queue.close();
                    self.stats.end();
                    return Ok(self.histograms);
                }
            }
        }
    }

    fn on_event(&mut self, event: &mio::event::Event) {
        match event.token() {
            LISTENER => return self.admit(),
            RESUME => return self.resume.take().into_iter().for_each(|index| self.ready.push(index)),
            _ => {}
        }
        let index = event.token().0 as u32;
        let Some(connection) = self.connections.get(index) else { return };
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            connection.read_half.event(event.is_read_closed());
        }
        self.ready.push(index);
    }

    /// A bounded piece of work for one client.
    fn take_turn(&mut self, index: u32) {
        let Some(mut connection) = self.connections.take(index) else { return };
        let ReadResult { good, more } = self.pump(&mut connection);
        if more {
            self.ready.push(index);
        }
        self.connections.give(index, connection);
        self.settle(index, good);
    }

    /// Ends a connection that is broken, or that is over.
    fn settle(&mut self, index: u32, good: bool) {
        let Some(connection) = self.connections.get(index) else { return };
        if !good {
            return self.close(index);
        }
        if connection.is_over() {
            let (ended, stopping) = (connection.read_half.has_ended(), self.shared.shutdown.is_set());
            if ended || stopping || connection.client.stream.shutdown(Shutdown::Write).is_err() {
                return self.close(index);
            }
            if connection.read_half.deadline.linger(self.now) {
                self.ready.push(index);
            }
        }
    }

    fn admit(&mut self) {
        while let Some(stream) = accept(&self.listener, self.shared) {
            if self.shared.shutdown.is_set() || self.add_connection(stream).is_err() {
                self.shared.open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    fn add_connection(&mut self, mut stream: TcpStream) -> io::Result<()> {
        let index = self.connections.reserve();
        let both = Interest::READABLE | Interest::WRITABLE;
        if let Err(error) = self.poll.registry().register(&mut stream, Token(index as usize), both) {
            self.connections.remove(index);
            return Err(error);
        }
        let charge = || MemoryCharge::new(&self.shared.memory);
        let connection = Connection {
            client: Arc::new(Client::new(stream, index, charge(), self.now)),
            read_half: ReadHalf::new(self.now),
            closing: false,
            charge: charge(),
        };
        self.connections.put(index, connection);
        self.stats.connections.add(1);
        Ok(())
    }

    /// What is due by the clock; whether the thread is over.
    fn sweep(&mut self) -> bool {
        self.admit();
        let shutdown = self.shared.shutdown.is_set();
        let idle_ns = ns(self.shared.config.idle_s);
        for index in 0..self.connections.end() {
            let Some(connection) = self.connections.get(index) else { continue };
            connection.closing |= shutdown;
            let state = connection.client.state();
            if state.stalled {
                self.ready.push(index);
            }
            connection.read_half.deadline.acted(state.active);
            let waits = !state.busy || !state.out.is_empty();
            drop(state);
            if connection.read_half.deadline.has_passed(self.now, idle_ns, waits) {
                self.close(index);
            } else {
                self.settle(index, true);
            }
        }
        self.stats.queue.set(self.queue.len() as u64);
        shutdown && (self.stats.connections.get() == 0 || self.shared.shutdown.is_overdue(self.now))
    }

    fn close(&mut self, index: u32) {
        let Some(connection) = self.connections.remove(index) else { return };
        let left = connection.client.state().end();
        self.stats.abandoned.add(left as u64);
        // Workers that still serve it keep the socket; nobody is to be kept waiting by that.
        let _ = connection.client.stream.shutdown(Shutdown::Both);
        self.stats.connections.set(self.stats.connections.get() - 1);
        self.shared.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Connection {
    /// Whether its requests are to be left unread; then it is told when they are not.
    pub fn is_stalled(&self) -> bool {
        let mut state = self.client.state();
        state.stalled = state.is_full();
        state.stalled
    }

    /// Whether nothing is owed to the client any more.
    fn is_over(&self) -> bool {
        if !self.closing && !self.read_half.has_ended() {
            return false;
        }
        let state = self.client.state();
        (self.closing || !state.stalled) && !state.busy && state.backlog.is_empty() && state.out.is_empty()
    }
}
