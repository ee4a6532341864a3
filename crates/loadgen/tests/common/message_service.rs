//! A small message service in memory, with faults to order.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::spawn;

/// A message with its id.
type Message = (u64, Vec<u8>);

#[derive(Default)]
pub struct ServiceState {
    pub queues: BTreeMap<String, VecDeque<Message>>,
    /// Taken and not acknowledged, by receipt.
    pub waiting: BTreeMap<String, u64>,
    pub puts: u64,
    pub takes: u64,
    pub lines: Vec<String>,
    pub heads: Vec<String>,
}

/// What the service does wrong.
#[derive(Clone, Copy, PartialEq)]
pub enum Fault {
    None,
    /// Every seventh message comes back changed.
    Changes,
    /// Every seventh message is given out twice.
    Repeats,
    /// Every seventh put is acknowledged and forgotten.
    Forgets,
    /// Every seventh put is answered 503, and kept.
    Overloaded,
    /// A take wants to be acknowledged; every seventh receipt is too late.
    Receipts,
}

pub struct FakeMessageService {
    pub addr: String,
    pub state: Arc<Mutex<ServiceState>>,
}

impl FakeMessageService {
    pub fn start(fault: Fault) -> FakeMessageService {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap().to_string();
        let state = Arc::new(Mutex::new(ServiceState::default()));
        let shared = Arc::clone(&state);
        spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                spawn(move || serve(stream, &state, fault));
            }
        });
        FakeMessageService { addr, state }
    }

    pub fn left(&self) -> u64 {
        self.state.lock().unwrap().queues.values().map(|queue| queue.len() as u64).sum()
    }
}

fn serve(stream: TcpStream, state: &Mutex<ServiceState>, fault: Fault) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    while let Some((line, head, body)) = next(&mut reader) {
        let mut state = state.lock().unwrap();
        let (status, headers, answer) = answer(&mut state, &line, body, fault);
        state.lines.push(line);
        state.heads.push(head);
        drop(state);
        let length =
            if status == 204 { String::new() } else { format!("Content-Length: {}\r\n", answer.len()) };
        let whole = [format!("HTTP/1.1 {status} Said\r\n{headers}{length}\r\n").as_bytes(), &answer].concat();
        if writer.write_all(&whole).is_err() {
            return;
        }
    }
}

/// The next request: its line, its headers, its body.
fn next(reader: &mut BufReader<TcpStream>) -> Option<(String, String, Vec<u8>)> {
    let (mut line, mut head) = (String::new(), String::new());
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    while !head.ends_with("\r\n\r\n") && head != "\r\n" {
        reader.read_line(&mut head).ok().filter(|count| *count > 0)?;
    }
    let length =
        head.lines().find_map(|h| h.strip_prefix("Content-Length: ")).map_or(0, |v| v.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((line.trim_end().to_string(), head, body))
}

fn answer(state: &mut ServiceState, line: &str, body: Vec<u8>, fault: Fault) -> (u16, String, Vec<u8>) {
    let nothing = |status| (status, String::new(), Vec::new());
    let words: Vec<&str> = line.split([' ', '/', '?']).collect();
    match words[..] {
        ["PUT", "", "queues", name, "HTTP", _] => {
            state.queues.entry(name.to_string()).or_default();
            nothing(201)
        }
        ["DELETE", "", "queues", name, "HTTP", _] => {
            nothing(if state.queues.remove(name).is_some() { 204 } else { 404 })
        }
        ["POST", "", "queues", name, "messages", ..] => put(state, name, body, fault),
        ["POST", "", "queues", name, "take", ..] => take(state, name, fault),
        ["DELETE", "", "queues", _, "messages", _, receipt, ..] => {
            let receipt = receipt.strip_prefix("receipt=").unwrap();
            nothing(if state.waiting.remove(receipt).is_some_and(|id| !id.is_multiple_of(7)) {
                204
            } else {
                404
            })
        }
        _ => nothing(400),
    }
}

fn put(state: &mut ServiceState, name: &str, body: Vec<u8>, fault: Fault) -> (u16, String, Vec<u8>) {
    state.puts += 1;
    let id = state.puts;
    let Some(queue) = state.queues.get_mut(name) else {
        return (404, String::new(), Vec::new());
    };
    if fault != Fault::Forgets || !id.is_multiple_of(7) {
        queue.push_back((id, body));
    }
    let status = if fault == Fault::Overloaded && id.is_multiple_of(7) { 503 } else { 201 };
    (status, format!("X-Message-Id: {id}\r\n"), Vec::new())
}

fn take(state: &mut ServiceState, name: &str, fault: Fault) -> (u16, String, Vec<u8>) {
    let queue = state.queues.get_mut(name).unwrap();
    let Some((id, mut body)) = queue.pop_front() else {
        return (204, String::new(), Vec::new());
    };
    state.takes += 1;
    let chosen = id.is_multiple_of(7);
    match fault {
        Fault::Repeats if chosen => queue.push_back((1, body.clone())),
        Fault::Changes if chosen => *body.last_mut().unwrap() ^= 1,
        _ => {}
    }
    let mut headers = format!("X-Message-Id: {id}\r\n");
    if fault == Fault::Receipts {
        state.waiting.insert(format!("r{id}"), id);
        headers += &format!("X-Receipt: r{id}\r\n");
    }
    (200, headers, body)
}
