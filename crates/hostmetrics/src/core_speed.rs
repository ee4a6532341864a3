//! How fast each core is: the CPU time of a fixed piece of work, again and again.
//!
//! The same instructions take longer while another guest uses the caches, the other hardware thread or the clock of the
//! core, and no counter of a virtual machine tells: nothing is stolen, and all processes alike need more CPU time a request.
//! What the piece consists of was chosen by measurement (docs/decisions/0023): a datagram to oneself goes through much of
//! the kernel's code, as requests do, and reads at random in 4 MiB through the caches; arithmetic alone misses half of it.

use std::hint::black_box;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;

use crate::sys;

/// From one piece to the next: about one percent of a core.
const EVERY: Duration = Duration::from_millis(25);
/// The median counts, that of a part in which an interrupt fell does not.
const PARTS: usize = 5;
const DATAGRAMS: usize = 8;
const READS: usize = 100;
/// Reads at random: one of each cache line of 4 MiB.
const LINES: usize = (4 << 20) / LINE;
const LINE: usize = 64;

/// The work that a core has done since the start.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SpeedSample {
    /// Pieces of work done.
    pub pieces: u64,
    /// CPU time of these, s.
    pub cpu_s: f64,
}

/// Measures the speed of cores with a thread on each, until it is dropped.
pub(crate) struct CoreSpeedProbe {
    cores: Vec<(usize, Arc<WorkTotals>)>,
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct WorkTotals {
    pieces: AtomicU64,
    cpu_ns: AtomicU64,
}

impl CoreSpeedProbe {
    /// Begins on each of `cores`; one that the process may not use is left out, and all where there is no loopback.
    pub(crate) fn start(cores: &[usize]) -> std::io::Result<Self> {
        let mut probe = Self { cores: Vec::new(), over: Arc::default(), threads: Vec::new() };
        for &core in cores {
            let (totals, over) = (Arc::new(WorkTotals::default()), Arc::clone(&probe.over));
            probe.cores.push((core, Arc::clone(&totals)));
            let measure = move || {
                if let (Ok(()), Ok(mut work)) = (sys::pin(core), ReferenceWork::new()) {
                    work.repeat(&totals, &over);
                }
            };
            probe.threads.push(std::thread::Builder::new().name(format!("speed-{core}")).spawn(measure)?);
        }
        Ok(probe)
    }

    /// By core; none of a core where no piece was done yet.
    pub(crate) fn now(&self) -> impl Iterator<Item = (usize, SpeedSample)> + '_ {
        self.cores.iter().filter_map(|(core, totals)| {
            let pieces = totals.pieces.load(Ordering::Acquire);
            let cpu_s = totals.cpu_ns.load(Ordering::Relaxed) as f64 * 1e-9;
            (pieces > 0).then_some((*core, SpeedSample { pieces, cpu_s }))
        })
    }
}

impl Drop for CoreSpeedProbe {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The fixed piece of work that is timed, on one core.
struct ReferenceWork {
    socket: UdpSocket,
    /// Where each cache line's successor is: one circle through all of them.
    next: Vec<[u32; LINE / 4]>,
    at: usize,
}

impl ReferenceWork {
    fn new() -> std::io::Result<Self> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.connect(socket.local_addr()?)?;
        // a datagram that is lost, for want of memory, must not hold the thread
        socket.set_read_timeout(Some(EVERY))?;
        Ok(Self { socket, next: circle(), at: 0 })
    }

    fn repeat(&mut self, totals: &WorkTotals, over: &AtomicBool) {
        while !over.load(Ordering::Relaxed) {
            let _ = self.part(); // not counted: caches and clock of a core that has slept
            let mut parts_s = [0.0; PARTS];
            for part_s in &mut parts_s {
                let start_s = sys::thread_cpu_s();
                if self.part().is_err() {
                    return;
                }
                *part_s = sys::thread_cpu_s() - start_s;
            }
            parts_s.sort_by(f64::total_cmp);
            let ns = (PARTS as f64 * parts_s[PARTS / 2] * 1e9) as u64;
            totals.cpu_ns.fetch_add(ns, Ordering::Relaxed);
            totals.pieces.fetch_add(1, Ordering::Release);
            std::thread::sleep(EVERY);
        }
    }

    fn part(&mut self) -> std::io::Result<()> {
        let mut buffer = [0; 64];
        for _ in 0..DATAGRAMS {
            self.socket.send(&buffer)?;
            self.socket.recv(&mut buffer)?;
        }
        for _ in 0..READS {
            self.at = self.next[self.at][0] as usize;
        }
        black_box(self.at);
        Ok(())
    }
}

/// A permutation of one cycle, at random (S. Sattolo, Information Processing Letters 22(6), 1986), always the same.
fn circle() -> Vec<[u32; LINE / 4]> {
    let mut order: Vec<u32> = (0..LINES as u32).collect();
    let mut random = 88_172_645_463_325_252_u64; // xorshift, by G. Marsaglia's first seed
    for k in (1..LINES).rev() {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        order.swap(k, (random % k as u64) as usize);
    }
    order.into_iter().map(|line| [line; LINE / 4]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_circle_goes_through_every_line() {
        let next = circle();
        let (mut at, mut seen) = (0, 0);
        loop {
            (at, seen) = (next[at][0] as usize, seen + 1);
            if at == 0 {
                break;
            }
        }
        assert_eq!(seen, LINES);
    }
}
