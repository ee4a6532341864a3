//! What our services have in common, whatever they serve.
//!
//! - `error`    [`Error`]: what any of them can meet; [`within`] a range, a limit of the [`system`]
//! - `open`     [`listen`], [`spawn`]: an address, a thread
//! - `halt`     [`Halt`]: no further request, and the time that is left for answers
//! - `memory`   [`Memory`]: one limit over all clients
//! - [`times`]  histograms of times, and their summary
//! - [`cpu`]    CPU time of threads
//! - `text`     [`Text`]: OpenMetrics; `endpoint` [`answer`]: it and the service's health over HTTP
//! - `log`      [`log()`]: events for operators, on standard error
#![forbid(unsafe_code)]

pub mod cpu;
mod endpoint;
mod error;
mod halt;
mod log;
mod memory;
mod open;
mod text;
pub mod times;

pub use endpoint::{answer, Told};
pub use error::{system, within, Error};
pub use halt::{Halt, TICK};
pub use log::{log, Level};
pub use memory::Memory;
pub use open::{listen, spawn};
pub use text::Text;
