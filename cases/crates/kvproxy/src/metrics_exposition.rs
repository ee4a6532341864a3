//! The proxy's own statistics while it runs: as the `stats` command and as OpenMetrics text.

use std::fmt::Write;

use crate::response_time_bins::{steps, STEPS};
use crate::route::KINDS;
use crate::shared::SharedState;
use crate::single_writer_counter::SingleWriterCounter;
use crate::stats::{self, Stats};
use crate::summary::total;
use crate::Config;
use sojourn_record::clock::s;
use sojourn_serving::OpenMetricsText;

/// Names, what they say, values; `counter` where they only grow.
struct Metric {
    name: &'static str,
    counter: bool,
    value: f64,
}

fn figures(all: &[&Stats]) -> Vec<Metric> {
    let sum = |of: fn(&Stats) -> &SingleWriterCounter| total(all, of) as f64;
    let counter = |name, value| Metric { name, counter: true, value };
    let gauge = |name, value| Metric { name, counter: false, value };
    vec![
        counter("arrivals", sum(|s| &s.arrivals)),
        counter("errors", sum(|s| &s.errors)),
        counter("abandoned", sum(|s| &s.abandoned)),
        counter("hits", sum(|s| &s.hits)),
        counter("misses", sum(|s| &s.misses)),
        counter("connections_accepted", sum(|s| &s.accepted)),
        counter("connections_refused", sum(|s| &s.turned_away)),
        gauge("connections", sum(|s| &s.connections)),
        gauge("queue_length", sum(|s| &s.queue)),
        counter("requests_served", sum(|s| &s.served)),
        counter("queue_seconds", sum(|s| &s.queue_ns) * 1e-9),
        counter("service_seconds", sum(|s| &s.service_ns) * 1e-9),
        counter("busy_seconds", sum(|s| &s.busy_ns) * 1e-9),
    ]
}

fn completions(all: &[&Stats]) -> impl Iterator<Item = (&'static str, u64)> {
    let counts: Vec<u64> =
        (0..KINDS.len()).map(|kind| all.iter().map(|stats| stats.done[kind].get()).sum()).collect();
    KINDS.into_iter().zip(counts)
}

/// The answer to `stats`: as memcached has it, a line each.
pub(crate) fn stats(shared: &SharedState<'_>, arguments: &[u8], out: &mut Vec<u8>) {
    let (config, all) = (shared.config, &shared.all());
    let mut text = String::new();
    let mut line = |name: &str, value: &dyn std::fmt::Display| {
        // Writing to a string cannot fail.
        let _ = write!(text, "STAT {name} {value}\r\n");
    };
    match arguments {
        b"" => {
            line("pid", &std::process::id());
            line("version", &concat!("sojourn-", env!("CARGO_PKG_VERSION")));
            line("design", &format!("{:?}", config.design).to_lowercase());
            for figure in figures(all) {
                line(figure.name, &figure.value);
            }
            completions(all).for_each(|(name, count)| line(&format!("cmd_{name}"), &count));
            let (count, sum) = (total(all, |s| &s.responses), total(all, |s| &s.response_ns));
            line("responses", &count);
            line("response_mean_us", &(s(sum) * 1e6 / count.max(1) as f64));
            servers(config, all, &mut |index, name, value| line(&format!("server_{index}_{name}"), &value));
            for server in 0..config.servers.len() {
                line(&format!("server_{server}_up"), &u8::from(shared.availability.is_up(server)));
            }
        }
        b"settings" => {
            line("listen", &config.listen);
            line("servers", &config.servers.join(","));
            line("maxconns", &config.connections);
            line("item_size_max", &config.value_bytes);
            line("maxbytes", &config.memory_bytes);
            line("num_threads", &all.len());
            line("sharded", &config.sharded);
            line("queue", &config.queue);
            line("batch", &config.batch);
        }
        _ => return out.extend_from_slice(b"CLIENT_ERROR the proxy has stats and stats settings\r\n"),
    }
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(b"END\r\n");
}

fn servers(config: &Config, all: &[&Stats], each: &mut dyn FnMut(usize, &str, f64)) {
    for index in 0..config.servers.len() {
        let sum = |of: fn(&crate::stats::ServerStats) -> &SingleWriterCounter| {
            all.iter().map(|stats| of(&stats.servers[index]).get()).sum::<u64>() as f64
        };
        each(index, "requests", sum(|server| &server.requests));
        each(index, "replies", sum(|server| &server.replies));
        each(index, "errors", sum(|server| &server.errors));
        each(index, "reconnects", sum(|server| &server.reconnects));
        each(index, "service_seconds", sum(|server| &server.service_ns) * 1e-9);
    }
}

/// Upper ends of the histogram's buckets, in steps of 0.1 ms.
const BUCKETS: [usize; 14] = [1, 2, 3, 5, 7, 10, 20, 30, 50, 100, 200, 500, 1000, STEPS];

/// OpenMetrics 1.0 text.
pub(crate) fn open_metrics(shared: &SharedState<'_>) -> String {
    let (config, all) = (shared.config, &shared.all());
    let mut text = OpenMetricsText::new("kv_proxy");
    for Metric { name, counter, value } in figures(all) {
        if counter {
            text.counter(name, value);
        } else {
            text.gauge(name, value);
        }
    }
    text.counters("completions", "kind", completions(all));
    for name in ["requests", "replies", "errors", "reconnects", "service_seconds"] {
        let mut values = Vec::new();
        servers(config, all, &mut |index, found, value| {
            if found == name {
                values.push((&config.servers[index], value));
            }
        });
        text.counters(&format!("server_{name}"), "server", values);
    }
    let up = (0..config.servers.len()).map(|server| u8::from(shared.availability.is_up(server)));
    text.gauges("server_up", "server", config.servers.iter().zip(up));
    histogram(all, &mut text);
    text.end()
}

fn histogram(all: &[&Stats], text: &mut OpenMetricsText) {
    let (counts, overflow) = steps(&stats::bins(all));
    let below = |to: usize| -> u64 { counts.iter().take(to).sum() };
    let ends = BUCKETS.map(|to| (to as f64 / 1e4, below(to)));
    text.histograms("response_seconds");
    let sum = s(total(all, |s| &s.response_ns));
    text.histogram("response_seconds", None, ends, below(STEPS) + overflow, sum);
}
