use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const MOST: usize = 100;

/// Head and body of each request, and how the stream ends.
type Found = (Vec<(Vec<u8>, Vec<u8>)>, Option<Refusal>);

/// A whole stream.
fn all(bytes: &[u8], most: usize) -> Found {
    fed(&[bytes], most)
}

/// As the event loop does it: pieces come one after the other, what is not whole waits.
fn fed(pieces: &[&[u8]], most: usize) -> Found {
    let (mut found, mut pending, mut need) = (Vec::new(), Vec::new(), 0);
    for piece in pieces {
        pending.extend_from_slice(piece);
        while !pending.is_empty() && pending.len() >= need {
            need = 0;
            match frame(&pending, most) {
                FramingStep::Need { whole, .. } => {
                    assert!(whole > pending.len());
                    need = whole;
                }
                FramingStep::Done { start, body, end } => {
                    assert!(start < body && body <= end && end <= pending.len());
                    found.push((pending[start..body].to_vec(), pending[body..end].to_vec()));
                    pending.drain(..end);
                }
                FramingStep::Refuse(refusal) => return (found, Some(refusal)),
            }
        }
    }
    (found, None)
}

fn refused(text: &str) -> Option<Refusal> {
    all(text.as_bytes(), MOST).1
}

#[test]
fn a_body_has_the_length_that_its_head_says() {
    let text = "\r\nPOST /a HTTP/1.1\r\nHost: x\r\ncontent-LENGTH:  3 \r\n\r\nabcGET /b HTTP/1.1\r\n\r\n";
    let (found, end) = all(text.as_bytes(), MOST);
    assert_eq!(end, None);
    assert_eq!(found[0].1, b"abc");
    assert_eq!(found[1], (b"GET /b HTTP/1.1\r\n\r\n".to_vec(), Vec::new()));
}

#[test]
fn what_could_be_read_in_two_ways_is_refused() {
    let head = |lines: &str| format!("POST / HTTP/1.1\r\n{lines}\r\n\r\n");
    for lines in [
        "Content-Length: 1\r\nContent-Length: 1",
        "Content-Length : 1",
        "Content-Length: +1",
        "Content-Length: 1,1",
        "Content-Length:",
        "Content-Length: 1\r\n 2",
        "Content-Length: 9999999999999999",
        "no colon",
        ": empty",
        "A: b\nContent-Length: 5",
        "A: b\rContent-Length: 5",
        "A: b\r\r\nContent-Length: 5",
    ] {
        assert_eq!(refused(&head(lines)), Some(Refusal::Malformed), "{lines:?}");
    }
    assert_eq!(refused("POST / HTTP/1.1\nContent-Length: 5\r\n\r\n"), Some(Refusal::Malformed));
    assert_eq!(refused(&head("Transfer-Encoding: chunked")), Some(Refusal::Length));
    assert_eq!(refused(&head("Content-Length: 101")), Some(Refusal::Body));
    assert_eq!(refused(&"a".repeat(HEAD_BYTES)), Some(Refusal::Head));
}

#[test]
fn a_head_that_can_no_longer_become_right_is_refused_at_once() {
    let begun = "GET /queues HTTP/1.1\r\nHost: x\r";
    assert_eq!(refused(begun), None);
    for more in ["\r", "a", "\nA: b\n"] {
        assert_eq!(refused(&format!("{begun}{more}")), Some(Refusal::Malformed), "{more:?}");
    }
    for text in ["\n", "\r\n\n", "GET /\n", "\x16\x03\x01", "GET /\t", "GET /\x7f"] {
        assert_eq!(refused(text), Some(Refusal::Malformed), "{text:?}");
    }
}

#[test]
fn a_client_that_waits_for_leave_is_known() {
    let head = b"PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
    let whole = head.len() + 3;
    assert_eq!(frame(head, MOST), FramingStep::Need { whole, expects: true });
    assert_eq!(frame(&[&head[..], b"a"].concat(), MOST), FramingStep::Need { whole, expects: false });
}

/// A request with its parts, whole and well formed.
fn request() -> impl Strategy<Value = (String, Vec<u8>)> {
    (
        "[A-Za-z]{1,8}",
        "/[a-z/?=]{0,20}",
        vec(("X-[a-z]{1,5}", "[ -~]{0,20}"), 0..4),
        vec(any::<u8>(), 0..MOST),
    )
        .prop_map(|(method, path, headers, body)| {
            let headers: String =
                headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            let length = format!("Content-Length: {}\r\n", body.len());
            (format!("{method} {path} HTTP/1.1\r\n{headers}{length}\r\n"), body)
        })
}

/// Requests that are nearly right.
const REQUESTS: [&[u8]; 6] = [
    b"PUT /queues/a HTTP/1.1\r\n\r\n",
    b"\r\nGET /queues?after=a HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n\r\n",
    b"POST /queues/a/messages HTTP/1.1\r\nX-Sender: ann\r\nContent-Length: 5\r\n\r\nhello",
    b"POST /queues/a/messages HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 27\r\n\r\nPUT /queues/b HTTP/1.1\r\n\r\n.",
    b"POST /queues/a/take HTTP/1.1\r\nConnection: close\r\n\r\n",
    b"DELETE /queues/a/messages/17?receipt=18 HTTP/1.1\r\nAuthorization: Bearer x\r\n\r\n",
];
const PIECES: [&[u8]; 18] = [
    b"\r\n",
    b"\r\n\r\n",
    b"\r",
    b"\n",
    b"\0",
    b" ",
    b"\t",
    b":",
    b",",
    b"/",
    b"?",
    b"%00",
    b"\x80\xff",
    b"-1",
    b"\r\nContent-Length: 7",
    b"\r\nTransfer-Encoding: chunked",
    b"99999999999999999999",
    b"HTTP/1.0\r\n",
];

/// One change: where, how many bytes go, what comes.
fn change() -> impl Strategy<Value = (usize, usize, Vec<u8>)> {
    let comes = prop_oneof![
        prop::sample::select(&PIECES[..]).prop_map(<[u8]>::to_vec),
        vec(any::<u8>(), 0..3),
        prop::sample::select(&REQUESTS[..]).prop_map(|request| request[..request.len() / 2].to_vec()),
    ];
    (any::<usize>(), 0..6_usize, comes)
}

/// Some requests one after the other, with some changes.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    (vec(prop::sample::select(&REQUESTS[..]), 1..4), vec(change(), 0..6)).prop_map(|(requests, changes)| {
        let mut bytes = requests.concat();
        for (at, goes, comes) in changes {
            let at = at % (bytes.len() + 1);
            let to = bytes.len().min(at + goes);
            bytes.splice(at..to, comes);
        }
        bytes
    })
}

fn pieces<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    ends.extend([0, bytes.len()]);
    ends.sort_unstable();
    ends.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

/// What another reader, which takes a lone LF for the end of a line, says of a framed request: the length of its body.
fn read_otherwise(head: &[u8]) -> Option<usize> {
    let mut headers = [httparse::EMPTY_HEADER; 128];
    let mut found = httparse::Request::new(&mut headers);
    let Ok(httparse::Status::Complete(whole)) = found.parse(head) else { return None };
    assert_eq!(whole, head.len(), "its head ends elsewhere");
    let length = |name: &str| {
        let of_name = |header: &&httparse::Header<'_>| header.name.eq_ignore_ascii_case(name);
        found.headers.iter().filter(of_name).map(|header| header.value.to_vec()).collect::<Vec<_>>()
    };
    assert!(length("transfer-encoding").is_empty(), "it is chunked");
    match &length("content-length")[..] {
        [] => Some(0),
        [one] => std::str::from_utf8(one).ok()?.trim().parse().ok(),
        more => panic!("{} lengths", more.len()),
    }
}

proptest! {
    #[test]
    fn mutated_requests_end_the_same_however_they_are_split(
        bytes in mutated(),
        cuts in vec(any::<usize>(), 0..20),
    ) {
        prop_assert_eq!(fed(&pieces(&bytes, &cuts), MOST), all(&bytes, MOST));
    }

    #[test]
    fn other_readers_see_the_same_requests(bytes in mutated()) {
        for (head, body) in all(&bytes, MOST).0 {
            if let Some(length) = read_otherwise(&head) {
                prop_assert_eq!(length, body.len());
            }
        }
    }

    #[test]
    fn any_split_gives_the_same_requests(requests in vec(request(), 1..6), cuts in vec(any::<usize>(), 0..20)) {
        let expected: Vec<_> =
            requests.iter().map(|(head, body)| (head.clone().into_bytes(), body.clone())).collect();
        let bytes: Vec<u8> =
            requests.iter().flat_map(|(head, body)| [head.as_bytes(), body].concat()).collect();
        prop_assert_eq!(fed(&pieces(&bytes, &cuts), MOST), (expected, None));
    }

    #[test]
    fn anything_ends_the_same_however_it_is_split(
        bytes in vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b':'), Just(b' '), any::<u8>()], 0..400),
        cut in any::<usize>(),
    ) {
        let (one, two) = bytes.split_at(cut % (bytes.len() + 1));
        prop_assert_eq!(fed(&[one, two], MOST), all(&bytes, MOST));
    }
}
