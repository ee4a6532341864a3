//! Busy loops that yield to everything.

use crate::thread_placement::{pin, PlacementError};
use crate::work_counters::WorkCounters;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Turns between two looks at `stop`, which are one unit of work.
const TURNS: u32 = 1000;

/// Spins on each of `cores` at `SCHED_IDLE`, nice 19 (its time shows as `nice`), until `stop`; the loop of the k-th adds what it does to
/// the k-th of `work`.
///
/// The caller puts the process into a control group with `cpu.idle = 1` first: inside a session's autogroup,
/// idle priority and nice have no effect on other sessions.
///
/// # Errors
/// `PlacementError` for a core that cannot be used or a refused policy; then no spinner is left running.
pub fn spin(cores: &[usize], stop: &AtomicBool, work: Option<&WorkCounters>) -> Result<(), PlacementError> {
    let failed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let threads: Vec<_> = cores
            .iter()
            .enumerate()
            .map(|(number, &core)| {
                let failed = &failed;
                std::thread::Builder::new().name(format!("spin-{core}")).spawn_scoped(scope, move || {
                    let outcome =
                        idle(core).map(|()| turn(stop, failed, || work.map_or((), |w| w.add(number, 1))));
                    failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
                    outcome
                })
            })
            .collect();
        while !stop.load(Ordering::Relaxed) && !failed.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
        }
        threads.into_iter().flatten().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
    })
}

fn turn(stop: &AtomicBool, failed: &AtomicBool, done: impl Fn()) {
    while !stop.load(Ordering::Relaxed) && !failed.load(Ordering::Relaxed) {
        for _ in 0..TURNS {
            std::hint::spin_loop();
        }
        done();
    }
}

fn idle(core: usize) -> Result<(), PlacementError> {
    pin(core)?;
    // SAFETY: the parameter is a live struct of zeroes, which is what SCHED_IDLE asks for; 0 means this thread.
    let refused = unsafe {
        let parameter: libc::sched_param = std::mem::zeroed();
        libc::setpriority(libc::PRIO_PROCESS, 0, 19);
        libc::sched_setscheduler(0, libc::SCHED_IDLE, &parameter)
    };
    match refused {
        0 => Ok(()),
        _ => Err(PlacementError::Policy { cause: std::io::Error::last_os_error() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_when_told_and_names_a_core_it_cannot_have() {
        let stop = AtomicBool::new(true);
        assert!(spin(&[0], &stop, None).is_ok());
        let running = AtomicBool::new(false);
        assert!(matches!(spin(&[1000], &running, None), Err(PlacementError::Core { core: 1000, .. })));
    }
}
