//! The whole service beside a database that answers as the tests say.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use super::*;
use crate::fake_postgres::FakePostgres;
use crate::ThreadingDesign;

/// Serves on a stand-in for the database while `act` talks to the service; what the service came to.
fn serving(config: Config, act: impl FnOnce(&ReadyMessage)) -> Result<Summary, ServeError> {
    let database = FakePostgres::start();
    let config = Config { listen: "127.0.0.1:0".into(), database: database.url(), ..config };
    let (stop, (sender, receiver)) = (AtomicBool::new(false), channel());
    std::thread::scope(|scope| {
        let served = scope
            .spawn(|| serve(&config, &stop, &mut |ready| sender.send(ready.clone()).expect("a test waits")));
        act(&receiver.recv_timeout(Duration::from_secs(10)).expect("it starts"));
        stop.store(true, Ordering::Relaxed);
        served.join().expect("no panic")
    })
}

/// The status lines of the answers to `text`.
fn statuses(ready: &ReadyMessage, text: &str) -> Vec<String> {
    let mut stream = TcpStream::connect(&ready.address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a socket");
    stream.write_all(text.as_bytes()).expect("it reads");
    stream.shutdown(std::net::Shutdown::Write).expect("a socket");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer in 5 s");
    let lines = answer.lines().filter_map(|line| line.strip_prefix("HTTP/1.1 "));
    lines.map(str::to_string).collect()
}

const TAKE: &str = "POST /queues/q/take HTTP/1.1\r\nHost: x\r\n\r\n";
const PANIC: &str = "GET /panic HTTP/1.1\r\nHost: x\r\n\r\n";

/// Issue 13: such a request was never answered; with batches, no request after it was.
#[test]
fn a_request_whose_worker_panics_is_answered_and_the_others_are_served() {
    for (batch, design) in [
        (false, ThreadingDesign::EventDriven),
        (false, ThreadingDesign::Threaded),
        (true, ThreadingDesign::Threaded),
    ] {
        let summary =
            serving(Config { batch, design, workers: 2, connections: 2, ..Config::default() }, |ready| {
                for _ in 0..5 {
                    assert_eq!(statuses(ready, PANIC), ["500 Internal Server Error"]);
                    assert_eq!(statuses(ready, TAKE), ["204 No Content"]);
                }
                assert_eq!(
                    statuses(ready, &[TAKE, PANIC, TAKE].concat()),
                    ["204 No Content", "500 Internal Server Error"]
                );
            });
        let summary = summary.expect("it ends in good order");
        assert_eq!((summary.by_kind["empty"], summary.by_status[&500]), (6, 6));
    }
}
