//! What a worker process of the lab asks of the kernel.
//!
//! - `thread_placement`    pin a thread, set it back behind who wakes it, enter a network namespace, die with the parent
//! - `idle_priority_loop`  one busy loop a core at `SCHED_IDLE`: an idle core stops its tick, and the interrupt that wakes it
//!   is then missing from `/proc/stat`; with a spinner the tick never stops
//! - `work_counters`       how much the loops have done, in a file that others can map
//!
//! `unsafe` is needed for the raw scheduler and namespace calls; each block states why it is sound.

mod idle_priority_loop;
mod thread_placement;
mod work_counters;

pub use idle_priority_loop::spin;
pub use thread_placement::{
    die_with_parent, enter_network, pin, set_batch_scheduling, share_taken, PlacementError,
};
pub use work_counters::{WorkCounters, STRIDE_BYTES};
