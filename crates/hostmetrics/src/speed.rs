//! How fast each core is: the CPU time of a fixed piece of work, again and again.
//!
//! The same instructions take longer while another guest uses the other hardware thread of the core, or while its clock is
//! low, and no counter of a virtual machine tells: nothing is stolen, and all processes alike need more CPU time a request.
//! Measured on a rented machine: 83 to 110 us, in spells of seconds to minutes, and the throughput of a saturated core
//! followed (correlation of the logarithms -0.97 over 24 runs of one configuration).

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;

use crate::sys;

/// From one piece to the next: half a percent of a core.
const EVERY: Duration = Duration::from_millis(20);
const ROUNDS: usize = 15_000;
/// Not counted: caches and clock of a core that has slept.
const WARM_UP_ROUNDS: usize = 1_000;

/// Since the start.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Work {
    /// Pieces of work done.
    pub pieces: u64,
    /// CPU time of these, s.
    pub cpu_s: f64,
}

/// One thread a core, until it is dropped.
pub(crate) struct SpeedProbe {
    cores: Vec<(usize, Arc<Totals>)>,
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Totals {
    pieces: AtomicU64,
    cpu_ns: AtomicU64,
}

impl SpeedProbe {
    /// Begins on each of `cores`; one that the process may not use is left out.
    pub(crate) fn start(cores: &[usize]) -> std::io::Result<Self> {
        let mut probe = Self { cores: Vec::new(), over: Arc::default(), threads: Vec::new() };
        for &core in cores {
            let (totals, over) = (Arc::new(Totals::default()), Arc::clone(&probe.over));
            probe.cores.push((core, Arc::clone(&totals)));
            let work = move || measure(core, &totals, &over);
            probe.threads.push(std::thread::Builder::new().name(format!("speed-{core}")).spawn(work)?);
        }
        Ok(probe)
    }

    /// By core; none of a core where no piece was done yet.
    pub(crate) fn now(&self) -> impl Iterator<Item = (usize, Work)> + '_ {
        self.cores.iter().filter_map(|(core, totals)| {
            let pieces = totals.pieces.load(Ordering::Acquire);
            let cpu_s = totals.cpu_ns.load(Ordering::Relaxed) as f64 * 1e-9;
            (pieces > 0).then_some((*core, Work { pieces, cpu_s }))
        })
    }
}

impl Drop for SpeedProbe {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn measure(core: usize, totals: &Totals, over: &AtomicBool) {
    if sys::pin(core).is_err() {
        return;
    }
    let mut lanes = [1, 2, 3, 4, 5, 6, 7, 8];
    while !over.load(Ordering::Relaxed) {
        work(&mut lanes, WARM_UP_ROUNDS);
        let start_s = sys::thread_cpu_s();
        work(&mut lanes, ROUNDS);
        let ns = ((sys::thread_cpu_s() - start_s) * 1e9) as u64;
        totals.cpu_ns.fetch_add(ns, Ordering::Relaxed);
        totals.pieces.fetch_add(1, Ordering::Release);
        std::thread::sleep(EVERY);
    }
}

/// Eight independent chains (G. Marsaglia, Xorshift RNGs, Journal of Statistical Software 8(14), 2003): they fill the
/// execution units, so that whoever shares these shows.
#[inline(never)]
fn work(lanes: &mut [u64; 8], rounds: usize) {
    for _ in 0..rounds {
        for lane in lanes.iter_mut() {
            *lane ^= *lane << 13;
            *lane ^= *lane >> 7;
            *lane ^= *lane << 17;
        }
        black_box(&mut *lanes);
    }
}
