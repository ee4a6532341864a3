//! https:// targets, against a server of rustls with certificates of openssl's making; and Unix sockets.

mod common;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering};

use common::tls_server::{certificates, TlsServer};
use common::{load, poisson, OutputFolder};
use serde_json::{json, Value};
use sojourn_loadgen::{run, Config};

#[test]
fn answers_over_tls_are_framed_and_stamped_as_in_clear() {
    for old in [false, true] {
        let server = TlsServer::start("good", old);
        for (path, bytes) in [("/", 5.0), ("/chunked", 5.0), ("/large", 300_000.0), ("/close", 5.0)] {
            let (summary, log, _out) =
                load(&format!("tls{old}{}", path.replace('/', "-")), &server.load(path));
            assert!(summary.ok > 5 && summary.failed == 0, "{path}: {:?}", summary.failures);
            assert!(log.column("bytes").unwrap().iter().all(|b| *b == bytes), "{path}");
            assert_eq!(summary.stamped, 1.0, "the kernel's stamp is that of the last sealed bytes");
            let column = |name| log.column(name).unwrap();
            let (sent, received, done) = (column("sent_s"), column("received_s"), column("done_s"));
            assert!((0..sent.len()).all(|i| sent[i] <= received[i] && received[i] <= done[i] + 1e-4));
        }
    }
}

#[test]
fn connections_are_kept_though_tickets_come_when_nothing_was_asked() {
    let server = TlsServer::start("good", false);
    let mut config = server.load("/");
    // As many as are kept: a request that waits while the machine is busy would open a further one.
    config["lanes"][0]["connections_max"] = json!(4);
    let (summary, _, _out) = load("tickets", &config);
    assert_eq!((summary.failed, server.opened.load(Ordering::SeqCst)), (0, 4), "{:?}", summary.lanes);
}

#[test]
fn large_requests_over_tls() {
    let server = TlsServer::start("good", false);
    let mut config = server.load("/");
    let target = &mut config["lanes"][0]["targets"][0];
    (target["method"], target["body"]) = (json!("POST"), json!({"text": "x".repeat(3_000_000) + "END"}));
    let (summary, _, _out) = load("tls-large", &config);
    assert!(summary.ok > 5 && summary.failed == 0, "{:?}", summary.failures);
}

#[test]
fn what_a_peer_may_send_is_bounded_over_tls_too() {
    let server = TlsServer::start("good", false);
    for (path, failure) in
        [("/head", "protocol"), ("/many", "length"), ("/more", "protocol"), ("/cut", "length")]
    {
        let (summary, _, _out) = load(&format!("tls{}", path.replace('/', "-")), &server.load(path));
        assert_eq!(summary.failures.get(failure), Some(&summary.requested), "{path}: {:?}", summary.failures);
    }
}

fn refusal(config: &Value) -> String {
    let out = OutputFolder::new("tls-refused");
    let config = Config::from_json(&config.to_string()).unwrap();
    let error = run(&config, &out.0, &mut |_| {}, &AtomicBool::new(false)).unwrap_err();
    assert!(!out.0.exists(), "nothing is left behind");
    error.to_string()
}

#[test]
fn certificates_that_do_not_fit_are_told_before_the_load() {
    for (name, part) in [("other", "not for localhost; use a name"), ("expired", "has expired; renew it")] {
        let server = TlsServer::start(name, false);
        let message = refusal(&server.load("/"));
        assert!(message.contains(part) && message.contains("--insecure"), "{message}");
        assert_eq!(server.opened.load(Ordering::SeqCst), 1, "one connection shows it");
        let mut config = server.load("/");
        config["tls"] = json!({"insecure": true});
        assert_eq!(load(&format!("insecure-{name}"), &config).0.failed, 0);
    }
    let server = TlsServer::start("good", false);
    let mut config = server.load("/");
    // Another authority: the certificate is no authority's, so it vouches for nobody.
    config["tls"] = json!({"ca": certificates().join("other.pem")});
    let message = refusal(&config);
    assert!(message.contains("authority that is not trusted here; give --ca FILE"), "{message}");
    config["tls"] = json!({"ca": "/no/such.pem"});
    let message = refusal(&config);
    assert!(message.contains("--ca /no/such.pem is ") && message.contains("give a file"), "{message}");
    config["tls"] = json!({"ca": concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")});
    assert!(refusal(&config).contains("without a certificate"));
}

/// Issue 29, point 13: what `openssl req -x509` makes by default.
#[test]
fn a_services_own_certificate_given_as_ca_is_enough() {
    for old in [false, true] {
        // Signed by itself, and flagged an authority; then one that an authority signed whose certificate is not given.
        for name in ["own", "good"] {
            let server = TlsServer::start(name, old);
            let mut config = server.load("/");
            config["tls"] = json!({"ca": certificates().join(format!("{name}.pem"))});
            let (summary, _, _out) = load(&format!("pinned-{name}-{old}"), &config);
            assert!(summary.ok > 5 && summary.failed == 0, "{name}: {:?}", summary.failures);
        }
    }
    for (name, part) in [("own-other", "not for localhost"), ("own-expired", "has expired")] {
        let mut config = TlsServer::start(name, false).load("/");
        config["tls"] = json!({"ca": certificates().join(format!("{name}.pem"))});
        let message = refusal(&config);
        assert!(message.contains(part), "{name}: {message}");
    }
    // Another certificate given: this one is told, with what helps.
    let message = refusal(&TlsServer::start("own", false).load("/"));
    assert!(message.contains("authority's (CA:TRUE), and not one that --ca gave; give --ca"), "{message}");
}

#[test]
fn what_does_not_speak_tls_is_told_before_the_load() {
    let server = common::TestServer::start();
    let mut config = poisson(&server.url("/").replace("http://", "https://"), 10.0, 0.2);
    config["tls"] = json!({"insecure": true});
    config["timeout_s"] = json!(0.3);
    let message = refusal(&config);
    assert!(message.contains("speak") && message.contains("TLS"), "{message}");
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", silent.local_addr().unwrap());
    config["lanes"][0]["targets"][0]["url"] = json!(url);
    let message = refusal(&config);
    assert!(message.contains("no end of the TLS handshake in time"), "{message}");
}

#[test]
fn a_service_that_stops_speaking_tls_is_one_kind_of_failure() {
    let (listener, good) = (TcpListener::bind("127.0.0.1:0").unwrap(), TlsServer::start("good", false));
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        // The connections of the start are passed on for a moment; those that come later speak no TLS.
        let mut kept = Vec::new();
        for (number, mut stream) in listener.incoming().flatten().enumerate() {
            if number >= 4 {
                let _ = stream.write_all(b"HTTP/1.1 400 no\r\n\r\n");
                kept.push(stream);
                continue;
            }
            let mut to = TcpStream::connect(("127.0.0.1", good.port)).unwrap();
            let (mut from, mut back) = (stream.try_clone().unwrap(), to.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            std::thread::spawn(move || std::io::copy(&mut back, &mut stream));
        }
    });
    let mut config = poisson(&format!("https://localhost:{port}/close"), 50.0, 0.5);
    config["tls"] = json!({"insecure": true});
    let (summary, _, _out) = load("tls-gone", &config);
    assert!(summary.failures["tls"] > 5 && summary.ok <= 4, "{:?}", summary.failures);
}

/// Passes on what `to` says, but changes one byte of every 4000 after the first `clean` bytes.
fn garble(mut from: TcpStream, mut to: TcpStream, clean: usize) {
    let (mut part, mut passed) = ([0; 1000], 0);
    while let Ok(count @ 1..) = from.read(&mut part) {
        for byte in &mut part[..count] {
            passed += 1;
            if passed > clean && passed % 4000 == 0 {
                *byte ^= 0x55;
            }
        }
        if to.write_all(&part[..count]).is_err() {
            return;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

#[test]
fn sealed_bytes_that_were_changed_are_a_failure_and_no_answer() {
    let (listener, good) = (TcpListener::bind("127.0.0.1:0").unwrap(), TlsServer::start("good", false));
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let to = TcpStream::connect(("127.0.0.1", good.port)).unwrap();
            let (from, back) = (stream.try_clone().unwrap(), to.try_clone().unwrap());
            std::thread::spawn(move || garble(from, to, usize::MAX));
            // The handshakes of the start go well; of later ones some are broken, too.
            std::thread::spawn(move || {
                garble(back, stream, if number < 4 { 8000 } else { number * 97 % 3000 })
            });
        }
    });
    let mut config = poisson(&format!("https://localhost:{port}/large"), 100.0, 1.0);
    config["tls"] = json!({"insecure": true});
    let (summary, log, _out) = load("tls-garbled", &config);
    assert_eq!((summary.ok, summary.failed), (0, summary.requested), "{:?}", summary.failures);
    assert!(summary.failures["tls"] > summary.requested / 2, "{:?}", summary.failures);
    assert!(log.column("bytes").unwrap().iter().all(|bytes| *bytes < 300_000.0));
}

#[test]
fn a_peer_that_hands_out_tickets_without_end_does_not_hold_up_the_lane() {
    let server = TlsServer::start_with("good", false, 3_000);
    let mut config = server.load("/");
    config["timeout_s"] = json!(2.0);
    let (summary, _, _out) = load("tls-tickets", &config);
    // Making them takes the server long: some requests get no answer in time.
    let ended = summary.failures.get("timeout").unwrap_or(&0) + summary.failures["tls"];
    assert_eq!((summary.ok, ended), (0, summary.requested), "{:?}", summary.failures);
    assert!(summary.lanes[0].connections_opened <= summary.requested + 8, "{:?}", summary.lanes);
}

#[test]
fn a_unix_socket() {
    let folder = OutputFolder::new("unix");
    std::fs::create_dir_all(&folder.0).unwrap();
    let path = folder.0.join("s");
    let mut config = poisson("http://shop.test/x", 100.0, 0.5);
    config["unix_socket"] = json!(path);
    let message = refusal(&config);
    assert!(message.contains("there is no socket") && message.contains("--unix-socket"), "{message}");
    let listener = UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut part = [0; 4096];
                while let Ok(count @ 1..) = stream.read(&mut part) {
                    assert!(String::from_utf8_lossy(&part[..count]).contains("\r\nHost: shop.test\r\n"));
                    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").unwrap();
                }
            });
        }
    });
    let (summary, log, _out) = load("unix-run", &config);
    assert!(summary.ok > 20 && summary.failed == 0, "{:?}", summary.failures);
    assert_eq!(summary.stamped, 0.0, "the kernel stamps no Unix socket");
    assert!(log.column("received_s").unwrap().iter().all(|received| received.is_nan()));
}
