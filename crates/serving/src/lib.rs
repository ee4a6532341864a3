//! What our services have in common, whatever they serve.
//!
//! - `error` [`ServingError`]: what any of them can meet; [`within`] a range, a limit of the [`system`]
//! - `listen_and_spawn` [`listen`], [`spawn`]: an address, a thread
//! - `graceful_shutdown` [`GracefulShutdown`]: no further request, and the time that is left for answers
//! - `memory_limit` [`MemoryLimit`]: one limit over all clients; [`MemoryCharge`]: what one of them has of it
//! - `slab` [`Slab`]: connections by number and generation
//! - `connection_deadline` [`ConnectionDeadline`]: idle and lingering connections are closed by the clock
//! - `buffer` [`ReadBuffer`], [`WriteBuffer`]: bytes of a connection; `read_half` [`ReadHalf`]: the half that is read
//! - `queue` [`BoundedQueue`]: between threads, one by one or in batches
//! - `fair_turns` [`TurnBudget`], [`ReadyList`]: fairness between connections
//! - [`time_histogram`]  histograms of times, and their summary
//! - [`thread_cpu_time`]    CPU time of threads; [`cpu_work`] a known demand of it
//! - [`http`] heads of requests and of pages (no sockets)
//! - `openmetrics` [`OpenMetricsText`]: OpenMetrics; `metrics_endpoint` [`answer`]: it and the service's health over HTTP
//! - `trace_file` [`TraceFile`]: spans as OTLP/JSON, by a thread that no request waits for
//! - `log` [`log()`]: events for operators, on standard error; `lost_logs` [`LostLogs`]: record logs that were given up
#![forbid(unsafe_code)]

mod buffer;
mod connection_deadline;
pub mod cpu_work;
mod error;
mod fair_turns;
mod graceful_shutdown;
pub mod http;
mod listen_and_spawn;
mod log;
mod lost_logs;
mod memory_limit;
mod metrics_endpoint;
mod openmetrics;
mod queue;
mod read_half;
mod slab;
pub mod thread_cpu_time;
pub mod time_histogram;
mod trace_file;

pub use buffer::{write_some, ReadBuffer, ReadOutcome, WriteBuffer};
pub use connection_deadline::ConnectionDeadline;
pub use error::{system, within, ServingError};
pub use fair_turns::{ReadyList, TurnBudget};
pub use graceful_shutdown::{GracefulShutdown, TICK};
pub use listen_and_spawn::{listen, spawn};
pub use log::{log, LogLevel};
pub use lost_logs::LostLogs;
pub use memory_limit::{MemoryCharge, MemoryLimit};
pub use metrics_endpoint::{answer, EndpointContent};
pub use openmetrics::OpenMetricsText;
pub use queue::{Batches, BoundedQueue};
pub use read_half::{ReadHalf, ReadProgress};
pub use slab::Slab;
pub use trace_file::{RequestTrace, Span, SpanKind, TraceCounts, TraceFile};
