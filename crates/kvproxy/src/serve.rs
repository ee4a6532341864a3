//! Opens a proxy, watches the clock while it serves, and closes it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Serialize;

use crate::exposition::open_metrics;
use crate::log::Log;
use crate::shared::Shared;
use crate::summary::{summary, Summary};
use crate::{direct, hlog, staged, Config, Design, ServeError};
use sojourn_record::clock::now;
use sojourn_serving::{answer, listen, spawn, Told};

/// The proxy accepts clients.
#[derive(Clone, Debug, Serialize)]
pub struct Ready {
    pub address: String,
    pub metrics: Option<String>,
    pub pid: u32,
}

/// Serves until `stop` is set; `ready` is called once, when connections to all servers are open and clients accepted.
///
/// # Errors
/// A value out of range, an address or a server that cannot be had, a limit of the process, a log that cannot be
/// written.
pub fn serve(
    config: &Config,
    stop: &AtomicBool,
    ready: &mut dyn FnMut(&Ready),
) -> Result<Summary, ServeError> {
    config.check()?;
    let shared = Shared::new(config)?;
    let (listener, address) = listen(&config.listen)?;
    let metrics = config.metrics.as_deref().map(listen).transpose()?;
    let said = metrics.as_ref().map(|(_, address)| address.to_string());
    let told = Ready { address: address.to_string(), metrics: said, pid: std::process::id() };
    let log = Log::open(config, &shared.all(), now())?;
    let histogram = config.histogram.as_deref().map(hlog::create).transpose()?;
    let (begun, begun_wall, ended) = (now(), hlog::date(), AtomicBool::new(false));
    let total = std::thread::scope(|scope| {
        if let Some((listener, _)) = &metrics {
            let (shared, ended) = (&shared, &ended);
            spawn(scope, "kv-metrics".into(), move || {
                let metrics = &|| open_metrics(shared);
                answer(listener, ended, Told { metrics, ready: &|| shared.availability.ready() });
            })?;
        }
        let served = match config.design {
            Design::Direct => direct::serve(scope, &shared, listener, log, &mut || ready(&told), stop),
            Design::Staged => staged::serve(scope, &shared, listener, log, &mut || ready(&told), stop),
        };
        shared.stop();
        ended.store(true, Ordering::Relaxed);
        served
    })?;
    let (total, cpu_s) = total;
    let lasted = Duration::from_nanos(now() - begun);
    if let (Some(path), Some(file)) = (&config.histogram, histogram) {
        hlog::write(path, file, &total, begun_wall, lasted)?;
    }
    Ok(summary(config, &shared.all(), &total, lasted.as_secs_f64(), &cpu_s))
}
