//! Hardware counters of each core by `perf_event_open(2)`, where the machine counts and lets us.

use std::fs::File;
use std::io::{self, Read};

use serde::Serialize;

use crate::sys;

/// Counts of one core since the collector started, scaled up where the counter was shared with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PerfCounts {
    pub cycles: f64,
    pub instructions: f64,
    pub cache_misses: f64,
}

// linux/perf_event.h: PERF_TYPE_HARDWARE and its PERF_COUNT_HW_ numbers
const HARDWARE: u32 = 0;
const CYCLES: u64 = 0;
const INSTRUCTIONS: u64 = 1;
const CACHE_MISSES: u64 = 3;

/// The three counters of one core.
#[derive(Debug)]
pub(crate) struct PerfCounters {
    files: [File; 3],
}

impl PerfCounters {
    pub(crate) fn open(core: usize) -> io::Result<Self> {
        let open = |event| sys::perf_event_open(HARDWARE, event, core);
        Ok(Self { files: [open(CYCLES)?, open(INSTRUCTIONS)?, open(CACHE_MISSES)?] })
    }

    pub(crate) fn read(&mut self) -> io::Result<PerfCounts> {
        let [cycles, instructions, cache_misses] = &mut self.files;
        Ok(PerfCounts {
            cycles: count(cycles)?,
            instructions: count(instructions)?,
            cache_misses: count(cache_misses)?,
        })
    }
}

/// Three u64: value, ns enabled, ns running. A counter that never ran has counted nothing.
fn count(file: &mut File) -> io::Result<f64> {
    let mut bytes = [0u8; 24];
    file.read_exact(&mut bytes)?;
    let word =
        |i: usize| bytes[8 * i..8 * i + 8].iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b)) as f64;
    let (value, enabled, running) = (word(0), word(1), word(2));
    Ok(if running > 0.0 { value * (enabled / running) } else { 0.0 })
}

/// Why there are no counters, in the words of the header.
pub(crate) fn reason(error: &io::Error) -> String {
    let why = match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => "this machine offers no hardware counters",
        Some(libc::EACCES | libc::EPERM) => "not permitted: run as root or lower kernel.perf_event_paranoid",
        Some(libc::ENOSYS) => "this kernel is built without perf events",
        _ => "perf_event_open failed",
    };
    format!("perf: {why} ({error})")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOFTWARE: u32 = 1; // PERF_TYPE_SOFTWARE
    const CPU_CLOCK: u64 = 0; // PERF_COUNT_SW_CPU_CLOCK, in ns

    #[test]
    fn the_clock_of_a_core_counts_where_perf_is_allowed() {
        let Ok(mut file) = sys::perf_event_open(SOFTWARE, CPU_CLOCK, 0) else { return };
        let first = count(&mut file).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(count(&mut file).unwrap() >= first + 4e6);
    }

    #[test]
    fn an_absent_core_is_refused_with_a_reason() {
        let error = PerfCounters::open(1 << 20).unwrap_err();
        assert!(reason(&error).starts_with("perf: "), "{error}");
    }
}
