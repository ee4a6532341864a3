use super::*;
use crate::config::SizeDistribution;
use crate::http::Response;

const HEAD: &[u8] = b" HTTP/1.1\r\nHost: a\r\n";

fn generator(put: f64, take: f64) -> RequestGenerator {
    let message_bytes = SizeDistribution::Uniform { low: 16, high: 60 };
    let config = MessagesConfig { put, take, message_bytes, queues: 3, ..MessagesConfig::default() };
    RequestGenerator::new(&config, 1, 7, 2)
}

fn request(class: u16, user: u32) -> RequestInFlight {
    RequestInFlight { sequence: 0, target: 0, class, user, intended_s: 0.0, taken_s: 0.0, sent_s: 0.0 }
}

/// The request of this class: (line and headers, body).
fn composed(generator: &mut RequestGenerator, class: u16, exchange: &mut Exchange) -> (String, Vec<u8>) {
    generator.compose(&request(class, 0), HEAD, exchange);
    let end = exchange.out.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
    (String::from_utf8(exchange.out[..end].to_vec()).unwrap(), exchange.out[end..].to_vec())
}

fn answer(text: &str, body: &[u8]) -> Response {
    let mut response = Exchange::response();
    let whole = [text.as_bytes(), body].concat();
    assert_eq!(response.feed(&whole), Ok(Some(whole.len())));
    response
}

fn outcome(class: u16, failure: Failure) -> RequestOutcome {
    RequestOutcome::new(
        request(class, 0),
        crate::request_outcome::ResponseFacts::none(class),
        [0.0, 0.0],
        failure,
        0,
    )
}

#[test]
fn operations_by_weight() {
    let mut generator = generator(1.0, 1.5);
    let puts = (0..10_000).filter(|_| generator.choose(0) == PUT).count();
    // Binomial(10 000, 0.4): sigma is 49.
    assert!(puts.abs_diff(4000) < 250, "{puts}");
}

#[test]
fn a_put_is_what_a_take_finds() {
    let (mut generator, mut exchange) = (generator(1.0, 1.0), Exchange::new());
    for count in 0..50 {
        let (head, body) = composed(&mut generator, PUT, &mut exchange);
        assert!(head.starts_with("POST /queues/load-") && head.contains("/messages HTTP/1.1\r\nHost: a\r\n"));
        assert!(head.ends_with(&format!("Content-Length: {}\r\n\r\n", body.len())));
        assert!((16..=60).contains(&body.len()));
        let number = 2 << LANE_SHIFT | count;
        assert_eq!(exchange.message, number);
        let head = format!("HTTP/1.1 200 OK\r\nX-Message-Id: 9\r\nContent-Length: {}\r\n\r\n", body.len());
        let good = answer(&head, &body);
        composed(&mut generator, TAKE, &mut exchange);
        assert_eq!(generator.judge(&mut exchange, &good, 0), Failure::Ok);
        assert_eq!((exchange.message, exchange.message_bytes), (number, body.len() as u64));
    }
}

#[test]
fn each_answer_has_its_meaning() {
    let (mut generator, mut exchange) = (generator(1.0, 1.0), Exchange::new());
    let mut judged = |class, text: &str| {
        let (head, body) = composed(&mut generator, class, &mut exchange);
        assert_eq!(body.is_empty(), class == TAKE);
        assert!(
            class == PUT || head.contains("/take HTTP/1.1\r\n") && head.contains("Content-Length: 0\r\n")
        );
        let failure = generator.judge(&mut exchange, &answer(text, b""), 0);
        (failure, exchange.class, exchange.message_bytes > 0)
    };
    assert_eq!(judged(PUT, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"), (Failure::Ok, PUT, true));
    assert_eq!(judged(TAKE, "HTTP/1.1 204 No Content\r\n\r\n"), (Failure::Ok, EMPTY, false));
    assert_eq!(judged(PUT, "HTTP/1.1 503 Away\r\nContent-Length: 0\r\n\r\n"), (Failure::Status, PUT, false));
    assert_eq!(
        judged(TAKE, "HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n"),
        (Failure::Status, TAKE, false)
    );
}

#[test]
fn what_must_be_acknowledged_is_next() {
    let (mut generator, mut exchange) = (generator(1.0, 1.0), Exchange::new());
    composed(&mut generator, TAKE, &mut exchange);
    let queue = exchange.queue;
    let taken = "HTTP/1.1 200 OK\r\nX-Message-Id: 42\r\nX-Receipt: ab-1\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(generator.judge(&mut exchange, &answer(taken, b""), 0), Failure::Ok);
    assert_eq!(generator.pause(&outcome(TAKE, Failure::Ok)), PauseBeforeNext::For(0.0));
    assert_eq!((generator.choose(0), generator.choose(1) == ACKNOWLEDGE), (ACKNOWLEDGE, false));
    let (head, _) = composed(&mut generator, ACKNOWLEDGE, &mut exchange);
    let line = format!("DELETE /queues/load-{queue}/messages/42?receipt=ab-1 HTTP/1.1\r\n");
    assert!(head.starts_with(&line), "{head}");
    let late = answer("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", b"");
    assert_eq!(generator.judge(&mut exchange, &late, 0), Failure::Ok);
    assert_ne!(generator.choose(0), ACKNOWLEDGE);
    assert_eq!(generator.pause(&outcome(ACKNOWLEDGE, Failure::Ok)), PauseBeforeNext::Think);
}

#[test]
fn a_receipt_cannot_write_requests_of_its_own() {
    let (mut generator, mut exchange) = (generator(1.0, 1.0), Exchange::new());
    composed(&mut generator, TAKE, &mut exchange);
    let taken = "HTTP/1.1 200 OK\r\nX-Message-Id: 42\r\nX-Receipt: a HTTP/1.1\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(generator.judge(&mut exchange, &answer(taken, b""), 0), Failure::Wrong);
    assert_ne!(generator.choose(0), ACKNOWLEDGE);
}

#[test]
fn only_an_empty_take_waits() {
    let generator = generator(1.0, 1.0);
    assert_eq!(generator.pause(&outcome(EMPTY, Failure::Ok)), PauseBeforeNext::For(0.1));
    assert_eq!(generator.pause(&outcome(TAKE, Failure::Ok)), PauseBeforeNext::Think);
    assert_eq!(generator.pause(&outcome(PUT, Failure::Ok)), PauseBeforeNext::Think);
    assert_eq!(generator.pause(&outcome(TAKE, Failure::Status)), PauseBeforeNext::Recover);
}
