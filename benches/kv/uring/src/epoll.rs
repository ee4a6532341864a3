//! Edge-triggered epoll, one receive an event, one send a connection and turn.

use std::io;
use std::os::fd::RawFd;

use crate::relay::{Relay, Seen};
use crate::{check, Setting, Yield};

const SERVER: u64 = u64::MAX;

pub fn run(clients: &[RawFd], server: RawFd, setting: &Setting) -> io::Result<Seen> {
    let epoll = check(unsafe { libc::epoll_create1(0) } as isize)? as RawFd;
    let add = |fd: RawFd, data: u64| {
        let flags = (libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET) as u32;
        let mut event = libc::epoll_event { events: flags, u64: data };
        check(unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, &mut event) } as isize).map(|_| ())
    };
    clients.iter().enumerate().try_for_each(|(index, fd)| add(*fd, index as u64))?;
    add(server, SERVER)?;
    let mut relay = Relay::new(clients.len(), setting.set);
    let mut events = vec![libc::epoll_event { events: 0, u64: 0 }; 1024];
    let (mut left, mut buffer) = (vec![false; clients.len()], vec![0; 256 * 1024]);
    while !left.iter().all(|gone| *gone) {
        if setting.yields == Some(Yield::BeforeWait) {
            relay.seen.calls += 1;
            unsafe { libc::sched_yield() };
        }
        relay.seen.waits += 1;
        let count = check(unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), 1024, 20) } as isize)?;
        for event in &events[..count] {
            if event.events & libc::EPOLLIN as u32 == 0 {
                continue;
            }
            let (data, mut most) = (event.u64, 16 * 1024);
            let fd = if data == SERVER { server } else { clients[data as usize] };
            if data == SERVER {
                most = buffer.len();
            }
            relay.seen.calls += 1;
            let got = check(unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), most, 0) })?;
            if data == SERVER {
                relay.from_server(&buffer[..got]);
            } else if got == 0 {
                left[data as usize] = true;
            } else {
                relay.from_client(data as usize, &buffer[..got]);
            }
        }
        if setting.yields == Some(Yield::BeforeSends) {
            relay.seen.calls += 1;
            unsafe { libc::sched_yield() };
        }
        if !relay.to_server.is_empty() {
            send(server, &mut relay.to_server)?;
            relay.seen.calls += 1;
        }
        for client in std::mem::take(&mut relay.dirty) {
            send(clients[client], relay.out(client))?;
            relay.seen.calls += 1;
        }
    }
    relay.seen.calls += relay.seen.waits;
    Ok(relay.seen)
}

pub fn send(fd: RawFd, bytes: &mut Vec<u8>) -> io::Result<()> {
    let sent = check(unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) })?;
    assert_eq!(sent, bytes.len(), "the buffers of sockets hold all of a closed loop");
    bytes.clear();
    Ok(())
}
