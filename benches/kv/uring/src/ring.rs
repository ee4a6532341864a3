//! io_uring: multishot receives into provided buffers, one call a turn that submits and waits.
//!
//! Sends post no completion where they succeed, and a buffer is used again when the answer to it has come: a closed
//! loop allows that, and it is the least that a ring can cost. A real proxy must count them.

use std::alloc::{alloc_zeroed, Layout};
use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::squeue::Flags;
use io_uring::types::{BufRingEntry, Fixed, SubmitArgs, Timespec};
use io_uring::{cqueue, opcode, IoUring};

use crate::epoll::send;
use crate::relay::{Relay, Seen};
use crate::{Setting, Yield};

const SENT: u64 = u64::MAX - 1;

/// Buffers that the kernel takes one of at each receive.
struct Buffers {
    entries: *mut BufRingEntry,
    bytes: Vec<u8>,
    size: usize,
    count: u16,
    tail: u16,
}

impl Buffers {
    fn new(ring: &IoUring, group: u16, count: u16, size: usize) -> io::Result<Self> {
        let layout = Layout::from_size_align(16 * usize::from(count), 4096).map_err(io::Error::other)?;
        let entries = unsafe { alloc_zeroed(layout) }.cast::<BufRingEntry>();
        unsafe { ring.submitter().register_buf_ring_with_flags(entries as u64, count, group, 0) }?;
        let mut new = Self { entries, bytes: vec![0; size * usize::from(count)], size, count, tail: 0 };
        (0..count).for_each(|id| new.give_back(id));
        new.publish();
        Ok(new)
    }

    fn data(&self, id: u16, length: usize) -> &[u8] {
        &self.bytes[usize::from(id) * self.size..][..length]
    }

    fn give_back(&mut self, id: u16) {
        let entry = unsafe { &mut *self.entries.add(usize::from(self.tail & (self.count - 1))) };
        entry.set_addr(self.bytes.as_ptr() as u64 + (usize::from(id) * self.size) as u64);
        entry.set_len(self.size as u32);
        entry.set_bid(id);
        self.tail = self.tail.wrapping_add(1);
    }

    fn publish(&self) {
        let tail = unsafe { BufRingEntry::tail(self.entries) }.cast::<AtomicU16>();
        unsafe { &*tail }.store(self.tail, Ordering::Release);
    }
}

pub fn run(clients: &[RawFd], server: RawFd, setting: &Setting, sends: bool) -> io::Result<Seen> {
    let mut ring = IoUring::builder()
        .setup_single_issuer()
        .setup_defer_taskrun()
        .setup_no_sqarray()
        .setup_cqsize(4096)
        .build(1024)?;
    ring.submitter().register_ring_fd()?;
    let all: Vec<RawFd> = clients.iter().copied().chain([server]).collect();
    ring.submitter().register_files(&all)?;
    let last = clients.len();
    let mut buffers = [Buffers::new(&ring, 0, 256, 16 * 1024)?, Buffers::new(&ring, 1, 16, 256 * 1024)?];
    let receive = |at: usize| {
        opcode::RecvMulti::new(Fixed(at as u32), u16::from(at == last)).build().user_data(at as u64)
    };
    for at in 0..=last {
        unsafe { ring.submission().push(&receive(at)) }.map_err(io::Error::other)?;
    }
    let mut relay = Relay::new(clients.len(), setting.set);
    let (mut open, mut again, mut sending) = (clients.len(), Vec::new(), Vec::new());
    let patience = Timespec::new().nsec(20_000_000);
    while open > 0 {
        if setting.yields.is_some() {
            if setting.yields == Some(Yield::BeforeWait) {
                relay.seen.calls += 1;
                ring.submitter().submit()?;
            }
            relay.seen.calls += 1;
            unsafe { libc::sched_yield() };
        }
        relay.seen.waits += 1;
        let want = if setting.min_wait_us > 0 { clients.len().clamp(2, 16) } else { 1 };
        let args = SubmitArgs::new().timespec(&patience).min_wait_usec(setting.min_wait_us);
        match ring.submitter().submit_with_args(want, &args) {
            Err(e) if e.raw_os_error() != Some(libc::ETIME) => return Err(e),
            _ => {}
        }
        for completion in ring.completion() {
            let at = completion.user_data() as usize;
            if completion.user_data() == SENT {
                panic!("a send failed: {}", completion.result());
            }
            if !cqueue::more(completion.flags()) {
                again.push(at);
            }
            let Some(id) = cqueue::buffer_select(completion.flags()) else {
                assert!(
                    completion.result() == 0 || completion.result() == -libc::ENOBUFS,
                    "{}",
                    completion.result()
                );
                if completion.result() == 0 {
                    // Its client has left.
                    again.pop();
                    open -= usize::from(at < last);
                }
                continue;
            };
            let group = usize::from(at == last);
            let bytes = buffers[group].data(id, completion.result() as usize);
            if at == last {
                relay.from_server(bytes);
            } else {
                relay.from_client(at, bytes);
            }
            buffers[group].give_back(id);
        }
        buffers.iter().for_each(Buffers::publish);
        let mut queue = unsafe { ring.submission_shared() };
        for at in again.drain(..) {
            unsafe { queue.push(&receive(at)) }.map_err(io::Error::other)?;
        }
        let mut push = |at: usize, bytes: &[u8]| {
            let entry = opcode::Send::new(Fixed(at as u32), bytes.as_ptr(), bytes.len() as u32)
                .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
                .build()
                .user_data(SENT)
                .flags(Flags::SKIP_SUCCESS);
            unsafe { queue.push(&entry) }.map_err(io::Error::other)
        };
        if !relay.to_server.is_empty() {
            if sends {
                std::mem::swap(&mut sending, &mut relay.to_server);
                relay.to_server.clear();
                push(last, &sending)?;
            } else {
                relay.seen.calls += 1;
                send(server, &mut relay.to_server)?;
            }
        }
        for client in std::mem::take(&mut relay.dirty) {
            if sends {
                let out = relay.out(client);
                push(client, out)?;
                // The bytes stay where they are until the client's next answer is written over them.
                out.clear();
            } else {
                relay.seen.calls += 1;
                send(clients[client], relay.out(client))?;
            }
        }
    }
    relay.seen.calls += relay.seen.waits;
    Ok(relay.seen)
}
