use std::io::Read;
use std::net::{TcpListener, TcpStream as Other};

use mio::{Poll, Token};

use super::*;

/// A context, a client of it, and the other state of its socket.
fn seated(poll: &Poll) -> (Context, Arc<Client>, Other) {
    let waker = Waker::new(poll.registry(), Token(0)).unwrap();
    let limits = Limits { requests: 9, bytes: 100 };
    let context = Context::new(RequestQueue::new(10, 1), Memory::new(100, 0), limits, waker);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let other = Other::connect(listener.local_addr().unwrap()).unwrap();
    let stream = listener.accept().unwrap().0;
    stream.set_nonblocking(true).unwrap();
    (context, Arc::new(Client::new(TcpStream::from_std(stream), 0, 0)), other)
}

fn job(context: &Context) -> Entry {
    assert!(context.memory.take(3));
    Entry::Request(RawRequest { received: 0, bytes: vec![0; 3], head: 3 })
}

#[test]
fn nothing_is_taken_up_behind_the_answer_that_ends_the_connection() {
    let poll = Poll::new().unwrap();
    let (context, client, mut other) = seated(&poll);
    client.add(job(&context), &context);
    let (_, first) = context.queue.pop().unwrap();
    client.served(first, b"the last answer", true, true, &context);
    // The event loop has read on before it was told.
    assert!(client.add(job(&context), &context).is_empty());
    assert!(client.add(Entry::Refused(Refusal::Malformed), &context).is_empty());
    assert!(context.queue.len() == 0 && client.state().is_over() && client.state().held == 0);
    assert!(context.memory.take(100));
    drop(client);
    let mut heard = String::new();
    other.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "the last answer");
}
