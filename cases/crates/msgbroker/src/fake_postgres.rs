//! A stand-in for PostgreSQL that tests start: it lets everybody in, knows the tables, and finds every queue empty.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

/// Listens until the process ends.
pub(crate) struct FakePostgres {
    address: SocketAddr,
}

impl FakePostgres {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || Backend { stream, statements: HashMap::new() }.serve());
            }
        });
        Self { address }
    }

    pub fn url(&self) -> String {
        format!("postgresql://tester@{}/test", self.address)
    }
}

struct Backend {
    stream: TcpStream,
    /// Of the prepared statements, by name.
    statements: HashMap<Vec<u8>, String>,
}

impl Backend {
    /// Until the other state has gone.
    fn serve(mut self) -> Option<()> {
        let length = self.int()? - 4;
        self.bytes(length)?;
        self.say(&[message(b'R', &0_i32.to_be_bytes()), ready()].concat())?;
        let (mut answer, mut rows) = (Vec::new(), Vec::new());
        loop {
            let kind = self.bytes(1)?[0];
            let length = self.int()? - 4;
            let body = self.bytes(length)?;
            let mut words = body.split(|b| *b == 0);
            let (first, second) = (words.next()?.to_vec(), words.next().unwrap_or(b"").to_vec());
            match kind {
                b'Q' => {
                    answer.extend([row(&[Some(shown(&first).as_bytes())]), complete(), ready()].concat());
                }
                b'P' => {
                    self.statements.insert(first, String::from_utf8_lossy(&second).into_owned());
                    answer.extend(message(b'1', b""));
                }
                b'C' => answer.extend(message(b'3', b"")),
                b'B' => {
                    rows = found(self.statements.get(&second)?);
                    answer.extend(message(b'2', b""));
                }
                b'E' => answer.extend([std::mem::take(&mut rows), complete()].concat()),
                b'S' => answer.extend(ready()),
                _ => {}
            }
            if matches!(kind, b'Q' | b'S') {
                self.say(&std::mem::take(&mut answer))?;
            }
        }
    }

    fn bytes(&mut self, count: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).ok().map(|()| bytes)
    }

    fn int(&mut self) -> Option<usize> {
        let bytes = self.bytes(4)?;
        Some(bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)))
    }

    fn say(&mut self, bytes: &[u8]) -> Option<()> {
        self.stream.write_all(bytes).ok()
    }
}

/// PostgreSQL documentation, "Message Formats": a byte, the length with itself, the rest.
fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![kind];
    out.extend((body.len() as i32 + 4).to_be_bytes());
    out.extend(body);
    out
}

fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

fn complete() -> Vec<u8> {
    message(b'C', b"SELECT 1\0")
}

fn row(columns: &[Option<&[u8]>]) -> Vec<u8> {
    let mut body = (columns.len() as i16).to_be_bytes().to_vec();
    for column in columns {
        body.extend(column.map_or(-1, |bytes| bytes.len() as i32).to_be_bytes());
        body.extend(column.unwrap_or(b""));
    }
    message(b'D', &body)
}

/// What a query as text finds.
fn shown(query: &[u8]) -> &'static str {
    let text = String::from_utf8_lossy(query);
    if text.contains("encoding") {
        "UTF8"
    } else {
        "1"
    }
}

/// What a prepared statement finds: the clock, no queue to delete, an empty queue.
fn found(statement: &str) -> Vec<u8> {
    let long = 1_i64.to_be_bytes();
    if statement.contains("clock_timestamp() * 1000000") || statement.contains("last_value") {
        row(&[Some(&long), Some(&long)])
    } else if statement.contains("WITH ORDINALITY") {
        row(&[Some(&long), None, None, None])
    } else if statement.contains("RETURNING 1") || statement.contains("RECURSIVE") {
        Vec::new()
    } else {
        row(&[None, None, None, None])
    }
}
