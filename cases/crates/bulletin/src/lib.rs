//! A bulletin board over HTTP/1.1, after RUBBoS: the application tier.
//!
//! An event loop reads and writes all clients; worker threads take requests from one queue, ask the board (tables in
//! memory), take a stated CPU time for the page, and answer.
//!
//! - [`serve()`]: opens the service, starts its threads; [`ReadyMessage`], [`Summary`]; [`Config`] in `config`
//! - `shared`: what all threads have in common · `event_loop`: one thread for all clients · `client`: a connection, one request of it at a time under way
//! - `worker`: a thread that answers · `stats`: what was answered · `metrics`: the same as OpenMetrics
//! - `interaction`: the 24 interactions, their requests · `pages`: what each shows; `reads`, `writes`: parts of it
//! - `spans`: the traces of requests
//! - `html`: the frame of a page · `page_offers`: rows that pages point to
//! - `board`: what can be asked of the tables · `embedded`: tables in memory · `postgres`: in PostgreSQL; `statements`
//!   · `tables`: one of the two
//! - `generate`: rows from a scale and a seed · `text`: words from a seed
#![forbid(unsafe_code)]

mod board;
mod client;
mod config;
mod embedded;
mod error;
mod event_loop;
mod generate;
mod html;
mod interaction;
mod metrics;
mod page_offers;
mod pages;
mod postgres;
mod reads;
mod serve;
mod shared;
mod spans;
mod statements;
mod stats;
mod tables;
mod text;
mod worker;
mod writes;

pub use config::Config;
pub use error::ServeError;
pub use interaction::INTERACTIONS;
pub use serve::{serve, ReadyMessage};
pub use stats::Summary;
