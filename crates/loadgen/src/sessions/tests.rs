use super::*;
use crate::config::{MixConfig, SessionsConfig};

const PAGES: [&str; 3] = ["Home", "Item", "Store"];

fn config(rows: [[f64; 5]; 3]) -> SessionsConfig {
    let mix = MixConfig { share: 1.0, rows: rows.map(|row| row.to_vec()).to_vec() };
    let pages = PAGES.map(str::to_string).to_vec();
    SessionsConfig { pages, mixes: vec![mix], ramp_up_s: 0.0, ramp_down_s: 0.0, text_bytes: 50 }
}

fn request(user: u32) -> RequestInFlight {
    RequestInFlight { sequence: 0, target: 0, class: 0, user, intended_s: 0.0, taken_s: 0.0, sent_s: 0.0 }
}

/// The request line's target, and the failure after this page has come.
fn visit(generator: &mut RequestGenerator, status: u16, page: &str) -> (String, Failure) {
    let mut exchange = Exchange::new();
    generator.compose(&request(0), b" HTTP/1.1\r\n", &mut exchange);
    let sent = String::from_utf8(exchange.out.clone()).unwrap();
    assert!(sent.ends_with(" HTTP/1.1\r\n\r\n"), "{sent}");
    let mut response = Exchange::response();
    let answer = format!("HTTP/1.1 {status} OK\r\nContent-Length: {}\r\n\r\n{page}", page.len());
    assert_eq!(response.feed(answer.as_bytes()), Ok(Some(answer.len())));
    let failure = generator.judge(&mut exchange, &mut response, 0);
    assert_eq!(exchange.step.is_some(), failure == Failure::Ok);
    (sent.split(' ').nth(1).unwrap().to_string(), failure)
}

#[test]
fn the_next_page_is_a_link_of_the_last_and_back_is_the_one_before() {
    // Home → Item → Store → back.
    let rows = [[0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0]];
    let mut generator = RequestGenerator::new(&config(rows), 1, 0, 1);
    let home = "<a href=\"/Home\">x</a><a href=\"/Item?id=7\">y</a><a href=\"/Items?id=8\">z</a>";
    assert_eq!(visit(&mut generator, 200, home), ("/Home".into(), Failure::Ok));
    assert_eq!(
        visit(&mut generator, 200, "<a href=\"/Store?id=9&body=\">"),
        ("/Item?id=7".into(), Failure::Ok)
    );
    let (stored, failure) = visit(&mut generator, 200, "");
    let text = stored.strip_prefix("/Store?id=9&body=").unwrap();
    assert!(failure == Failure::Ok && (1..=50).contains(&text.len()), "{stored}");
    assert!(text.bytes().all(|b| b.is_ascii_lowercase() || b == b'+'), "{stored}");
    assert_eq!(generator.choose(0), 1);
    // The page before has no link to the next one any more: the session is over, and the answer was wrong.
    assert_eq!(visit(&mut generator, 200, "gone"), ("/Item?id=7".into(), Failure::Wrong));
    assert_eq!(visit(&mut generator, 404, home), ("/Home".into(), Failure::Status));
    assert_eq!(visit(&mut generator, 200, home), ("/Home".into(), Failure::Ok));
    generator.abandon(0);
    assert_eq!(generator.choose(0), 0);
}

#[test]
fn back_without_a_page_before_begins_a_new_session() {
    let rows = [[0.0, 0.0, 0.0, 1.0, 0.0], [0.0; 5], [0.0; 5]];
    let mut generator = RequestGenerator::new(&config(rows), 1, 0, 1);
    for _ in 0..3 {
        assert_eq!(visit(&mut generator, 200, ""), ("/Home".into(), Failure::Ok));
    }
}

#[test]
fn kinds_of_users_have_their_share_of_any_run_of_them() {
    let mut config = config([[0.0, 0.0, 0.0, 0.0, 1.0]; 3]);
    let other = MixConfig { share: 0.1, ..config.mixes[0].clone() };
    config.mixes[0].share = 0.9;
    config.mixes.push(other);
    for users in [600, 1000, 10_000] {
        let authors = (0..users).filter(|user| matrix_of(&config, *user) == 1).count() as f64;
        assert!((authors - 0.1 * f64::from(users)).abs() <= 2.0, "{authors} of {users}");
    }
}

#[test]
fn rows_are_drawn_by_their_probabilities() {
    let matrix = TransitionMatrix::new(&[vec![0.2, 0.0, 0.3, 0.5], vec![0.0, 0.0, 0.0, 1.0]]);
    let (mut stream, mut counts) = (Stream::new(3, "test"), [0; 4]);
    for _ in 0..10_000 {
        match matrix.next(0, &mut stream) {
            Step::To(page) => counts[usize::from(page)] += 1,
            Step::Back => counts[2] += 1,
            Step::End => counts[3] += 1,
        }
    }
    // Four standard deviations of a count are at most 200.
    for (count, expected) in counts.iter().zip([2000_i32, 0, 3000, 5000]) {
        assert!((*count - expected).abs() < 200 && (*count == 0) == (expected == 0), "{counts:?}");
    }
    assert_eq!(matrix.next(1, &mut stream), Step::End);
}
