//! A worker's own connection to one server: one request at a time, every wait limited.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use sojourn_memproto::{Reply, ReplyKind, ReplyScan};

use sojourn_record::clock::now;
use sojourn_serving::{MemoryCharge, ReadBuffer, ReadOutcome};

#[derive(Debug)]
pub(super) struct ServerConnection {
    pub stream: Option<TcpStream>,
    /// Of the health of the server when this was opened.
    pub epoch: u64,
    input: ReadBuffer,
    most_bytes: usize,
    /// The time limit that the socket has now, ns.
    limit: u64,
    /// For `input`.
    charge: MemoryCharge,
}

impl ServerConnection {
    pub fn new(stream: Option<TcpStream>, most_bytes: usize, charge: MemoryCharge) -> Self {
        Self { stream, epoch: 0, input: ReadBuffer::default(), most_bytes, limit: 0, charge }
    }

    pub fn open(&mut self, stream: TcpStream, epoch: u64) {
        (self.stream, self.epoch, self.input, self.limit) = (Some(stream), epoch, ReadBuffer::default(), 0);
        self.charge.set(0);
    }

    /// # Errors
    /// Why the connection is of no use any more.
    pub fn send(&mut self, bytes: &[u8], timeout: u64) -> Result<(), &'static str> {
        let fresh = self.limit == 0;
        if fresh {
            self.limit_waits(timeout)?;
        }
        let stream = self.stream.as_mut().ok_or("is gone")?;
        stream.write_all(bytes).map_err(|e| match e.kind() {
            std::io::ErrorKind::WouldBlock => "timed out",
            _ => "is gone",
        })
    }

    fn limit_waits(&mut self, limit: u64) -> Result<(), &'static str> {
        let stream = self.stream.as_ref().ok_or("is gone")?;
        let time = Some(Duration::from_nanos(limit.max(1_000)));
        stream.set_read_timeout(time).and_then(|()| stream.set_write_timeout(time)).map_err(|_| "is gone")?;
        self.limit = limit;
        Ok(())
    }

    /// The answer, at the start of `data`, and its length; at `deadline` it must be there.
    ///
    /// # Errors
    /// Why the connection is of no use any more.
    pub fn receive(
        &mut self,
        shape: ReplyKind,
        deadline: u64,
        timeout: u64,
    ) -> Result<(Reply, usize), &'static str> {
        let mut scan = ReplyScan::new(shape, self.most_bytes);
        loop {
            if let Some(found) =
                scan.scan(self.input.data()).map_err(|_| "answered with no memcached's words")?
            {
                return Ok(found);
            }
            let left = deadline.saturating_sub(now());
            if left == 0 {
                return Err("timed out");
            }
            // A shorter limit costs a system call, and is needed only where others have used up the time.
            if left < timeout / 2 || self.limit < left / 2 {
                self.limit_waits(left)?;
            }
            let stream = self.stream.as_mut().ok_or("is gone")?;
            match self.input.fill(stream, usize::MAX) {
                Ok(ReadOutcome::Some { .. }) => self.charge.set(self.input.size()),
                Ok(ReadOutcome::Empty) if now() < deadline => {}
                Ok(ReadOutcome::Empty) => return Err("timed out"),
                Ok(ReadOutcome::Closed) => return Err("closed the connection"),
                Err(_) => return Err("is gone"),
            }
        }
    }

    pub fn data(&self, length: usize) -> &[u8] {
        &self.input.data()[..length]
    }

    /// The answer has been used; what follows it nobody asked for, unless `more` answers are due.
    pub fn consume(&mut self, length: usize, more: bool) -> Result<(), &'static str> {
        self.input.consume(length);
        self.charge.set(self.input.size());
        if more || self.input.data().is_empty() {
            Ok(())
        } else {
            Err("answered what nobody asked")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::sync::Arc;

    use sojourn_serving::MemoryLimit;

    use super::*;

    const LARGE: usize = 400_000;

    /// What one worker holds of an answer, other clients' buffers may not have.
    #[test]
    fn an_answer_counts_against_the_limit_until_it_is_used() {
        let memory = Arc::new(MemoryLimit::new(LARGE + 200_000, 0));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut server = listener.accept().unwrap().0;
        let answer = [format!("VALUE k 0 {LARGE}\r\n").as_bytes(), &vec![7; LARGE], b"\r\nEND\r\n"].concat();
        let sender = std::thread::spawn(move || server.write_all(&answer));
        let mut connection = ServerConnection::new(Some(stream), 1 << 20, MemoryCharge::new(&memory));
        let (timeout, mut other) = (5_000_000_000, MemoryCharge::new(&memory));
        let (reply, length) = connection.receive(ReplyKind::Values, now() + timeout, timeout).unwrap();
        assert!(sender.join().unwrap().is_ok() && reply == Reply::Values(1));
        assert!(!other.resize(300_000), "the answer is not charged");
        connection.consume(length, false).unwrap();
        assert!(other.resize(300_000), "the answer is used, and still charged");
    }
}
