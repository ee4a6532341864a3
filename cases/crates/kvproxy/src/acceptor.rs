//! Where clients come in.

use std::io::Write;
use std::net::TcpListener as Bound;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

use crate::shared::SharedState;
use crate::ServeError;
use sojourn_serving::system;

const TOO_MANY: &[u8] = b"ERROR Too many open connections\r\n";

/// A listener with an epoll of its own.
pub(crate) struct Acceptor {
    poll: Poll,
    events: Events,
    listener: TcpListener,
}

impl Acceptor {
    pub fn new(listener: Bound) -> Result<Self, ServeError> {
        let mut listener = TcpListener::from_std(listener);
        let poll = Poll::new().map_err(system("epoll"))?;
        let registered = poll.registry().register(&mut listener, Token(0), Interest::READABLE);
        registered.map_err(system("epoll"))?;
        Ok(Self { poll, events: Events::with_capacity(8), listener })
    }

    /// Waits until somebody comes, or `patience` is over.
    pub fn wait(&mut self, patience: Duration) {
        // An interrupted wait is a short one.
        let _ = self.poll.poll(&mut self.events, Some(patience));
    }

    pub fn accept(&self, shared: &SharedState<'_>) -> Option<TcpStream> {
        accept(&self.listener, shared)
    }
}

/// The next client, if there is one and it may stay; others are told and turned away.
pub(crate) fn accept(listener: &TcpListener, shared: &SharedState<'_>) -> Option<TcpStream> {
    let stats = &shared.stats[0];
    loop {
        // Out of files, or a client that is gone already: the next look is soon.
        let (mut stream, _) = listener.accept().ok()?;
        if shared.open.load(Ordering::Relaxed) >= shared.config.connections {
            stats.turned_away.add(1);
            // Its buffer is empty: a line fits, or the client is gone.
            let _ = stream.write(TOO_MANY);
            continue;
        }
        if stream.set_nodelay(true).is_ok() {
            stats.accepted.add(1);
            shared.open.fetch_add(1, Ordering::Relaxed);
            return Some(stream);
        }
    }
}
