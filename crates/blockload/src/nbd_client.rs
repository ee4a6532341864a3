//! A network block device by a client of our own: sends at once, takes answers as they arrive, connects again.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::sync::mpsc::{channel, Receiver, TryRecvError};
use std::thread::Builder;
use std::time::Duration;

use sojourn_loadgen::recording::Poller;
use sojourn_nbdproto::{Command, Export, Request, FUA};
use sojourn_record::clock;

use crate::answer_reader::{Answer, AnswerReader};
use crate::error::BlockLoadError;
use crate::nbd_connection::{connect, NbdStream};
use crate::nbd_url::NbdUrl;
use crate::operation::{Operation, OperationKind};
use crate::path::{BlockPath, Completion, IoEnd, NetworkCounts};
use crate::sys;

const RECEIVE_BYTES: usize = 256 << 10;
/// Between two attempts to connect again, and how often the outcome of one is looked at.
const RECONNECT_S: f64 = 0.05;
const LOOK_S: f64 = 0.005;

type Connected = Result<(NbdStream, Export), BlockLoadError>;

enum Link {
    Up(NbdStream),
    /// The next attempt begins then.
    Down {
        next_s: f64,
    },
    Connecting(Receiver<Connected>),
}

/// What an answer is waited for.
#[derive(Debug, Clone, Copy)]
struct Pending {
    cookie: u64,
    reads_bytes: Option<u32>,
}

/// The client: one connection, as many I/Os under way as it has slots.
pub struct NbdClient {
    url: NbdUrl,
    export: Export,
    link: Link,
    poller: Poller,
    quick_ack: bool,
    /// To connect again, s.
    limit_s: f64,
    buffers: Vec<Vec<u8>>,
    pending: Vec<Option<Pending>>,
    /// Which connection it is: an answer of an older one is none.
    generation: u32,
    /// Bytes that the socket did not take yet.
    unsent: VecDeque<u8>,
    reader: AnswerReader,
    received: Vec<u8>,
    /// Ends that are not told yet: of I/Os on a connection that broke.
    lost: Vec<Completion>,
    counts: NetworkCounts,
}

impl NbdClient {
    /// For `depth` I/Os of up to `block_bytes` on a connection that stands; connects again within `limit_s`.
    ///
    /// # Errors
    /// The process may have no further file.
    pub fn new(
        url: NbdUrl,
        (stream, export): (NbdStream, Export),
        depth: u32,
        block_bytes: u32,
        quick_ack: bool,
        limit_s: f64,
    ) -> io::Result<NbdClient> {
        let poller = Poller::new(false)?;
        poller.add(&stream, 0)?;
        Ok(NbdClient {
            url,
            export,
            link: Link::Up(stream),
            poller,
            quick_ack,
            limit_s,
            buffers: (0..depth).map(|_| vec![0; block_bytes as usize]).collect(),
            pending: vec![None; depth as usize],
            generation: 0,
            unsent: VecDeque::new(),
            reader: AnswerReader::default(),
            received: vec![0; RECEIVE_BYTES],
            lost: Vec::new(),
            counts: NetworkCounts::default(),
        })
    }

    /// Sends as much of what is left as the socket takes.
    fn send_rest(&mut self) -> io::Result<()> {
        let Link::Up(stream) = &mut self.link else { return Ok(()) };
        while !self.unsent.is_empty() {
            let (front, _) = self.unsent.as_slices();
            match stream.write(front) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn send(&mut self, head: &[u8], slot: Option<u32>, length: usize) -> io::Result<()> {
        let body = slot.map_or(&[][..], |slot| &self.buffers[slot as usize][..length]);
        let Link::Up(stream) = &mut self.link else {
            return Err(ErrorKind::NotConnected.into());
        };
        let mut sent = 0;
        if self.unsent.is_empty() {
            sent = match stream.write_vectored(&[IoSlice::new(head), IoSlice::new(body)]) {
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => 0,
                other => other?,
            };
        }
        self.unsent.extend(head.iter().skip(sent));
        self.unsent.extend(body.iter().skip(sent.saturating_sub(head.len())));
        Ok(())
    }

    /// Takes all that has arrived.
    fn receive(&mut self, ended: &mut Vec<Completion>) -> io::Result<()> {
        loop {
            let Link::Up(stream) = &mut self.link else { return Ok(()) };
            let count = match stream.read(&mut self.received) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => count,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            if self.quick_ack {
                sys::quick_ack(stream);
            }
            self.take(count, ended)?;
            if count < self.received.len() {
                return Ok(()); // the socket is empty: an edge tells of the next bytes
            }
        }
    }

    fn take(&mut self, count: usize, ended: &mut Vec<Completion>) -> io::Result<()> {
        let (pending, buffers, generation) = (&mut self.pending, &mut self.buffers, self.generation);
        let now_s = clock::s(clock::now());
        let expected = |cookie: u64| {
            let slot = cookie as u32;
            let found = pending.get(slot as usize).copied().flatten();
            let found = found.filter(|one| one.cookie == cookie && (cookie >> 32) as u32 == generation)?;
            Some((slot, found.reads_bytes))
        };
        let counts = &mut self.counts;
        let mut bytes = &self.received[..count];
        let mut freed = Vec::new();
        while let Some(Answer { slot, end, stalled }) =
            self.reader.advance(&mut bytes, now_s, &expected, buffers).map_err(io::Error::other)?
        {
            if let Some(stalled) = stalled {
                counts.answers_with_data += 1;
                counts.stalled += u64::from(stalled);
            }
            freed.push(slot);
            ended.push(Completion { slot, end });
        }
        freed.into_iter().for_each(|slot| pending[slot as usize] = None);
        Ok(())
    }

    /// The connection broke: what was under way on it is lost.
    fn break_off(&mut self) {
        for (slot, pending) in self.pending.iter_mut().enumerate() {
            if pending.take().is_some() {
                self.lost.push(Completion { slot: slot as u32, end: IoEnd::Lost });
            }
        }
        self.link = Link::Down { next_s: clock::s(clock::now()) };
        self.unsent.clear();
        self.reader = AnswerReader::default();
        self.generation += 1;
    }

    /// Goes on with connecting again.
    fn reconnect(&mut self, now_s: f64) -> io::Result<()> {
        match &mut self.link {
            Link::Down { next_s } if now_s >= *next_s => {
                let (url, limit) = (self.url.clone(), Duration::from_secs_f64(self.limit_s));
                let (told, outcome) = channel();
                // A connect may last; nothing that is due may wait for it.
                let thread = Builder::new().name("block-connect".to_string());
                thread.spawn(move || drop(told.send(connect(&url, limit))))?;
                self.link = Link::Connecting(outcome);
            }
            Link::Connecting(outcome) => match outcome.try_recv() {
                // Another size is another export: what was written is not there.
                Ok(Ok((stream, export))) if export.size_bytes == self.export.size_bytes => {
                    self.poller.add(&stream, 0)?;
                    self.link = Link::Up(stream);
                    self.counts.reconnects += 1;
                }
                Ok(_) | Err(TryRecvError::Disconnected) => {
                    self.link = Link::Down { next_s: now_s + RECONNECT_S };
                }
                Err(TryRecvError::Empty) => {}
            },
            _ => {}
        }
        Ok(())
    }
}

impl BlockPath for NbdClient {
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        &mut self.buffers[slot as usize]
    }

    fn is_up(&self) -> bool {
        matches!(self.link, Link::Up(_))
    }

    fn begin(&mut self, slot: u32, operation: &Operation) -> io::Result<()> {
        let (command, length) = match operation.kind {
            OperationKind::Read => (Command::Read, 0),
            OperationKind::Write => (Command::Write, operation.length_bytes as usize),
            OperationKind::Flush => (Command::Flush, 0),
        };
        let cookie = u64::from(self.generation) << 32 | u64::from(slot);
        let request = Request {
            command,
            flags: if operation.stable { FUA } else { 0 },
            cookie,
            offset_bytes: operation.offset_bytes,
            length_bytes: operation.length_bytes,
        };
        let reads_bytes = (command == Command::Read).then_some(operation.length_bytes);
        self.pending[slot as usize] = Some(Pending { cookie, reads_bytes });
        if self.send(&request.encode(), Some(slot), length).is_err() {
            self.break_off();
        }
        Ok(())
    }

    fn wait(&mut self, until_s: f64, ended: &mut Vec<Completion>) -> io::Result<()> {
        let before = ended.len();
        ended.append(&mut self.lost);
        let now_s = clock::s(clock::now());
        if !self.is_up() {
            self.reconnect(now_s)?;
        }
        let until_s = match &self.link {
            _ if ended.len() > before => now_s,
            Link::Up(_) => until_s,
            Link::Down { .. } | Link::Connecting(_) => until_s.min(now_s + LOOK_S),
        };
        if self.poller.wait(until_s)? > 0 && self.is_up() {
            let taken = self.receive(ended).and_then(|()| self.send_rest());
            if taken.is_err() {
                self.break_off();
                ended.append(&mut self.lost);
            }
        }
        Ok(())
    }

    fn network(&self) -> NetworkCounts {
        self.counts
    }
}

impl Drop for NbdClient {
    fn drop(&mut self) {
        // The end in good order; a server that is gone does not hear it.
        let request =
            Request { command: Command::Disconnect, flags: 0, cookie: 0, offset_bytes: 0, length_bytes: 0 };
        if self.is_up() && self.unsent.is_empty() {
            let _ = self.send(&request.encode(), None, 0);
        }
    }
}
