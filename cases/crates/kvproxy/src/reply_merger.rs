//! Many answers to one.

use sojourn_memproto::Reply;

const END: &[u8] = b"END\r\n";

/// How good an answer is: success, refused for what is stored there, error.
pub(crate) fn rank(reply: Reply) -> u8 {
    match reply {
        Reply::NotStored | Reply::Exists | Reply::NotFound => 1,
        Reply::Error => ERROR,
        _ => 0,
    }
}

pub(crate) const ERROR: u8 = 2;

/// The answers of the servers to one request. Success only if all say so; else the first of the worst is forwarded.
/// Where all are as good, that of part 0.
#[derive(Debug, Default)]
pub(crate) struct ReplyMerger {
    pub waiting: usize,
    pub rank: u8,
    /// Values found.
    pub found: usize,
    any: bool,
    reply: Vec<u8>,
    parts: Vec<Vec<u8>>,
}

impl ReplyMerger {
    /// For so many answers; `sharded` where each is a share of one.
    pub fn new(waiting: usize, sharded: bool) -> Self {
        let parts = if sharded { vec![Vec::new(); waiting] } else { Vec::new() };
        Self { waiting, parts, ..Self::default() }
    }

    /// Whether the next answer is the only one, so that it need not be kept.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.waiting == 1 && !self.any && self.parts.is_empty()
    }

    /// Bytes kept.
    #[inline]
    pub fn size(&self) -> usize {
        self.reply.len() + self.parts.iter().map(Vec::len).sum::<usize>()
    }

    /// Changes the one answer that there is.
    pub fn change(&mut self, change: impl FnOnce(&[u8]) -> Vec<u8>) {
        self.reply = change(&self.reply);
    }

    pub fn add(&mut self, part: usize, reply: Reply, bytes: &[u8]) {
        self.waiting -= 1;
        let rank = rank(reply);
        let worse = rank > self.rank || !self.any;
        if let (Reply::Values(found), false) = (reply, self.parts.is_empty()) {
            self.found += found;
            self.parts[part].extend_from_slice(bytes.strip_suffix(END).unwrap_or(bytes));
        } else if worse || (rank == self.rank && rank == 0 && part == 0) {
            self.reply.clear();
            self.reply.extend_from_slice(bytes);
            if let Reply::Values(found) = reply {
                self.found = found;
            }
        }
        self.rank = self.rank.max(rank);
        self.any = true;
    }

    /// The one answer; all must be there.
    pub fn finish(&self, out: &mut Vec<u8>) {
        if self.parts.is_empty() || self.rank == ERROR {
            return out.extend_from_slice(&self.reply);
        }
        self.parts.iter().for_each(|part| out.extend_from_slice(part));
        out.extend_from_slice(END);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(sharded: bool, answers: &[(usize, Reply, &[u8])]) -> Vec<u8> {
        let mut gather = ReplyMerger::new(answers.len(), sharded);
        for (part, reply, bytes) in answers {
            gather.add(*part, *reply, bytes);
        }
        let mut out = Vec::new();
        gather.finish(&mut out);
        out
    }

    #[test]
    fn the_first_error_is_forwarded_and_success_needs_all() {
        let (stored, full) =
            ((0, Reply::Stored, &b"STORED\r\n"[..]), (1, Reply::Error, &b"SERVER_ERROR a\r\n"[..]));
        let late = (2, Reply::Error, &b"SERVER_ERROR b\r\n"[..]);
        assert_eq!(gathered(false, &[stored, full, late]), b"SERVER_ERROR a\r\n");
        assert_eq!(gathered(false, &[late, full, stored]), b"SERVER_ERROR b\r\n");
        let not = (1, Reply::NotStored, &b"NOT_STORED\r\n"[..]);
        assert_eq!(gathered(false, &[stored, not]), b"NOT_STORED\r\n");
        assert_eq!(gathered(false, &[not, full]), b"SERVER_ERROR a\r\n");
        let (one, two) = ((1, Reply::Number(1), &b"1\r\n"[..]), (0, Reply::Number(2), &b"2\r\n"[..]));
        assert_eq!(gathered(false, &[one, two]), b"2\r\n", "that of the first server");
    }

    #[test]
    fn shares_come_in_the_order_of_the_request() {
        let (b, a) = (&b"VALUE b 0 1\r\n2\r\nEND\r\n"[..], &b"VALUE a 0 1\r\n1\r\nEND\r\n"[..]);
        let both = gathered(true, &[(1, Reply::Values(1), b), (0, Reply::Values(1), a)]);
        assert_eq!(both, b"VALUE a 0 1\r\n1\r\nVALUE b 0 1\r\n2\r\nEND\r\n");
        let error = (1, Reply::Error, &b"SERVER_ERROR x\r\n"[..]);
        assert_eq!(gathered(true, &[(0, Reply::Values(1), a), error]), b"SERVER_ERROR x\r\n");
    }
}
