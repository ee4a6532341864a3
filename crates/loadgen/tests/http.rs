//! Requests as services want them: methods, headers, bodies, templates; and the framing of their answers.

mod common;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use common::{load, poisson};
use serde_json::json;

type Heard = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// A server that keeps each request (head, body) and answers by its path.
fn listen(answer: fn(&str) -> &'static str) -> (String, Heard) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let heard = Heard::default();
    let kept = Arc::clone(&heard);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let heard = Arc::clone(&kept);
            std::thread::spawn(move || serve(stream, answer, &heard));
        }
    });
    (url, heard)
}

fn serve(mut stream: TcpStream, answer: fn(&str) -> &'static str, heard: &Heard) {
    let (mut bytes, mut part) = (Vec::new(), [0; 65536]);
    loop {
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            match stream.read(&mut part) {
                Ok(count @ 1..) => bytes.extend_from_slice(&part[..count]),
                _ => return,
            }
            continue;
        };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
        let length: usize = length.map_or(0, |length| length.parse().unwrap());
        bytes.drain(..end + 4);
        while bytes.len() < length {
            match stream.read(&mut part) {
                Ok(count @ 1..) => bytes.extend_from_slice(&part[..count]),
                _ => return,
            }
        }
        let text = answer(head.split(' ').nth(1).unwrap());
        heard.lock().unwrap().push((head, bytes.drain(..length).collect()));
        if stream.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn a_body_larger_than_the_sockets_buffers_arrives_whole() {
    let (url, heard) = listen(|_| OK);
    let body = "x".repeat(6_000_000);
    let mut config = poisson(&url, 20.0, 0.5);
    config["lanes"][0]["targets"][0]["method"] = json!("PUT");
    config["lanes"][0]["targets"][0]["body"] = json!({ "text": body });
    let (summary, _, _out) = load("large", &config);
    assert!(summary.ok > 3 && summary.failed == 0, "{:?}", summary.failures);
    assert!(heard.lock().unwrap().iter().all(|(_, heard)| heard.len() == body.len()));
}

#[test]
fn templates_draw_the_same_requests_from_the_same_seed() {
    let made = || {
        let (url, heard) = listen(|_| OK);
        let mut config = poisson(&format!("{url}/item/{{int:1-1000}}"), 100.0, 0.5);
        let target = &mut config["lanes"][0]["targets"][0];
        target["template"] = json!(true);
        target["method"] = json!("POST");
        target["body"] = json!({"text": r#"{"id": "{uuid}", "size": "{choice:S|M|L}"}"#});
        let (summary, _, _out) = load("template", &config);
        let mut heard: Vec<_> = heard.lock().unwrap().clone();
        assert_eq!((summary.failed, summary.ok), (0, heard.len() as u64));
        heard.iter_mut().for_each(|(head, _)| *head = head.lines().next().unwrap().to_string());
        heard.sort();
        heard
    };
    let first = made();
    let different: std::collections::BTreeSet<_> = first.iter().map(|(_, body)| body).collect();
    assert_eq!(different.len(), first.len(), "a UUID of its own each");
    assert_eq!(first, made());
}

#[test]
fn answers_without_a_body_end_with_their_head() {
    // What looks like a body's length in these heads is that of the answer to a GET (RFC 9110, 8.6).
    let (url, heard) = listen(|path| match path {
        "/204" => "HTTP/1.1 204 None\r\n\r\n",
        "/304" => "HTTP/1.1 304 Same\r\nContent-Length: 7\r\n\r\n",
        "/chunked" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "/open" => "HTTP/1.1 200 OK\r\n\r\n",
        _ => "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n",
    });
    for (path, method) in
        [("/204", "DELETE"), ("/304", "GET"), ("/length", "HEAD"), ("/chunked", "HEAD"), ("/open", "HEAD")]
    {
        let mut config = poisson(&format!("{url}{path}"), 50.0, 0.3);
        config["lanes"][0]["targets"][0]["method"] = json!(method);
        config["expect"] = json!({"status": [200, 204, 304], "max_bytes": 0});
        let (summary, _, _out) = load(&path[1..], &config);
        assert!(summary.ok > 3 && summary.failed == 0, "{path}: {:?}", summary.failures);
        assert!(summary.lanes[0].connections_opened <= 16, "{path}: connections carry more than one");
    }
    assert!(heard.lock().unwrap().iter().any(|(head, _)| head.starts_with("HEAD /open HTTP/1.1\r\n")));
}

#[test]
fn a_mix_by_weight_with_a_status_for_each() {
    let (url, heard) = listen(|path| match path {
        "/made" => "HTTP/1.1 201 Made\r\nContent-Length: 0\r\n\r\n",
        _ => OK,
    });
    let mut config = poisson(&url, 400.0, 1.0);
    config["expect"] = json!({"status": 200});
    config["lanes"][0]["targets"] = json!([
        {"url": format!("{url}/read"), "weight": 3, "class": "read"},
        {"url": format!("{url}/made"), "weight": 1, "class": "make", "method": "POST", "status": 201},
    ]);
    let (summary, log, _out) = load("mix", &config);
    assert_eq!(summary.failed, 0, "{:?}", summary.failures);
    let mut counts: BTreeMap<String, f64> = BTreeMap::new();
    heard.lock().unwrap().iter().for_each(|(head, _)| {
        *counts.entry(head.split(' ').next().unwrap().to_string()).or_insert(0.0) += 1.0;
    });
    let all = counts["GET"] + counts["POST"];
    // Binomial(all, 1/4): five sigma.
    assert!((counts["POST"] - all / 4.0).abs() < 5.0 * (all * 3.0 / 16.0).sqrt(), "{counts:?}");
    let made = log.column("class").unwrap().iter().filter(|class| **class == 1.0).count();
    assert_eq!((made as f64, &log.meta["classes"]), (counts["POST"], &json!(["read", "make"])));
}

#[test]
fn an_answer_before_the_request_has_ended_is_the_last_of_its_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let kept: Vec<TcpStream> = listener.incoming().flatten().map(early).collect();
        drop(kept);
    });
    let mut config = poisson(&url, 20.0, 0.4);
    let target = &mut config["lanes"][0]["targets"][0];
    (target["method"], target["body"]) = (json!("POST"), json!({"text": "x".repeat(30_000_000)}));
    target["status"] = json!(413);
    let (summary, _, _out) = load("early", &config);
    assert!(summary.ok > 2 && summary.failed == 0, "{:?}", summary.failures);
    assert!(
        summary.lanes[0].connections_opened >= summary.ok,
        "a half-sent request cannot be followed by another"
    );
}

/// Answers after the first bytes and reads no further.
fn early(mut stream: TcpStream) -> TcpStream {
    let mut copy = stream.try_clone().unwrap();
    std::thread::spawn(move || {
        let _ = copy.read(&mut [0; 100]);
        let _ = copy.write_all(b"HTTP/1.1 413 Large\r\nContent-Length: 0\r\n\r\n");
    });
    let _ = stream.flush();
    stream
}

#[test]
fn what_is_wrong_with_a_request_is_said_before_the_start() {
    let wrong = |key: &str, value: serde_json::Value| {
        let mut config = poisson("http://127.0.0.1:1/", 10.0, 0.1);
        config["lanes"][0]["targets"][0][key] = value;
        sojourn_loadgen::Config::from_json(&config.to_string()).unwrap_err().to_string()
    };
    for (key, value, parts) in [
        ("method", json!("FETCH"), ["\"FETCH\"", "use GET, HEAD, POST"]),
        ("method", json!("GET / HTTP/1.1\r\nX: y"), ["method is", "use GET, HEAD, POST"]),
        ("headers", json!([{"name": "X y", "value": "1"}]), ["\"X y\"", "Name: value"]),
        ("headers", json!([{"name": "", "value": "1"}]), ["\"\"", "Name: value"]),
        ("headers", json!([{"name": "X", "value": "a\r\nEvil: 1"}]), ["header X", "one line"]),
        ("headers", json!([{"name": "X", "value": "a\nb"}]), ["header X", "one line"]),
        ("headers", json!([{"name": "Content-Length", "value": "1"}]), ["Content-Length", "leave it out"]),
        ("headers", json!([{"name": "transfer-encoding", "value": "chunked"}]), ["transfer", "leave it out"]),
        ("headers", json!([{"name": "X"}]), ["header X", "a value or an environment variable"]),
        ("status", json!([]), ["status is empty", "100 to 599"]),
        ("status", json!([200, 99]), ["status is 99", "100 to 599"]),
    ] {
        let message = wrong(key, value);
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
    let mut config = poisson("memcached://a", 10.0, 0.1);
    config["lanes"][0]["targets"][0]["method"] = json!("POST");
    let message = sojourn_loadgen::Config::from_json(&config.to_string()).unwrap_err().to_string();
    assert!(message.contains("targets[0] is asked as HTTP; give an http:// URL"), "{message}");
}
