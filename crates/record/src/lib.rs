//! Append-only record logs: what a run writes while it runs.
//!
//! A log is one JSON header line and then packed little-endian rows of fixed width, so that whatever
//! reached the disk before a crash can be read (`numpy.frombuffer` is enough) and only the last row can be cut:
//!
//! ```text
//! {"columns":[["intended_s","f8"],…],"format":"sojourn-record","meta":{…},"version":1}\n
//! row row row …
//! ```
//!
//! - [`clock`]: the clock that all records of a run share
//! - `column`: column kinds, their two-letter codes, values
//! - `write`: [`LogWriter`], buffered
//! - `new_file`: [`new_file()`], where a log begins
//! - `best_effort`: [`BestEffortLog`], which is given up where it cannot be written, and counts what is lost
//! - `read`: [`read()`], which tolerates a cut-off last row
//! - `row_sampling`: [`RowSampling`]: which rows are kept where all would be too many
//! - `error`: [`WriteError`], [`ReadError`]
#![deny(unsafe_code)]

mod best_effort;
pub mod clock;
mod column;
mod error;
mod new_file;
mod read;
mod row_sampling;
mod write;

pub use best_effort::BestEffortLog;
pub use column::{Column, ColumnType, Value};
pub use error::{ReadError, WriteError};
pub use new_file::new_file;
pub use read::{read, LogContents};
pub use row_sampling::RowSampling;
pub use write::LogWriter;

/// The `format` of a header line.
pub const FORMAT: &str = "sojourn-record";
/// The `version` of a header line; a reader refuses any other.
pub const VERSION: u64 = 1;
