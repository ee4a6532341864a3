//! Bytes as the protocol's text has them, and what hostile peers may send.

use proptest::prelude::*;
use sojourn_nbdproto::{
    errors, transmission_flags, ClientHandshake, Command, Export, HandshakeEnd, ProtocolError, Reply,
    Request, ServerHandshake, FUA,
};

fn export() -> Export {
    let flags = transmission_flags::HAS_FLAGS | transmission_flags::SEND_FLUSH;
    Export { size_bytes: 1 << 30, flags, blocks_bytes: Some((512, 4096, 1 << 20)) }
}

/// The greeting of a server with fixed newstyle and without zeroes, written out.
const GREETING: &[u8] = b"NBDMAGICIHAVEOPT\0\x03";

/// An answer to `GO`, written out.
fn answer(kind: u32, data: &[u8]) -> Vec<u8> {
    let mut out = vec![0x00, 0x03, 0xe8, 0x89, 0x04, 0x55, 0x65, 0xa9, 0, 0, 0, 7];
    out.extend(kind.to_be_bytes());
    out.extend((data.len() as u32).to_be_bytes());
    out.extend(data);
    out
}

fn greeted() -> ClientHandshake {
    let (mut client, mut out) = (ClientHandshake::new("x").unwrap(), Vec::new());
    assert_eq!(client.advance(GREETING, &mut out), Ok((18, None)));
    // flags, then IHAVEOPT, GO, 9 bytes: a name of 1, "x", one kind of information: block sizes.
    let wanted = b"\0\0\0\x03IHAVEOPT\0\0\0\x07\0\0\0\x09\0\0\0\x01x\0\x01\0\x03";
    assert_eq!(out, wanted);
    client
}

#[test]
fn a_request_and_a_reply_are_as_the_protocol_writes_them() {
    let request = Request {
        command: Command::Write,
        flags: FUA,
        cookie: 0x0102_0304_0506_0708,
        offset_bytes: 0x1000,
        length_bytes: 8192,
    };
    let bytes = *b"\x25\x60\x95\x13\0\x01\0\x01\x01\x02\x03\x04\x05\x06\x07\x08\0\0\0\0\0\0\x10\0\0\0\x20\0";
    assert_eq!(request.encode(), bytes);
    assert_eq!(Request::decode(&bytes), Ok(request));
    let reply = Reply { error: errors::NO_SPACE, cookie: 9 };
    let bytes = *b"\x67\x44\x66\x98\0\0\0\x1c\0\0\0\0\0\0\0\x09";
    assert_eq!((reply.encode(), Reply::decode(&bytes)), (bytes, Ok(reply)));
}

#[test]
fn a_client_agrees_on_an_export_with_and_without_go() {
    let (mut client, mut out) = (greeted(), Vec::new());
    let size = [&[0, 0][..], &(1u64 << 30).to_be_bytes(), &[0, 5]].concat();
    assert_eq!(client.advance(&answer(3, &size), &mut out), Ok((32, None)));
    let (_, found) = client.advance(&answer(1, &[]), &mut out).unwrap();
    assert_eq!(found, Some(Export { blocks_bytes: None, ..export() }));
    let (mut client, mut out) = (greeted(), Vec::new());
    client.advance(&answer((1 << 31) + 1, b"no GO here"), &mut out).unwrap();
    assert_eq!(out, b"IHAVEOPT\0\0\0\x01\0\0\0\x01x");
    let old = [&(1u64 << 30).to_be_bytes()[..], &[0, 5]].concat();
    assert_eq!(client.advance(&old, &mut out).unwrap().1, Some(Export { blocks_bytes: None, ..export() }));
}

#[test]
fn a_client_says_what_a_server_may_not_send() {
    let refused = |bytes: &[u8]| greeted().advance(bytes, &mut Vec::new()).unwrap_err().to_string();
    assert!(refused(&answer((1 << 31) + 6, b"nope\n")).ends_with("it has no such export (nope)"));
    assert!(refused(&answer(1, &[])).contains("how large"));
    assert!(refused(&answer(3, &[0])).contains("shorter than it says"));
    assert!(refused(&[b'H'; 20]).contains("this is not NBD"));
    let mut long = answer(3, &[]);
    long[16..20].copy_from_slice(&(1u32 << 20).to_be_bytes());
    assert!(refused(&long).contains("1048576 bytes; at most 65536"));
    let mut other = answer(1, &[]);
    other[11] = 3;
    assert!(refused(&other).contains("option 3, which was not sent"));
    let mut client = greeted();
    let endless = (0..65).map(|_| client.advance(&answer(3, &[0, 9]), &mut Vec::new())).last().unwrap();
    assert_eq!(endless, Err(ProtocolError::TooMany { what: "answers to GO", most: 64 }));
    let old = ClientHandshake::new("").unwrap().advance(b"NBDMAGICIHAVEOPT\0\0", &mut Vec::new());
    assert_eq!(old, Err(ProtocolError::NotFixedNewstyle { flags: 0 }));
    assert!(ClientHandshake::new(&"n".repeat(4097)).is_err());
}

#[test]
fn both_sides_agree_in_pieces_of_any_size() {
    for piece in [1, 3, 7, 1000] {
        let (mut to_client, mut to_server) = (Vec::new(), Vec::new());
        let mut server = ServerHandshake::new(export(), &mut to_client);
        let mut client = ClientHandshake::new("disk").unwrap();
        let (mut at_client, mut at_server) = (Vec::new(), Vec::new());
        let (mut found, mut ended) = (None, None);
        while found.is_none() {
            at_client.extend(to_client.drain(..piece.min(to_client.len())));
            let (taken, export) = client.advance(&at_client, &mut to_server).unwrap();
            at_client.drain(..taken);
            found = export;
            at_server.extend(to_server.drain(..piece.min(to_server.len())));
            let (taken, end) = server.advance(&at_server, &mut to_client).unwrap();
            at_server.drain(..taken);
            ended = end.or(ended);
        }
        assert_eq!((found, ended), (Some(export()), Some(HandshakeEnd::Transmission)));
    }
}

#[test]
fn a_server_refuses_what_a_client_may_not_send() {
    let server = || ServerHandshake::new(export(), &mut Vec::new());
    let said = |bytes: &[u8]| {
        let (mut server, mut out) = (server(), Vec::new());
        server.advance(b"\0\0\0\x03", &mut out)?;
        server.advance(bytes, &mut out).map(|(taken, end)| (taken, end, out))
    };
    assert!(server().advance(b"GET ", &mut Vec::new()).is_err());
    assert!(said(b"IHAVEOPT\0\0\0\x07\x7f\0\0\0").is_err());
    assert!(said(&[b'x'; 16]).is_err());
    // GO whose name is longer than its data: an answer, not the end of the connection.
    let (_, end, out) = said(b"IHAVEOPT\0\0\0\x07\0\0\0\x04\0\0\0\x09").unwrap();
    assert_eq!((end, &out[12..16]), (None, &((1u32 << 31) + 3).to_be_bytes()[..]));
    let (_, end, out) = said(b"IHAVEOPT\0\0\0\x63\0\0\0\0").unwrap();
    assert_eq!((end, &out[12..16]), (None, &((1u32 << 31) + 1).to_be_bytes()[..]));
    assert_eq!(said(b"IHAVEOPT\0\0\0\x02\0\0\0\0").unwrap().1, Some(HandshakeEnd::Abort));
}

proptest! {
    #[test]
    fn no_bytes_make_either_side_panic_or_take_more_than_there_is(
        bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0usize..60,
    ) {
        let mut out = Vec::new();
        let prefixed = [GREETING, &answer(3, &bytes[..cut.min(bytes.len())]), &bytes].concat();
        let (mut client, mut at) = (ClientHandshake::new("").unwrap(), 0);
        while let Ok((taken @ 1.., None)) = client.advance(&prefixed[at..], &mut out) {
            at += taken;
        }
        prop_assert!(at <= prefixed.len());
        let prefixed = [b"\0\0\0\x01IHAVEOPT\0\0\0\x07\0\0\0\x20", &bytes[..]].concat();
        let (mut server, mut at) = (ServerHandshake::new(export(), &mut out), 0);
        while let Ok((taken @ 1.., None)) = server.advance(&prefixed[at..], &mut out) {
            at += taken;
        }
        prop_assert!(at <= prefixed.len());
    }
}
