use proptest::prelude::*;

use super::*;
use crate::operation::OperationKind;

fn read(text: &str) -> Result<Operation<'_>, Refusal> {
    parse(text.as_bytes(), b"body", None)
        .map(|request| request.operation)
        .map_err(|rejection| rejection.refusal)
}

fn line(line: &str) -> Result<String, Refusal> {
    let text = format!("{line} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n");
    read(&text).map(|operation| format!("{operation:?}"))
}

#[test]
fn each_path_and_method_is_an_operation() {
    let kinds = [
        ("PUT /queues/q", OperationKind::Create),
        ("DELETE /queues/q", OperationKind::Drop),
        ("GET /queues", OperationKind::List),
        ("GET /queues?after=a%26b", OperationKind::List),
        ("POST /queues/q/messages", OperationKind::Put),
        ("POST /queues/q/take", OperationKind::Take),
        ("POST /queues/q/take?sender=a+b", OperationKind::Take),
        ("GET /queues/q/peek?sender=x", OperationKind::Peek),
        ("DELETE /queues/q/messages/7?receipt=9", OperationKind::Acknowledge),
    ];
    for (line, kind) in kinds {
        let text = format!("{line} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n");
        assert_eq!(read(&text).map(|operation| operation.kind()), Ok(kind), "{line}");
    }
}

#[test]
fn names_are_decoded_and_never_looked_into() {
    let name = "x'); DROP TABLE sojourn.message; --";
    let text = "PUT /queues/x%27%29%3B%20DROP%20TABLE%20sojourn.message%3B%20-- HTTP/1.1\r\nHost: x\r\n\r\n";
    assert_eq!(read(text), Ok(Operation::Create { queue: name.into() }));
    let text = "POST /queues/a%2Fb/messages HTTP/1.1\r\nHost: x\r\nX-Sender: me\r\ncontent-length: 4\r\n\r\n";
    let expected = Operation::Put { queue: "a/b".into(), sender: Some("me".into()), body: b"body" };
    assert_eq!(read(text), Ok(expected));
}

#[test]
fn what_is_no_operation_has_a_refusal() {
    for (text, refusal) in [
        ("GET /", Refusal::Path),
        ("GET /queuesx", Refusal::Path),
        ("GET /queues/a/b", Refusal::Path),
        ("GET /queues/a/take/b/c", Refusal::Path),
        ("POST /queues", Refusal::Method),
        ("GET /queues/a", Refusal::Method),
        ("GET /queues/a/take", Refusal::Method),
        ("PUT /queues/", Refusal::Name),
        ("PUT /queues/%00", Refusal::Name),
        ("PUT /queues/%0d%0aX-Evil:1", Refusal::Name),
        ("PUT /queues/%ff", Refusal::Name),
        ("PUT /queues/a?b", Refusal::Query),
        ("POST /queues/a/take?other=1", Refusal::Query),
        ("POST /queues/a/take?sender=1&sender=2", Refusal::Query),
        ("DELETE /queues/a/messages/1", Refusal::Number),
        ("DELETE /queues/a/messages/-1?receipt=1", Refusal::Number),
        ("DELETE /queues/a/messages/1?receipt=99999999999999999999", Refusal::Number),
    ] {
        assert_eq!(line(text), Err(refusal), "{text}");
    }
    assert_eq!(read("POST /queues/a/messages HTTP/1.1\r\nHost: x\r\n\r\n"), Err(Refusal::Length));
    let two = "POST /queues/a/messages HTTP/1.1\r\nHost: x\r\nX-Sender: a\r\nX-Sender: b\r\n\r\n";
    assert_eq!(read(two), Err(Refusal::Malformed));
    assert_eq!(read("GET /queues HTTP/1.1\n\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"), Err(Refusal::Malformed));
    let many = format!("GET /queues HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: b\r\n".repeat(HEADERS + 1));
    assert_eq!(read(&many), Err(Refusal::Head));
}

#[test]
fn a_token_is_the_whole_token() {
    let with = |header: &str| {
        let text = format!("GET /queues HTTP/1.1\r\nHost: x\r\n{header}\r\n");
        parse(text.as_bytes(), b"", Some("secret"))
            .map(|request| request.operation.kind())
            .map_err(|rejection| rejection.refusal)
    };
    assert_eq!(with("Authorization: Bearer secret\r\n"), Ok(OperationKind::List));
    for bad in [
        "",
        "Authorization: Bearer secre\r\n",
        "Authorization: Bearer secrets\r\n",
        "Authorization: secret\r\n",
    ] {
        assert_eq!(with(bad), Err(Refusal::Token), "{bad}");
    }
}

#[test]
fn the_version_decides_about_the_connection() {
    let close = |text: &str| parse(text.as_bytes(), b"", None).map(|request| request.close);
    assert_eq!(close("GET /queues HTTP/1.1\r\nHost: x\r\n\r\n"), Ok(false));
    assert_eq!(close("GET /queues HTTP/1.1\r\nHost: x\r\nConnection: x, Close\r\n\r\n"), Ok(true));
    assert_eq!(close("GET /queues HTTP/1.0\r\n\r\n"), Ok(true));
    assert_eq!(close("GET /queues HTTP/1.0\r\nconnection: keep-alive\r\n\r\n"), Ok(true));
}

#[test]
fn a_request_names_its_host_once() {
    for hosts in ["", "Host: x\r\nhost: x\r\n", "Host: x/y\r\n"] {
        let text = format!("GET http://x/queues HTTP/1.1\r\n{hosts}\r\n");
        assert_eq!(read(&text), Err(Refusal::Malformed), "{hosts}");
    }
    let text = "GET http://x/queues?after=a HTTP/1.1\r\nHost: x\r\n\r\n";
    assert_eq!(read(text), Ok(Operation::List { after: "a".into() }));
}

#[test]
fn who_asks_for_the_end_of_the_connection_has_it_with_a_refusal_too() {
    let close = |text: &str| parse(text.as_bytes(), b"", None).err().map(|rejection| rejection.close);
    for line in ["GET /nothing", "PUT /queues/%00", "POST /queues"] {
        assert_eq!(close(&format!("{line} HTTP/1.1\r\nHost: x\r\n\r\n")), Some(false), "{line}");
        assert_eq!(
            close(&format!("{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")),
            Some(true),
            "{line}"
        );
        assert_eq!(close(&format!("{line} HTTP/1.0\r\n\r\n")), Some(true), "{line}");
    }
    let after = "GET /queues HTTP/1.1\r\nHost: x\r\nX-Sender: \u{80}\r\nConnection: close\r\n\r\n";
    assert_eq!(close(after), Some(true));
    assert_eq!(
        close("POST /queues/a/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n\r\n"),
        Some(true)
    );
}

/// Percent-encodes all that is not a letter or a digit.
fn encoded(text: &str) -> String {
    let one = |b: u8| {
        if b.is_ascii_alphanumeric() {
            char::from(b).to_string()
        } else {
            format!("%{b:02X}")
        }
    };
    text.bytes().map(one).collect()
}

proptest! {
    #[test]
    fn any_name_comes_back_as_it_was(queue in "\\PC{1,50}", sender in "\\PC{1,50}") {
        prop_assume!(name(&queue).is_ok() && name(&sender).is_ok());
        let text =
            format!("POST /queues/{}/take?sender={} HTTP/1.1\r\nHost: x\r\n\r\n", encoded(&queue), encoded(&sender));
        let expected = Operation::Take { queue: queue.into(), sender: Some(sender.into()) };
        prop_assert_eq!(read(&text), Ok(expected));
    }

    #[test]
    fn no_head_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse(&bytes, b"", Some("t"));
        let text = [b"GET ".as_slice(), &bytes, b" HTTP/1.1\r\nHost: x\r\n\r\n"].concat();
        let _ = parse(&text, b"", None);
    }
}
