//! From counts to what the user is told.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::client_thread::LiveCounts;
use crate::kv::KvTally;
use crate::messages::MessagesTally;
use crate::request_outcome::Failure;
use crate::run_terms::RunTerms;
use crate::sessions::SessionsTally;
use crate::sink::OutcomeSink;
use crate::summary::{ClientThreadSummary, Progress, Summary};

const STAT: &str = "/proc/stat";
/// The unit of the times in `/proc/stat`, fixed for user space.
const TICKS_PER_S: f64 = 100.0;

/// 99 % of the requests may be taken up this late, or by a tenth of the 99 % quantile of the latency that is told.
const OWN_LATENESS_S: f64 = 1e-4;
const OWN_LATENESS_SHARE: f64 = 0.1;
/// A thread that is busier than this has no time left to be on time.
const BUSY_MAX: f64 = 0.95;

/// All that is known when a run has ended.
pub struct FinishedRun<'a> {
    pub terms: &'a RunTerms,
    /// By the user.
    pub stopped: bool,
    pub sink: &'a OutcomeSink<'a>,
    pub lanes: Vec<ClientThreadSummary>,
    pub steal_s: f64,
    pub ended_s: f64,
}

/// Stolen time of all cores since boot; 0 where it cannot be read.
pub fn steal_s() -> f64 {
    read_steal_s(Path::new(STAT)).unwrap_or(0.0)
}

fn read_steal_s(path: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(path).ok()?;
    // cpu user nice system idle iowait irq softirq steal …
    let ticks: f64 = text.lines().next()?.split_ascii_whitespace().nth(8)?.parse().ok()?;
    Some(ticks / TICKS_PER_S)
}

pub fn progress(
    terms: &RunTerms,
    gauges: &[LiveCounts],
    sink: &OutcomeSink,
    now_s: f64,
    over_s: f64,
) -> Progress {
    let sum = |read: fn(&LiveCounts) -> &AtomicU64| -> u64 {
        gauges.iter().map(|gauge| read(gauge).load(Ordering::Relaxed)).sum()
    };
    let (outstanding, waiting) = (sum(|g| &g.outstanding), sum(|g| &g.waiting));
    let interval = sink.interval.statistics();
    Progress {
        elapsed_s: now_s - terms.start_s,
        duration_s: terms.end_s - terms.start_s,
        sent: sum(|g| &g.sent),
        ok: sink.totals.ok(),
        failed: sink.totals.ended - sink.totals.ok(),
        rate_per_s: interval.count as f64 / over_s,
        p50_s: interval.p50_s,
        p99_s: interval.p99_s,
        in_flight: outstanding.saturating_sub(waiting),
        waiting,
    }
}

impl FinishedRun<'_> {
    pub fn summary(self) -> Summary {
        let (terms, totals) = (self.terms, &self.sink.totals);
        let interrupted = self.stopped && self.ended_s < terms.end_s;
        let end_s = if interrupted { self.ended_s.max(terms.start_s) } else { terms.end_s };
        let wall_s = (end_s - terms.start_s).max(1e-9);
        let (latency, own_lateness) = (totals.latency(), totals.own_lateness.statistics());
        let requested = self.lanes.iter().map(|lane| lane.requested + lane.missed).sum();
        let reason = self.reason(own_lateness.p99_s, latency.from_intended.to_done.p99_s);
        let (recorded, sample_every) = self.sink.sample();
        let failed = Failure::ALL.iter().filter(|f| **f != Failure::Ok);
        let counted = failed.map(|f| (f.name(), totals.failures[*f as usize]));
        Summary {
            seed: terms.seed,
            start_s: terms.start_s,
            end_s,
            interrupted,
            requested,
            sent: self.lanes.iter().map(|lane| lane.sent).sum(),
            ok: totals.ok(),
            failed: totals.ended - totals.ok(),
            failures: counted.filter(|(_, count)| *count > 0).collect(),
            offered_per_s: requested as f64 / wall_s,
            achieved_per_s: totals.ok_in_time as f64 / wall_s,
            stamped: latency.from_sent.to_received.count as f64 / (totals.ok().max(1)) as f64,
            latency,
            lateness: totals.lateness.statistics(),
            own_lateness,
            schedule_kept: reason.is_none(),
            schedule_reason: reason,
            recorded,
            sampled: sample_every > 1,
            sample_every,
            realtime_granted: self.lanes.iter().all(|lane| lane.realtime),
            steal_s: self.steal_s,
            notes: self.notes(sample_every),
            counts: self.sink.tell_counts.then(|| totals.counts()),
            kv: self.sink.kv.as_ref().map(KvTally::summary),
            messages: self.sink.messages.as_ref().map(MessagesTally::summary),
            sessions: self.sink.sessions.as_ref().map(SessionsTally::summary),
            lanes: self.lanes,
        }
    }

    /// Why the generator did not keep its schedule; `None` if it did.
    fn reason(&self, own_s: Option<f64>, latency_s: Option<f64>) -> Option<String> {
        let missed: u64 = self.lanes.iter().map(|lane| lane.missed).sum();
        if missed > 0 {
            return Some(format!(
                "{missed} requests were due and never taken up; lower the rate or add lanes"
            ));
        }
        if let Some(lane) = self.lanes.iter().find(|lane| lane.cpu_s > BUSY_MAX * lane.wall_s) {
            let (index, share) = (lane.lane, 100.0 * lane.cpu_s / lane.wall_s);
            return Some(format!(
                "the thread of lane {index} was {share:.0} % busy; lower the rate or add lanes"
            ));
        }
        late(own_s, latency_s, self.terms.slack_s)
    }

    fn notes(&self, sample_every: u64) -> Vec<String> {
        let mut notes = Vec::new();
        if self.terms.realtime && !self.lanes.iter().all(|lane| lane.realtime) {
            notes.push("real-time priority was refused: the generator ran at normal priority".to_string());
        }
        if self.terms.slack_s > 0.0 {
            let slack_ms = self.terms.slack_s * 1e3;
            notes.push(format!(
                "requests were sent up to {slack_ms} ms late on purpose: slack saves CPU of the generator"
            ));
        }
        if sample_every > 1 {
            notes.push(format!("the record has one request in {sample_every}: more than record_limit"));
        }
        let by_close: u64 = self.lanes.iter().map(|lane| lane.ended_by_close).sum();
        if by_close > 0 {
            notes.push(format!(
                "{by_close} answers had no length and ended with their connection: whether they were whole cannot be told"
            ));
        }
        let abandoned: u64 = self.lanes.iter().map(|lane| lane.abandoned).sum();
        if abandoned > 0 {
            notes.push(format!("{abandoned} requests were in flight or waiting when the run was stopped"));
        }
        notes
    }
}

/// Why a generator that took requests up so late (99 % quantile) did not keep its schedule, beside the latency's.
fn late(own_s: Option<f64>, latency_s: Option<f64>, slack_s: f64) -> Option<String> {
    let allowed_s = slack_s + OWN_LATENESS_S.max(OWN_LATENESS_SHARE * latency_s.unwrap_or(0.0));
    let own_s = own_s.filter(|own_s| *own_s > allowed_s)?;
    let (own_ms, allowed_ms) = (own_s * 1e3, allowed_s * 1e3);
    Some(format!(
        "1 % of the requests were taken up {own_ms:.2} ms late or later ({allowed_ms:.2} ms allowed); give the \
         generator a core of its own, real-time priority, or a lower rate"
    ))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_tail_of_the_lateness_is_judged_by_the_latencys() {
        let kept = |own_s, latency_s| super::late(Some(own_s), latency_s, 0.0).is_none();
        // 0.9 ms late beside a service that answers within 0.1 ms: the latency told would be the generator's own.
        assert!(!kept(0.9e-3, Some(1e-3)) && !kept(0.2e-3, Some(1e-3)));
        assert!(kept(0.09e-3, Some(0.2e-3)) && kept(0.9e-3, Some(10e-3)) && !kept(1.1e-3, Some(10e-3)));
        assert!(!kept(1e-3, None) && super::late(None, None, 0.0).is_none());
        // What was asked for is no fault: 1 ms of slack and the usual 0.1 ms.
        let with_slack = |own_s| super::late(Some(own_s), Some(1e-3), 1e-3).is_none();
        assert!(with_slack(1.05e-3) && !with_slack(1.2e-3));
    }

    #[test]
    fn steal_is_the_eighth_number() {
        let path = std::env::temp_dir().join(format!("sojourn-loadgen-stat-{}", std::process::id()));
        std::fs::write(&path, "cpu  1 2 3 4 5 6 7 250 9 10\ncpu0 0 0 0 0 0 0 0 0 0 0\n").unwrap();
        assert_eq!(super::read_steal_s(&path), Some(2.5));
        std::fs::write(&path, "").unwrap();
        assert_eq!(super::read_steal_s(&path), None);
        std::fs::remove_file(path).unwrap();
    }
}
