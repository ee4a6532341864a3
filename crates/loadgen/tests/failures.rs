//! Each kind of answer and of failure, and what is refused before the start.

mod common;

use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{load, poisson, OutputFolder, TestServer};
use serde_json::{json, Value};
use sojourn_loadgen::{run, Config, ConfigError, LoadError};

/// A change to a configuration that was good.
type Change<'a> = &'a dyn Fn(&mut Value);

/// Every request of a short run must end the same way.
fn all_end(path: &str, failure: &str, change: Change) {
    let server = TestServer::start();
    let mut config = poisson(&server.url(path), 50.0, 0.4);
    // Long, but where it is what is tested: a busy machine must not fail the others.
    config["timeout_s"] = json!(if path == "/hang" { 0.3 } else { 5.0 });
    change(&mut config);
    let name = format!("{}-{failure}", path.trim_start_matches('/'));
    let (summary, log, _out) = load(&name, &config);
    assert!(summary.requested > 5);
    let code = log.meta["failures"].as_array().unwrap().iter().position(|f| f == failure).unwrap();
    let column = log.column("failure").unwrap();
    assert!(column.iter().all(|f| *f == code as f64), "{path}: {:?}", summary.failures);
    assert_eq!(log.rows.len() as u64, summary.requested);
    if failure == "ok" {
        assert_eq!((summary.ok, summary.failed), (summary.requested, 0), "{path}");
        let length = if path == "/500" { 0.0 } else { 5.0 };
        assert!(log.column("bytes").unwrap().iter().all(|bytes| *bytes == length));
        assert_eq!(summary.stamped, 1.0, "{path}");
    } else {
        assert_eq!(summary.failures.get(failure), Some(&summary.requested), "{path}: {:?}", summary.failures);
        // Failures are in no latency.
        assert_eq!(summary.latency.from_intended.to_done.count, 0);
    }
}

#[test]
fn successes_of_every_framing() {
    for path in ["/", "/chunked", "/close", "/once"] {
        all_end(path, "ok", &|_| {});
    }
}

/// They may be whole (RFC 9112, section 8), but nobody can tell, and the run says so.
#[test]
fn answers_without_length_are_counted_by_themselves() {
    let server = TestServer::start();
    for (path, note) in [("/close", "had no length"), ("/once", "")] {
        let (summary, ..) = load("by-close", &poisson(&server.url(path), 50.0, 0.4));
        let expected = if note.is_empty() { 0 } else { summary.ok };
        assert_eq!((summary.lanes[0].ended_by_close, summary.failed), (expected, 0), "{path}");
        let said = format!("{expected} answers {note}");
        assert_eq!(
            summary.notes.iter().any(|one| one.starts_with(&said)),
            !note.is_empty(),
            "{:?}",
            summary.notes
        );
    }
}

#[test]
fn failures_by_kind() {
    all_end("/500", "status", &|_| {});
    all_end("/500", "ok", &|c| c["expect"] = json!({"status": 500, "max_bytes": 0}));
}

#[test]
fn broken_answers_by_kind() {
    all_end("/short", "length", &|_| {});
    all_end("/long", "protocol", &|_| {});
    all_end("/reset", "reset", &|_| {});
    all_end("/drop", "closed", &|_| {});
    all_end("/half", "closed", &|_| {});
    all_end("/half-head", "closed", &|_| {});
    all_end("/both", "protocol", &|_| {});
    all_end("/gzip", "coding", &|_| {});
    all_end("/garbage", "protocol", &|_| {});
    all_end("/", "length", &|c| c["expect"] = json!({"min_bytes": 6}));
    all_end("/", "length", &|c| c["expect"] = json!({"max_bytes": 4}));
    all_end("/", "status", &|c| c["expect"] = json!({"status": 204}));
}

#[test]
fn no_answer_in_time() {
    all_end("/hang", "timeout", &|_| {});
}

/// One connection only, for 400 requests a second.
fn narrow(server: &TestServer, path: &str) -> Value {
    let mut config = poisson(&server.url(path), 400.0, 1.0);
    config["lanes"][0]["connections"] = json!(1);
    config["lanes"][0]["connections_max"] = json!(1);
    config
}

#[test]
fn who_waits_has_a_time_out_from_when_it_was_due() {
    let server = TestServer::start();
    let mut config = narrow(&server, "/10ms");
    config["timeout_s"] = json!(0.2);
    let (summary, log, _out) = load("due", &config);
    let column = |name| log.column(name).unwrap();
    let (intended, done, failure) = (column("intended_s"), column("done_s"), column("failure"));
    // Those that are due early do not wait for the end; those that are sent late have no more time than others.
    let took = || intended.iter().zip(&done).map(|(intended, done)| done - intended).zip(&failure);
    assert!(took().all(|(took, failure)| *failure == 0.0 || (0.199..0.8).contains(&took)));
    assert!(took().all(|(took, failure)| *failure != 0.0 || took < 0.25));
    assert!(summary.failed > 100 && summary.ok > 5, "{:?}", summary.failures);
    assert_eq!(summary.failures.values().sum::<u64>() + summary.ok, summary.requested);
}

#[test]
fn before_a_silent_service_only_so_many_wait() {
    let server = TestServer::start();
    let mut config = narrow(&server, "/hang");
    (config["waiting_limit"], config["timeout_s"]) = (json!(20), json!(1.2));
    let (config, out) = (Config::from_json(&config.to_string()).unwrap(), OutputFolder::new("waiting"));
    let mut most = 0;
    let mut progress = |p: &sojourn_loadgen::Progress| most = p.waiting.max(most);
    let summary = run(&config, &out.0, &mut progress, &AtomicBool::new(false)).unwrap();
    assert_eq!(most, 20);
    assert!(summary.failures["unsent"] > 100, "{:?}", summary.failures);
}

#[test]
fn a_service_that_goes_away_is_refused_and_not_an_end() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    // Accepts the connections of the start, then closes them and the port.
    let server = std::thread::spawn(move || {
        let accepted: Vec<_> = (0..4).map(|_| listener.accept().unwrap()).collect();
        drop(listener);
        drop(accepted);
    });
    let (summary, _, _out) = load("gone", &poisson(&url, 100.0, 0.5));
    server.join().unwrap();
    assert!(summary.failures["refused"] > 10, "{:?}", summary.failures);
    assert_eq!(summary.failed, summary.requested);
}

#[test]
fn a_peer_that_closes_at_once_does_not_make_the_loop_spin() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let (summary, _, _out) = load("spin", &poisson(&url, 50.0, 0.5));
    assert_eq!(summary.failed, summary.requested);
    // One connection for a request, and those of the start.
    assert!(summary.lanes[0].connections_opened <= summary.requested + 8, "{:?}", summary.lanes);
}

fn start(config: &Value) -> Result<(), LoadError> {
    let out = OutputFolder::new("start");
    let config = Config::from_json(&config.to_string()).map_err(LoadError::Config)?;
    let result = run(&config, &out.0, &mut |_| {}, &AtomicBool::new(false)).map(|_| ());
    assert!(!out.0.join("requests.rec").exists() || result.is_ok(), "nothing is left behind");
    result
}

#[test]
fn what_cannot_start_says_what_to_do() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = start(&poisson(&format!("http://{free}/"), 10.0, 0.1)).unwrap_err();
    assert!(matches!(error, LoadError::Connect { .. }));
    let message = error.to_string();
    assert!(message.contains(&format!("nothing listens at {free}")) && message.contains("start the service"));

    let error = start(&poisson("http://no-such-host.invalid/", 10.0, 0.1)).unwrap_err();
    assert!(matches!(error, LoadError::Resolve { .. }), "{error}");
    assert!(error.to_string().contains("no-such-host.invalid"));

    let server = TestServer::start();
    let mut config = poisson(&server.url("/"), 10.0, 0.1);
    config["start_at_s"] = json!(0.5);
    assert!(matches!(start(&config), Err(LoadError::StartPassed { .. })));
    let mut config = poisson(&server.url("/"), 10.0, 0.1);
    config["lanes"][0]["cpu"] = json!(1000);
    let error = start_in(&config, &OutputFolder::new("pin").0).unwrap_err();
    assert!(error.to_string().contains("lanes[0].cpu is 1000"), "{error}");
    let config = poisson(&server.url("/"), 10.0, 0.1);
    let error = start_in(&config, std::path::Path::new("/dev/null/x")).unwrap_err();
    assert!(matches!(error, LoadError::Folder { .. }) && error.to_string().contains("--out"), "{error}");
}

fn start_in(config: &Value, out: &std::path::Path) -> Result<(), LoadError> {
    let config = Config::from_json(&config.to_string())?;
    run(&config, out, &mut |_| {}, &AtomicBool::new(false)).map(|_| ())
}

#[test]
fn bad_configurations_name_value_place_and_remedy() {
    let rate = |rate: f64| move |c: &mut Value| c["lanes"][0]["arrivals"]["rate_per_s"] = json!(rate);
    let changes: [(&str, Change); 14] = [
        ("lanes[0].arrivals: rate_per_s is 0; give", &rate(0.0)),
        ("lanes[0].arrivals: rate_per_s is -5; give", &rate(-5.0)),
        ("lanes[0].arrivals.rate_per_s is 1000000000; give at most", &rate(1e9)),
        ("duration_s is 0; give", &|c| c["duration_s"] = json!(0)),
        ("duration_s is -1; give", &|c| c["duration_s"] = json!(-1)),
        ("timeout_s is 0; give", &|c| c["timeout_s"] = json!(0)),
        ("lanes is 0 lanes; give", &|c| c["lanes"] = json!([])),
        ("lanes[0].targets is 0 targets; give", &|c| c["lanes"][0]["targets"] = json!([])),
        ("lanes[0].targets[0].weight is 0; give", &|c| c["lanes"][0]["targets"][0]["weight"] = json!(0)),
        ("tls is given without", &|c| c["tls"] = json!({"insecure": true})),
        ("unix_socket is 200 bytes long", &|c| c["unix_socket"] = json!("x".repeat(200))),
        ("lanes[0] is both arrivals and closed", &|c| c["lanes"][0]["closed"] = json!({"users": 1})),
        ("lanes[0].connections_max is 2", &|c| c["lanes"][0]["connections_max"] = json!(2)),
        ("unknown field `rate`", &|c| c["rate"] = json!(3)),
    ];
    for (expected, change) in changes {
        let mut config = poisson("http://127.0.0.1:1/", 10.0, 1.0);
        change(&mut config);
        let message = Config::from_json(&config.to_string()).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    let closed =
        json!({"duration_s": 1, "lanes": [{"targets": [{"url": "http://a/"}], "closed": {"users": 0}}]});
    let message = Config::from_json(&closed.to_string()).unwrap_err().to_string();
    assert!(
        message.contains("lanes[0].closed.users is 0") || message.contains("connections is 0"),
        "{message}"
    );
    assert!(matches!(Config::from_json("{"), Err(ConfigError::Parse { .. })));
}

#[test]
fn a_stop_ends_in_good_order() {
    let server = TestServer::start();
    let out = OutputFolder::new("stop");
    let config = Config::from_json(&poisson(&server.url("/"), 200.0, 60.0).to_string()).unwrap();
    let (stop, mut last) = (AtomicBool::new(false), None);
    let mut progress = |p: &sojourn_loadgen::Progress| {
        stop.store(p.ok > 50, Ordering::Relaxed);
        last = Some(p.clone());
    };
    let summary = run(&config, &out.0, &mut progress, &stop).unwrap();
    assert!(summary.interrupted && summary.ok > 50 && summary.end_s < summary.start_s + 30.0);
    assert_eq!(sojourn_record::read(&out.0.join("requests.rec")).unwrap().rows.len() as u64, summary.ok);
    let last = last.unwrap();
    assert!(last.duration_s == 60.0 && last.rate_per_s > 0.0 && last.p99_s.is_some());
}
