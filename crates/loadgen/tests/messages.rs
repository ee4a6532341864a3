//! Loads on a message service: a small one in memory that does as asked, and ones that lose, change and repeat.

mod common;

use std::net::TcpListener;
use std::thread::spawn;

use common::message_service::{FakeMessageService, Fault};
use common::{load, OutputFolder};
use serde_json::{json, Value};
use sojourn_loadgen::{run, Config};

fn closed(addr: &str, users: u32, duration_s: f64, messages: Value) -> Value {
    let think = json!({"kind": "deterministic", "mean": 1e-3});
    json!({
        "duration_s": duration_s, "timeout_s": 2.0, "messages": messages,
        "lanes": [{"targets": [{"url": format!("messages://{addr}")}], "closed": {"users": users, "think": think}}],
    })
}

#[test]
fn every_message_is_counted_on_both_sides() {
    let service = FakeMessageService::start(Fault::None);
    let wanted = json!({
        "queues": 3, "prefix": "q", "retry_delay_s": 0.01, "token": "secret",
        "message_bytes": {"kind": "uniform", "low": 16, "high": 5000},
    });
    let (summary, log, _out) = load("messages-counts", &closed(&service.addr, 4, 0.8, wanted));
    let messages = summary.messages.unwrap();
    let state = service.state.lock().unwrap();
    assert_eq!((summary.failed, summary.ok), (0, summary.requested));
    assert_eq!((messages.put, messages.taken), (state.puts, state.takes));
    assert_eq!(messages.left, state.queues.values().map(|queue| queue.len() as u64).sum::<u64>());
    assert_eq!((messages.wrong, messages.twice, messages.foreign, messages.unknown), (0, 0, 0, 0));
    assert!(messages.put > 50 && messages.taken > 50 && messages.empty > 10, "{messages:?}");
    assert_eq!(messages.put + messages.taken + messages.empty, summary.ok);
    assert_eq!(state.queues.keys().collect::<Vec<_>>(), ["q-0", "q-1", "q-2"]);
    assert!(state.heads.iter().all(|head| head.contains("Authorization: Bearer secret\r\n")));
    assert_eq!(log.meta["classes"], json!(["put", "take", "empty", "acknowledge"]));
    let (class, bytes) = (log.column("class").unwrap(), log.column("bytes").unwrap());
    let of =
        |wanted: f64| class.iter().zip(&bytes).filter(move |(c, _)| **c == wanted).map(|(_, b)| *b as u64);
    assert_eq!(of(0.0).sum::<u64>(), messages.bytes_put);
    assert_eq!((of(1.0).count() as u64, of(1.0).sum::<u64>()), (messages.taken, messages.bytes_taken));
    assert_eq!((of(2.0).count() as u64, of(2.0).sum::<u64>()), (messages.empty, 0));
}

#[test]
fn after_an_empty_take_a_client_waits_and_only_then() {
    let service = FakeMessageService::start(Fault::None);
    let wanted = json!({"put": 0, "take": 1, "retry_delay_s": 0.05});
    let (summary, log, _out) = load("messages-empty", &closed(&service.addr, 1, 1.0, wanted));
    let messages = summary.messages.unwrap();
    assert_eq!((messages.empty, messages.taken), (summary.requested, 0));
    let (intended, done) = (log.column("intended_s").unwrap(), log.column("done_s").unwrap());
    let waits: Vec<f64> = intended[1..].iter().zip(&done).map(|(next, done)| next - done).collect();
    assert!(waits.len() > 5 && waits.iter().all(|wait| (wait - 0.05).abs() < 1e-9), "{waits:?}");
    let wanted = json!({"put": 1, "take": 0, "retry_delay_s": 0.05});
    let (summary, log, _out) = load("messages-puts", &closed(&service.addr, 1, 0.2, wanted));
    let (intended, done) = (log.column("intended_s").unwrap(), log.column("done_s").unwrap());
    let mut thinks = intended[1..].iter().zip(&done).map(|(next, done)| next - done);
    assert!(summary.ok > 5 && thinks.all(|think| (think - 1e-3).abs() < 1e-9));
    assert_eq!(summary.messages.unwrap().left, summary.ok);
}

#[test]
fn what_a_service_does_wrong_is_told() {
    let told = |fault, name: &str| {
        let service = FakeMessageService::start(fault);
        let config = closed(&service.addr, 3, 0.6, json!({"put": 1, "take": 1.2, "retry_delay_s": 0.002}));
        let (summary, ..) = load(name, &config);
        let left = service.left();
        let messages = summary.messages.unwrap();
        assert!(messages.taken > 40, "{messages:?}");
        (messages, summary.failures, left)
    };
    let (messages, failures, _) = told(Fault::Changes, "messages-changes");
    assert!(messages.wrong > 3 && failures["wrong"] == messages.wrong && messages.twice == 0);
    let (messages, failures, _) = told(Fault::Repeats, "messages-repeats");
    assert!(messages.twice > 3 && failures.is_empty(), "{messages:?}");
    let (messages, failures, left) = told(Fault::Forgets, "messages-forgets");
    assert!(messages.left - left == messages.put / 7 && failures.is_empty(), "{left} {messages:?}");
    let (messages, failures, _) = told(Fault::Overloaded, "messages-overloaded");
    assert!(messages.unknown == failures["status"] && messages.unknown > 3 && messages.twice == 0);
}

#[test]
fn receipts_are_handed_back() {
    let service = FakeMessageService::start(Fault::Receipts);
    let config = closed(&service.addr, 3, 0.6, json!({"put": 1, "take": 1.2, "retry_delay_s": 0.002}));
    let (summary, ..) = load("messages-receipts", &config);
    let messages = summary.messages.unwrap();
    let state = service.state.lock().unwrap();
    assert_eq!(summary.failed, 0);
    // A client that has taken at the end of the run acknowledges no more.
    let owed = state.waiting.len() as u64;
    assert!(owed <= 3 && messages.acknowledged + messages.late + owed == messages.taken, "{messages:?}");
    assert!(messages.late > 3 && messages.acknowledged > 3 * messages.late);
}

#[test]
fn messages_of_another_run_are_foreign_unless_it_begins_afresh() {
    let service = FakeMessageService::start(Fault::None);
    let go = |name: &str, messages: Value| load(name, &closed(&service.addr, 2, 0.3, messages)).0;
    let before = go("messages-before", json!({"put": 1, "take": 0})).ok;
    let second = go("messages-second", json!({"put": 0, "take": 1, "retry_delay_s": 0.01})).messages.unwrap();
    assert!(second.foreign == second.taken && (1..=before).contains(&second.taken));
    go("messages-again", json!({"put": 1, "take": 0}));
    let fresh =
        go("messages-fresh", json!({"take": 2.0, "retry_delay_s": 0.002, "fresh": true})).messages.unwrap();
    assert!(fresh.foreign == 0 && fresh.taken > 10 && service.left() == fresh.left);
}

#[test]
fn the_same_seed_asks_the_same() {
    let lines = |name: &str, seed: u64| {
        let service = FakeMessageService::start(Fault::None);
        let config = json!({
            "duration_s": 0.5, "seed": seed, "messages": {"queues": 4},
            "lanes": [{
                "targets": [{"url": format!("messages://{}", service.addr)}], "connections": 1, "connections_max": 1,
                "arrivals": {"kind": "constant", "rate_per_s": 100},
            }],
        });
        load(name, &config);
        let state = service.state.lock().unwrap();
        state.lines.clone()
    };
    let first = lines("messages-seed-1", 5);
    assert_eq!(first, lines("messages-seed-2", 5));
    assert_ne!(first, lines("messages-seed-3", 6));
}

#[test]
fn what_refuses_the_queues_is_told_before_the_start() {
    let refused = |messages: Value, url: String| {
        let config = json!({
            "duration_s": 1, "timeout_s": 1, "messages": messages,
            "lanes": [{"targets": [{"url": url}], "closed": {"users": 1}}],
        });
        let out = OutputFolder::new("messages-refused");
        let config = Config::from_json(&config.to_string()).map_err(|e| e.to_string())?;
        let none = std::sync::atomic::AtomicBool::new(false);
        run(&config, &out.0, &mut |_| {}, &none).map(|_| ()).map_err(|e| e.to_string())
    };
    let page = common::TestServer::start();
    let told = refused(json!({}), format!("messages://{}", page.addr)).err();
    assert_eq!(told, None, "a page answers 200 to everything; its answers to puts then fail");
    let service = FakeMessageService::start(Fault::None);
    let odd = refused(json!({"prefix": "a/b"}), format!("messages://{}", service.addr)).unwrap_err();
    assert!(odd.contains("messages.prefix"), "{odd}");
    let both = refused(json!({}), format!("http://{}", service.addr)).unwrap_err();
    assert!(both.contains("messages://HOST:PORT"), "{both}");
    let closing = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = closing.local_addr().unwrap();
    spawn(move || closing.incoming().flatten().for_each(drop));
    let told = refused(json!({}), format!("messages://{addr}")).unwrap_err();
    assert!(told.contains("while the queues were made"), "{told}");
}
