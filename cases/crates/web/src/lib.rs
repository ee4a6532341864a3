//! A shop served over HTTP/1.1 whose true demand is known, so that estimators can be judged.
//!
//! Each page is made for its request from data in memory, then takes CPU work drawn from a stated
//! distribution, measured in work done: neither elapsed nor thread time, which stolen interrupts distort.
//!
//! - [`serve()`]: opens the shop, starts its threads; [`Summary`]
//! - `acceptor`: says where it listens ([`ReadyMessage`]), accepts, deals, writes the records
//! - [`Config`] in `config`, [`ServeError`] in `error`
//! - `connection_balancer`: which thread gets a connection (pure)
//! - `mailbox`: where a thread's connections come in and its rows go out
//! - `worker`: one thread: epoll, requests in the order of their arrival, one at a time
//! - `connection`: a connection's buffers; bytes in, whole requests out
//! - `route`: path → page
//! - [`BackendConfig`] in `backend_config`; `backend_pool`: servers behind `/wait` that only take time; `backend`: its thread and metrics, `backend_control`: its
//!   settings at run time, `waiting_page`: connections that wait for it
//! - `catalogue`: the shop's data · `pages`, `html`: pages of a stated size
//! - `thread_statistics`: what a thread did · `request_log`: rows of `app.rec`
//! - `sys`: the system calls without a safe wrapper in std
//!
//! `unsafe` is needed for epoll, kernel time stamps and pinning; it is confined to `sys`.
#![deny(unsafe_code)]

mod acceptor;
mod backend;
mod backend_config;
mod backend_control;
mod backend_pool;
mod catalogue;
mod config;
mod connection;
mod connection_balancer;
mod error;
mod html;
mod mailbox;
mod pages;
mod request_log;
mod route;
mod serve;
mod sys;
mod thread_statistics;
mod waiting_page;
mod worker;

pub use acceptor::ReadyMessage;
pub use backend_config::BackendConfig;
pub use backend_pool::BackendSettings;
pub use config::Config;
pub use connection_balancer::ConnectionBalancer;
pub use error::ServeError;
pub use serve::serve;
pub use sojourn_serving::cpu_work::CoreSpeedCalibration;
pub use thread_statistics::{PageSummary, Summary, ThreadSummary};
