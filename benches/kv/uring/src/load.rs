//! A closed loop: each client sends its next request when the answer to the last one is whole.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use crate::check;

const VALUE_BYTES: usize = 1024;
const KEYS: u64 = 1000;

struct Client {
    stream: TcpStream,
    got: usize,
    state: u64,
}

impl Client {
    fn ask(&mut self, set: bool, request: &mut Vec<u8>) -> io::Result<()> {
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let key = (self.state >> 33) % KEYS;
        request.clear();
        if set {
            write!(request, "set key{key:06} 0 0 {VALUE_BYTES}\r\n")?;
            request.resize(request.len() + VALUE_BYTES, b'v');
            request.extend_from_slice(b"\r\n");
        } else {
            write!(request, "get key{key:06}\r\n")?;
        }
        self.got = 0;
        self.stream.write_all(request)
    }
}

fn connect(port: u16) -> io::Result<TcpStream> {
    let until = Instant::now() + Duration::from_secs(3);
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Err(e) if e.kind() == ErrorKind::ConnectionRefused && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

/// Answers, and the seconds that they took.
pub fn run(port: u16, clients: usize, seconds: f64, set: bool) -> io::Result<(u64, f64)> {
    let epoll = check(unsafe { libc::epoll_create1(0) } as isize)? as i32;
    let (mut all, mut request, mut buffer) = (Vec::new(), Vec::new(), vec![0; 64 * 1024]);
    for index in 0..clients {
        let stream = connect(port)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: index as u64 };
        check(
            unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, stream.as_raw_fd(), &mut event) } as isize
        )?;
        all.push(Client { stream, got: 0, state: index as u64 + 1 });
    }
    let length = if set {
        "STORED\r\n".len()
    } else {
        "VALUE key000000 0 1024\r\n".len() + VALUE_BYTES + "\r\nEND\r\n".len()
    };
    let start = Instant::now();
    all.iter_mut().try_for_each(|client| client.ask(set, &mut request))?;
    let mut events = vec![libc::epoll_event { events: 0, u64: 0 }; 256];
    let (mut done, mut under_way) = (0, clients);
    while under_way > 0 {
        let over = start.elapsed().as_secs_f64() >= seconds;
        let count = check(unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), 256, 100) } as isize)?;
        for event in &events[..count] {
            let client = &mut all[event.u64 as usize];
            client.got += client.stream.read(&mut buffer)?;
            assert!(client.got <= length, "an answer of another length");
            if client.got == length {
                done += 1;
                if over {
                    under_way -= 1;
                } else {
                    client.ask(set, &mut request)?;
                }
            }
        }
    }
    Ok((done, start.elapsed().as_secs_f64()))
}
