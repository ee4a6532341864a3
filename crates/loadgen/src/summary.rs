//! What a run tells while it goes on and when it has ended.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::kv::KvSummary;
use crate::latency_statistics::{LatencyCounts, LatencyStatistics};
use crate::messages::MessagesSummary;
use crate::sessions::SessionsSummary;

/// For a live view; four times a second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Progress {
    pub elapsed_s: f64,
    pub duration_s: f64,
    pub sent: u64,
    pub ok: u64,
    pub failed: u64,
    /// Successes per second since the last report.
    pub rate_per_s: f64,
    /// From intended to answered, since the last report; `None` where it lies among failures, or there was none.
    pub p50_s: Option<f64>,
    pub p99_s: Option<f64>,
    pub in_flight: u64,
    /// Due, but without a connection.
    pub waiting: u64,
}

/// A latency to the kernel's receive stamp and to the end of reading.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LatencyByEndpoint {
    pub to_received: LatencyStatistics,
    pub to_done: LatencyStatistics,
}

/// Means and maxima of successes; quantiles count failures as later than all.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LatencySummary {
    pub from_intended: LatencyByEndpoint,
    pub from_sent: LatencyByEndpoint,
}

/// What a lane's own thread used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClientThreadSummary {
    pub lane: usize,
    pub cpu: Option<usize>,
    pub cpu_s: f64,
    pub wall_s: f64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    pub connections_opened: u64,
    /// Answers that had no length and ended with their connection: whether they are whole, nobody knows.
    pub ended_by_close: u64,
    /// Requests that fell due and were taken up; those that were sent.
    pub requested: u64,
    pub sent: u64,
    /// Requests that fell due, but that the thread never came to take up.
    pub missed: u64,
    /// Requests given up when the run was stopped; they are in no other count but `requested` and `sent`.
    pub abandoned: u64,
    pub realtime: bool,
}

/// The account of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    pub seed: u64,
    /// CLOCK_MONOTONIC; `end_s` is the end of the schedule, or when it was stopped.
    pub start_s: f64,
    pub end_s: f64,
    pub interrupted: bool,
    /// Requests that fell due; `sent` of them went out, `ok` succeeded.
    pub requested: u64,
    pub sent: u64,
    pub ok: u64,
    pub failed: u64,
    /// By name of the failure; only those that happened.
    pub failures: BTreeMap<&'static str, u64>,
    /// Per second of the schedule: due, and successes done before its end.
    pub offered_per_s: f64,
    pub achieved_per_s: f64,
    pub latency: LatencySummary,
    /// Sent minus intended, of all that were sent: waiting for a connection included.
    pub lateness: LatencyStatistics,
    /// Taken up by the generator minus intended: its own fault only.
    pub own_lateness: LatencyStatistics,
    pub schedule_kept: bool,
    /// Why not.
    pub schedule_reason: Option<String>,
    pub recorded: u64,
    pub sampled: bool,
    /// Every k-th request, in order of its end, is left when the record is thinned to the weight of its last row.
    pub sample_every: u64,
    /// Share of successes that carry the kernel's receive stamp.
    pub stamped: f64,
    pub lanes: Vec<ClientThreadSummary>,
    pub realtime_granted: bool,
    /// CPU time that the hypervisor took from this machine, all cores, between start and end.
    pub steal_s: f64,
    pub notes: Vec<String>,
    /// Of one of several agents: what its statistics are made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<BTreeMap<&'static str, LatencyCounts>>,
    /// Of a load on memcached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kv: Option<KvSummary>,
    /// Of a load on the message service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessagesSummary>,
    /// Of a load in sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<SessionsSummary>,
}
