//! A file or device by threads that call pread and pwrite: where the system refuses io_uring.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use sojourn_loadgen::recording::Poller;

use crate::aligned_buffer::AlignedBuffer;
use crate::operation::{Operation, OperationKind};
use crate::path::{error_name, BlockPath, Completion, IoEnd};
use crate::sys;

/// More threads do not make a device faster; each I/O has one to itself while it lasts.
const THREADS_MAX: u32 = 64;

struct Job {
    slot: u32,
    operation: Operation,
    buffer: AlignedBuffer,
}

struct Ended {
    completion: Completion,
    buffer: AlignedBuffer,
}

/// A file and its threads, which end when it is dropped and their I/O has ended.
pub struct ThreadFile {
    buffers: Vec<Option<AlignedBuffer>>,
    jobs: Option<Sender<Job>>,
    ended: Receiver<Ended>,
    poller: Poller,
    bell: UnixStream,
    threads: Vec<JoinHandle<()>>,
    drained: Vec<u8>,
}

impl ThreadFile {
    /// For `depth` I/Os of up to `block_bytes`.
    ///
    /// # Errors
    /// The process may have no further thread or file.
    pub fn new(file: File, depth: u32, block_bytes: u32) -> io::Result<ThreadFile> {
        let (file, poller) = (Arc::new(file), Poller::new(false)?);
        let (bell, ring) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        ring.set_nonblocking(true)?;
        poller.add(&bell, 0)?;
        let (jobs, taken) = channel::<Job>();
        let (done, ended) = channel();
        let taken = Arc::new(Mutex::new(taken));
        let threads = (0..depth.min(THREADS_MAX)).map(|number| {
            let (file, taken, done, ring) = (file.clone(), taken.clone(), done.clone(), ring.try_clone()?);
            Builder::new()
                .name(format!("block-io-{number}"))
                .spawn(move || serve(&file, &taken, &done, &ring))
        });
        let threads = threads.collect::<io::Result<Vec<_>>>()?;
        let buffers = (0..depth).map(|_| Some(AlignedBuffer::new(block_bytes as usize))).collect();
        Ok(ThreadFile { buffers, jobs: Some(jobs), ended, poller, bell, threads, drained: vec![0; 4096] })
    }
}

/// Does I/Os until nobody has any more.
fn serve(file: &File, jobs: &Mutex<Receiver<Job>>, done: &Sender<Ended>, mut ring: &UnixStream) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { slot, operation, mut buffer }) = job else { return };
        let end = perform(file, &operation, &mut buffer);
        if done.send(Ended { completion: Completion { slot, end }, buffer }).is_err() {
            return;
        }
        // A bell that is full of rings wakes all the same.
        let _ = ring.write(&[1]);
    }
}

fn perform(file: &File, operation: &Operation, buffer: &mut AlignedBuffer) -> IoEnd {
    let length = operation.length_bytes as usize;
    let count = match operation.kind {
        OperationKind::Read => file.read_at(&mut buffer.bytes_mut()[..length], operation.offset_bytes),
        OperationKind::Write => {
            sys::write_at(file, &buffer.bytes()[..length], operation.offset_bytes, operation.stable)
        }
        OperationKind::Flush => file.sync_all().map(|()| 0),
    };
    match count {
        Ok(count) if count == length => IoEnd::Done,
        Ok(_) => IoEnd::Short,
        Err(error) => IoEnd::Error(error_name(&error)),
    }
}

impl BlockPath for ThreadFile {
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers[slot as usize].as_mut().expect("the slot has no I/O").bytes_mut()
    }

    fn begin(&mut self, slot: u32, operation: &Operation) -> io::Result<()> {
        let buffer = self.buffers[slot as usize].take().expect("the slot has no I/O");
        let jobs = self.jobs.as_ref().expect("it is not dropped");
        let job = Job { slot, operation: *operation, buffer };
        jobs.send(job).map_err(|_| io::Error::other("the threads of the I/O ended"))
    }

    fn wait(&mut self, until_s: f64, ended: &mut Vec<Completion>) -> io::Result<()> {
        if self.poller.wait(until_s)? > 0 {
            while self.bell.read(&mut self.drained).is_ok_and(|count| count == self.drained.len()) {}
        }
        for Ended { completion, buffer } in self.ended.try_iter() {
            self.buffers[completion.slot as usize] = Some(buffer);
            ended.push(completion);
        }
        Ok(())
    }
}

impl Drop for ThreadFile {
    fn drop(&mut self) {
        self.jobs = None;
        // A thread that the system holds in an I/O is left to it: the run's limit counts more.
        self.threads.drain(..).filter(JoinHandle::is_finished).for_each(|thread| drop(thread.join()));
    }
}
