//! Bytes from one side to the other, whole requests and whole answers by their line ends.

use std::collections::VecDeque;

/// What was counted: answers, waits, system calls.
#[derive(Default)]
pub struct Seen {
    pub done: u64,
    pub waits: u64,
    pub calls: u64,
}

/// Cuts bytes into messages of so many lines; what is not whole is kept.
pub struct Framer {
    lines: usize,
    kept: Vec<u8>,
}

impl Framer {
    fn new(lines: usize) -> Self {
        Self { lines, kept: Vec::new() }
    }

    fn each(&mut self, bytes: &[u8], mut message: impl FnMut(&[u8])) {
        let mut whole = std::mem::take(&mut self.kept);
        let bytes = if whole.is_empty() {
            bytes
        } else {
            whole.extend_from_slice(bytes);
            &whole
        };
        let (mut start, mut lines) = (0, 0);
        for end in memchr::memchr_iter(b'\n', bytes) {
            lines += 1;
            if lines == self.lines {
                message(&bytes[start..=end]);
                (start, lines) = (end + 1, 0);
            }
        }
        self.kept.extend_from_slice(&bytes[start..]);
    }
}

pub struct Relay {
    clients: Vec<(Framer, Vec<u8>)>,
    answers: Framer,
    pub to_server: Vec<u8>,
    waiting: VecDeque<usize>,
    /// Clients with something to be written.
    pub dirty: Vec<usize>,
    pub seen: Seen,
}

impl Relay {
    pub fn new(clients: usize, set: bool) -> Self {
        let (request, answer) = if set { (2, 1) } else { (1, 3) };
        Self {
            clients: (0..clients).map(|_| (Framer::new(request), Vec::new())).collect(),
            answers: Framer::new(answer),
            to_server: Vec::new(),
            waiting: VecDeque::new(),
            dirty: Vec::new(),
            seen: Seen::default(),
        }
    }

    pub fn from_client(&mut self, client: usize, bytes: &[u8]) {
        let Self { clients, to_server, waiting, .. } = self;
        clients[client].0.each(bytes, |request| {
            to_server.extend_from_slice(request);
            waiting.push_back(client);
        });
    }

    pub fn from_server(&mut self, bytes: &[u8]) {
        let Self { clients, answers, waiting, dirty, seen, .. } = self;
        answers.each(bytes, |answer| {
            let client = waiting.pop_front().expect("an answer that was asked for");
            let out = &mut clients[client].1;
            if out.is_empty() {
                dirty.push(client);
            }
            out.extend_from_slice(answer);
            seen.done += 1;
        });
    }

    pub fn out(&mut self, client: usize) -> &mut Vec<u8> {
        &mut self.clients[client].1
    }
}
