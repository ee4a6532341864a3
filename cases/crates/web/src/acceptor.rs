//! The calling thread's part: it accepts, deals, and writes the records, so that no worker has to.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::PoisonError;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use sojourn_record::clock::{now, s};
use sojourn_serving::{system, write_some};

use crate::connection::{Connection, ConnectionPermit};
use crate::request_log::{RequestRecorder, RequestRow};

use crate::mailbox::{token, Mailbox};
use crate::sys::{self, Epoll, TriggerMode};
use crate::thread_statistics::ThreadStatistics;
use crate::worker::SharedState;
use crate::{ConnectionBalancer, CoreSpeedCalibration, ServeError, Summary, ThreadSummary};
use sojourn_serving::http::{self, Response};

const TICK_MS: i32 = 50;
/// How often rows are written out, ns.
const FLUSH: u64 = 1_000_000_000;

/// What is told once the shop is open.
#[derive(Clone, Debug, Serialize)]
pub struct ReadyMessage {
    /// `ip:port` of each NIC.
    pub addresses: Vec<String>,
    /// The speed of each thread, by number.
    pub threads: Vec<CoreSpeedCalibration>,
    /// The core of each thread.
    pub cores: Vec<usize>,
    pub pid: u32,
}

/// Where connections come in and rows go out.
pub(crate) struct Acceptor<'a> {
    shared: &'a SharedState<'a>,
    mailboxes: &'a [Mailbox],
    listeners: &'a [TcpListener],
    epoll: Epoll,
    balancer: ConnectionBalancer,
    dealt: Vec<Vec<u64>>,
    refused: u64,
    recorder: RequestRecorder,
    rows: Vec<RequestRow>,
    start_s: f64,
}

impl<'a> Acceptor<'a> {
    pub(crate) fn new(
        shared: &'a SharedState<'a>,
        mailboxes: &'a [Mailbox],
        listeners: &'a [TcpListener],
        speeds: &[CoreSpeedCalibration],
    ) -> Result<Self, ServeError> {
        let config = shared.config;
        let epoll = Epoll::new().map_err(system("epoll"))?;
        for (nic, listener) in listeners.iter().enumerate() {
            epoll.add(listener, nic as u64, TriggerMode::Level).map_err(system("epoll"))?;
        }
        let meta = json!({"pages": crate::route::NAMES, "config": config, "threads": speeds});
        Ok(Self {
            shared,
            mailboxes,
            listeners,
            epoll,
            balancer: ConnectionBalancer::new(&config.cores, &config.leading, config.threads_per_core),
            dealt: vec![vec![0; mailboxes.len()]; listeners.len()],
            refused: 0,
            recorder: RequestRecorder::create(config.out.as_deref(), config.record_limit, &meta)?,
            rows: Vec::new(),
            start_s: s(now()),
        })
    }

    pub(crate) fn ready(&self, speeds: &[CoreSpeedCalibration]) -> Result<ReadyMessage, ServeError> {
        let address = |listener: &TcpListener| Ok(listener.local_addr()?.to_string());
        let addresses = self.listeners.iter().map(address).collect::<io::Result<_>>();
        let addresses = addresses.map_err(system("the address of a socket"))?;
        let cores = (0..self.mailboxes.len()).map(|thread| self.shared.config.core_of(thread)).collect();
        Ok(ReadyMessage { addresses, threads: speeds.to_vec(), cores, pid: std::process::id() })
    }

    pub(crate) fn run(&mut self, stop: &AtomicBool) -> Result<(), ServeError> {
        let mut next_flush = now() + FLUSH;
        while !stop.load(Ordering::Relaxed) {
            let mut waiting = Vec::new();
            let wait = self.epoll.wait(TICK_MS, |event| waiting.push(event.token as usize));
            wait.map_err(system("epoll"))?;
            for nic in waiting {
                self.accept(nic)?;
            }
            self.record();
            if now() >= next_flush {
                next_flush += FLUSH;
                self.recorder.flush();
            }
        }
        Ok(())
    }

    fn accept(&mut self, nic: usize) -> Result<(), ServeError> {
        const MOST_AT_ONCE: usize = 256;
        for _ in 0..MOST_AT_ONCE {
            match self.listeners[nic].accept() {
                Ok((stream, _)) => self.hand_over(stream, nic)?,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(e) if matches!(e.raw_os_error(), Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM)) => {
                    self.refused += 1;
                    std::thread::sleep(Duration::from_millis(10));
                    return Ok(());
                }
                Err(_) => {} // the other side gave up before it was accepted
            }
        }
        Ok(())
    }

    fn hand_over(&mut self, stream: TcpStream, nic: usize) -> Result<(), ServeError> {
        let config = self.shared.config;
        let Some(permit) = ConnectionPermit::acquire(&self.shared.open, config.max_connections) else {
            self.refused += 1;
            turn_away(stream);
            return Ok(());
        };
        let room = 4 * config.page_bytes;
        let prepared = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true));
        if prepared.and_then(|()| sys::send_buffer(&stream, room)).is_err() {
            return Ok(()); // reset meanwhile
        }
        let thread = self.balancer.thread(nic);
        self.dealt[nic][thread] += 1;
        let mailbox = &self.mailboxes[thread];
        let mut connections = mailbox.connections();
        let index = connections.reserve();
        let token = token(&connections, index);
        let added = mailbox.epoll.add(&stream, token, TriggerMode::Edge);
        connections.put(index, Connection::new(stream, nic, permit, now()));
        Ok(added.map_err(system("epoll"))?)
    }

    /// Writes the rows that the threads have left.
    fn record(&mut self) {
        for mailbox in self.mailboxes {
            let mut rows = mailbox.rows.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut *rows, &mut self.rows);
            drop(rows);
            self.recorder.write(&self.rows);
            self.rows.clear();
        }
    }

    /// Writes what is left, and sums up.
    pub(crate) fn close(
        &mut self,
        speeds: &[CoreSpeedCalibration],
        finished: &[(ThreadStatistics, CoreSpeedCalibration)],
    ) -> Summary {
        self.record();
        self.recorder.flush();
        self.summary(speeds, finished)
    }

    fn summary(
        &self,
        speeds: &[CoreSpeedCalibration],
        finished: &[(ThreadStatistics, CoreSpeedCalibration)],
    ) -> Summary {
        let mut all = ThreadStatistics::default();
        finished.iter().for_each(|(statistics, _)| all.merge(statistics));
        let thread =
            |(thread, (statistics, end)): (usize, &(ThreadStatistics, CoreSpeedCalibration))| ThreadSummary {
                thread,
                core: self.shared.config.core_of(thread),
                requests: statistics.requests(),
                calibration: speeds[thread],
                calibration_end: *end,
            };
        let per_thread = |thread: usize| self.dealt.iter().map(|nic| nic[thread]).sum();
        let connections_per_thread: Vec<u64> = (0..self.mailboxes.len()).map(per_thread).collect();
        let worked = all.worked();
        let (lost_logs, lost_rows) = self.recorder.lost();
        Summary {
            requests: all.requests(),
            by_page: all.by_page(),
            connections: connections_per_thread.iter().sum(),
            refused: self.refused,
            connections_per_thread,
            connections_per_nic: self.dealt.clone(),
            threads: finished.iter().enumerate().map(thread).collect(),
            fixed_median_s: worked.fixed_median_s,
            drawn_mean_s: worked.drawn_mean_s,
            known_demand_s: worked.known_demand_s,
            stretch_median: all.stretch_median(),
            recorded: self.recorder.rows(),
            lost_logs,
            lost_rows,
            start_s: self.start_s,
            end_s: s(now()),
        }
    }
}

/// Says that the shop is full; whoever does not read it sees a closed connection.
fn turn_away(mut stream: TcpStream) {
    let mut full = Vec::new();
    let body = b"<!doctype html><title>503</title><h1>503 Too many connections</h1>\n";
    let response = Response { status: 503, body, cookie: None, head_only: false, close: true };
    http::compose(&response, &mut full);
    stream.set_nonblocking(true).and_then(|()| write_some(&mut stream, &full)).ok();
    stream.shutdown(std::net::Shutdown::Write).ok();
}
