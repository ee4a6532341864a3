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
        // RFC 9112, section 6.3: both may be an attempt to smuggle; section 6.1: not in HTTP/1.0; section 7.1: once.
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
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
    assert!(response.ends_with_connection());
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

/// What Python's gzip.compress and zlib.compress make of "hello hello hello".
const GZIP: &[u8] =
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x90\x00\x80\x88\xf9\xe5\x11\x00\x00\x00";
const ZLIB: &[u8] = b"\x78\x9c\xcb\x48\xcd\xc9\xc9\x57\xc8\x40\x90\x00\x3a\x2e\x06\x7d";

/// Whether an answer with this coding and body is taken, in pieces of each size; with `length`, or up to the end.
fn decodes(coding: &str, body: &[u8], length: bool) -> bool {
    let length = if length { format!("Content-Length: {}\r\n", body.len()) } else { String::new() };
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n{length}\r\n");
    let whole = [head.as_bytes(), body].concat();
    let found: Vec<bool> = [1, 3, 1000]
        .map(|size| {
            let mut response = Response::new();
            for piece in whole.chunks(size) {
                match response.feed(piece) {
                    Ok(None) => {}
                    Ok(Some(used)) => {
                        assert_eq!((used, response.body.bytes), (piece.len(), body.len() as u64));
                        return true;
                    }
                    Err(error) => {
                        assert_eq!(error, ResponseError::Coding);
                        return false;
                    }
                }
            }
            match response.end() {
                EndOfStream::Complete => true,
                EndOfStream::Coding => false,
                other => panic!("{other:?}"),
            }
        })
        .to_vec();
    assert!(found.iter().all(|one| *one == found[0]), "{coding}: {found:?}");
    found[0]
}

#[test]
fn a_body_in_a_coding_is_one_that_can_be_decoded() {
    for length in [true, false] {
        for (coding, body) in
            [("gzip", GZIP), ("X-GZIP", GZIP), ("deflate", ZLIB), ("identity", b"hello"), ("gzip", b"")]
        {
            assert!(decodes(coding, body, length), "{coding}");
        }
        assert!(decodes("gzip", &[GZIP, GZIP].concat(), length), "of two members");
        let mut flipped = GZIP.to_vec();
        flipped[GZIP.len() - 6] ^= 1; // of the sum
        let cut = &GZIP[..GZIP.len() - 1];
        for (coding, body) in [
            ("gzip", &b"hello"[..]),
            ("gzip", &flipped),
            ("gzip", cut),
            ("gzip", &[GZIP, b"more"].concat()),
            ("deflate", GZIP),
            ("deflate", &ZLIB[..ZLIB.len() - 1]),
            ("br", b"hello"),
            ("gzip, gzip", GZIP),
        ] {
            assert!(!decodes(coding, body, length), "{coding}: {}", body.escape_ascii());
        }
    }
}

#[test]
fn what_becomes_too_large_when_it_is_decoded_is_given_up() {
    use std::io::Write;
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    (0..65).for_each(|_| bomb.write_all(&vec![0; 1 << 20]).unwrap());
    assert!(!decodes("gzip", &bomb.finish().unwrap(), true));
}
