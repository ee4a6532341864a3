//! A client of one event loop: what it sent, what it is owed, in order.

use std::collections::VecDeque;

use mio::net::TcpStream;

use crate::buffer::{Inbox, Outbox};
use crate::gather::Gather;
use crate::route::Route;
use crate::rules::{OUT_BYTES, PIPELINE};

/// A request under way.
#[derive(Debug)]
pub(super) struct Slot {
    pub route: Route,
    pub received: u64,
    pub gather: Gather,
    /// The second half of a guarded request: what the other servers get.
    pub then: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Client {
    pub stream: TcpStream,
    pub inbox: Inbox,
    pub out: Outbox,
    pub slots: VecDeque<Slot>,
    /// Number of the first slot since the connection began.
    pub head: u32,
    /// Bytes that belong to a refused request and have not arrived.
    pub skip: usize,
    /// Whether the socket may have more.
    pub readable: bool,
    /// The client said that it will send no more, perhaps behind bytes that are still to be read.
    pub hung_up: bool,
    /// All that it sent has been read.
    pub ended: bool,
    /// Requests are left unread because too much is under way.
    pub stalled: bool,
    /// Its last request is in two steps; what follows must see both done.
    pub guarded: bool,
    /// No further request is taken up; the connection ends when all is answered.
    pub closing: bool,
    /// Bytes granted.
    pub held: usize,
    /// When it last sent or took something.
    pub active: u64,
    /// The requests whose answers are in `out`: where each ends there, and when it had been received.
    pub leaving: VecDeque<(u64, u64)>,
    /// In the list of those to be written to.
    pub dirty: bool,
}

impl Client {
    pub fn new(stream: TcpStream, now: u64) -> Self {
        Self {
            stream,
            inbox: Inbox::default(),
            out: Outbox::default(),
            slots: VecDeque::new(),
            head: 0,
            skip: 0,
            readable: true,
            hung_up: false,
            ended: false,
            stalled: false,
            guarded: false,
            closing: false,
            held: 0,
            active: now,
            leaving: VecDeque::new(),
            dirty: false,
        }
    }

    pub fn is_full(&self) -> bool {
        self.slots.len() >= PIPELINE || self.out.len() >= OUT_BYTES
    }

    /// Whether nothing is owed to it any more.
    pub fn is_over(&self) -> bool {
        (self.closing || (self.ended && !self.stalled)) && self.slots.is_empty() && self.out.is_empty()
    }

    /// Bytes of its buffers.
    pub fn size(&self) -> usize {
        self.inbox.size() + self.out.size()
    }
}

/// Clients by index; an index is used again, its generation tells who is meant.
#[derive(Debug, Default)]
pub(super) struct Clients {
    places: Vec<(u32, Option<Box<Client>>)>,
    free: Vec<u32>,
}

impl Clients {
    /// The next free place.
    pub fn reserve(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.places.push((0, None));
            self.places.len() as u32 - 1
        })
    }

    pub fn put(&mut self, index: u32, client: Client) {
        self.places[index as usize].1 = Some(Box::new(client));
    }

    pub fn remove(&mut self, index: u32) -> Option<Box<Client>> {
        let place = &mut self.places[index as usize];
        place.0 = place.0.wrapping_add(1);
        self.free.push(index);
        place.1.take()
    }

    #[inline]
    pub fn get(&mut self, index: u32) -> Option<&mut Client> {
        self.places.get_mut(index as usize)?.1.as_deref_mut()
    }

    /// The client, if it is still the one that is meant.
    #[inline]
    pub fn same(&mut self, index: u32, generation: u32) -> Option<&mut Client> {
        let place = self.places.get_mut(index as usize)?;
        if place.0 == generation {
            place.1.as_deref_mut()
        } else {
            None
        }
    }

    pub fn generation(&self, index: u32) -> u32 {
        self.places[index as usize].0
    }

    pub fn len(&self) -> u32 {
        self.places.len() as u32
    }
}
