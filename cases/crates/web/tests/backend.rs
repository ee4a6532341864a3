//! The page that waits for a backend, and its settings at run time.

#[allow(dead_code)]
mod common;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use common::{config, TempFolder, TestShop};
use serde_json::{json, Value};

fn shop(control: &Path, workers: usize, cap: usize) -> TestShop {
    let service = json!({"kind": "deterministic", "mean": 0.1});
    let safe = json!({"workers": workers, "cap": cap});
    TestShop::open(config(json!({"backend": {"service": service, "safe": safe, "control": control}})))
}

struct Control(BufReader<UnixStream>);

impl Control {
    fn open(path: &Path) -> Control {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Control(BufReader::new(stream))
    }

    fn says(&mut self, line: &str) -> Value {
        self.0.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        self.0.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }
}

fn figure(metrics: &str, name: &str) -> f64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(&format!("sojourn_web_{name} ")));
    line.unwrap_or_else(|| panic!("no {name}: {metrics}")).parse().unwrap()
}

#[test]
fn requests_wait_in_one_line_for_the_servers_there_are() {
    let folder = TempFolder::new();
    let control = folder.0.join("control");
    let shop = shop(&control, 1, 3);
    let mut clients: Vec<_> = (0..4).map(|_| shop.client(0)).collect();
    let begin = Instant::now();
    for client in &mut clients {
        client.send("GET /wait HTTP/1.1\r\nHost: shop\r\n\r\n");
        std::thread::sleep(Duration::from_millis(5));
    }
    let statuses: Vec<u16> = clients.iter_mut().map(|client| client.answer().status).collect();
    let took = begin.elapsed().as_secs_f64();
    assert_eq!(statuses, [200, 200, 200, 503]); // the cap
    assert!(took > 0.29, "three services of 0.1 s on one server took {took} s");
    assert_eq!(clients[0].get("/wait").status, 200); // a connection serves on
    let text = clients[0].get("/metrics").body;
    let counts = ["arrivals_total", "departures_total", "refused_total", "workers", "cap", "waiting"];
    assert_eq!(counts.map(|name| figure(&text, name)), [4.0, 4.0, 1.0, 1.0, 3.0, 0.0]);
    assert!((figure(&text, "busy_seconds_total") - 0.4).abs() < 1e-3, "{text}");
    assert!(text.contains(&format!("sojourn_web_control{{socket=\"{}\"}} 1", control.display())));
    assert_eq!(shop.close().by_page["wait"].requests, 4);
    assert!(!control.exists());
}

#[test]
fn settings_are_leased_and_have_one_holder() {
    let folder = TempFolder::new();
    let path = folder.0.join("control");
    let shop = shop(&path, 2, 100);
    let (mut one, mut two) = (Control::open(&path), Control::open(&path));
    let set = one.says(r#"{"do": "set", "holder": "one", "lease_s": 0.4, "workers": 5}"#);
    assert_eq!(set["settings"], json!({"workers": 5, "cap": 100}));
    let other = two.says(r#"{"do": "set", "holder": "two", "lease_s": 1, "cap": 1}"#);
    assert!(other["error"].as_str().unwrap().starts_with("held by one for 0."), "{other}");
    std::thread::sleep(Duration::from_millis(450));
    let after = two.says(r#"{"do": "read"}"#);
    assert_eq!((&after["settings"], &after["holder"]), (&after["safe"], &Value::Null));
    two.says(r#"{"do": "set", "holder": "two", "lease_s": 60, "cap": 1}"#);
    let released = two.says(r#"{"do": "release", "holder": "two"}"#);
    assert_eq!(released["settings"], json!({"workers": 2, "cap": 100}));
    for bad in [
        r#"{"do": "set", "holder": "one", "lease_s": 0, "workers": 5}"#,
        r#"{"do": "set", "holder": "one", "lease_s": 1, "workers": 0}"#,
        r#"{"do": "set", "lease_s": 1}"#,
        "nonsense",
    ] {
        assert!(two.says(bad)["error"].is_string(), "{bad}");
    }
    drop(shop.close());
}

#[test]
fn without_a_backend_there_is_no_such_page() {
    let shop = TestShop::open(config(json!({})));
    let mut client = shop.client(0);
    assert_eq!((client.get("/wait").status, client.get("/metrics").status), (404, 404));
    drop(shop.close());
}

#[test]
fn clients_that_go_while_they_wait_leave_nothing_behind() {
    let folder = TempFolder::new();
    let shop = shop(&folder.0.join("control"), 1, 100);
    for _ in 0..3 {
        shop.client(0).send("GET /wait HTTP/1.1\r\nHost: shop\r\n\r\n");
    }
    std::thread::sleep(Duration::from_millis(500));
    let mut client = shop.client(0);
    client.send("GET /wait HTTP/1.1\r\nHost: shop\r\n\r\nGET /health HTTP/1.1\r\nHost: shop\r\n\r\n");
    assert!(client.answer().body.contains("Served"));
    assert_eq!(client.answer().body, "ok\n"); // pipelined behind it
    let text = client.get("/metrics").body;
    assert_eq!(figure(&text, "waiting") + figure(&text, "in_service"), 0.0);
    drop(shop.close());
}
