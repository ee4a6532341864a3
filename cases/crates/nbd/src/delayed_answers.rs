//! Answers that are sent when their time has come, in the order of their requests.

use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::thread::{sleep, Scope};
use std::time::{Duration, Instant};

use sojourn_serving::MemoryLimit;

/// Answers of a connection that may wait; its next request is read when one was sent.
const WAITING_MAX: usize = 1024;

struct Waiting {
    due: Instant,
    bytes: Vec<u8>,
}

/// The writing half of a connection.
pub struct DelayedAnswers<'a> {
    stream: TcpStream,
    delay: Duration,
    memory: &'a MemoryLimit,
    waiting: Option<SyncSender<Waiting>>,
}

impl<'a> DelayedAnswers<'a> {
    /// With a delay a thread sends them, which ends with this.
    pub fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        stream: TcpStream,
        delay: Duration,
        memory: &'a MemoryLimit,
    ) -> io::Result<DelayedAnswers<'a>>
    where
        'a: 'scope,
    {
        let mut waiting = None;
        if !delay.is_zero() {
            let (sender, receiver) = sync_channel(WAITING_MAX);
            let stream = stream.try_clone()?;
            std::thread::Builder::new()
                .name("nbd-answers".to_string())
                .spawn_scoped(scope, move || send_in_time(stream, &receiver, memory))?;
            waiting = Some(sender);
        }
        Ok(DelayedAnswers { stream, delay, memory, waiting })
    }

    /// Sends an answer, whose bytes are counted in the limit already, when its time has come.
    pub fn send(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        match &self.waiting {
            Some(waiting) => {
                let answer = Waiting { due: Instant::now() + self.delay, bytes };
                waiting.send(answer).map_err(|lost| {
                    self.memory.give(lost.0.bytes.len());
                    io::ErrorKind::BrokenPipe.into()
                })
            }
            None => {
                let sent = self.stream.write_all(&bytes);
                self.memory.give(bytes.len());
                sent
            }
        }
    }
}

fn send_in_time(mut stream: TcpStream, waiting: &Receiver<Waiting>, memory: &MemoryLimit) {
    let mut broken = false;
    for Waiting { due, bytes } in waiting {
        if !broken {
            sleep(due.saturating_duration_since(Instant::now()));
            broken = stream.write_all(&bytes).is_err();
        }
        memory.give(bytes.len());
    }
}
