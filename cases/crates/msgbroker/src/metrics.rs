//! What the OpenMetrics endpoint tells.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::operation::KINDS;
use crate::shared::SharedState;
use crate::stats::{process_cpu_s, StatsSnapshot, PHASES};
use sojourn_record::clock::s;
use sojourn_serving::time_histogram::UNIT_NS;
use sojourn_serving::{EndpointContent, OpenMetricsText};

/// Upper ends of the histogram's buckets, s.
const BUCKETS: [f64; 14] =
    [1e-4, 2e-4, 3e-4, 5e-4, 7e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2, 2e-2, 5e-2, 1e-1, 1.0];

/// Answers until the service halts.
pub(crate) fn answer(listener: &TcpListener, shared: &SharedState<'_>) {
    let ready = || if shared.pool.health.is_up() { Ok(()) } else { Err("the database is away".to_string()) };
    sojourn_serving::answer(
        listener,
        shared.shutdown.flag(),
        EndpointContent { metrics: &|| text(shared), ready: &ready },
    );
}

/// OpenMetrics 1.0 text.
fn text(shared: &SharedState<'_>) -> String {
    let (mut text, page) = (OpenMetricsText::new("messages"), shared.stats.snapshot());
    let load = |count: &AtomicU64| count.load(Ordering::Relaxed) as f64;
    let (counters, pool, maintenance) = (&shared.counters, &shared.pool, &shared.maintenance);
    let (in_use, waiting) = pool.occupancy();
    let cpu_s = process_cpu_s() + page.cpu_s.values().sum::<f64>();
    for (name, value) in [
        ("arrivals", load(&counters.arrivals)),
        ("abandoned", page.abandoned as f64),
        ("clients_accepted", load(&counters.accepted)),
        ("clients_refused", load(&counters.turned_away)),
        ("database_sessions", load(&pool.opened)),
        ("database_sessions_lost", load(&pool.lost)),
        ("redelivered", load(&maintenance.returned)),
        ("vacuums", load(&maintenance.vacuums)),
        ("cpu_seconds", cpu_s),
    ] {
        text.counter(name, value);
    }
    for (name, value) in [
        ("clients", counters.clients.load(Ordering::Relaxed)),
        ("queue_length", shared.context.queue.len()),
        ("busy_workers", shared.busy.load(Ordering::Relaxed)),
        ("connections", pool.size()),
        ("connections_in_use", in_use),
        ("waiting_for_connection", waiting),
        ("database_up", usize::from(pool.health.is_up())),
    ] {
        text.gauge(name, value);
    }
    text.counters("completions", "kind", KINDS.iter().zip(page.kinds));
    text.counters("answers", "status", &page.statuses);
    histograms(&page, &mut text);
    text.end()
}

fn histograms(page: &StatsSnapshot, text: &mut OpenMetricsText) {
    text.histograms("phase_seconds");
    for (index, name) in PHASES.iter().enumerate() {
        let histogram = &page.histograms[index];
        let below = |end: f64| histogram.count_between(0, (end * 1e9) as u64 / UNIT_NS);
        let (ends, sum) = (BUCKETS.map(|end| (end, below(end))), s(page.sums_ns[index]));
        text.histogram("phase_seconds", Some(&format!("phase=\"{name}\"")), ends, histogram.len(), sum);
    }
}
