//! Opens a proxy, watches the clock while it serves, and closes it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::Serialize;

use crate::metrics_exposition::open_metrics;
use crate::record_log::RecordLog;
use crate::shared::SharedState;
use crate::summary::{summary, Summary};
use crate::{direct, hdr_log, staged, Config, ServeError, ThreadingDesign};
use sojourn_record::clock::now;
use sojourn_serving::{answer, listen, spawn, EndpointContent};

/// What is told once the proxy accepts clients.
#[derive(Clone, Debug, Serialize)]
pub struct ReadyMessage {
    pub address: String,
    pub metrics: Option<String>,
    pub pid: u32,
}

/// Serves until `stop` is set; `ready` is called once, when connections to all servers are open and clients accepted.
///
/// # Errors
/// A value out of range, an address or a server that cannot be had, a limit of the process, a log that cannot be
/// created. One that cannot be written later is given up, and the service goes on.
pub fn serve(
    config: &Config,
    stop: &AtomicBool,
    ready: &mut dyn FnMut(&ReadyMessage),
) -> Result<Summary, ServeError> {
    config.check()?;
    let shared = SharedState::new(config)?;
    let (listener, address) = listen(&config.listen)?;
    let metrics = config.metrics.as_deref().map(listen).transpose()?;
    let said = metrics.as_ref().map(|(_, address)| address.to_string());
    let told = ReadyMessage { address: address.to_string(), metrics: said, pid: std::process::id() };
    let log = RecordLog::open(config, &shared.all(), now())?;
    let histogram = config.histogram.as_deref().map(hdr_log::create).transpose()?;
    let (begun, begun_wall, ended) = (now(), hdr_log::date(), AtomicBool::new(false));
    let total = std::thread::scope(|scope| {
        if let Some((listener, _)) = &metrics {
            let (shared, ended) = (&shared, &ended);
            spawn(scope, "kv-metrics".into(), move || {
                let metrics = &|| open_metrics(shared);
                answer(listener, ended, EndpointContent { metrics, ready: &|| shared.availability.ready() });
            })?;
        }
        let served = match config.design {
            ThreadingDesign::Direct => {
                direct::serve(scope, &shared, listener, log, &mut || ready(&told), stop)
            }
            ThreadingDesign::Staged => {
                staged::serve(scope, &shared, listener, log, &mut || ready(&told), stop)
            }
        };
        shared.stop();
        ended.store(true, Ordering::Relaxed);
        served
    })?;
    let (total, cpu_s) = total;
    let lasted = Duration::from_nanos(now() - begun);
    if let (Some(path), Some(file)) = (&config.histogram, histogram) {
        let written = hdr_log::write(path, file, &total, begun_wall, lasted);
        written.err().iter().for_each(|error| shared.lost_logs.add(error));
    }
    let (lost_logs, lost_rows) = (shared.lost_logs.list(), shared.lost_rows.load(Ordering::Relaxed));
    Ok(Summary {
        lost_logs,
        lost_rows,
        ..summary(config, &shared.all(), &total, lasted.as_secs_f64(), &cpu_s)
    })
}
