//! What a Linux host did during a run, sampled at a fixed interval into an NDJSON file.
//!
//! The first line of the file is a header (what is online, what this machine does not offer and why, the
//! topology), each further line one sample of counters as the kernel gives them. Rates are made later, from
//! two samples ([`Counter::since`]), so that a sample can never hold nonsense after a wrap-around or a reset.
//!
//! - [`collect()`]: the loop; [`Config`], [`Summary`]
//! - `sample`: all readers together, one JSON line
//! - one file per kernel interface, each with its line format: `proc_stat`, `softirqs`, `softnet`, `interrupts`,
//!   `netdev`, `diskstats`, `meminfo`, `pressure`, `process`, `cgroup`, `cpu_topology`, `perf_counters`
//! - `core_speed`: how fast each core is
//! - `cache_line_transfer`, `pointer_chase`: how far cores are from each other, and memory of each size from a core
//! - `kernel_file`: an open file that is read again and again; lines and fields whose errors name their place
//! - `counter`: counters and rates are different types
//! - `named_rows`: named rows that keep their memory from sample to sample
//! - `error`: [`CollectError`], [`ReadError`]
//! - `sys`: the few system calls without a safe wrapper in std
//!
//! `unsafe` is needed for clocks, `sched_setaffinity` and `perf_event_open`; it is confined to `sys`.
#![deny(unsafe_code)]

mod cache_line_transfer;
mod cgroup;
mod collect;
mod config;
mod core_speed;
mod counter;
mod cpu_topology;
mod diskstats;
mod error;
mod interrupts;
mod kernel_file;
mod meminfo;
mod named_rows;
mod netdev;
mod perf_counters;
mod pointer_chase;
mod pressure;
mod proc_stat;
mod process;
mod sample;
mod softirqs;
mod softnet;
mod sys;

pub use cache_line_transfer::cache_line_transfer_s;
pub use cgroup::{Cgroup, CgroupReader};
pub use collect::{collect, Summary};
pub use config::Config;
pub use core_speed::SpeedSample;
pub use counter::{Counter, Counter32, Rate};
pub use cpu_topology::{topology, CoreTopology};
pub use diskstats::{Disk, Disks};
pub use error::{CollectError, ReadError};
pub use interrupts::Interrupts;
pub use kernel_file::{KernelFile, KernelFileReader};
pub use meminfo::Memory;
pub use named_rows::NamedRows;
pub use netdev::{Nic, Nics};
pub use pointer_chase::pointer_chase_s;
pub use pressure::PressureReader;
pub use proc_stat::{CpuTicks, ProcStat};
pub use process::{Process, ProcessReader, Thread};
pub use softirqs::Softirqs;
pub use softnet::{Softnet, SoftnetCore};

/// The `format` of the header line.
pub const FORMAT: &str = "sojourn-host";
/// The `version` of the header line.
pub const VERSION: u64 = 1;
