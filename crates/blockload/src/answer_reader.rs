//! Answers of an NBD server from the bytes as they arrive, in pieces of any size.

use sojourn_nbdproto::{error_name, ProtocolError, Reply, REPLY_BYTES};

use crate::path::IoEnd;

/// An answer whose first and last bytes are further apart waited for an acknowledgement.
const STALL_S: f64 = 0.0005;

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub slot: u32,
    pub end: IoEnd,
    /// Of one with data: whether they came late.
    pub stalled: Option<bool>,
}

#[derive(Debug, Clone, Copy)]
struct Data {
    slot: u32,
    filled: usize,
    length: usize,
}

/// Where in an answer the bytes end that have come.
#[derive(Debug, Default)]
pub struct AnswerReader {
    head: [u8; REPLY_BYTES],
    filled: usize,
    began_s: f64,
    data: Option<Data>,
}

impl AnswerReader {
    /// Takes bytes from the front of `bytes` up to the end of one answer, its data into the slot's buffer; `None`: all were taken.
    /// `expected` says which slot a cookie belongs to, and how many bytes it reads.
    ///
    /// # Errors
    /// Bytes that are no answer, or one that nothing waits for.
    pub fn advance(
        &mut self,
        bytes: &mut &[u8],
        now_s: f64,
        expected: &dyn Fn(u64) -> Option<(u32, Option<u32>)>,
        buffers: &mut [Vec<u8>],
    ) -> Result<Option<Answer>, ProtocolError> {
        if let Some(data) = self.data {
            return Ok(self.fill(data, bytes, now_s, buffers));
        }
        if self.filled == 0 {
            self.began_s = now_s;
        }
        let count = (REPLY_BYTES - self.filled).min(bytes.len());
        self.head[self.filled..self.filled + count].copy_from_slice(&bytes[..count]);
        self.filled += count;
        *bytes = &bytes[count..];
        if self.filled < REPLY_BYTES {
            return Ok(None);
        }
        self.filled = 0;
        let reply = Reply::decode(&self.head)?;
        let unknown = ProtocolError::Magic { what: "the cookie of an answer", found: reply.cookie };
        let (slot, reads_bytes) = expected(reply.cookie).ok_or(unknown)?;
        match (reply.error, reads_bytes) {
            (0, Some(length)) => {
                Ok(self.fill(Data { slot, filled: 0, length: length as usize }, bytes, now_s, buffers))
            }
            (0, None) => Ok(Some(Answer { slot, end: IoEnd::Done, stalled: None })),
            (error, _) => Ok(Some(Answer { slot, end: IoEnd::Error(error_name(error)), stalled: None })),
        }
    }

    fn fill(
        &mut self,
        mut data: Data,
        bytes: &mut &[u8],
        now_s: f64,
        buffers: &mut [Vec<u8>],
    ) -> Option<Answer> {
        let count = (data.length - data.filled).min(bytes.len());
        buffers[data.slot as usize][data.filled..data.filled + count].copy_from_slice(&bytes[..count]);
        data.filled += count;
        *bytes = &bytes[count..];
        let whole = data.filled == data.length;
        self.data = (!whole).then_some(data);
        let stalled = Some(now_s - self.began_s > STALL_S);
        whole.then_some(Answer { slot: data.slot, end: IoEnd::Done, stalled })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(cookie: u64) -> Option<(u32, Option<u32>)> {
        match cookie {
            1 => Some((0, Some(1000))),
            2 => Some((1, None)),
            _ => None,
        }
    }

    fn answers(stream: &[u8], piece: usize) -> Result<(Vec<Answer>, Vec<Vec<u8>>), ProtocolError> {
        let (mut reader, mut found) = (AnswerReader::default(), Vec::new());
        let mut buffers = vec![vec![0; 1000], vec![]];
        for (index, mut bytes) in stream.chunks(piece).enumerate() {
            let now_s = index as f64 * 1e-3;
            while let Some(answer) = reader.advance(&mut bytes, now_s, &expected, &mut buffers)? {
                found.push(answer);
            }
            assert!(bytes.is_empty());
        }
        Ok((found, buffers))
    }

    #[test]
    fn answers_come_whole_whatever_the_pieces_and_stalls_are_seen() {
        let data: Vec<u8> = (0..1000).map(|i| i as u8).collect();
        let mut stream = Reply { error: 0, cookie: 1 }.encode().to_vec();
        stream.extend(&data);
        stream.extend(Reply { error: 28, cookie: 2 }.encode());
        stream.extend(Reply { error: 5, cookie: 1 }.encode());
        for piece in [1, 16, 17, 999, 5000] {
            let (found, buffers) = answers(&stream, piece).unwrap();
            let end = |error| Answer { slot: 1, end: IoEnd::Error(error), stalled: None };
            let first = Answer { slot: 0, end: IoEnd::Done, stalled: Some(piece < 1016) };
            let last = Answer { slot: 0, ..end("EIO") };
            assert_eq!(found, [first, end("ENOSPC"), last], "{piece}");
            assert_eq!(buffers[0], data);
        }
    }

    #[test]
    fn an_answer_that_nothing_waits_for_ends_the_connection() {
        assert!(answers(&Reply { error: 0, cookie: 3 }.encode(), 4).is_err());
        assert!(answers(b"HTTP/1.1 400 Bad Request", 24).is_err());
    }
}
