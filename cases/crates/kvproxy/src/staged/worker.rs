//! A worker: takes requests, asks servers, answers.

use std::net::TcpStream;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

use sojourn_memproto::{parse, ParseStep, Reply, ReplyKind, Request, RequestLimits};

use super::client::{joins, JobQueue, QueuedRequest, Responder, Taken};
use super::health::HealthChecker;
use super::resume_queue::ResumeQueue;
use super::server::ServerConnection;
use crate::histograms::Histograms;
use crate::limits::{most_reply_bytes, refusal, ONLY_FIRST};
use crate::reply_merger::{rank, ReplyMerger, ERROR};
use crate::route::{shard, without_uniques, Target};
use crate::shared::SharedState;
use crate::stats::Stats;
use sojourn_record::clock::{now, ns};
use sojourn_serving::{time_histogram::record, MemoryCharge};

pub(super) struct Worker<'a> {
    shared: &'a SharedState<'a>,
    pub stats: &'a Stats,
    pub health: Arc<HealthChecker<'a>>,
    queue: Arc<JobQueue>,
    resume: Arc<ResumeQueue>,
    pub servers: Vec<ServerConnection>,
    histograms: Histograms,
    limits: RequestLimits,
    timeout: u64,
    bytes: Vec<u8>,
    /// For answers as they are put together; each server's connection has one of its own.
    charge: MemoryCharge,
}

impl<'a> Worker<'a> {
    pub fn new(
        shared: &'a SharedState<'a>,
        health: Arc<HealthChecker<'a>>,
        queue: Arc<JobQueue>,
        resume: Arc<ResumeQueue>,
        me: usize,
        servers: Vec<Option<TcpStream>>,
    ) -> Self {
        let config = shared.config;
        let most_bytes = most_reply_bytes(config);
        let charge = || MemoryCharge::new(&shared.memory);
        let open = |stream| ServerConnection::new(stream, most_bytes, charge());
        let servers = servers.into_iter().map(open).collect();
        let timeout = ns(config.timeout_s);
        let stats = &shared.stats[me + 1];
        let limits = config.limits();
        Self {
            shared,
            stats,
            health,
            queue,
            resume,
            servers,
            histograms: Histograms::new(),
            limits,
            timeout,
            bytes: Vec::new(),
            charge: charge(),
        }
    }

    /// Serves until the queue is closed and empty.
    pub fn run(mut self) -> Histograms {
        self.stats.begin();
        let (most, sharded) = (self.shared.config.batch, self.shared.config.sharded);
        let mut batch = Vec::new();
        while self.queue.take_some(most, joins(sharded), &mut batch) {
            let taken = now();
            let mut left = batch.len();
            if left == 1 {
                batch.drain(..).for_each(|request| {
                    let gather = self.serve(&request.1, taken);
                    self.answer(request, &gather, true);
                });
            } else {
                self.serve_together(std::mem::take(&mut batch), |worker, request, gather| {
                    left -= 1;
                    worker.answer(request, &gather, left == 0);
                });
            }
            self.stats.busy_ns.add(now() - taken);
        }
        self.stats.end();
        self.histograms
    }

    /// Whoever is the `last` before this worker takes again leaves its client's next request to it.
    fn answer(&mut self, (client, job): Taken, gather: &ReplyMerger, last: bool) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        gather.finish(&mut bytes);
        self.charge.set(gather.size() + bytes.capacity());
        if job.route.keys > 0 && gather.rank < ERROR {
            self.stats.hits.add(gather.found as u64);
            self.stats.misses.add(job.route.keys.saturating_sub(gather.found) as u64);
        }
        let Self { stats, queue, resume, histograms, .. } = self;
        client.served(
            &job,
            gather.rank,
            &bytes,
            &mut Responder { stats, histograms, queue, resume, quiet: last },
        );
        bytes.shrink_to(1 << 18);
        self.charge.set(bytes.capacity());
        self.bytes = bytes;
    }

    fn serve(&mut self, job: &QueuedRequest, taken: u64) -> ReplyMerger {
        let all = self.servers.len();
        if let Some(refusal) = refusal(job.route.target, self.health.ups(), all) {
            return error(refusal);
        }
        let gather = match job.route.target {
            Target::Any if self.shared.config.sharded && job.route.keys > 1 => self.shares(job),
            Target::Any => match self.next() {
                Some(server) => self.ask(server..server + 1, &job.bytes, job.route.shape),
                None => error(crate::limits::NO_SERVER),
            },
            Target::First if !self.health.is_up(0) => match self.next() {
                Some(server) => {
                    let mut found = self.ask(server..server + 1, &job.bytes, job.route.shape);
                    found.change(without_uniques);
                    found
                }
                None => error(crate::limits::NO_SERVER),
            },
            Target::First => self.ask(0..1, &job.bytes, job.route.shape),
            Target::Guarded => {
                let first = self.ask(0..1, &job.bytes, job.route.shape);
                if first.rank > 0 || all == 1 {
                    first
                } else if self.health.ups() < all {
                    error(ONLY_FIRST)
                } else {
                    self.ask(1..all, &job.then, job.route.shape)
                }
            }
            _ => self.ask(0..all, &job.bytes, job.route.shape),
        };
        self.count_served(job.received, taken);
        gather
    }

    /// A request that came at `received` and was taken at `taken` has been answered by servers.
    pub fn count_served(&mut self, received: u64, taken: u64) {
        let (queue, service) = (taken.saturating_sub(received), now() - taken);
        self.stats.served.add(1);
        self.stats.queue_ns.add(queue);
        self.stats.service_ns.add(service);
        record(&mut self.histograms.queue, queue);
        record(&mut self.histograms.service, service);
    }

    /// The same to some servers; all are asked before the first is heard.
    fn ask(&mut self, servers: Range<usize>, bytes: &[u8], shape: ReplyKind) -> ReplyMerger {
        let mut gather = ReplyMerger::new(servers.len(), false);
        let (start, first) = (now(), servers.start);
        let sent: u64 = servers
            .clone()
            .filter(|server| self.send(*server, bytes, &mut gather, *server - first))
            .fold(0, |sent, server| sent | 1 << server);
        for server in servers.filter(|server| sent >> server & 1 == 1) {
            self.hear_only(server, shape, start, &mut gather, server - first);
        }
        gather
    }

    /// A multi-get in shares, one for each server that is up.
    fn shares(&mut self, job: &QueuedRequest) -> ReplyMerger {
        // One turn for all shares: with a turn for each, other workers' turns in between give one server two of them.
        let (all, first) = (self.servers.len(), self.shared.turn.fetch_add(1, Ordering::Relaxed));
        let turns = (0..all).map(|k| first.wrapping_add(k) % all).filter(|one| self.health.is_up(*one));
        let servers: Vec<usize> = turns.take(job.route.keys).collect();
        let parts = servers.len();
        if parts == 0 {
            return error(crate::limits::NO_SERVER);
        }
        let ParseStep::Done { request: Request::Get { keys, .. }, .. } = parse(&job.bytes, &self.limits)
        else {
            return error(crate::limits::NO_SERVER);
        };
        let mut gather = ReplyMerger::new(parts, parts > 1);
        let (start, mut asked, mut bytes) = (now(), Vec::with_capacity(parts), Vec::new());
        for (part, server) in servers.into_iter().enumerate() {
            bytes.clear();
            shard(&mut bytes, &keys, job.route.keys, part, parts);
            if self.send(server, &bytes, &mut gather, part) {
                asked.push((server, part));
            }
        }
        for (server, part) in asked {
            self.hear_only(server, job.route.shape, start, &mut gather, part);
        }
        gather
    }

    /// The next server that is up, by turns over all workers.
    pub fn next(&self) -> Option<usize> {
        let all = self.servers.len();
        (0..all)
            .map(|_| self.shared.turn.fetch_add(1, Ordering::Relaxed) % all)
            .find(|one| self.health.is_up(*one))
    }

    /// Whether it was sent; else the answer is an error.
    fn send(&mut self, server: usize, bytes: &[u8], gather: &mut ReplyMerger, part: usize) -> bool {
        self.stats.servers[server].requests.add(1);
        let sent = self.write(server, bytes);
        if let Err(why) = sent {
            self.fail(server, why, gather, part);
        }
        sent.is_ok()
    }

    /// To the server, over a connection that is opened if there is none.
    pub fn write(&mut self, server: usize, bytes: &[u8]) -> Result<(), &'static str> {
        let (epoch, connection) = (self.health.epoch(server), &mut self.servers[server]);
        if connection.stream.is_none() || connection.epoch != epoch {
            let patience = Duration::from_secs_f64(self.shared.config.connect_timeout_s);
            let opened = TcpStream::connect_timeout(&self.shared.addresses[server], patience)
                .and_then(|stream| stream.set_nodelay(true).map(|()| stream));
            self.stats.servers[server].reconnects.add(1);
            match opened {
                Ok(stream) => connection.open(stream, epoch),
                Err(_) => {
                    connection.epoch = epoch;
                    return Err("cannot be reached");
                }
            }
        }
        self.servers[server].send(bytes, self.timeout)
    }

    fn hear_only(
        &mut self,
        server: usize,
        shape: ReplyKind,
        start: u64,
        gather: &mut ReplyMerger,
        part: usize,
    ) {
        if let Err(why) = self.hear(server, shape, start, gather, part, false) {
            self.fail(server, why, gather, part);
        }
    }

    /// Its answer, which is part of one; whether `more` are due over this connection.
    ///
    /// # Errors
    /// Why there is none.
    pub fn hear(
        &mut self,
        server: usize,
        shape: ReplyKind,
        start: u64,
        gather: &mut ReplyMerger,
        part: usize,
        more: bool,
    ) -> Result<(), &'static str> {
        let connection = &mut self.servers[server];
        let (reply, length) = connection.receive(shape, start + self.timeout, self.timeout)?;
        let stats = &self.stats.servers[server];
        stats.replies.add(1);
        stats.service_ns.add(now() - start);
        stats.errors.add(u64::from(rank(reply) == ERROR));
        gather.add(part, reply, connection.data(length));
        if connection.consume(length, more).is_err() {
            connection.stream = None;
        }
        Ok(())
    }

    /// The connection is dropped, so that a late answer reaches nobody.
    pub fn fail(&mut self, server: usize, why: &str, gather: &mut ReplyMerger, part: usize) {
        self.servers[server].stream = None;
        self.health.failed(server, self.servers[server].epoch, why);
        self.stats.servers[server].errors.add(1);
        let line = format!("SERVER_ERROR server {} {why}\r\n", self.shared.addresses[server]);
        gather.add(part, Reply::Error, line.as_bytes());
    }
}

pub(super) fn error(line: &[u8]) -> ReplyMerger {
    let mut gather = ReplyMerger::new(1, false);
    gather.add(0, Reply::Error, line);
    gather
}
