//! How long a cache line takes from one core to another: two pinned threads that hand one line back and forth.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::sys;

/// Hand-overs and back in a batch, of which the mean is taken: a microsecond or more, so that the clock does not count.
const ROUNDS: u32 = 100;
/// How often a waiting thread looks at the line before it looks at the clock.
const LOOKS: u32 = 1 << 14;
const OVER: u32 = u32::MAX;

/// The line, alone on its own and on the one beside it, which hardware fetches too.
#[repr(align(128))]
struct HandedLine(AtomicU32);

/// One-way times from core `one` to core `other` and back, s: a mean for each of at most `batches` batches, in order. Fewer, or
/// none, where other programs kept a core from it until `limit` was over.
///
/// # Errors
/// A core that cannot be used, or a thread that cannot be started.
pub fn cache_line_transfer_s(
    one: usize,
    other: usize,
    batches: usize,
    limit: Duration,
) -> io::Result<Vec<f64>> {
    let line = HandedLine(AtomicU32::new(0));
    let ready = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let echo = std::thread::Builder::new().spawn_scoped(scope, || answer(other, &line, &ready))?;
        let asking = std::thread::Builder::new().spawn_scoped(scope, || {
            let asked = sys::pin(one).map(|()| ask(&line, &ready, batches, limit));
            line.0.store(OVER, Ordering::Release);
            asked
        });
        let asked = asking.inspect_err(|_| line.0.store(OVER, Ordering::Release))?.join();
        echo.join().unwrap_or(Ok(()))?;
        asked.unwrap_or_else(|_| Ok(Vec::new()))
    })
}

/// Odd values are for the other side, even ones from it.
fn ask(line: &HandedLine, ready: &AtomicBool, batches: usize, limit: Duration) -> Vec<f64> {
    let end = Instant::now() + limit;
    while !ready.load(Ordering::Acquire) {
        if Instant::now() > end || line.0.load(Ordering::Acquire) == OVER {
            return Vec::new();
        }
        std::thread::yield_now();
    }
    let mut means_s = Vec::with_capacity(batches + 1);
    let mut value = 0;
    while means_s.len() <= batches {
        let start = Instant::now();
        for _ in 0..ROUNDS {
            line.0.store(value + 1, Ordering::Release);
            value += 2;
            if !waited(line, value, end) {
                return after_first(means_s);
            }
        }
        means_s.push(start.elapsed().as_secs_f64() / f64::from(2 * ROUNDS));
    }
    after_first(means_s)
}

/// The first batch brings the line and the code there, and does not count.
fn after_first(mut means_s: Vec<f64>) -> Vec<f64> {
    means_s.drain(..means_s.len().min(1));
    means_s
}

fn waited(line: &HandedLine, value: u32, end: Instant) -> bool {
    loop {
        for _ in 0..LOOKS {
            if line.0.load(Ordering::Acquire) == value {
                return true;
            }
        }
        if Instant::now() > end {
            return false;
        }
    }
}

fn answer(core: usize, line: &HandedLine, ready: &AtomicBool) -> io::Result<()> {
    if let Err(refused) = sys::pin(core) {
        line.0.store(OVER, Ordering::Release);
        return Err(refused);
    }
    ready.store(true, Ordering::Release);
    loop {
        let value = line.0.load(Ordering::Acquire);
        if value == OVER {
            return Ok(());
        }
        if value % 2 == 1 {
            // not over what the other side may have written since: that it is over
            let _ = line.0.compare_exchange(value, value + 1, Ordering::AcqRel, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    #[test]
    fn as_many_batches_as_asked_for() {
        // both on one core: each waits for its turn, which is slow and must still end
        let slow = cache_line_transfer_s(0, 0, 1, Duration::from_millis(50)).unwrap();
        assert!(slow.len() <= 1, "{slow:?}");
        if std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
            let times_s = cache_line_transfer_s(0, 1, 5, LIMIT).unwrap();
            assert_eq!(times_s.len(), 5);
            assert!(times_s.iter().all(|&time_s| time_s > 0.0), "{times_s:?}");
        }
    }

    #[test]
    fn a_core_that_is_not_there_is_an_error_on_either_side() {
        assert!(cache_line_transfer_s(0, 1000, 1, LIMIT).is_err());
        assert!(cache_line_transfer_s(1000, 0, 1, LIMIT).is_err());
    }
}
