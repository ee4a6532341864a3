//! Opens the shop: listening sockets and threads; and closes it.

use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::thread::{Scope, ScopedJoinHandle};

use sojourn_serving::{spawn, system, GracefulShutdown};
use sojourn_spin::pin;

use crate::acceptor::{Acceptor, ReadyMessage};
use crate::backend::Backend;
use crate::backend_control::ControlSocket;
use crate::catalogue::Catalogue;
use crate::mailbox::{Mailbox, WAKE};
use crate::sys::{self, TriggerMode};
use crate::thread_statistics::ThreadStatistics;
use crate::worker::{SharedState, Worker};
use crate::{Config, ServeError, Summary};
use sojourn_serving::cpu_work::{calibrate, CoreSpeedCalibration};

/// How long requests that have been received may take when the service ends, before its grace, s.
const DRAIN_S: f64 = 1.0;

type Finished = Result<(ThreadStatistics, CoreSpeedCalibration), ServeError>;

/// Serves until `stop` is set; `ready` is called once, when connections are accepted.
///
/// # Errors
/// `ServeError` for a value out of range, an address or core that cannot be had, a limit of the process, or
/// a record that cannot be created. One that cannot be written later is given up, and the service goes on.
pub fn serve(
    config: &Config,
    stop: &AtomicBool,
    ready: &mut dyn FnMut(&ReadyMessage),
) -> Result<Summary, ServeError> {
    config.check()?;
    let listeners = config.listen.iter().map(|address| listen(address)).collect::<Result<Vec<_>, _>>()?;
    check_files(config)?;
    let catalogue = Catalogue::new(config.seed, config.catalogue_items);
    let shutdown = GracefulShutdown::default();
    let control = config.backend.as_ref().and_then(|backend| backend.control.as_deref());
    let control = control.map(ControlSocket::open).transpose()?;
    let backend = config.backend.as_ref().map(|backend| Backend::new(backend, config.seed));
    let shared = SharedState { config, catalogue, open: Default::default(), shutdown, backend };
    let count = config.cores.len() * config.threads_per_core;
    let mailboxes =
        (0..count).map(|_| Mailbox::new()).collect::<Result<Vec<_>, _>>().map_err(system("epoll"))?;
    let (wakes, sleepers) = wakes(&mailboxes)?;
    std::thread::scope(|scope| {
        let (speeds, handles) = start(scope, &shared, &mailboxes);
        let helped = start_backend(scope, &shared, &mailboxes, control.as_ref());
        let served = speeds.and_then(|speeds| {
            helped?;
            let mut acceptor = Acceptor::new(&shared, &mailboxes, &listeners, &speeds)?;
            ready(&acceptor.ready(&speeds)?);
            acceptor.run(stop)?;
            Ok((acceptor, speeds))
        });
        shared.shutdown.set(DRAIN_S);
        drop(wakes);
        let finished: Vec<Finished> = handles.into_iter().map(join).collect();
        drop(sleepers);
        let (mut acceptor, speeds) = served?;
        let finished = finished.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(acceptor.close(&speeds, &finished))
    })
}

fn listen(address: &str) -> Result<TcpListener, ServeError> {
    let bound = TcpListener::bind(address).and_then(|listener| {
        sys::prepare(&listener)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    bound.map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => ServeError::AddressInUse { address: address.into() },
        _ => ServeError::Address { address: address.into(), source },
    })
}

fn check_files(config: &Config) -> Result<(), ServeError> {
    const OWN: u64 = 128;
    let threads = (config.cores.len() * config.threads_per_core) as u64;
    let needed = config.max_connections as u64 + 4 * threads + OWN;
    let allowed = sys::allow_files(needed);
    if allowed < needed {
        return Err(ServeError::Files { needed, allowed });
    }
    Ok(())
}

/// A pair a thread: dropping the first end wakes the thread that watches the second.
fn wakes(mailboxes: &[Mailbox]) -> Result<(Vec<UnixStream>, Vec<UnixStream>), ServeError> {
    let pair = |mailbox: &Mailbox| {
        let (wake, sleeper) = UnixStream::pair()?;
        mailbox.epoll.add(&sleeper, WAKE, TriggerMode::Edge)?;
        Ok((wake, sleeper))
    };
    let pairs =
        mailboxes.iter().map(pair).collect::<io::Result<Vec<_>>>().map_err(system("a socket pair"))?;
    Ok(pairs.into_iter().unzip())
}

/// Starts the threads beside those that serve: the backend's, and that of its control socket.
fn start_backend<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    shared: &'env SharedState<'env>,
    mailboxes: &'env [Mailbox],
    control: Option<&'env ControlSocket>,
) -> Result<(), ServeError> {
    let Some(backend) = &shared.backend else { return Ok(()) };
    spawn(scope, "web-backend".into(), || backend.run(mailboxes, &shared.shutdown))?;
    if let Some(control) = control {
        spawn(scope, "web-control".into(), || control.run(backend, &shared.shutdown))?;
    }
    Ok(())
}

/// Starts the threads and waits for their calibration.
#[allow(clippy::type_complexity)]
fn start<'scope, 'env>(
    scope: &'scope Scope<'scope, 'env>,
    shared: &'env SharedState<'env>,
    mailboxes: &'env [Mailbox],
) -> (Result<Vec<CoreSpeedCalibration>, ServeError>, Vec<ScopedJoinHandle<'scope, Finished>>) {
    let mut handles = Vec::new();
    let (sender, receiver) = mpsc::channel();
    for (thread, mailbox) in mailboxes.iter().enumerate() {
        let sender = sender.clone();
        let name = format!("web-{}-{thread}", shared.config.core_of(thread));
        let run = move || work(shared, mailbox, thread, &sender);
        match spawn(scope, name, run) {
            Ok(handle) => handles.push(handle),
            Err(error) => return (Err(error.into()), handles),
        }
    }
    drop(sender);
    let mut speeds = vec![None; mailboxes.len()];
    for (thread, speed) in receiver.iter().take(mailboxes.len()) {
        match speed {
            Ok(speed) => speeds[thread] = Some(speed),
            Err(error) => return (Err(error), handles),
        }
    }
    (Ok(speeds.into_iter().flatten().collect()), handles)
}

type Speed = (usize, Result<CoreSpeedCalibration, ServeError>);

/// A thread's life: to its core, calibration, serving, calibration again.
fn work(
    shared: &SharedState<'_>,
    mailbox: &Mailbox,
    thread: usize,
    started: &mpsc::Sender<Speed>,
) -> Finished {
    let core = shared.config.core_of(thread);
    let pinned = if shared.config.pinned { pin(core) } else { Ok(()) };
    let speed = pinned.map(|()| calibrate()).map_err(ServeError::Core);
    let Ok(calibration) = speed else {
        started.send((thread, speed)).ok();
        return Ok((ThreadStatistics::default(), CoreSpeedCalibration { rounds_per_s: 0.0, spread: 0.0 }));
    };
    started.send((thread, Ok(calibration))).ok();
    drop(speed);
    let statistics = Worker::new(shared, mailbox, thread, calibration).run().map_err(system("epoll"))?;
    Ok((statistics, calibrate()))
}

fn join(handle: ScopedJoinHandle<'_, Finished>) -> Finished {
    handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
