//! What the OpenMetrics endpoint tells.

use std::net::TcpListener;
use std::sync::atomic::Ordering;

use sojourn_record::clock::s;
use sojourn_serving::thread_cpu_time::of_all_ns;
use sojourn_serving::{EndpointContent, OpenMetricsText};

use crate::shared::SharedState;
use crate::tables::Tables;

/// Answers until the service halts.
pub(crate) fn answer(listener: &TcpListener, shared: &SharedState<'_>) {
    let content = EndpointContent { metrics: &|| text(shared), ready: &|| shared.tables.is_ready() };
    sojourn_serving::answer(listener, shared.shutdown.flag(), content);
}

/// OpenMetrics 1.0 text.
fn text(shared: &SharedState<'_>) -> String {
    let (mut text, total, stats) = (OpenMetricsText::new("bulletin"), shared.stats.total(), &shared.stats);
    text.counters("completions", "interaction", total.by_interaction());
    text.counters("answers", "status", &total.statuses);
    text.counter("wait_seconds", s(total.waited_ns));
    text.counter("service_seconds", s(total.served_ns));
    text.counter("cpu_seconds", s(of_all_ns()));
    text.counter("refused", stats.refused.load(Ordering::Relaxed));
    text.counter("clients_accepted", stats.accepted.load(Ordering::Relaxed));
    text.counter("clients_refused", stats.turned_away.load(Ordering::Relaxed));
    text.gauge("clients", stats.clients.load(Ordering::Relaxed));
    text.gauge("queue_length", shared.queue.len());
    if let Tables::Postgres(pool) = &shared.tables {
        text.counter("transactions", total.transactions);
        let (in_use, waiting) = pool.occupancy();
        text.gauge("sessions", pool.size());
        text.gauge("sessions_in_use", in_use);
        text.gauge("waiting_for_session", waiting);
    }
    text.end()
}
