//! What a proxy did, from start to end.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::histograms::Histograms;
use crate::response_time_bins::{steps, STEP_NS};
use crate::route::KINDS;
use crate::single_writer_counter::SingleWriterCounter;
use crate::stats::{self, Stats};
use crate::Config;
use sojourn_record::clock::s;
use sojourn_serving::time_histogram::{self, TimeSummary};

/// What a proxy saw of one server.
#[derive(Clone, Debug, Serialize)]
pub struct ServerSummary {
    pub address: String,
    pub requests: u64,
    pub replies: u64,
    pub errors: u64,
    pub reconnects: u64,
    /// Mean time from sending a request to its reply; 0 without any.
    pub service_s: f64,
}

/// What one thread did.
#[derive(Clone, Debug, Serialize)]
pub struct ThreadSummary {
    pub name: String,
    pub completions: u64,
    pub cpu_s: Option<f64>,
    pub busy_s: f64,
}

/// Totals over all threads.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub design: crate::ThreadingDesign,
    pub seconds: f64,
    pub arrivals: u64,
    pub completions: u64,
    /// Completions by kind.
    pub by_kind: BTreeMap<&'static str, u64>,
    pub errors: u64,
    pub abandoned: u64,
    pub hits: u64,
    pub misses: u64,
    pub accepted: u64,
    pub turned_away: u64,
    /// Completions a second, from start to end.
    pub throughput: f64,
    /// The mean number of requests that an arriving one found waiting (`staged`) or under way (`direct`).
    pub queue_length: f64,
    pub response: TimeSummary,
    pub queue: TimeSummary,
    pub service: TimeSummary,
    pub bin_s: f64,
    /// Response times at `bin_s`, without the empty bins at the end.
    pub bins: Vec<u64>,
    /// Response times of 1 s and more.
    pub overflow: u64,
    pub servers: Vec<ServerSummary>,
    pub threads: Vec<ThreadSummary>,
    /// Why logs end before the service did; empty where all are whole.
    pub lost_logs: Vec<String>,
    /// Rows that are not in them.
    pub lost_rows: u64,
}

const PERCENTAGES: [f64; 9] = [25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 100.0];

fn times(histogram: &Histogram<u64>, sum_ns: u64) -> TimeSummary {
    time_histogram::times(histogram, sum_ns, &PERCENTAGES)
}

pub(crate) fn total(all: &[&Stats], of: impl Fn(&Stats) -> &SingleWriterCounter) -> u64 {
    all.iter().map(|stats| of(stats).get()).sum()
}

fn servers(config: &Config, all: &[&Stats]) -> Vec<ServerSummary> {
    let one = |(index, address): (usize, &String)| {
        let sum = |of: fn(&crate::stats::ServerStats) -> &SingleWriterCounter| {
            all.iter().map(|stats| of(&stats.servers[index]).get()).sum::<u64>()
        };
        let replies = sum(|server| &server.replies);
        ServerSummary {
            address: address.clone(),
            requests: sum(|server| &server.requests),
            replies,
            errors: sum(|server| &server.errors),
            reconnects: sum(|server| &server.reconnects),
            service_s: s(sum(|server| &server.service_ns)) / replies.max(1) as f64,
        }
    };
    config.servers.iter().enumerate().map(one).collect()
}

fn threads(all: &[&Stats], cpu_s: &[Option<f64>]) -> Vec<ThreadSummary> {
    let one = |(stats, cpu_s): (&&Stats, &Option<f64>)| ThreadSummary {
        name: stats.name.clone(),
        completions: stats.completions(),
        cpu_s: *cpu_s,
        busy_s: s(stats.busy_ns.get()),
    };
    all.iter().zip(cpu_s).map(one).collect()
}

pub(crate) fn summary(
    config: &Config,
    all: &[&Stats],
    histograms: &Histograms,
    seconds: f64,
    cpu_s: &[Option<f64>],
) -> Summary {
    let sum = |of: fn(&Stats) -> &SingleWriterCounter| total(all, of);
    let by_kind: BTreeMap<_, _> = KINDS
        .iter()
        .enumerate()
        .map(|(kind, name)| (*name, all.iter().map(|stats| stats.done[kind].get()).sum()))
        .collect();
    let (bins, overflow) = steps(&stats::bins(all));
    let (completions, arrivals) = (by_kind.values().sum(), sum(|s| &s.arrivals));
    Summary {
        design: config.design,
        seconds,
        arrivals,
        completions,
        by_kind,
        errors: sum(|s| &s.errors),
        abandoned: sum(|s| &s.abandoned),
        hits: sum(|s| &s.hits),
        misses: sum(|s| &s.misses),
        accepted: sum(|s| &s.accepted),
        turned_away: sum(|s| &s.turned_away),
        throughput: completions as f64 / seconds.max(1e-9),
        queue_length: sum(|s| &s.queue_seen) as f64 / arrivals.max(1) as f64,
        response: times(&histograms.response, sum(|s| &s.response_ns)),
        queue: times(&histograms.queue, sum(|s| &s.queue_ns)),
        service: times(&histograms.service, sum(|s| &s.service_ns)),
        bin_s: s(STEP_NS),
        bins,
        overflow,
        servers: servers(config, all),
        threads: threads(all, cpu_s),
        lost_logs: Vec::new(),
        lost_rows: 0,
    }
}
