//! What our services have in common, whatever they serve.
//!
//! - `error`    [`Error`]: what any of them can meet; [`within`] a range, a limit of the [`system`]
//! - `open`     [`listen`], [`spawn`]: an address, a thread
//! - `halt`     [`Halt`]: no further request, and the time that is left for answers
//! - `memory`   [`Memory`]: one limit over all clients; [`Charge`]: what one of them has of it
//! - `slab`     [`Slab`]: connections by number and generation
//! - `buffer`   [`Inbox`], [`Outbox`]: bytes of a connection; `intake` [`Intake`]: the half that is read
//! - `queue`    [`BoundedQueue`]: between threads
//! - `turns`    [`Budget`], [`ReadyList`]: fairness between connections
//! - [`times`]  histograms of times, and their summary
//! - [`cpu`]    CPU time of threads
//! - `text`     [`Text`]: OpenMetrics; `endpoint` [`answer`]: it and the service's health over HTTP
//! - `log`      [`log()`]: events for operators, on standard error
#![forbid(unsafe_code)]

mod buffer;
pub mod cpu;
mod endpoint;
mod error;
mod halt;
mod intake;
mod log;
mod memory;
mod open;
mod queue;
mod slab;
mod text;
pub mod times;
mod turns;

pub use buffer::{write_some, Fill, Inbox, Outbox};
pub use endpoint::{answer, Told};
pub use error::{system, within, Error};
pub use halt::{Halt, TICK};
pub use intake::{Intake, Reading};
pub use log::{log, Level};
pub use memory::{Charge, Memory};
pub use open::{listen, spawn};
pub use queue::BoundedQueue;
pub use slab::Slab;
pub use text::Text;
pub use turns::{Budget, ReadyList};
