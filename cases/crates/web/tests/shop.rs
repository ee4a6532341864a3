//! The shop over a socket: pages, HTTP, limits.

#[allow(dead_code)]
mod common;

use std::io::Write;

use common::{config, TestShop};
use serde_json::json;

#[test]
fn all_pages_on_one_connection() {
    let shop = TestShop::open(config(json!({"page_bytes": 5000})));
    let mut client = shop.client(0);
    for target in ["/", "/category/2", "/item/7", "/search?q=oak", "/cart", "/cart?add=3"] {
        let answer = client.get(target);
        assert_eq!((answer.status, answer.body.len()), (200, 5000), "{target}");
        assert!(answer.head.contains("Connection: keep-alive"), "{}", answer.head);
    }
    assert_eq!(client.get("/health").body, "ok\n");
    let summary = shop.close();
    assert_eq!((summary.requests, summary.connections, summary.refused), (7, 1, 0));
    assert_eq!(summary.by_page["cart"].requests, 2);
    assert_eq!(summary.known_demand_s, summary.fixed_median_s);
}

#[test]
fn the_largest_page_arrives_whole_also_at_a_slow_reader() {
    let shop = TestShop::open(config(json!({"page_bytes": 204_800})));
    let mut client = shop.client(0);
    let many = 40;
    client.send(&"GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(many));
    std::thread::sleep(std::time::Duration::from_millis(200)); // its window fills up meanwhile
    for _ in 0..many {
        assert_eq!(client.answer().body.len(), 204_800);
    }
    assert_eq!(shop.close().requests, many as u64);
}

#[test]
fn what_a_user_sends_is_shown_and_not_run() {
    let shop = TestShop::open(config(json!({})));
    let body = shop.client(0).get("/search?q=%3Cscript%3E%22%26").body;
    assert!(body.contains("&lt;script&gt;&quot;&amp;") && !body.contains("<script"));
    shop.close();
}

#[test]
fn a_cart_is_kept_in_its_cookie() {
    let shop = TestShop::open(config(json!({})));
    let mut client = shop.client(0);
    assert!(client.get("/cart?add=5").head.contains("Set-Cookie: cart=5; Path=/\r\n"));
    client.send("GET /cart?add=6 HTTP/1.1\r\nHost: x\r\nCookie: a=1; cart=5\r\n\r\n");
    let answer = client.answer();
    assert!(answer.head.contains("Set-Cookie: cart=5.6;") && answer.body.contains("2 items, together"));
    shop.close();
}

#[test]
fn pipelined_requests_are_answered_in_their_order() {
    let shop = TestShop::open(config(json!({})));
    let (mut client, mut other) = (shop.client(0), shop.client(0));
    let targets: Vec<String> = (0..50).map(|n| format!("/item/{n}")).collect();
    let all: String = targets.iter().map(|t| format!("GET {t} HTTP/1.1\r\nHost: x\r\n\r\n")).collect();
    client.send(&all);
    assert_eq!(other.get("/health").status, 200);
    for n in 0..50 {
        assert!(client.answer().body.contains(&format!("<a href=\"/cart?add={n}\">")), "{n}");
    }
    assert_eq!(shop.close().requests, 51);
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let shop = TestShop::open(config(json!({})));
    let mut client = shop.client(0);
    for byte in b"GET /item/1 HTTP/1.1\r\nHost: x\r\n\r\n" {
        client.stream.write_all(&[*byte]).unwrap();
        client.stream.flush().unwrap();
    }
    assert_eq!(client.answer().status, 200);
    shop.close();
}

#[test]
fn head_has_no_body_and_close_closes() {
    let shop = TestShop::open(config(json!({})));
    let mut client = shop.client(0);
    client.send("HEAD /item/1 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(client.answer_to("HEAD").head.contains("Content-Length: 8192\r\n"));
    client.send("GET /item/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert!(client.answer().head.contains("Connection: close"));
    assert!(client.is_closed());
    let mut old = shop.client(0);
    old.send("GET / HTTP/1.0\r\n\r\n");
    assert_eq!(old.answer().status, 200);
    assert!(old.is_closed());
    shop.close();
}

#[test]
fn a_client_that_has_ended_still_gets_its_answer() {
    let shop = TestShop::open(config(json!({})));
    let mut client = shop.client(0);
    client.send("GET /item/1 HTTP/1.1\r\nHost: x\r\n\r\n");
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(client.answer().status, 200);
    assert!(client.is_closed());
    shop.close();
}

#[test]
fn errors_that_keep_the_connection() {
    let shop = TestShop::open(config(json!({})));
    let mut client = shop.client(0);
    for (target, status) in [("/nothing", 404), ("/item/100000", 404), ("/search", 400), ("/item/1", 200)] {
        assert_eq!(client.get(target).status, status, "{target}");
    }
    assert_eq!(shop.close().by_page["error"].requests, 3);
}

#[test]
fn errors_that_end_the_connection() {
    let shop = TestShop::open(config(json!({})));
    let long_line = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(9000));
    let long_head = format!("GET / HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", "a".repeat(17000));
    let post = "POST /cart HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
    let cases =
        [(long_line.as_str(), 414), (long_head.as_str(), 431), (post, 405), ("nonsense\r\n\r\n", 400)];
    for (text, status) in cases {
        let mut client = shop.client(0);
        client.send(text);
        let answer = client.answer();
        assert_eq!(answer.status, status);
        assert_eq!(status == 405, answer.head.contains("Allow: GET, HEAD"));
        assert!(client.is_closed(), "{status}");
    }
    shop.close();
}

/// Closing with bytes unread resets a connection, and the answer is lost.
#[test]
fn a_client_that_is_still_sending_can_read_its_last_answer() {
    let shop = TestShop::open(config(json!({})));
    let mut client = shop.client(0);
    client.send("POST /cart HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n");
    for _ in 0..3 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        client.send(&"x".repeat(100_000));
    }
    assert_eq!(client.answer().status, 405);
    assert!(client.is_closed());
    shop.close();
}

#[test]
fn what_was_received_before_the_stop_is_answered() {
    let demand = json!({"kind": "deterministic", "mean": 0.01});
    let shop = TestShop::open(config(json!({"cores": [0], "demand": demand})));
    let (mut client, mut idle) = (shop.client(0), shop.client(0));
    assert_eq!(idle.get("/health").status, 200);
    client.send(&"GET /item/1 HTTP/1.1\r\nHost: x\r\n\r\n".repeat(10));
    assert!(client.answer().head.contains("Connection: keep-alive"));
    let ended = std::thread::spawn(|| shop.close());
    let heads: Vec<String> = (1..10).map(|_| client.answer().head).collect();
    assert!(heads[8].contains("Connection: close") && client.is_closed() && idle.is_closed());
    assert_eq!(ended.join().unwrap().requests, 11);
}

#[test]
fn connections_beyond_the_limit_are_turned_away_and_places_become_free() {
    let shop = TestShop::open(config(json!({"max_connections": 2})));
    let (mut one, mut two) = (shop.client(0), shop.client(0));
    assert_eq!((one.get("/health").status, two.get("/health").status), (200, 200));
    let mut three = shop.client(0);
    assert_eq!(three.answer().status, 503);
    one.send("GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    one.answer();
    assert!(one.is_closed());
    assert_eq!(shop.client(0).get("/health").status, 200);
    assert_eq!(shop.close().refused, 1);
}

#[test]
fn idle_connections_are_closed() {
    let shop = TestShop::open(config(json!({"idle_timeout_s": 0.1})));
    let (mut silent, mut served) = (shop.client(0), shop.client(0));
    assert_eq!(served.get("/health").status, 200);
    assert!(silent.is_closed() && served.is_closed());
    shop.close();
}
