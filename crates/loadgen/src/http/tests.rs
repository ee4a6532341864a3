use super::{EndOfStream, Response, ResponseError};

/// Feeds in pieces of `size`; (status, body bytes, keep alive, bytes used) of a complete response.
fn read(text: &str, size: usize) -> Result<Option<(u16, u64, bool, usize)>, ResponseError> {
    let mut response = Response::new();
    let mut before = 0;
    for piece in text.as_bytes().chunks(size) {
        if let Some(used) = response.feed(piece)? {
            return Ok(Some((response.status, response.body.bytes, response.keep_alive, before + used)));
        }
        before += piece.len();
    }
    Ok(None)
}

const WHOLE: [(&str, u16, u64, bool); 7] = [
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, 5, true),
    ("HTTP/1.1 500 No\r\ncontent-length:0\r\nConnection: close\r\n\r\n", 500, 0, false),
    ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, 2, false),
    ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: Keep-Alive\r\n\r\nhi", 200, 2, true),
    ("HTTP/1.1 204 None\r\n\r\n", 204, 0, true),
    ("HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, 1, true),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n1A\r\nabcdefghijklmnopqrstuvwxyz\r\n\
         0\r\nTrailer: x\r\n\r\n",
        200,
        31,
        true,
    ),
];

#[test]
fn complete_responses_in_pieces_of_any_size() {
    for (text, status, bytes, keep_alive) in WHOLE {
        for size in 1..=text.len() {
            assert_eq!(read(text, size), Ok(Some((status, bytes, keep_alive, text.len()))), "{size}: {text}");
        }
        // What follows is not taken.
        let followed = format!("{text}HTTP/1.1");
        assert_eq!(read(&followed, followed.len()).unwrap().unwrap().3, text.len());
    }
}

#[test]
fn broken_responses() {
    let protocol = [
        "SSH-2.0-x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 101 Switch\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1234567890abcdef1\r\n",
    ];
    for text in protocol {
        assert_eq!(read(text, text.len()), Err(ResponseError::Protocol), "{text}");
    }
    let long = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 64 * 1024 * 1024 + 1);
    assert_eq!(read(&long, 10), Err(ResponseError::TooLong));
    let interims = |count| "HTTP/1.1 100 Continue\r\n\r\n".repeat(count) + "HTTP/1.1 204 None\r\n\r\n";
    assert!(read(&interims(16), 1000).is_ok_and(|read| read.is_some()));
    assert_eq!(read(&interims(17), 1000), Err(ResponseError::Protocol));
    let head = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(70_000));
    assert_eq!(read(&head, 1000), Err(ResponseError::Protocol));
}

#[test]
fn the_end_of_the_stream() {
    let mut response = Response::new();
    assert_eq!(response.end(), EndOfStream::NoAnswer);
    response.feed(b"HTTP/1.1 200 OK\r\n\r\nabc").unwrap();
    assert_eq!((response.end(), response.body.bytes), (EndOfStream::Complete, 3));
    response.reset(false);
    response.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").unwrap();
    assert_eq!(response.end(), EndOfStream::Short);
}

#[test]
fn an_answer_to_a_head_has_no_body() {
    for text in [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
    ] {
        let mut response = Response::new();
        response.reset(true);
        assert_eq!(response.feed(text.as_bytes()), Ok(Some(text.len())), "{text}");
        assert!(response.keep_alive && response.body.bytes == 0);
    }
}
