//! What a proxy does at least, by epoll and by io_uring, and a closed loop to load it.
//!
//!     bare-proxy proxy HOW LISTEN SERVER CLIENTS get|set [WAIT]   one JSON line when all clients have left
//!     bare-proxy load PORT CLIENTS SECONDS get|set                one JSON line
//!
//! HOW: `epoll` (receives and sends as `direct` does), `uring` (multishot receive, sends in the ring), `hybrid` (multishot
//! receive, sends by send(2)). WAIT: `early`, a yield before the sends of a turn; `yield`, one before the wait; a number, the
//! ring's minimum wait in microseconds.

mod epoll;
mod load;
mod relay;
mod ring;

use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::fd::RawFd;

/// When others that share the core go first: before the sends of a turn, or before the wait.
#[derive(Clone, Copy, PartialEq)]
pub enum Yield {
    BeforeSends,
    BeforeWait,
}

pub struct Setting {
    pub set: bool,
    pub min_wait_us: u32,
    pub yields: Option<Yield>,
}

/// CPU time of this process: user and system, µs.
fn cpu_us() -> (f64, f64) {
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let us = |t: libc::timeval| t.tv_sec as f64 * 1e6 + t.tv_usec as f64;
    (us(usage.ru_utime), us(usage.ru_stime))
}

pub fn check(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let number = |at: usize| args[at].parse::<usize>().expect("a number");
    if args[1] == "load" {
        let (done, seconds) =
            load::run(number(2) as u16, number(3), args[4].parse().expect("s"), args[5] == "set")?;
        println!("{{\"done\": {done}, \"per_s\": {:.0}}}", done as f64 / seconds);
        return Ok(());
    }
    let wait = args.get(7).map_or("", String::as_str);
    let yields = match wait {
        "early" => Some(Yield::BeforeSends),
        "yield" => Some(Yield::BeforeWait),
        _ => None,
    };
    let setting = Setting { set: args[6] == "set", yields, min_wait_us: wait.parse().unwrap_or(0) };
    let listener = TcpListener::bind(("127.0.0.1", number(3) as u16))?;
    let server = TcpStream::connect(("127.0.0.1", number(4) as u16))?;
    server.set_nodelay(true)?;
    let mut clients = Vec::new();
    for _ in 0..number(5) {
        let (client, _) = listener.accept()?;
        client.set_nodelay(true)?;
        client.set_nonblocking(true)?;
        clients.push(client);
    }
    server.set_nonblocking(true)?;
    let fds: Vec<RawFd> = clients.iter().map(AsRawFd::as_raw_fd).collect();
    let before = cpu_us();
    let seen = match args[2].as_str() {
        "epoll" => epoll::run(&fds, server.as_raw_fd(), &setting)?,
        "uring" => ring::run(&fds, server.as_raw_fd(), &setting, true)?,
        "hybrid" => ring::run(&fds, server.as_raw_fd(), &setting, false)?,
        other => panic!("no such way: {other}"),
    };
    let after = cpu_us();
    let per = |us: f64| us / seen.done as f64;
    println!(
        "{{\"done\": {}, \"cpu_us\": {:.3}, \"user_us\": {:.3}, \"system_us\": {:.3}, \"waits\": {:.3}, \"calls\": {:.3}}}",
        seen.done, per(after.0 + after.1 - before.0 - before.1), per(after.0 - before.0), per(after.1 - before.1),
        per(seen.waits as f64), per(seen.calls as f64),
    );
    Ok(())
}
