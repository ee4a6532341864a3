//! A worker: takes a request, asks servers, answers.

use std::net::TcpStream;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

use sojourn_memproto::{parse, Limits, Reply, ReplyKind, Request, Step};

use super::health::Health;
use super::line::{Job, Line};
use super::link::Link;
use super::patron::Scribe;
use crate::gather::{rank, Gather, ERROR};
use crate::own::Own;
use crate::route::{shard, Way};
use crate::rules::{most_reply_bytes, refusal, ONLY_FIRST};
use crate::serve::Shared;
use crate::stats::Stats;
use sojourn_record::clock::{now, ns};
use sojourn_serving::times::record;

pub(super) struct Worker<'a> {
    shared: &'a Shared<'a>,
    stats: &'a Stats,
    health: Arc<Health>,
    line: Arc<Line>,
    links: Vec<Link>,
    own: Own,
    limits: Limits,
    timeout: u64,
    bytes: Vec<u8>,
}

impl<'a> Worker<'a> {
    pub fn new(
        shared: &'a Shared<'a>,
        health: Arc<Health>,
        line: Arc<Line>,
        me: usize,
        servers: Vec<TcpStream>,
    ) -> Self {
        let config = shared.config;
        let links = servers.into_iter().map(|stream| Link::new(stream, most_reply_bytes(config))).collect();
        let timeout = ns(config.timeout_s);
        let stats = &shared.stats[me + 1];
        let limits = config.limits();
        Self { shared, stats, health, line, links, own: Own::new(), limits, timeout, bytes: Vec::new() }
    }

    /// Serves until the queue is closed and empty.
    pub fn run(mut self) -> Own {
        self.stats.begin();
        while let Some((patron, job)) = self.line.take() {
            let taken = now();
            let gather = self.serve(&job, taken);
            let mut bytes = std::mem::take(&mut self.bytes);
            bytes.clear();
            gather.finish(&mut bytes);
            if job.route.keys > 0 && gather.rank < ERROR {
                self.stats.hits.add(gather.found as u64);
                self.stats.misses.add(job.route.keys.saturating_sub(gather.found) as u64);
            }
            let Self { shared, stats, line, own, .. } = &mut self;
            patron.served(
                &job,
                gather.rank,
                &bytes,
                &mut Scribe { stats, own, memory: &shared.memory, line },
            );
            self.stats.busy_ns.add(now() - taken);
            bytes.shrink_to(1 << 18);
            self.bytes = bytes;
        }
        self.stats.end();
        self.own
    }

    fn serve(&mut self, job: &Job, taken: u64) -> Gather {
        let all = self.links.len();
        if let Some(refusal) = refusal(job.route.way, self.health.ups(), all, self.health.is_up(0)) {
            return error(refusal);
        }
        let gather = match job.route.way {
            Way::One if self.shared.config.sharded && job.route.keys > 1 => self.shares(job),
            Way::One => match self.next() {
                Some(server) => self.ask(server..server + 1, &job.bytes, job.route.shape),
                None => error(crate::rules::NO_SERVER),
            },
            Way::First => self.ask(0..1, &job.bytes, job.route.shape),
            Way::Guarded => {
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
        let (queue, service) = (taken.saturating_sub(job.received), now() - taken);
        self.stats.served.add(1);
        self.stats.queue_ns.add(queue);
        self.stats.service_ns.add(service);
        record(&mut self.own.queue, queue);
        record(&mut self.own.service, service);
        gather
    }

    /// The same to some servers; all are asked before the first is heard.
    fn ask(&mut self, servers: Range<usize>, bytes: &[u8], shape: ReplyKind) -> Gather {
        let mut gather = Gather::new(servers.len(), false);
        let (start, first) = (now(), servers.start);
        let sent: u64 = servers
            .clone()
            .filter(|server| self.send(*server, bytes, &mut gather, *server - first))
            .fold(0, |sent, server| sent | 1 << server);
        for server in servers.filter(|server| sent >> server & 1 == 1) {
            self.hear(server, shape, start, &mut gather, server - first);
        }
        gather
    }

    /// A multi-get in shares, one for each server that is up.
    fn shares(&mut self, job: &Job) -> Gather {
        // One turn for all shares: with a turn for each, other workers' turns in between give one server two of them.
        let (all, first) = (self.links.len(), self.shared.turn.fetch_add(1, Ordering::Relaxed));
        let turns = (0..all).map(|k| first.wrapping_add(k) % all).filter(|one| self.health.is_up(*one));
        let servers: Vec<usize> = turns.take(job.route.keys).collect();
        let parts = servers.len();
        if parts == 0 {
            return error(crate::rules::NO_SERVER);
        }
        let Step::Done { request: Request::Get { keys, .. }, .. } = parse(&job.bytes, &self.limits) else {
            return error(crate::rules::NO_SERVER);
        };
        let mut gather = Gather::new(parts, parts > 1);
        let (start, mut asked, mut bytes) = (now(), Vec::with_capacity(parts), Vec::new());
        for (part, server) in servers.into_iter().enumerate() {
            bytes.clear();
            shard(&mut bytes, &keys, job.route.keys, part, parts);
            if self.send(server, &bytes, &mut gather, part) {
                asked.push((server, part));
            }
        }
        for (server, part) in asked {
            self.hear(server, job.route.shape, start, &mut gather, part);
        }
        gather
    }

    /// The next server that is up, by turns over all workers.
    fn next(&self) -> Option<usize> {
        let all = self.links.len();
        (0..all)
            .map(|_| self.shared.turn.fetch_add(1, Ordering::Relaxed) % all)
            .find(|one| self.health.is_up(*one))
    }

    /// Whether it was sent; else the answer is an error.
    fn send(&mut self, server: usize, bytes: &[u8], gather: &mut Gather, part: usize) -> bool {
        self.stats.servers[server].requests.add(1);
        let (epoch, link) = (self.health.epoch(server), &mut self.links[server]);
        if link.stream.is_none() || link.epoch != epoch {
            let patience = Duration::from_secs_f64(self.shared.config.connect_timeout_s);
            let opened = TcpStream::connect_timeout(&self.shared.addresses[server], patience)
                .and_then(|stream| stream.set_nodelay(true).map(|()| stream));
            self.stats.servers[server].reconnects.add(1);
            match opened {
                Ok(stream) => link.open(stream, epoch),
                Err(_) => {
                    link.epoch = epoch;
                    self.fail(server, "cannot be reached", gather, part);
                    return false;
                }
            }
        }
        let sent = self.links[server].send(bytes, self.timeout);
        if let Err(why) = sent {
            self.fail(server, why, gather, part);
        }
        sent.is_ok()
    }

    fn hear(&mut self, server: usize, shape: ReplyKind, start: u64, gather: &mut Gather, part: usize) {
        let link = &mut self.links[server];
        match link.receive(shape, start + self.timeout, self.timeout) {
            Ok((reply, length)) => {
                let stats = &self.stats.servers[server];
                stats.replies.add(1);
                stats.service_ns.add(now() - start);
                stats.errors.add(u64::from(rank(reply) == ERROR));
                gather.add(part, reply, link.data(length));
                if link.consume(length).is_err() {
                    link.stream = None;
                }
            }
            Err(why) => self.fail(server, why, gather, part),
        }
    }

    /// The connection is dropped, so that a late answer reaches nobody.
    fn fail(&mut self, server: usize, why: &str, gather: &mut Gather, part: usize) {
        self.links[server].stream = None;
        self.health.failed(server, self.links[server].epoch);
        self.stats.servers[server].errors.add(1);
        let line = format!("SERVER_ERROR server {} {why}\r\n", self.shared.addresses[server]);
        gather.add(part, Reply::Error, line.as_bytes());
    }
}

fn error(line: &[u8]) -> Gather {
    let mut gather = Gather::new(1, false);
    gather.add(0, Reply::Error, line);
    gather
}
