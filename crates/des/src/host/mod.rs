//! A virtual host: requests arrive at NICs, their soft interrupts are served first on the core that the NIC
//! interrupts, then a thread, there or on another core, makes the page.
//!
//! - `config`: [`Config`], what is simulated, checked
//! - `engine`: [`simulate`], the loop over events
//! - `core`: one core: soft interrupts in order of arrival, which preempt pages
//! - `page_scheduler`: the pages of one core: taken up by threads, in turns or shared exactly
//! - `host_records`: [`SimulatedRun`], what comes out: a row a request, counters every so often, totals
//!
//! After the two-class description of Chen et al., ICPE 2014, sections 3 and 4, with what its model leaves out
//! (slices, placement by load, switching costs) as options. NIC k interrupts core k. Time starts at 0, in seconds.
//! Events at one time are taken in a fixed order: cores by number, then what was delayed, arrivals, samples.

mod config;
mod core;
mod engine;
mod host_records;
mod page_scheduler;

pub use config::{Config, HostError, HostLoad, Placement, Steering};
pub use engine::simulate;
pub use host_records::{CoreSamples, RequestRecords, SimulatedRun};
