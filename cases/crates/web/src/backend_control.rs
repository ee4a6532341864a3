//! The backend's settings over a Unix socket: a JSON object a line in, one out.
//!
//! `{"do": "read"}`; `{"do": "set", "holder": NAME, "lease_s": 5, "workers": 4, "cap": 100}`, where what is left out stays as it is;
//! `{"do": "release", "holder": NAME}`. The answer is the state after it, or `{"error": why}`.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{json, Value};
use sojourn_record::clock::{now, ns};
use sojourn_serving::GracefulShutdown;

use crate::backend::Backend;
use crate::backend_config::check_settings;
use crate::backend_pool::BackendSettings;
use crate::ServeError;

const LINE_BYTES: usize = 4096;
/// Connections at a time: of more, the oldest is closed.
const MOST: usize = 16;
const PAUSE: Duration = Duration::from_millis(2);
const LEASE_S: std::ops::RangeInclusive<f64> = 0.1..=600.0;

#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
enum Command {
    Read,
    Set {
        holder: String,
        lease_s: f64,
        #[serde(default)]
        workers: Option<usize>,
        #[serde(default)]
        cap: Option<usize>,
    },
    Release {
        holder: String,
    },
}

/// A socket of our own, for our user alone, that is gone with it.
#[derive(Debug)]
pub(crate) struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
}

impl ControlSocket {
    /// A socket that a dead service left is taken over.
    pub(crate) fn open(path: &Path) -> Result<Self, ServeError> {
        let refuse = |value: String| {
            let remedy = "give a path for a Unix socket that no other service has".into();
            ServeError::Config { key: "backend.control", value, remedy }
        };
        let at = path.display();
        if let Ok(there) = std::fs::symlink_metadata(path) {
            if !there.file_type().is_socket() {
                return Err(refuse(format!("{at}, which is no socket")));
            }
            if UnixStream::connect(path).is_ok() {
                return Err(refuse(format!("{at}, which a service listens at")));
            }
            std::fs::remove_file(path).ok();
        }
        let listener = UnixListener::bind(path).and_then(|listener| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        let listener = listener.map_err(|error| refuse(format!("{at}: {error}")))?;
        Ok(Self { listener, path: path.into() })
    }

    /// Answers until the service ends.
    pub(crate) fn run(&self, backend: &Backend<'_>, shutdown: &GracefulShutdown) {
        let mut open: Vec<(UnixStream, Vec<u8>)> = Vec::new();
        while !shutdown.flag().load(Ordering::Relaxed) {
            while let Ok((stream, _)) = self.listener.accept() {
                if open.len() == MOST {
                    open.remove(0);
                }
                if stream.set_nonblocking(true).is_ok() {
                    open.push((stream, Vec::new()));
                }
            }
            open.retain_mut(|(stream, input)| step(stream, input, backend).is_ok());
            std::thread::sleep(PAUSE);
        }
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        std::fs::remove_file(&self.path).ok();
    }
}

/// Reads what is there and answers whole lines; an error where the connection is over.
fn step(stream: &mut UnixStream, input: &mut Vec<u8>, backend: &Backend<'_>) -> std::io::Result<()> {
    let mut bytes = [0; 1024];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => input.extend_from_slice(&bytes[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
        while let Some(end) = input.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = input.drain(..=end).collect();
            let mut answer = answer(&line, backend).to_string();
            answer.push('\n');
            // One that takes so little is small enough for any socket buffer; who does not read is cut off.
            stream.write_all(answer.as_bytes())?;
        }
        if input.len() > LINE_BYTES {
            return Err(ErrorKind::InvalidData.into());
        }
    }
}

fn answer(line: &[u8], backend: &Backend<'_>) -> Value {
    let done = serde_json::from_slice(line)
        .map_err(|error| format!("not a command: {error}"))
        .and_then(|command| obey(command, backend));
    match done {
        Ok(()) => json!(backend.pool().state()),
        Err(error) => json!({"error": error}),
    }
}

fn obey(command: Command, backend: &Backend<'_>) -> Result<(), String> {
    let done = match command {
        Command::Read => return Ok(()),
        Command::Set { holder, lease_s, workers, cap } => {
            if !LEASE_S.contains(&lease_s) {
                return Err(format!("lease_s {lease_s}: give {} to {} s", LEASE_S.start(), LEASE_S.end()));
            }
            let mut pool = backend.pool();
            let before = pool.settings();
            let wanted = BackendSettings {
                workers: workers.unwrap_or(before.workers),
                cap: cap.unwrap_or(before.cap),
            };
            check_settings(wanted)?;
            pool.set(&holder, wanted, now() + ns(lease_s))
        }
        Command::Release { holder } => backend.pool().release(&holder),
    };
    backend.wake();
    done
}
