//! What must hold for every input: parse of compose is the identity, any split gives the same, nothing panics.

use proptest::collection::vec;
use proptest::prelude::*;
use sojourn_memproto::{
    parse, IncrOrDecr, Keys, ParseStep, Reply, ReplyKind, ReplyScan, Request, RequestLimits, StoreVerb,
    Values,
};

fn key() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![33_u8..127, 128_u8..=255], 1..40)
}

fn verb() -> impl Strategy<Value = StoreVerb> {
    prop_oneof![
        Just(StoreVerb::Set),
        Just(StoreVerb::Add),
        Just(StoreVerb::Replace),
        Just(StoreVerb::Append),
        Just(StoreVerb::Prepend),
        Just(StoreVerb::Cas)
    ]
}

/// A request as bytes, composed from parts that are drawn.
fn request() -> impl Strategy<Value = Vec<u8>> {
    let get = (any::<bool>(), any::<Option<i32>>(), vec(key(), 1..6)).prop_map(|(cas, touch, keys)| {
        let line = keys.join(&b' ');
        compose(&Request::Get { cas, touch: touch.map(i64::from), keys: Keys::new(&line).unwrap() })
    });
    let store =
        (verb(), key(), any::<u32>(), any::<i32>(), any::<u64>(), any::<bool>(), vec(any::<u8>(), 0..200))
            .prop_map(|(verb, key, flags, exptime, unique, noreply, data)| {
                let cas = (verb == StoreVerb::Cas).then_some(unique);
                compose(&Request::Store {
                    verb,
                    key: &key,
                    flags,
                    exptime_s: exptime.into(),
                    cas,
                    noreply,
                    data: &data,
                })
            });
    let one = (key(), any::<bool>(), any::<u64>(), any::<i32>(), 0..8).prop_map(
        |(key, noreply, delta, time, which)| {
            let (key, exptime_s) = (&key[..], i64::from(time));
            compose(&match which {
                0 => Request::Delete { key, noreply },
                1 => Request::Arithmetic { direction: IncrOrDecr::Up, key, delta, noreply },
                2 => Request::Arithmetic { direction: IncrOrDecr::Down, key, delta, noreply },
                3 => Request::Touch { key, exptime_s, noreply },
                4 => Request::FlushAll { delay_s: (time > 0).then_some(exptime_s), noreply },
                5 => Request::Verbosity { level: delta as u32, noreply },
                6 => Request::Version,
                _ => Request::Stats { arguments: b"items" },
            })
        },
    );
    prop_oneof![get, store, one]
}

fn compose(request: &Request<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    request.compose(&mut out);
    out
}

/// Every request and refusal in `bytes`, when they come in pieces of the given sizes; and whether parsing came to an end.
fn conversation(bytes: &[u8], cuts: &[usize]) -> Vec<String> {
    let (mut buffer, mut found, mut skip) = (Vec::new(), Vec::new(), 0_usize);
    let mut given = 0;
    for cut in cuts.iter().copied().chain([bytes.len()]) {
        let next = (given + cut).min(bytes.len());
        buffer.extend_from_slice(&bytes[given..next]);
        given = next;
        loop {
            let passed = skip.min(buffer.len());
            buffer.drain(..passed);
            skip -= passed;
            if skip > 0 || buffer.is_empty() {
                break;
            }
            match parse(&buffer, &LIMITS) {
                ParseStep::Need(more) => {
                    assert!(more > buffer.len(), "asks for what it has");
                    break;
                }
                ParseStep::Done { request, used } => {
                    assert!(used > 0 && used <= buffer.len());
                    found.push(format!("{request:?}"));
                    skip = used;
                }
                ParseStep::Forget { skip: pass, .. } => {
                    assert!(pass > LIMITS.value_bytes);
                    found.push("forget".into());
                    skip = pass;
                }
                ParseStep::Refuse { refusal, skip: pass, silent, close } => {
                    assert!(pass > 0);
                    found.push(format!("{refusal:?} {silent}"));
                    if close {
                        return found;
                    }
                    skip = pass;
                }
            }
        }
    }
    found
}

const LIMITS: RequestLimits = RequestLimits { key_bytes: 250, value_bytes: 300, line_bytes: 2048 };

proptest! {
    #[test]
    fn parse_of_compose_is_the_identity(bytes in request()) {
        match parse(&bytes, &LIMITS) {
            ParseStep::Done { request, used } => {
                prop_assert_eq!(used, bytes.len());
                prop_assert_eq!(compose(&request), bytes);
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn any_split_gives_the_same_requests(requests in vec(request(), 1..8), cuts in vec(1_usize..40, 0..30)) {
        let bytes = requests.concat();
        let whole = conversation(&bytes, &[]);
        prop_assert_eq!(whole.len(), requests.len());
        prop_assert_eq!(&conversation(&bytes, &cuts), &whole);
        prop_assert_eq!(&conversation(&bytes, &vec![1; bytes.len()]), &whole);
    }

    #[test]
    fn no_bytes_panic_and_none_is_asked_for_twice(bytes in vec(any::<u8>(), 0..400), cuts in vec(1_usize..40, 0..30)) {
        conversation(&bytes, &cuts);
    }

    #[test]
    fn words_of_the_protocol_in_any_order_do_not_panic(
        words in vec(prop_oneof![
            Just("get"), Just("set"), Just("cas"), Just("ms"), Just("gat"), Just("incr"), Just("noreply"), Just("0"),
            Just("5"), Just("-1"), Just("99999999999999999999"), Just("key"), Just("\r\n"), Just(" "), Just("hello\r\n"),
        ], 0..40),
        cuts in vec(1_usize..20, 0..20),
    ) {
        let text = words.join(" ");
        let whole = conversation(text.as_bytes(), &[]);
        let pieces = conversation(text.as_bytes(), &cuts);
        prop_assert_eq!(pieces, whole);
    }

    #[test]
    fn an_answer_ends_where_it_ends_however_it_comes(
        values in vec((key(), any::<u32>(), vec(any::<u8>(), 0..100)), 0..5), cuts in vec(1_usize..50, 1..20), rest in vec(any::<u8>(), 0..20)
    ) {
        let mut bytes = Vec::new();
        for (key, flags, data) in &values {
            bytes.extend_from_slice(b"VALUE ");
            bytes.extend_from_slice(key);
            bytes.extend_from_slice(format!(" {flags} {}\r\n", data.len()).as_bytes());
            bytes.extend_from_slice(data);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"END\r\n");
        let length = bytes.len();
        let found: Vec<_> = Values(&bytes).map(|(key, _)| key.to_vec()).collect();
        prop_assert_eq!(found, values.iter().map(|(key, _, _)| key.clone()).collect::<Vec<_>>());
        bytes.extend_from_slice(&rest);
        let mut scan = ReplyScan::new(ReplyKind::Values, 1 << 20);
        let mut end = 0;
        for cut in cuts.into_iter().chain([bytes.len()]) {
            end = (end + cut).min(bytes.len());
            if let Some(found) = scan.scan(&bytes[..end]).unwrap() {
                prop_assert_eq!(found, (Reply::Values(values.len()), length));
                return Ok(());
            }
            prop_assert!(end < length);
        }
        prop_assert!(false, "never complete");
    }

    #[test]
    fn no_answer_panics(bytes in vec(any::<u8>(), 0..300), which in 0_usize..3) {
        let kind = [ReplyKind::Line, ReplyKind::Values, ReplyKind::Stats][which];
        let mut scan = ReplyScan::new(kind, 10_000);
        for end in 0..bytes.len() {
            if !matches!(scan.scan(&bytes[..end]), Ok(None)) {
                break;
            }
        }
    }
}
