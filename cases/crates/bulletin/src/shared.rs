//! What all threads share.

use std::sync::{Mutex, PoisonError};

use mio::Waker;
use sojourn_serving::cpu_work::CoreSpeedCalibration;
use sojourn_serving::{BoundedQueue, GracefulShutdown, TraceFile};

use crate::client::WaitingRequest;
use crate::page_offers::PageOffers;
use crate::stats::Stats;
use crate::tables::Tables;
use crate::Config;

/// What all threads share.
pub(crate) struct SharedState<'a> {
    pub config: &'a Config,
    pub tables: Tables,
    pub offers: PageOffers,
    pub queue: BoundedQueue<WaitingRequest>,
    pub stats: Stats,
    pub shutdown: GracefulShutdown,
    pub speed: CoreSpeedCalibration,
    pub woken: Mutex<Vec<u32>>,
    pub waker: Waker,
    pub traces: Option<TraceFile>,
}

impl SharedState<'_> {
    /// The event loop is to look at a client.
    pub fn wake(&self, client: u32) {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        woken.push(client);
        if woken.len() == 1 {
            // Where it fails, the client waits until its next event.
            let _ = self.waker.wake();
        }
    }

    /// Those that it has to look at.
    pub fn woken(&self) -> Vec<u32> {
        std::mem::take(&mut *self.woken.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
