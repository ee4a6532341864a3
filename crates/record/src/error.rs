//! What can go wrong, by operation.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Writing a log failed.
#[derive(Debug)]
pub enum WriteError {
    Create { path: PathBuf, source: io::Error },
    Append { path: PathBuf, source: io::Error },
    Shape { path: PathBuf, what: String },
}

/// Reading a log failed.
#[derive(Debug)]
pub enum ReadError {
    Open { path: PathBuf, source: io::Error },
    Header { path: PathBuf, what: String },
    Version { path: PathBuf, found: String },
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::Create { path, source } => {
                write!(f, "cannot create {}: {source}; {}", path.display(), remedy(source))
            }
            WriteError::Append { path, source } => {
                write!(f, "cannot write to {}: {source}; {}", path.display(), remedy(source))
            }
            WriteError::Shape { path, what } => {
                write!(
                    f,
                    "row for {}: {what}; give one value of its column's kind per column",
                    path.display()
                )
            }
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Open { path, source } => {
                write!(f, "cannot read {}: {source}; check the path and the permissions", path.display())
            }
            ReadError::Header { path, what } => {
                let path = path.display();
                write!(
                    f,
                    "{path}: header line: {what}; this is not a record log, or it was cut off at the start"
                )
            }
            ReadError::Version { path, found } => {
                let (path, known) = (path.display(), crate::VERSION);
                write!(
                    f,
                    "{path}: version {found}, this program reads {known}; use the sojourn that wrote it"
                )
            }
        }
    }
}

impl std::error::Error for WriteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            WriteError::Create { source, .. } | WriteError::Append { source, .. } => Some(source),
            WriteError::Shape { .. } => None,
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReadError::Open { source, .. } => Some(source),
            _ => None,
        }
    }
}

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "free space or choose another path"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a folder that you may write to"
        }
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            "make its folder first or choose another path"
        }
        _ => "check the disk or choose another path",
    }
}
