use std::io::Read;
use std::net::{TcpListener, TcpStream as Other};

use mio::{Poll, Token};

use super::*;

/// A context, a client of it, and the other state of its socket.
fn seated(poll: &Poll) -> (Context, Arc<Client>, Other) {
    let waker = Waker::new(poll.registry(), Token(0)).unwrap();
    let limits = Limits { requests: 9, bytes: 100 };
    let context = Context::new(BoundedQueue::new(10), MemoryLimit::new(100, 0), limits, waker);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let other = Other::connect(listener.local_addr().unwrap()).unwrap();
    let stream = listener.accept().unwrap().0;
    stream.set_nonblocking(true).unwrap();
    let charge = MemoryCharge::new(&context.memory);
    (context, Arc::new(Client::new(TcpStream::from_std(stream), 0, charge, 0)), other)
}

fn job() -> RequestSlot {
    RequestSlot::Request(RawRequest { received: 0, bytes: vec![0; 3], head: 3 })
}

#[test]
fn nothing_is_taken_up_behind_the_answer_that_ends_the_connection() {
    let poll = Poll::new().unwrap();
    let (context, client, mut other) = seated(&poll);
    client.add(job(), &context);
    let (_, first) = context.queue.take().unwrap();
    client.served(first, b"the last answer", true, true, &context);
    // The event loop has read on before it was told.
    assert!(client.add(job(), &context).refused.is_empty());
    assert!(client.add(RequestSlot::Refused(Refusal::Malformed), &context).refused.is_empty());
    assert!(context.queue.is_empty() && client.state().is_over());
    assert!(context.memory.take(100));
    drop(client);
    let mut heard = String::new();
    other.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "the last answer");
}

/// The memory of all has 100 bytes, and no holder has any for nothing.
#[test]
fn a_client_owns_what_it_makes_the_service_hold() {
    let poll = Poll::new().unwrap();
    let (context, client, _other) = seated(&poll);
    let long = |bytes| RequestSlot::Request(RawRequest { received: 0, bytes: vec![0; bytes], head: bytes });
    assert!(!client.add(long(60), &context).closes);
    assert!(client.add(long(60), &context).closes, "it is refused in its turn");
    let (_, first) = context.queue.take().unwrap();
    assert!(!context.memory.take(41) && context.memory.take(40));
    context.memory.give(40);
    let served = client.served(first, b"", false, true, &context);
    assert_eq!(served.refused, [Refusal::Memory]);
    assert!(context.memory.take(100), "nothing is held");
    context.memory.give(100);
    assert!(!client.add(long(60), &context).closes && client.state().is_over(), "behind the last answer");
    client.state().end();
    drop(client);
    assert!(context.memory.take(100));
}
