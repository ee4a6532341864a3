//! What can go wrong, by operation.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Reading one kernel file failed.
#[derive(Debug)]
pub enum ReadError {
    Open { path: PathBuf, source: io::Error },
    Read { path: PathBuf, source: io::Error },
    Missing { path: PathBuf, line: usize, item: &'static str },
    Number { path: PathBuf, line: usize, item: &'static str, text: String },
}

/// Collecting failed.
#[derive(Debug)]
pub enum CollectError {
    Config { key: &'static str, value: String, remedy: &'static str },
    Read(ReadError),
    Process { pid: u32 },
    Cgroup { name: String },
    Pin { core: usize, source: io::Error },
    Thread { source: io::Error },
    Write { path: PathBuf, source: io::Error },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { path, source } => {
                write!(
                    f,
                    "cannot open {}: {source}; check that proc is mounted and may be read",
                    path.display()
                )
            }
            Self::Read { path, source } => {
                write!(
                    f,
                    "cannot read {}: {source}; check that proc is mounted and may be read",
                    path.display()
                )
            }
            Self::Missing { path, line, item } => {
                write!(f, "{}: line {line} ends before {item}; {REPORT}", path.display())
            }
            Self::Number { path, line, item, text } => {
                write!(f, "{}: line {line}: {item} is \"{text}\", not a number; {REPORT}", path.display())
            }
        }
    }
}

const REPORT: &str = "if this kernel's format is new, report it with the file's text";

impl fmt::Display for CollectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config { key, value, remedy } => write!(f, "host metrics: {key} = {value}: {remedy}"),
            Self::Read(error) => error.fmt(f),
            Self::Process { pid } => write!(f, "host metrics: no process {pid}; it ended, or check pids"),
            Self::Cgroup { name } => {
                write!(
                    f,
                    "host metrics: no CPU time of a control group {name}; give its path below /sys/fs/cgroup"
                )
            }
            Self::Pin { core, source } => {
                write!(f, "host metrics: cannot stay on core {core}: {source}; choose a core that is online")
            }
            Self::Thread { source } => write!(f, "host metrics: no thread: {source}; raise ulimit -u"),
            Self::Write { path, source } => {
                write!(f, "cannot write {}: {source}; free space or choose another --out", path.display())
            }
        }
    }
}

impl From<ReadError> for CollectError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl std::error::Error for ReadError {}
impl std::error::Error for CollectError {}
