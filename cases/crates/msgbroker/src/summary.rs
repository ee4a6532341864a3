//! What a service did, from start to end.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use serde::Serialize;

use crate::database::DatabaseInfo;
use crate::operation::KINDS;
use crate::shared::SharedState;
use crate::stats::{StatsSnapshot, PHASES};
use sojourn_serving::time_histogram::{times, TimeSummary};

/// Totals over all threads.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub seconds: f64,
    pub arrivals: u64,
    pub completions: u64,
    /// Completions by kind; `empty` are takes that found nothing.
    pub by_kind: BTreeMap<&'static str, u64>,
    /// Answers by HTTP status.
    pub by_status: BTreeMap<u16, u64>,
    /// Requests whose client was gone before the answer.
    pub abandoned: u64,
    pub accepted: u64,
    pub turned_away: u64,
    /// Completions a second, from start to end.
    pub throughput: f64,
    /// dispatch, parse, wait, database, respond, and the whole: response.
    pub phases: BTreeMap<&'static str, TimeSummary>,
    /// CPU time of the service's threads.
    pub cpu_s: f64,
    pub cpu_by_thread_s: BTreeMap<String, f64>,
    /// Sessions with the database that were begun, and that ended by themselves.
    pub sessions: u64,
    pub sessions_lost: u64,
    pub redelivered: u64,
    pub vacuums: u64,
    pub database: DatabaseInfo,
    /// Why record logs end before the service did; empty where they are whole.
    pub lost_logs: Vec<String>,
    /// Rows that are not in them.
    pub lost_rows: u64,
}

const PERCENTAGES: [f64; 8] = [25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 100.0];

pub(crate) fn summary(shared: &SharedState<'_>, seconds: f64, database: DatabaseInfo) -> Summary {
    let page: StatsSnapshot = shared.stats.snapshot();
    let phase = |index: usize| times(&page.histograms[index], page.sums_ns[index], &PERCENTAGES);
    let completions = page.kinds.iter().sum();
    let load = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
    Summary {
        seconds,
        arrivals: load(&shared.counters.arrivals),
        completions,
        by_kind: KINDS.into_iter().zip(page.kinds).collect(),
        by_status: page.statuses,
        abandoned: page.abandoned,
        accepted: load(&shared.counters.accepted),
        turned_away: load(&shared.counters.turned_away),
        throughput: completions as f64 / seconds.max(1e-9),
        phases: PHASES.iter().enumerate().map(|(index, name)| (*name, phase(index))).collect(),
        cpu_s: page.cpu_s.values().sum(),
        cpu_by_thread_s: page.cpu_s,
        sessions: load(&shared.pool.opened),
        sessions_lost: load(&shared.pool.lost),
        redelivered: load(&shared.maintenance.returned),
        vacuums: load(&shared.maintenance.vacuums),
        database,
        lost_logs: Vec::new(),
        lost_rows: 0,
    }
}
