//! One request and its answer on a connection. Buffers are kept from one request to the next.

use sojourn_memproto::{Reply, ReplyKind, ReplyScan, Values};

use super::{RequestGenerator, SET};
use crate::http::ResponseError;
use crate::request_outcome::Failure;

/// What a connection is doing; `begin` before the next request.
#[derive(Debug)]
pub struct Exchange {
    /// The bytes of the request.
    pub out: Vec<u8>,
    /// The keys that it is about, by number, in order.
    pub asked: Vec<u64>,
    /// Of the answer: keys found, bytes of values, and whether all is right.
    pub found: u16,
    pub value_bytes: u64,
    pub failure: Failure,
    class: u16,
    /// The beginning of an answer that came in pieces.
    partial: Vec<u8>,
    scan: Option<ReplyScan>,
}

impl Exchange {
    pub fn new() -> Exchange {
        let (out, asked, partial) = (Vec::new(), Vec::new(), Vec::new());
        Exchange {
            out,
            asked,
            found: 0,
            value_bytes: 0,
            failure: Failure::Ok,
            class: SET,
            partial,
            scan: None,
        }
    }

    pub(super) fn begin(&mut self, class: u16) {
        self.out.clear();
        self.asked.clear();
        self.partial.clear();
        (self.found, self.value_bytes, self.failure) = (0, 0, Failure::Ok);
        (self.class, self.scan) = (class, None);
    }

    /// Takes the next bytes. `Some(n)`: complete after n of them; `None`: all taken, more must come.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        generator: &RequestGenerator,
    ) -> Result<Option<usize>, ResponseError> {
        let before = self.partial.len();
        if before > 0 {
            self.partial.extend_from_slice(bytes);
        }
        let kind = if self.class == SET { ReplyKind::Line } else { ReplyKind::Values };
        let most = generator.content.block_bytes() * self.asked.len() + 512;
        let scan = self.scan.get_or_insert_with(|| ReplyScan::new(kind, most));
        let partial = std::mem::take(&mut self.partial);
        let buffer = if before > 0 { &partial[..] } else { bytes };
        let scanned = scan.scan(buffer).map_err(|_| ResponseError::Protocol);
        let used = match scanned? {
            Some((reply, length)) => {
                self.judge(reply, &buffer[..length], generator);
                Some(length - before)
            }
            None => None,
        };
        self.partial = partial;
        if used.is_none() && before == 0 {
            self.partial.extend_from_slice(bytes);
        }
        Ok(used)
    }

    fn judge(&mut self, reply: Reply, answer: &[u8], generator: &RequestGenerator) {
        match reply {
            Reply::Stored if self.class == SET => {
                self.value_bytes = generator.content.value_length(self.asked[0]) as u64;
            }
            Reply::Values(_) => self.judge_values(answer, generator),
            _ => self.failure = Failure::Error,
        }
    }

    /// The values must be of keys that were asked for, in that order, and what those keys say.
    fn judge_values(&mut self, answer: &[u8], generator: &RequestGenerator) {
        let mut asked = self.asked.iter();
        for (key, block) in Values(answer) {
            let Some(number) = asked.find(|number| generator.content.key(**number).bytes() == key) else {
                self.failure = Failure::Wrong;
                return;
            };
            // The scan has seen the line and both ends.
            let line = block.iter().position(|b| *b == b'\n').map_or(block.len(), |at| at + 1);
            let data = &block[line..block.len() - 2];
            self.found += 1;
            self.value_bytes += data.len() as u64;
            if generator.config.verify && !generator.content.is_value(*number, data) {
                self.failure = Failure::Wrong;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{KvConfig, SizeDistribution};
    use crate::kv::{KeysAndValues, MULTI_GET};

    /// A generator, an exchange that asks for these keys, and the answer in which `found` are there.
    fn asked(keys: &[u64], found: &[u64]) -> (RequestGenerator, Exchange, Vec<u8>) {
        let value_bytes = SizeDistribution::Uniform { low: 0, high: 300 };
        let generator = RequestGenerator::new(&KvConfig { value_bytes, ..KvConfig::default() }, 1, 0, 1);
        let mut exchange = Exchange::new();
        exchange.begin(MULTI_GET);
        exchange.asked.extend(keys);
        let mut answer = Vec::new();
        found.iter().for_each(|key| push_block(&mut answer, &generator.content, *key));
        answer.extend_from_slice(b"END\r\n");
        (generator, exchange, answer)
    }

    fn push_block(answer: &mut Vec<u8>, content: &KeysAndValues, key: u64) {
        let mut set = Vec::new();
        content.push_set(key, 0, &mut set);
        let end = set.iter().position(|b| *b == b'\n').unwrap();
        let name = content.key(key);
        answer.extend_from_slice(b"VALUE ");
        answer.extend_from_slice(name.bytes());
        answer.extend_from_slice(format!(" 0 {}\r\n", content.value_length(key)).as_bytes());
        answer.extend_from_slice(&set[end + 1..]);
    }

    #[test]
    fn answers_in_pieces_of_any_size() {
        for size in [1, 2, 3, 7, 50, 100_000] {
            let (generator, mut exchange, answer) = asked(&[1, 2, 3, 2], &[1, 3, 2]);
            let mut complete = None;
            for piece in answer.chunks(size) {
                assert_eq!(complete, None);
                complete = exchange.feed(piece, &generator).unwrap().map(|used| used == piece.len());
            }
            assert_eq!(complete, Some(true));
            assert_eq!((exchange.found, exchange.failure), (3, Failure::Ok));
        }
    }

    #[test]
    fn wrong_answers_are_told_from_misses() {
        let judged = |keys: &[u64], found: &[u64]| {
            let (generator, mut exchange, answer) = asked(keys, found);
            exchange.feed(&answer, &generator).unwrap().unwrap();
            (exchange.found, exchange.failure)
        };
        assert_eq!(judged(&[1, 2], &[]), (0, Failure::Ok));
        assert_eq!(judged(&[1, 2], &[2]), (1, Failure::Ok));
        assert_eq!(judged(&[1, 2], &[2, 1]).1, Failure::Wrong, "out of order");
        assert_eq!(judged(&[1, 2], &[3]).1, Failure::Wrong, "not asked for");
        let (generator, mut exchange, mut answer) = asked(&[1], &[1]);
        let length = answer.len();
        answer[length - 8] ^= 1;
        exchange.feed(&answer, &generator).unwrap().unwrap();
        assert_eq!(exchange.failure, Failure::Wrong, "a flipped bit");
        let (generator, mut exchange, _) = asked(&[1], &[]);
        exchange.feed(b"SERVER_ERROR out of memory\r\n", &generator).unwrap().unwrap();
        assert_eq!(exchange.failure, Failure::Error);
        let (generator, mut exchange, _) = asked(&[1], &[]);
        assert_eq!(exchange.feed(b"HTTP/1.1 200 OK\r\n", &generator), Err(ResponseError::Protocol));
    }
}
