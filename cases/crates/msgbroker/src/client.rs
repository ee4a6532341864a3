//! A client as workers see it: its requests in their order, its answers not yet taken.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mio::net::TcpStream;
use mio::Waker;

use crate::client_state::{ClientState, Limits, RawRequest, RequestSlot};
use crate::refusal::Refusal;
use crate::response::Response;
use sojourn_serving::{write_some, BoundedQueue, MemoryCharge, MemoryLimit};

/// A request and whose it is, in the queue.
pub(crate) type QueuedRequest = (Arc<Client>, RawRequest);

/// What came of a request that was added.
#[derive(Debug)]
pub(crate) struct AddedRequest {
    /// Nothing behind it is a request.
    pub closes: bool,
    /// Requests that no worker was needed for, this one perhaps among them.
    pub refused: Vec<Refusal>,
}

/// A client: its socket, and what threads share of it.
#[derive(Debug)]
pub(crate) struct Client {
    pub stream: TcpStream,
    /// Its number at the event loop.
    pub connection: u32,
    state: Mutex<ClientState>,
}

/// What happened when an answer was handed over.
#[derive(Debug)]
pub(crate) struct ResponseDelivery {
    /// The client had gone.
    pub gone: bool,
    /// Requests behind it that no worker was needed for.
    pub refused: Vec<Refusal>,
}

/// What all clients share.
#[derive(Debug)]
pub(crate) struct Context {
    pub queue: BoundedQueue<QueuedRequest>,
    pub memory: Arc<MemoryLimit>,
    pub limits: Limits,
    /// Those that the event loop has to look at.
    connections: Mutex<Vec<u32>>,
    waker: Waker,
}

impl Context {
    pub fn new(queue: BoundedQueue<QueuedRequest>, memory: MemoryLimit, limits: Limits, wake: Waker) -> Self {
        Self { queue, memory: Arc::new(memory), limits, connections: Mutex::default(), waker: wake }
    }

    /// Without `wake` the caller is a worker that takes a request next itself.
    fn put(&self, request: QueuedRequest, wake: bool) -> Result<(), QueuedRequest> {
        if wake {
            self.queue.put(request)
        } else {
            self.queue.put_quietly(request)
        }
    }

    fn wake(&self, connection: u32) {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.push(connection);
        if connections.len() == 1 {
            // Where it fails, the event loop looks at its next sweep.
            let _ = self.waker.wake();
        }
    }

    /// The event loop looks at what others have for it.
    pub fn wake_loop(&self) {
        let _ = self.waker.wake();
    }

    /// Connections to look at, each as often as it was named.
    pub fn woken(&self) -> Vec<u32> {
        std::mem::take(&mut *self.connections.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Client {
    pub fn new(stream: TcpStream, connection: u32, charge: MemoryCharge, now: u64) -> Self {
        Self { stream, connection, state: Mutex::new(ClientState::new(charge, now)) }
    }

    pub fn state(&self) -> MutexGuard<'_, ClientState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it has as much under way as it may; if so, `served` and `flush` say when that is over.
    pub fn is_full(&self, context: &Context) -> bool {
        let mut state = self.state();
        state.stalled = state.is_full(&context.limits);
        state.stalled
    }

    /// Adds the next request, refused where memory for it is not to be had: queued at once if none is before it.
    pub fn add(self: &Arc<Self>, entry: RequestSlot, context: &Context) -> AddedRequest {
        let mut state = self.state();
        let entry = match entry {
            RequestSlot::Request(job) if !state.grants(job.bytes.len()) => {
                RequestSlot::Refused(Refusal::Memory)
            }
            entry => entry,
        };
        let closes = matches!(entry, RequestSlot::Refused(refusal) if refusal.closes());
        state.backlog.push_back(entry);
        let mut refused = Vec::new();
        if state.last {
            // RFC 9112, 9.6: behind the answer that ends the connection no request is processed.
            state.forget();
        } else if !state.busy {
            refused = self.advance(&mut state, true, context);
        }
        AddedRequest { closes, refused }
    }

    /// Hands over the answer to the request that was served, and goes on to the next, for which a worker is woken
    /// with `wake`; without, the caller comes back for it.
    pub fn served(
        self: &Arc<Self>,
        job: RawRequest,
        bytes: &[u8],
        last: bool,
        wake: bool,
        context: &Context,
    ) -> ResponseDelivery {
        let (gone, owes) = {
            let state = self.state();
            (state.gone, state.owes() > 0)
        };
        // Nobody else writes while it is busy; the event loop, which has its next request at once, is not kept waiting.
        let sent = if gone || owes { 0 } else { write_some(&mut &self.stream, bytes).unwrap_or(bytes.len()) };
        let mut state = self.state();
        state.busy = false;
        state.gives(&job);
        if sent < bytes.len() && !gone {
            // Once more: that there is room was perhaps said before it was known that there is a rest.
            self.write(&mut state, &bytes[sent..]);
        }
        state.last |= last;
        let mut refused = Vec::new();
        if last {
            state.forget();
        } else {
            refused = self.advance(&mut state, wake, context);
        }
        if state.wakes(&context.limits) {
            context.wake(self.connection);
        }
        ResponseDelivery { gone, refused }
    }

    /// Answers what needs no worker, and puts the next request into the queue.
    fn advance(self: &Arc<Self>, state: &mut ClientState, wake: bool, context: &Context) -> Vec<Refusal> {
        let mut refused = Vec::new();
        while let Some(entry) = state.backlog.pop_front() {
            let refusal = match entry {
                RequestSlot::Refused(refusal) => refusal,
                RequestSlot::Request(job) => match context.put((Arc::clone(self), job), wake) {
                    Ok(()) => {
                        state.busy = true;
                        break;
                    }
                    Err((_, job)) => {
                        state.gives(&job);
                        Refusal::Full
                    }
                },
            };
            refused.push(refusal);
            let mut bytes = Vec::new();
            Response::Refused(refusal).compose(refusal.closes(), &mut bytes);
            self.write(state, &bytes);
            if refusal.closes() {
                state.last = true;
                state.forget();
                break;
            }
        }
        refused
    }

    /// Writes as much as the socket takes, and keeps the rest. An error shows at the event loop, which reads.
    pub fn write(&self, state: &mut ClientState, bytes: &[u8]) {
        let waits = !state.out.is_empty();
        let sent = if waits { 0 } else { write_some(&mut &self.stream, bytes).unwrap_or(bytes.len()) };
        if sent < bytes.len() {
            state.out.tail().extend_from_slice(&bytes[sent..]);
            state.settle();
        }
    }

    /// Writes what was kept; whether the event loop may read on.
    pub fn flush(&self, context: &Context, now: u64) -> io::Result<bool> {
        let mut state = self.state();
        let before = state.out.len();
        if before > 0 {
            state.out.flush(&mut &self.stream)?;
            if state.out.len() < before {
                state.active = now;
                state.settle();
            }
        }
        Ok(state.wakes(&context.limits))
    }
}

#[cfg(test)]
mod tests;
