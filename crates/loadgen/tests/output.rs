//! What a run leaves: the histogram log in its standard format, sampling, lanes and weights.

mod common;

use common::{load, poisson, OutputFolder, TestServer};
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use hdrhistogram::Histogram;
use serde_json::json;
use sojourn_loadgen::Summary;

#[test]
fn the_histogram_log_reads_back_with_a_standard_reader() {
    let server = TestServer::start();
    let (summary, log, out) = load("hlog", &poisson(&server.url("/"), 100.0, 2.5));
    let (mut untagged, mut tagged, mut intervals, mut sum_ns) = (0, 0, 0, 0.0);
    for (tag, histogram) in intervals_of(&out) {
        intervals += 1;
        if tag.is_empty() {
            untagged += histogram.len();
            sum_ns += histogram.mean() * histogram.len() as f64;
        } else {
            assert_eq!(tag, "sent");
            tagged += histogram.len();
        }
    }
    assert_eq!((untagged, tagged), (summary.ok, summary.ok));
    assert!(intervals >= 4, "two seconds at least, twice");
    // To the kernel's receive time; an answer is read some µs later. Bins are good to 0.1 %.
    let to_received_s = summary.latency.from_intended.to_received.mean_s.unwrap();
    let mean_s = sum_ns * 1e-9 / untagged as f64;
    assert!((mean_s / to_received_s - 1.0).abs() < 1e-3, "{mean_s} and {to_received_s}");
    assert!(log.column("weight").unwrap().iter().all(|weight| *weight == 1.0));
}

/// What a standard reader finds in `latency.hlog`: the tag and the histogram of each interval.
fn intervals_of(out: &OutputFolder) -> Vec<(String, Histogram<u64>)> {
    let text = std::fs::read(out.0.join("latency.hlog")).unwrap();
    let read = |entry| {
        let LogEntry::Interval(interval) = entry else {
            return None;
        };
        let bytes = base64_decode(interval.encoded_histogram());
        let histogram = hdrhistogram::serialization::Deserializer::new().deserialize(&mut bytes.as_slice());
        Some((interval.tag().map_or(String::new(), |tag| tag.as_str().to_string()), histogram.unwrap()))
    };
    IntervalLogIterator::new(&text).filter_map(|entry| read(entry.unwrap())).collect()
}

/// All of it, from the intended time.
fn hdr(out: &OutputFolder) -> Histogram<u64> {
    let mut all = Histogram::new(3).unwrap();
    let own = intervals_of(out).into_iter().filter(|(tag, _)| tag.is_empty());
    own.for_each(|(_, histogram)| all.add(histogram).unwrap());
    all
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
fn above_the_limit_the_record_is_a_sample_that_was_never_rewritten() {
    let server = TestServer::start();
    let mut config = poisson(&server.url("/"), 1000.0, 0.5);
    config["record_limit"] = json!(100);
    let (summary, log, out) = load("sampled", &config);
    assert_eq!(summary.latency.from_sent.to_done.count, summary.requested, "statistics are of all");
    // 100 rows, then one in two 50 times, then one in four: the rows up to the last weight's are what is left.
    let weights = log.column("weight").unwrap();
    assert_eq!((weights[99], weights[100], weights[149], weights[150]), (1.0, 2.0, 2.0, 4.0));
    let last = *weights.last().unwrap();
    assert_eq!((summary.sampled, summary.sample_every as f64), (true, last));
    let before = |row: usize| weights[..row].iter().sum::<f64>();
    let left = (0..weights.len()).filter(|row| before(*row) % last == 0.0).count();
    assert_eq!(summary.recorded, left as u64);
    assert!(before(weights.len()) - (summary.ok as f64) < last);
    assert_eq!(std::fs::read_dir(&out.0).unwrap().count(), 2, "requests.rec and latency.hlog");
}

#[test]
fn requests_that_vanish_are_later_than_all_others() {
    let server = TestServer::start();
    let mut config = poisson(&server.url("/"), 400.0, 1.0);
    let hanging = json!({"url": server.url("/hang"), "weight": 0.05});
    config["lanes"][0]["targets"].as_array_mut().unwrap().push(hanging);
    config["timeout_s"] = json!(0.5);
    let (summary, _, out) = load("vanish", &config);
    let (told, failed) =
        (&summary.latency.from_intended.to_done, summary.failed as f64 / summary.requested as f64);
    // Binomial(400, 0.048): 8 to 30 of them hang.
    assert!((0.015..0.09).contains(&failed), "{failed}");
    assert!(told.p50_s.is_some() && told.p99_s.is_none() && told.count == summary.ok);
    let logged = hdr(&out);
    assert_eq!(logged.len(), summary.requested);
    assert!(
        logged.value_at_quantile(0.99) as f64 > 0.499e9 && (logged.value_at_quantile(0.5) as f64) < 0.499e9
    );
}

/// The first core that this process may use: a container need not have core 0.
fn allowed_cpu() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    list.trim().split([',', '-']).next().unwrap().parse().unwrap()
}

#[test]
fn lanes_share_classes_and_weights_choose_targets() {
    let server = TestServer::start();
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

#[test]
fn slack_sends_late_in_bounds_and_wakes_up_less_often() {
    let server = TestServer::start();
    let arrivals = json!({"kind": "constant", "rate_per_s": 2000});
    let lane = json!({"targets": [{"url": server.url("/a")}], "arrivals": arrivals, "connections": 32});
    let run =
        |slack_s: f64| load("slack", &json!({"duration_s": 1.0, "lanes": [lane], "slack_s": slack_s})).0;
    let (exact, slack) = (run(0.0), run(0.01));
    assert_eq!((exact.ok, slack.ok), (2000, 2000));
    let waits = |summary: &Summary| summary.lanes[0].voluntary_switches;
    // 100 sleeps and about as many waits, where each of 2000 requests and answers wakes the other.
    assert!(waits(&slack) < 400 && waits(&slack) < waits(&exact) / 3, "{} {}", waits(&slack), waits(&exact));
    assert!(slack.own_lateness.mean_s.unwrap() > 2e-3);
    assert!(slack.notes.iter().any(|note| note.contains("up to 10 ms late on purpose")), "{:?}", slack.notes);
}
