//! The load on the wire is the load that was asked for, also when the service stalls. One test at a time:
//! they share the machine with nothing else of ours.

mod common;

use std::sync::Mutex;

use common::{load, poisson, stall_end_s, TestServer};
use serde_json::json;
use sojourn_dist::Arrivals;

static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

#[test]
fn arrivals_on_the_wire_are_poisson() {
    let _alone = alone();
    let server = TestServer::start();
    let (rate_per_s, duration_s) = (300.0, 4.0);
    let (summary, log, _out) = load("wire", &poisson(&server.url("/"), rate_per_s, duration_s));
    let mut arrivals = server.seen.arrivals_s.lock().unwrap().clone();
    arrivals.sort_by(f64::total_cmp);
    let expected = rate_per_s * duration_s;
    assert!((arrivals.len() as f64 - expected).abs() < 4.0 * expected.sqrt(), "{}", arrivals.len());
    // Each request of the schedule went out, once, at its intended time or after.
    let process = Arrivals::Poisson { rate_per_s };
    let schedule: Vec<f64> = process.schedule(1, "lane 0 arrivals", duration_s).collect();
    assert_eq!((schedule.len(), schedule.len() as u64), (arrivals.len(), summary.ok));
    assert_eq!((summary.requested, summary.sent, summary.failed), (summary.ok, summary.ok, 0));
    let mut intended = log.column("intended_s").unwrap();
    intended.sort_by(f64::total_cmp);
    assert!(schedule.iter().zip(&intended).all(|(s, i)| (summary.start_s + s - i).abs() < 1e-9));
    // The standard errors of both are 1/sqrt(n); 6 of them leave room for a disturbed machine.
    let gaps: Vec<f64> = arrivals.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let bound = 6.0 / (gaps.len() as f64).sqrt();
    let deviations: Vec<f64> = gaps.iter().map(|gap| gap - mean(&gaps)).collect();
    let variance = mean(&deviations.iter().map(|d| d * d).collect::<Vec<_>>());
    assert!((variance.sqrt() / mean(&gaps) - 1.0).abs() < bound, "CV {}", variance.sqrt() / mean(&gaps));
    let lag = mean(&deviations.windows(2).map(|d| d[0] * d[1]).collect::<Vec<_>>()) / variance;
    assert!(lag.abs() < bound, "lag-1 autocorrelation {lag}");
}

#[test]
fn times_are_in_order_and_the_kernel_stamps_are_there() {
    let _alone = alone();
    let server = TestServer::start();
    let (summary, log, _out) = load("order", &poisson(&server.url("/10ms"), 100.0, 1.0));
    let column = |name| log.column(name).unwrap();
    let (intended, sent) = (column("intended_s"), column("sent_s"));
    let (received, done) = (column("received_s"), column("done_s"));
    for i in 0..log.rows.len() {
        assert!(intended[i] <= sent[i] && sent[i] <= done[i]);
        // The server sleeps 10 ms; the stamp's clock is mapped to within a few µs.
        assert!(received[i] >= sent[i] + 0.0099 && received[i] <= done[i] + 1e-4);
    }
    assert_eq!(summary.stamped, 1.0);
    assert!(summary.latency.from_sent.to_done.p50_s.unwrap() >= 0.01);
    assert_eq!(summary.recorded, summary.ok);
}

/// The quantile of a sorted sample as the histogram defines it: the smallest with a share q at or below.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    sorted[((q * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len()) - 1]
}

#[test]
fn a_stalling_server_shows_the_p99_that_can_be_computed() {
    let _alone = alone();
    // Once with a connection for each that waits in the server, once with one for all: the intended time
    // counts in both, wherever the request waits.
    for (name, connections_max) in [("stall-many", 256), ("stall-one", 1)] {
        let server = TestServer::start();
        let mut config = poisson(&server.url("/stall"), 400.0, 3.0);
        config["lanes"][0]["connections"] = json!(1);
        config["lanes"][0]["connections_max"] = json!(connections_max);
        let (summary, log, _out) = load(name, &config);
        assert_eq!(summary.ok, summary.requested);
        let intended = log.column("intended_s").unwrap();
        let mut expected: Vec<f64> = intended.iter().map(|at| stall_end_s(*at) - at).collect();
        expected.sort_by(f64::total_cmp);
        let computed = quantile(&expected, 0.99);
        let p99 = summary.latency.from_intended.to_done.p99_s.unwrap();
        assert!((p99 / computed - 1.0).abs() < 0.05, "{name}: computed {computed}, measured {p99}");
        if connections_max == 1 {
            // From the send alone the stall is one slow request in forty: this is what must not be reported.
            let sent_p90 = summary.latency.from_sent.to_done.p90_s.unwrap();
            assert!(sent_p90 < 0.1 * computed, "{sent_p90}");
            assert!(summary.lateness.p99_s > summary.own_lateness.p99_s);
        }
    }
}

#[test]
fn a_closed_loop_holds_its_users_and_the_interactive_law() {
    let _alone = alone();
    let server = TestServer::start();
    let closed = |think| {
        json!({
            "duration_s": 2.0,
            "lanes": [{
                "targets": [{"url": server.url("/10ms")}],
                "closed": {"users": 8, "think": think},
            }],
        })
    };
    let (summary, log, _out) = load("closed", &closed(json!({"kind": "exponential", "mean": 0.02})));
    // X = N / (R + Z), with 8 users and Z = 20 ms; the mean of about 500 think times is off by 4 % (1 sigma).
    let residence_s = summary.latency.from_intended.to_done.mean_s.unwrap();
    let law = 8.0 / (residence_s + 0.02);
    assert!((summary.achieved_per_s / law - 1.0).abs() < 0.11, "{} and {law}", summary.achieved_per_s);
    assert!(server.seen.present_max.load(std::sync::atomic::Ordering::SeqCst) <= 8);
    let users = log.column("user").unwrap();
    assert!((0..8).all(|user| users.contains(&f64::from(user))));

    let (summary, _, _out) = load("closed-busy", &closed(json!({"kind": "deterministic", "mean": 0.0})));
    let law = 8.0 / summary.latency.from_intended.to_done.mean_s.unwrap();
    assert!((summary.achieved_per_s / law - 1.0).abs() < 0.03, "{} and {law}", summary.achieved_per_s);
    assert_eq!(server.seen.present_max.load(std::sync::atomic::Ordering::SeqCst), 8);
}
