//! One connection: the negotiation, then requests, each checked against the limits.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use sojourn_nbdproto::{
    errors, transmission_flags, Command, Export, HandshakeEnd, Reply, Request, ServerHandshake, FUA,
    OPTION_BYTES_MAX, REPLY_BYTES, REQUEST_BYTES,
};
use sojourn_serving::MemoryLimit;

use crate::backing::Backing;
use crate::delayed_answers::DelayedAnswers;
use crate::stoppable_stream::StoppableStream;
use crate::Summary;

/// For the whole negotiation.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// The longest read or write.
pub const REQUEST_BYTES_MAX: u32 = 32 << 20;

/// What all connections have in common.
pub struct Shared<'a> {
    pub backing: &'a Backing,
    /// Of requests and answers of all connections.
    pub memory: &'a MemoryLimit,
}

pub fn export(backing: &Backing) -> Export {
    let flags = transmission_flags::HAS_FLAGS | transmission_flags::SEND_FLUSH | transmission_flags::SEND_FUA;
    let blocks_bytes = Some((backing.least_bytes(), 4096, REQUEST_BYTES_MAX));
    Export { size_bytes: backing.size_bytes(), flags, blocks_bytes }
}

/// Negotiates; whether requests follow.
///
/// # Errors
/// What a peer may not send, or not in time.
pub fn negotiate(stream: &mut StoppableStream, backing: &Backing) -> io::Result<bool> {
    stream.until = Some(Instant::now() + HANDSHAKE);
    let (mut input, mut out, mut piece) = (Vec::new(), Vec::new(), [0u8; 4096]);
    let mut handshake = ServerHandshake::new(export(backing), &mut out);
    loop {
        let (taken, end) = handshake.advance(&input, &mut out).map_err(io::Error::other)?;
        input.drain(..taken);
        if taken > 0 && end.is_none() {
            continue;
        }
        stream.stream.write_all(&out)?;
        out.clear();
        match end {
            Some(HandshakeEnd::Abort) => return Ok(false),
            // A client that does not wait for the answer would lose what it has sent.
            Some(HandshakeEnd::Transmission) if !input.is_empty() => {
                return Err(io::Error::other("requests before the negotiation had ended"));
            }
            Some(HandshakeEnd::Transmission) => break,
            None => {}
        }
        let count = stream.read_some(&mut piece)?;
        if count == 0 {
            return Ok(false);
        }
        input.extend(&piece[..count]);
        if input.len() > 2 * OPTION_BYTES_MAX as usize {
            return Err(io::Error::other("more bytes than an option has"));
        }
    }
    stream.until = None;
    Ok(true)
}

/// Takes requests until the client disconnects, the connection ends or the server is stopped.
///
/// # Errors
/// What a peer may not send.
pub fn transmit(
    stream: &mut StoppableStream,
    answers: &mut DelayedAnswers,
    shared: &Shared,
    summary: &mut Summary,
) -> io::Result<()> {
    let mut head = [0u8; REQUEST_BYTES];
    let mut data = Vec::new();
    while stream.read_whole(&mut head)? {
        let request = Request::decode(&head).map_err(io::Error::other)?;
        if request.command == Command::Disconnect {
            return Ok(());
        }
        if request.length_bytes > REQUEST_BYTES_MAX {
            // Its data would have to be read to stay in step.
            return Err(io::Error::other("a request longer than was agreed on"));
        }
        let length = request.length_bytes as usize;
        if request.command == Command::Write {
            data.resize(length, 0);
            if length > 0 && !stream.read_whole(&mut data)? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let reads = if request.command == Command::Read { length } else { 0 };
        let room = REPLY_BYTES + reads;
        if !shared.memory.take(room) {
            // Another thread may be in the middle of an answer: there is no place for an error of this one.
            return Err(io::Error::other("more is asked for at a time than the server may hold"));
        }
        let bytes = answer(&request, &data, shared.backing, summary);
        shared.memory.give(room - bytes.len());
        answers.send(bytes)?;
    }
    Ok(())
}

/// Does what is asked; the answer.
fn answer(request: &Request, data: &[u8], backing: &Backing, summary: &mut Summary) -> Vec<u8> {
    let mut out = Reply { error: 0, cookie: request.cookie }.encode().to_vec();
    let (offset, length) = (request.offset_bytes, u64::from(request.length_bytes));
    let inside = offset.checked_add(length).is_some_and(|end| end <= backing.size_bytes());
    let unit = u64::from(backing.least_bytes());
    let whole = offset.is_multiple_of(unit) && length.is_multiple_of(unit);
    let done = match request.command {
        Command::Flush => backing.flush(),
        _ if !whole || request.flags & !FUA != 0 => Err(io::ErrorKind::InvalidInput.into()),
        Command::Write if !inside => Err(io::ErrorKind::StorageFull.into()),
        _ if !inside => Err(io::ErrorKind::InvalidInput.into()),
        Command::Read => {
            out.resize(REPLY_BYTES + length as usize, 0);
            backing.read(offset, &mut out[REPLY_BYTES..])
        }
        _ => backing.write(offset, data, request.flags & FUA != 0),
    };
    match (done, request.command) {
        (Err(error), _) => {
            summary.errors += 1;
            let error = match error.kind() {
                io::ErrorKind::InvalidInput => errors::INVALID,
                io::ErrorKind::StorageFull => errors::NO_SPACE,
                _ => errors::IO,
            };
            return Reply { error, cookie: request.cookie }.encode().to_vec();
        }
        (Ok(()), Command::Read) => {
            summary.reads += 1;
            summary.read_bytes += length;
        }
        (Ok(()), Command::Write) => {
            summary.writes += 1;
            summary.write_bytes += length;
        }
        (Ok(()), _) => summary.flushes += 1,
    }
    out
}
