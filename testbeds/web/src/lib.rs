//! A shop served over HTTP/1.1 whose true demand is known, so that estimators can be judged.
//!
//! Each page is made for its request from data in memory, then takes CPU work drawn from a stated
//! distribution, measured in work done: neither elapsed nor thread time, which stolen interrupts distort.
//!
//! - [`serve()`]: opens the shop, starts its threads; [`Ready`], [`Summary`]
//! - `desk`: accepts, deals, writes the records
//! - [`Config`] in `config`, [`ServeError`] in `error`
//! - `deal`: which thread gets a connection (pure)
//! - `worker`: one thread: epoll, requests in the order of their arrival, one at a time
//! - `connection`: a connection's buffers; bytes in, whole requests out
//! - `http`: request heads and response heads (no sockets) · `route`: path → page
//! - `catalogue`: the shop's data · `pages`, `html`: pages of a stated size
//! - `work`: the calibrated work · `account`: what a thread did · `record`: rows of `app.rec`
//! - `sys`: the system calls without a safe wrapper in std
//!
//! `unsafe` is needed for epoll, kernel time stamps and pinning; it is confined to `sys`.
#![deny(unsafe_code)]

mod account;
mod catalogue;
mod config;
mod connection;
mod deal;
mod desk;
mod error;
mod html;
mod http;
mod pages;
mod record;
mod route;
mod serve;
mod sys;
mod work;
mod worker;

pub use account::{PageSummary, Summary, ThreadSummary};
pub use config::Config;
pub use deal::Deal;
pub use error::ServeError;
pub use serve::{serve, Ready};
pub use work::Calibration;
