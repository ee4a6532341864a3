//! One thread: accepts, and lets each connection go on as far as it can.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token};
use serde::Serialize;
use sojourn_serving::{ReadyList, Slab};

use crate::command_handler::CommandHandler;
use crate::connection::{Connection, ConnectionProgress};
use crate::{Config, Summary};

const LISTENER: Token = Token(usize::MAX);
/// How soon a stop is seen.
const STOP_S: f64 = 0.05;

/// What is told once it accepts connections.
#[derive(Debug, Clone, Serialize)]
pub struct ReadyMessage {
    pub address: String,
    pub pid: u32,
}

/// Why it cannot serve.
#[derive(Debug)]
pub enum ServeError {
    Address(String),
    Listen(SocketAddr, io::Error),
    System(io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Address(text) => write!(f, "listen is {text:?}; give IP:PORT"),
            ServeError::Listen(address, cause) => {
                write!(f, "cannot listen at {address}: {cause}; choose another port, or end what has it")
            }
            ServeError::System(cause) => write!(f, "event loop: {cause}; raise the limit (ulimit -a)"),
        }
    }
}

impl std::error::Error for ServeError {}

impl From<io::Error> for ServeError {
    fn from(cause: io::Error) -> ServeError {
        ServeError::System(cause)
    }
}

/// Serves until `stop` is set; `ready` is called once, when connections are accepted.
///
/// # Errors
/// `ServeError` for an address that is none or cannot be had, or a limit of the process.
pub fn serve(
    config: &Config,
    stop: &AtomicBool,
    ready: &mut dyn FnMut(&ReadyMessage),
) -> Result<Summary, ServeError> {
    let wanted: SocketAddr = config.listen.parse().map_err(|_| ServeError::Address(config.listen.clone()))?;
    let mut listener = TcpListener::bind(wanted).map_err(|cause| ServeError::Listen(wanted, cause))?;
    let (mut poll, mut events) = (Poll::new()?, Events::with_capacity(256));
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    let (mut clients, mut ready_clients) = (Slab::default(), ReadyList::default());
    let mut handler = CommandHandler::new(config);
    ready(&ReadyMessage { address: listener.local_addr()?.to_string(), pid: std::process::id() });
    while !stop.load(Ordering::Relaxed) {
        let patience = if ready_clients.is_empty() { STOP_S } else { 0.0 };
        match poll.poll(&mut events, Some(Duration::from_secs_f64(patience))) {
            Err(e) if e.kind() != ErrorKind::Interrupted => return Err(e.into()),
            _ => {}
        }
        for event in &events {
            if event.token() == LISTENER {
                accept(&listener, &poll, &mut clients, &mut handler)?;
                continue;
            }
            let index = event.token().0 as u32;
            if let Some(client) = clients.get(index) {
                client.intake.event(event.is_read_closed());
                ready_clients.push(index);
            }
        }
        for _ in 0..ready_clients.len() {
            let Some(index) = ready_clients.pop() else { break };
            match clients.get(index).map(|client| client.advance(&mut handler)) {
                Some(ConnectionProgress::Again) => ready_clients.push(index),
                Some(ConnectionProgress::End) => {
                    clients.remove(index);
                    handler.open -= 1;
                }
                Some(ConnectionProgress::Wait) | None => {}
            }
        }
    }
    Ok(handler.account())
}

fn accept(
    listener: &TcpListener,
    poll: &Poll,
    clients: &mut Slab<Connection>,
    handler: &mut CommandHandler,
) -> Result<(), ServeError> {
    loop {
        let mut stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            // Out of descriptors, or a client that is gone again: the next event tries anew.
            Err(_) => return Ok(()),
        };
        stream.set_nodelay(true)?;
        let index = clients.reserve();
        let interest = Interest::READABLE | Interest::WRITABLE;
        poll.registry().register(&mut stream, Token(index as usize), interest)?;
        clients.put(index, Connection::new(stream));
        handler.open += 1;
        handler.summary.connections += 1;
    }
}
