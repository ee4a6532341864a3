//! Where a thread with real-time priority runs that was not pinned. It keeps others off its core, and the scheduler moves it nowhere:
//! a service that is woken there, or kept there, is served from what the thread leaves.

use std::collections::BTreeMap;
use std::fs::read_to_string;

use crate::client_thread::LiveCounts;
use crate::sys;
use std::sync::atomic::Ordering;

/// A core on which less is left is one that others wait for.
const FULL: f64 = 0.1;
/// Of a core, used by others beside the thread: somebody is there.
const SHARED: f64 = 0.05;
/// By so much more has to be left elsewhere.
const BETTER: f64 = 0.3;

/// Idle time, time of what gives way (nice), and all time of each core since the machine started, in ticks.
type CoreTimes = BTreeMap<usize, [u64; 3]>;

/// Of the time between two looks.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FreeShares {
    idle: f64,
    /// Idle, or used by what gives way.
    free: f64,
}

/// What was seen at the last look.
#[derive(Default)]
pub struct LanePlacement {
    cores: CoreTimes,
    /// CPU time of each thread, ns.
    used_ns: BTreeMap<u64, u64>,
    at_s: f64,
}

impl LanePlacement {
    /// Looks at the time since the last look, and moves who should not stay.
    pub fn look(&mut self, lanes: &[LiveCounts], now_s: f64) {
        let threads: Vec<u64> = lanes
            .iter()
            .map(|lane| lane.movable.load(Ordering::Relaxed))
            .filter(|thread| *thread > 0)
            .collect();
        if threads.is_empty() {
            return;
        }
        let cores = read_to_string("/proc/stat").map_or_else(|_| CoreTimes::new(), |text| core_times(&text));
        let shares = free_shares(&self.cores, &cores);
        let over_s = now_s - self.at_s;
        for thread in threads {
            let Some((used_ns, core)) = used_and_core(thread) else { continue };
            let Some(before_ns) = self.used_ns.insert(thread, used_ns) else { continue };
            let own = used_ns.saturating_sub(before_ns) as f64 * 1e-9 / over_s;
            if let Some(better) = better_core(own, core, &shares, &sys::allowed_cores(thread)) {
                sys::move_to(thread, better);
                // One at a time: the next look sees what that has changed.
                break;
            }
        }
        (self.cores, self.at_s) = (cores, now_s);
    }
}

/// A core for a thread that uses the share `own` of `core`, which others want too; `None` where it may as well stay.
fn better_core(
    own: f64,
    core: usize,
    shares: &BTreeMap<usize, FreeShares>,
    allowed: &[usize],
) -> Option<usize> {
    let left = shares.get(&core)?.idle;
    if left > FULL || 1.0 - left - own < SHARED {
        return None;
    }
    let elsewhere = shares.iter().filter(|(other, _)| **other != core && allowed.contains(other));
    let (best, most) = elsewhere.max_by(|a, b| a.1.free.total_cmp(&b.1.free))?;
    (most.free > left + BETTER).then_some(*best)
}

/// Lines `cpuN user nice system idle iowait irq softirq steal …` of /proc/stat.
fn core_times(stat: &str) -> CoreTimes {
    let core = |line: &str| {
        let (name, numbers) = line.split_once(' ')?;
        let ticks: Vec<u64> =
            numbers.split_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
        let [_, nice, _, idle, waiting, ..] = ticks[..] else { return None };
        Some((name.strip_prefix("cpu")?.parse().ok()?, [idle + waiting, nice, ticks.iter().sum()]))
    };
    stat.lines().filter_map(core).collect()
}

fn free_shares(before: &CoreTimes, after: &CoreTimes) -> BTreeMap<usize, FreeShares> {
    let share = |(core, now): (&usize, &[u64; 3])| {
        let then = before.get(core)?;
        let [idle, nice, all] = std::array::from_fn(|of| now[of].saturating_sub(then[of]) as f64);
        (all > 0.0).then(|| (*core, FreeShares { idle: idle / all, free: (idle + nice) / all }))
    };
    after.iter().filter_map(share).collect()
}

/// CPU time in ns and the core where it ran last, of a thread of this process.
fn used_and_core(thread: u64) -> Option<(u64, usize)> {
    let read = |what| read_to_string(format!("/proc/self/task/{thread}/{what}")).ok();
    let used_ns = read("schedstat")?.split_whitespace().next()?.parse().ok()?;
    // Behind the name, which may contain blanks: field 3 is the state, 39 the core.
    let core = read("stat")?.rsplit_once(')')?.1.split_whitespace().nth(36)?.parse().ok()?;
    Some((used_ns, core))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_leaves_a_core_that_others_want_for_one_that_is_free() {
        let of = |idle: [f64; 3]| {
            let shares = idle.map(|idle| FreeShares { idle, free: idle });
            shares.into_iter().enumerate().collect::<BTreeMap<_, _>>()
        };
        let all = [0, 1, 2];
        assert_eq!(better_core(0.6, 0, &of([0.0, 0.5, 0.9]), &all), Some(2));
        assert_eq!(better_core(0.6, 0, &of([0.0, 0.5, 0.9]), &[0, 1]), Some(1));
        assert_eq!(better_core(0.6, 0, &of([0.0, 0.2, 0.2]), &all), None, "nowhere is more left");
        assert_eq!(better_core(0.6, 0, &of([0.2, 0.9, 0.9]), &all), None, "nobody waits");
        assert_eq!(better_core(0.98, 0, &of([0.0, 0.9, 0.9]), &all), None, "it fills the core alone");
    }

    /// The format: man 5 proc_stat.
    #[test]
    fn shares_are_of_the_time_between_two_looks() {
        let (before, after) = (
            core_times(
                "cpu  9 9 9 9 9 9 9 9\ncpu0 10 0 0 80 10 0 0 0 7 7\ncpu1 0 0 0 0 0 0 0 100 0 0\nintr 5\n",
            ),
            core_times("cpu0 30 10 10 115 15 10 5 5 7 7\ncpu1 0 0 0 0 0 0 0 200 0 0\ncpu2 1 1 1 1 1 1 1 1\n"),
        );
        let expected = [(0, FreeShares { idle: 0.4, free: 0.5 }), (1, FreeShares { idle: 0.0, free: 0.0 })];
        assert_eq!(free_shares(&before, &after).into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_threads_core_is_one_that_it_may_use() {
        let thread = sys::thread_id();
        let (_, core) = used_and_core(thread).expect("it is there");
        let allowed = sys::allowed_cores(thread);
        assert!(allowed.contains(&core), "{core} of {allowed:?}");
        for to in &allowed {
            sys::move_to(thread, *to);
            assert_eq!(sys::allowed_cores(thread), allowed);
        }
    }
}
