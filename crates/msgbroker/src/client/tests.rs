use std::io::Read;
use std::net::{TcpListener, TcpStream as Other};

use mio::{Poll, Token};

use super::*;

/// A desk, a client of it, and the other side of its socket.
fn seated(poll: &Poll) -> (Desk, Arc<Client>, Other) {
    let waker = Waker::new(poll.registry(), Token(0)).unwrap();
    let limits = Limits { requests: 9, bytes: 100 };
    let desk = Desk::new(Line::new(10, 1), Memory::new(100, 0), limits, waker);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let other = Other::connect(listener.local_addr().unwrap()).unwrap();
    let stream = listener.accept().unwrap().0;
    stream.set_nonblocking(true).unwrap();
    (desk, Arc::new(Client::new(TcpStream::from_std(stream), 0, 0)), other)
}

fn job(desk: &Desk) -> Entry {
    assert!(desk.memory.take(3));
    Entry::Job(Job { received: 0, bytes: vec![0; 3], head: 3 })
}

#[test]
fn nothing_is_taken_up_behind_the_answer_that_ends_the_connection() {
    let poll = Poll::new().unwrap();
    let (desk, client, mut other) = seated(&poll);
    client.add(job(&desk), &desk);
    let (_, first) = desk.line.take().unwrap();
    client.served(first, b"the last answer", true, true, &desk);
    // The dispatcher has read on before it was told.
    assert!(client.add(job(&desk), &desk).is_empty());
    assert!(client.add(Entry::Refused(Refusal::Malformed), &desk).is_empty());
    assert!(desk.line.len() == 0 && client.side().is_over() && client.side().held == 0);
    assert!(desk.memory.take(100));
    drop(client);
    let mut heard = String::new();
    other.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "the last answer");
}
