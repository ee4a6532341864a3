//! What a run leaves: the histogram log in its standard format, sampling, lanes and weights.

mod common;

use common::{load, poisson, Server};
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde_json::json;

#[test]
fn the_histogram_log_reads_back_with_a_standard_reader() {
    let server = Server::start();
    let (summary, log, out) = load("hlog", &poisson(&server.url("/"), 100.0, 2.5));
    let text = std::fs::read(out.0.join("latency.hlog")).unwrap();
    let (mut untagged, mut tagged, mut intervals, mut sum_ns) = (0, 0, 0, 0.0);
    for entry in IntervalLogIterator::new(&text) {
        let LogEntry::Interval(interval) = entry.unwrap() else {
            continue;
        };
        let bytes = base64_decode(interval.encoded_histogram());
        let mut reader = hdrhistogram::serialization::Deserializer::new();
        let histogram: hdrhistogram::Histogram<u64> = reader.deserialize(&mut bytes.as_slice()).unwrap();
        intervals += 1;
        match interval.tag() {
            None => {
                untagged += histogram.len();
                sum_ns += histogram.mean() * histogram.len() as f64;
            }
            Some(tag) => {
                assert_eq!(tag.as_str(), "sent");
                tagged += histogram.len();
            }
        }
    }
    assert_eq!((untagged, tagged), (summary.ok, summary.ok));
    assert!(intervals >= 4, "two seconds at least, twice");
    // To the kernel's receive time; an answer is read some µs later. Bins are good to 0.1 %.
    let to_received_s = summary.latency.from_intended.to_received.mean_s.unwrap();
    let mean_s = sum_ns * 1e-9 / untagged as f64;
    assert!((mean_s / to_received_s - 1.0).abs() < 1e-3, "{mean_s} and {to_received_s}");
    assert_eq!(log.meta["sample_every"], 1);
}

/// RFC 4648, with padding; the crate that the log is written with does not export its own.
fn base64_decode(text: &str) -> Vec<u8> {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        bits = bits << 6 | alphabet.iter().position(|a| *a == c).unwrap() as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    bytes
}

#[test]
fn above_the_limit_the_record_is_a_systematic_sample() {
    let server = Server::start();
    // Known before: about 400 requests, 100 rows allowed.
    let mut config = poisson(&server.url("/"), 400.0, 1.0);
    config["record_limit"] = json!(100);
    let (summary, log, _out) = load("sampled", &config);
    assert_eq!((summary.sampled, summary.sample_every), (true, 5));
    assert_eq!(log.rows.len() as u64, summary.ok.div_ceil(5));
    assert_eq!(summary.latency.from_sent.to_done.count, summary.requested, "statistics are of all");
    // Not known before: a closed loop is thinned when it reaches the limit.
    let config = json!({
        "duration_s": 1.0, "record_limit": 20,
        "lanes": [{"targets": [{"url": server.url("/10ms")}], "closed": {"users": 4}}],
    });
    let (summary, log, _out) = load("thinned", &config);
    assert!(summary.sampled && log.rows.len() <= 20);
    assert_eq!(log.rows.len() as u64, summary.ok.div_ceil(summary.sample_every));
    assert_eq!(log.meta["sample_every"], summary.sample_every);
}

/// The first core that this process may use: a container need not have core 0.
fn allowed_cpu() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().split([',', '-']).next().unwrap().parse().unwrap()
}

#[test]
fn lanes_share_classes_and_weights_choose_targets() {
    let server = Server::start();
    let targets = json!([
        {"url": server.url("/a"), "weight": 3, "class": "item"},
        {"url": server.url("/b"), "weight": 1, "class": "search"},
    ]);
    let arrivals = json!({"kind": "constant", "rate_per_s": 400});
    let lane = json!({"targets": targets, "arrivals": arrivals, "connections": 2, "cpu": allowed_cpu()});
    let config = json!({"duration_s": 1.0, "lanes": [lane, lane], "realtime": true});
    let (summary, log, _out) = load("lanes", &config);
    assert_eq!(log.meta["classes"], json!(["item", "search"]));
    assert_eq!((summary.ok, summary.lanes.len()), (800, 2));
    assert!(summary
        .lanes
        .iter()
        .all(|lane| lane.requested == 400 && lane.cpu == Some(allowed_cpu()) && lane.cpu_s > 0.0));
    // Granted, or said that it was not.
    assert!(summary.realtime_granted != summary.notes.iter().any(|note| note.contains("real-time")));
    let items = log.column("class").unwrap().iter().filter(|class| **class == 0.0).count() as f64;
    // Binomial(800, 3/4): sigma is sqrt(150).
    assert!((items - 600.0).abs() < 4.5 * 150f64.sqrt(), "{items}");
    let lanes = log.column("lane").unwrap();
    assert_eq!(lanes.iter().filter(|lane| **lane == 1.0).count(), 400);
    // The summary is JSON that a program can read.
    let json = serde_json::to_value(&summary).unwrap();
    assert!(json["latency"]["from_intended"]["to_done"]["p99_s"].is_f64());
}
