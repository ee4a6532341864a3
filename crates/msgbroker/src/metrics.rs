//! The OpenMetrics endpoint: one small HTTP answer a connection, from a thread of its own.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::book::{process_cpu_s, PHASES, UNIT_NS};
use crate::request::KINDS;
use crate::shared::Shared;
use sojourn_record::clock::s;

/// How often it looks for a connection; and how long one client may keep others waiting.
const PAUSE: Duration = Duration::from_millis(50);
const PATIENCE: Duration = Duration::from_millis(500);
/// Upper ends of the histogram's buckets, s.
const BUCKETS: [f64; 14] =
    [1e-4, 2e-4, 3e-4, 5e-4, 7e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2, 2e-2, 5e-2, 1e-1, 1.0];

/// Answers until `halt` is set; the listener does not block.
pub(crate) fn answer(listener: &TcpListener, shared: &Shared<'_>, halt: &AtomicBool) {
    while !halt.load(Ordering::Relaxed) {
        match listener.accept() {
            // A client that fails is its own affair.
            Ok((stream, _)) => drop(one(stream, shared)),
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

fn one(mut stream: TcpStream, shared: &Shared<'_>) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut head = [0; 2048];
    let count = stream.read(&mut head)?;
    let found = head[..count].starts_with(b"GET /metrics") || head[..count].starts_with(b"GET / ");
    let (status, body) = if found { ("200 OK", text(shared)) } else { ("404 Not Found", String::new()) };
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// OpenMetrics 1.0 text. Writing to a string cannot fail.
fn text(shared: &Shared<'_>) -> String {
    let (mut out, page) = (String::new(), shared.book.page());
    let load = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed) as f64;
    let (gate, pool, keeper) = (&shared.gate, &shared.pool, &shared.keeper);
    let (in_use, waiting) = pool.occupancy();
    let cpu_s = process_cpu_s() + page.cpu_s.values().sum::<f64>();
    for (name, value) in [
        ("arrivals", load(&gate.arrivals)),
        ("abandoned", page.abandoned as f64),
        ("clients_accepted", load(&gate.accepted)),
        ("clients_refused", load(&gate.turned_away)),
        ("database_sessions", load(&pool.opened)),
        ("database_sessions_lost", load(&pool.lost)),
        ("redelivered", load(&keeper.given_back)),
        ("vacuums", load(&keeper.vacuums)),
        ("cpu_seconds", cpu_s),
    ] {
        let _ = writeln!(out, "# TYPE messages_{name} counter\nmessages_{name}_total {value}");
    }
    for (name, value) in [
        ("clients", gate.clients.load(Ordering::Relaxed)),
        ("queue_length", shared.desk.line.len()),
        ("busy_workers", shared.busy.load(Ordering::Relaxed)),
        ("connections", pool.size()),
        ("connections_in_use", in_use),
        ("waiting_for_connection", waiting),
        ("database_up", usize::from(pool.is_up())),
    ] {
        let _ = writeln!(out, "# TYPE messages_{name} gauge\nmessages_{name} {value}");
    }
    out.push_str("# TYPE messages_completions counter\n");
    for (kind, count) in KINDS.iter().zip(page.kinds) {
        let _ = writeln!(out, "messages_completions_total{{kind=\"{kind}\"}} {count}");
    }
    out.push_str("# TYPE messages_answers counter\n");
    for (status, count) in &page.statuses {
        let _ = writeln!(out, "messages_answers_total{{status=\"{status}\"}} {count}");
    }
    histograms(&page, &mut out);
    out.push_str("# EOF\n");
    out
}

fn histograms(page: &crate::book::Page, out: &mut String) {
    out.push_str("# TYPE messages_phase_seconds histogram\n");
    for (index, name) in PHASES.iter().enumerate() {
        let histogram = &page.histograms[index];
        for end in BUCKETS {
            let count = histogram.count_between(0, (end * 1e9) as u64 / UNIT_NS);
            let _ = writeln!(out, "messages_phase_seconds_bucket{{phase=\"{name}\",le=\"{end}\"}} {count}");
        }
        let (count, sum) = (histogram.len(), s(page.sums_ns[index]));
        let _ = writeln!(out, "messages_phase_seconds_bucket{{phase=\"{name}\",le=\"+Inf\"}} {count}");
        let _ = writeln!(out, "messages_phase_seconds_count{{phase=\"{name}\"}} {count}");
        let _ = writeln!(out, "messages_phase_seconds_sum{{phase=\"{name}\"}} {sum}");
    }
}
