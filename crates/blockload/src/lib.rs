//! Block I/O at a held rate: files and devices by io_uring or threads, network block devices by a client of our own.
//!
//! The way of an I/O, as a list of files:
//!
//! 1. `config`: what the user wants; `target`, `nbd_url`, `open_file`, `device_use`, `nbd_connection`: opened and checked before anything is
//!    written
//! 2. `operation`: which I/O comes next; when it is due says the arrival schedule of all loads
//! 3. `generator`: one thread takes it up when it is due, and its end when it comes; `path`: what it asks of a path
//! 4. `uring_file`, `thread_file`, `nbd_client` with `answer_reader`: the paths
//! 5. `block_contents`: whether what is read is what was written there last
//! 6. `run`, `summary`: recorded as any other load, and what storage has beside that
//!
//! `aligned_buffer` memory for direct I/O; `error` what can go wrong; `sys` and `uring_file` have all `unsafe` of the crate.
#![deny(unsafe_code)]

mod aligned_buffer;
mod answer_reader;
mod block_contents;
mod config;
mod device_use;
mod error;
mod generator;
mod late_answers;
mod nbd_client;
mod nbd_connection;
mod nbd_url;
mod open_file;
mod operation;
mod path;
mod run;
mod summary;
mod sys;
mod target;
mod thread_file;
mod uring_file;

pub use config::{BlockConfig, Config, Engine, LaneConfig, TargetConfig};
pub use error::BlockLoadError;
pub use run::run;
pub use summary::{BlockSummary, StorageSummary};
