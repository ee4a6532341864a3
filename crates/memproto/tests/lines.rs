//! What single lines are answered, and how much belongs to a request that is refused: as memcached 1.6 has it.

use sojourn_memproto::{parse, ParseStep, Refusal, Reply, ReplyKind, ReplyScan, Request, RequestLimits};

const LIMITS: RequestLimits = RequestLimits { key_bytes: 250, value_bytes: 300, line_bytes: 2048 };

fn compose(request: &Request<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    request.compose(&mut out);
    out
}

fn first(text: &str) -> ParseStep<'_> {
    parse(text.as_bytes(), &LIMITS)
}

#[test]
fn what_is_wrong_gets_one_answer_that_memcached_gives() {
    let refused = [
        ("nonsense\r\n", Refusal::Unknown),
        ("\r\n", Refusal::Unknown),
        ("get\r\n", Refusal::Unknown),
        ("mg key v\r\n", Refusal::Unknown),
        ("set key 0 0\r\n", Refusal::Unknown),
        ("set key 0 0 x\r\n", Refusal::Format),
        ("set key 0 0 -1\r\n", Refusal::Format),
        ("incr key x\r\n", Refusal::Delta),
        ("touch key x\r\n", Refusal::Expiry),
        ("gat x key\r\n", Refusal::Expiry),
        ("delete key 0 x\r\n", Refusal::DeleteUsage),
        ("delete key 1\r\n", Refusal::DeleteUsage),
        ("delete key noreply 0\r\n", Refusal::DeleteUsage),
        ("gat 0\r\n", Refusal::NoKeys),
        ("gat x\r\n", Refusal::Expiry),
        ("flush_all noreply 1\r\n", Refusal::Expiry),
        ("verbosity x\r\n", Refusal::Format),
        ("flush_all x\r\n", Refusal::Expiry),
        ("flush_all 1 2 3\r\n", Refusal::Unknown),
        ("verbosity 1 2 3\r\n", Refusal::Unknown),
        ("incr key 1 2 3\r\n", Refusal::Unknown),
        ("delete key 1 2 3\r\n", Refusal::Unknown),
    ];
    for (text, why) in refused {
        assert_eq!(
            first(text),
            ParseStep::Refuse { refusal: why, skip: text.len(), silent: false, close: false },
            "{text}"
        );
    }
    let long = format!("get {}\r\n", "k".repeat(251));
    assert_eq!(
        first(&long),
        ParseStep::Refuse { refusal: Refusal::Format, skip: long.len(), silent: false, close: false }
    );
}

/// Issue 26: as memcached 1.6.18 does it, which reads the next line as a command when it has refused a line itself.
#[test]
fn only_what_memcached_passes_over_is_passed_over() {
    let pass = |text: &str, refusal, skip, silent| {
        assert_eq!(first(text), ParseStep::Refuse { refusal, skip, silent, close: false }, "{text}");
    };
    let line = |text: &str, refusal, silent| pass(text, refusal, text.find('\n').unwrap() + 1, silent);
    line("cas a 0 0 1\r\nflush_all\r\n", Refusal::Unknown, false);
    line("set key 0 0 9 a b\r\nflush_all\r\n", Refusal::Unknown, false);
    line("set key x 0 5\r\nhello\r\n", Refusal::Format, false);
    line("set key 0 0 -1\r\nflush_all\r\n", Refusal::Format, false);
    line("set key 0 0 noreply\r\nhello\r\n", Refusal::Format, true);
    line("cas key 0 0 9 x\r\nflush_all\r\n", Refusal::Format, false);
    line("cas key 0 0 9 noreply\r\nflush_all\r\n", Refusal::Format, true);
    line(&format!("set {} 0 0 5\r\nhello\r\n", "k".repeat(251)), Refusal::Format, false);
    pass("add key 0 0 1000\r\n", Refusal::TooLarge, 18 + 1002, false);
    pass("add key 0 0 1000 noreply\r\n", Refusal::TooLarge, 26 + 1002, true);
    let forgotten = ParseStep::Forget { key: b"key", skip: 26 + 1002, silent: true };
    assert_eq!(first("set key 0 0 1000 noreply\r\n"), forgotten);
    // The block as long as it was said to be, and no more.
    pass("set key 0 0 3\r\nhello\r\nget a\r\n", Refusal::Chunk, 20, false);
    pass("ms key 5\r\nhello\r\n", Refusal::Unknown, 17, false);
}

/// Keys are shorter than memcached's where a proxy is told so: its clients send their data all the same.
#[test]
fn a_block_behind_a_key_that_only_we_refuse_is_passed_over() {
    let limits = RequestLimits { key_bytes: 2, ..LIMITS };
    let due = ParseStep::Refuse { refusal: Refusal::Format, skip: 22, silent: false, close: false };
    assert_eq!(parse(b"set key 0 0 5\r\nhello\r\n", &limits), due);
}

/// As memcached 1.6 does, which memccapable's `ascii version` asks of every server.
#[test]
fn words_that_mean_nothing_are_passed_over() {
    for (text, same) in [
        ("version foo\r\n", "version\r\n"),
        ("quit noreply\r\n", "quit\r\n"),
        ("verbosity 1 foo\r\n", "verbosity 1\r\n"),
        ("flush_all 1 foo\r\n", "flush_all 1\r\n"),
        ("incr key 1 foo\r\n", "incr key 1\r\n"),
        ("touch key 1 foo\r\n", "touch key 1\r\n"),
        ("set key 0 0 5 foo\r\nhello\r\n", "set key 0 0 5\r\nhello\r\n"),
        ("cas key 0 0 5 1 foo\r\nhello\r\n", "cas key 0 0 5 1\r\nhello\r\n"),
    ] {
        let ParseStep::Done { request, used } = first(text) else { panic!("{text}") };
        assert_eq!((used, compose(&request)), (text.len(), same.as_bytes().to_vec()), "{text}");
    }
}

/// memcached 1.6 reads a line up to a NUL, so that it sees a `noreply` there; servers get it without the NUL.
#[test]
fn a_line_is_read_up_to_a_nul() {
    for (text, same) in [
        ("touch key 0 noreply\0\r\n", "touch key 0 noreply\r\n"),
        ("incr key 1 noreply\0x\r\n", "incr key 1 noreply\r\n"),
        ("delete key noreply\0 more\r\n", "delete key noreply\r\n"),
        ("flush_all 1 noreply\0\r\n", "flush_all 1 noreply\r\n"),
        ("set key 0 0 2 noreply\0\r\nab\r\n", "set key 0 0 2 noreply\r\nab\r\n"),
        ("version \0\r\n", "version\r\n"),
        ("get key\0 other\r\n", "get key\r\n"),
    ] {
        let ParseStep::Done { request, used } = first(text) else { panic!("{text:?}") };
        assert_eq!((used, compose(&request)), (text.len(), same.as_bytes().to_vec()), "{text:?}");
    }
    assert!(matches!(first("\0get key\r\n"), ParseStep::Refuse { refusal: Refusal::Unknown, skip: 10, .. }));
}

/// What memcached 1.6.18 makes of numbers and keys that doc/protocol.txt does not have (`tokens` has more numbers).
#[test]
fn numbers_and_keys_are_those_of_memcached() {
    for (text, same) in [
        ("set key 4294967301 -0 +2\r\nab\r\n", "set key 5 0 2\r\nab\r\n"),
        ("set key 0 4294967295 4294967298\r\nab\r\n", "set key 0 -1 2\r\nab\r\n"),
        ("incr key -18446744073709551615\r\n", "incr key 1\r\n"),
        ("touch key 1\tx\r\n", "touch key 1\r\n"),
        ("verbosity 4294967296\r\n", "verbosity 0\r\n"),
        ("get a\x01\r\r\n", "get a\x01\r\r\n"),
        ("delete noreply\r\n", "delete noreply\r\n"),
        ("delete noreply noreply\r\n", "delete noreply noreply\r\n"),
        ("flush_all -5 noreply\r\n", "flush_all -5 noreply\r\n"),
    ] {
        let ParseStep::Done { request, used } = first(text) else { panic!("{text:?}: {:?}", first(text)) };
        assert_eq!((used, compose(&request)), (text.len(), same.as_bytes().to_vec()), "{text:?}");
    }
}

#[test]
fn a_refusal_is_silent_where_the_line_says_noreply() {
    for text in [
        "verbosity noreply\r\n",
        "verbosity x noreply\r\n",
        "incr key noreply\r\n",
        "touch key x noreply\r\n",
        "delete key 1 noreply\r\n",
        "flush_all noreply noreply\r\n",
    ] {
        assert!(
            matches!(first(text), ParseStep::Refuse { silent: true, skip, .. } if skip == text.len()),
            "{text}"
        );
    }
    for text in ["nonsense noreply\r\n", "incr key 1 2 noreply\r\n", "gat x noreply\r\n"] {
        assert!(matches!(first(text), ParseStep::Refuse { silent: false, .. }), "{text}");
    }
}

#[test]
fn a_request_of_the_binary_protocol_ends_the_connection() {
    let noop = [&[0x80, 0x0a][..], &[0; 22]].concat();
    for length in [1, noop.len()] {
        let due = ParseStep::Refuse { refusal: Refusal::Binary, skip: length, silent: false, close: true };
        assert_eq!(parse(&noop[..length], &LIMITS), due);
    }
}

/// As memcached 1.6.18 does it, which closes without a word.
#[test]
fn the_first_line_of_an_http_request_closes_the_connection() {
    for line in ["GET / HTTP/1.1", "POST /x HTTP/1.0 ", "OPTIONS * HTTP/1.1", "x HTTP/"] {
        let text = format!("{line}\r\nHost: x\r\n\r\nflush_all\r\n");
        let due =
            ParseStep::Refuse { refusal: Refusal::Unknown, skip: text.len(), silent: false, close: true };
        assert_eq!(first(&text), due, "{line}");
    }
    for line in ["GET /x", "GET / HTTP/1.1 x", "xHTTP/1.1"] {
        assert!(matches!(first(&format!("{line}\r\n")), ParseStep::Refuse { close: false, .. }), "{line}");
    }
    assert!(matches!(first("get HTTP/1.1\r\n"), ParseStep::Done { .. }));
}

#[test]
fn a_line_without_end_closes_the_connection() {
    let text = "g".repeat(2100);
    assert!(matches!(first(&text), ParseStep::Refuse { refusal: Refusal::Line, close: true, .. }));
    assert_eq!(first("get a"), ParseStep::Need(6));
    assert_eq!(first("set a 0 0 5\r\nhe"), ParseStep::Need(20));
}

#[test]
fn a_line_that_a_server_may_not_take_is_refused_alone() {
    let blanks = " ".repeat(3000);
    let limits = RequestLimits::default();
    let refused = |text: &str, skip: usize| {
        let due = ParseStep::Refuse { refusal: Refusal::Line, skip, silent: false, close: false };
        assert_eq!(parse(text.as_bytes(), &limits), due, "{}", text.trim());
    };
    for line in
        [format!("delete k{blanks}"), format!("gat 0{} k", " k".repeat(1500)), format!("{blanks}get k")]
    {
        refused(&format!("{line}\r\n"), line.len() + 2);
    }
    let store = format!("set k 0 0 5{blanks}\r\nhello\r\n");
    refused(&store, store.len());
    let many = format!("get{}\r\n", " k".repeat(30_000));
    assert!(matches!(parse(many.as_bytes(), &limits), ParseStep::Done { .. }));
}

#[test]
fn limits_are_the_same_however_the_bytes_come() {
    let over =
        |line: &str| matches!(first(line), ParseStep::Refuse { refusal: Refusal::Line, close: true, .. });
    let longest = format!("get {}", "k ".repeat(1022));
    assert!(!over(&format!("{longest}\r\n")) && over(&format!("{longest}k\n")), "2048 and 2049 bytes");
    let answer = format!("SERVER_ERROR {}\r\n", "x".repeat(9000));
    assert!(ReplyScan::new(ReplyKind::Line, 1 << 20).scan(answer.as_bytes()).is_err());
}

#[test]
fn one_line_answers_say_what_they_say() {
    let said = |text: &str| ReplyScan::new(ReplyKind::Line, 1000).scan(text.as_bytes());
    assert_eq!(said("STORED\r\nSTORED\r\n"), Ok(Some((Reply::Stored, 8))));
    assert_eq!(said("12  \r\n"), Ok(Some((Reply::Number(12), 6))));
    assert_eq!(said("SERVER_ERROR out of memory storing object\r\n").unwrap().unwrap().0, Reply::Error);
    assert_eq!(said("STOR"), Ok(None));
    assert!(said("nonsense\r\n").is_err());
    assert!(said("STORED\n").is_err());
}
