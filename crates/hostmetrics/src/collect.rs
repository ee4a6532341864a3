//! The loop: an absolute schedule, one line a sample, an account of its own cost.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::sample::Sampler;
use crate::{sys, CollectError, Config, Counter, Counter32};

/// What was collected and what that cost.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub samples: u64,
    /// Samples of the schedule that had to be left out because an earlier one took too long.
    pub missed: u64,
    pub wall_s: f64,
    /// CPU time of the collecting thread.
    pub own_cpu_s: f64,
    /// The same as a share of one core.
    pub own_share: f64,
    pub bytes: u64,
    /// Mean over the whole time; none with fewer than two samples or after a reset.
    pub context_switches_per_s: Option<f64>,
    /// Packets per second by core (`softnet_stat`), the same way.
    pub packets_per_s: BTreeMap<String, f64>,
}

/// Longest sleep, so that `stop` is seen in time.
const LONGEST_SLEEP_S: f64 = 0.1;

/// Samples until `stop` is set, in the calling thread.
///
/// # Errors
/// `CollectError` for a value out of range, a missing process, a core that is not there, a kernel file that
/// cannot be read or a disk that is full; what was written until then is complete lines.
pub fn collect(config: &Config, stop: &AtomicBool) -> Result<Summary, CollectError> {
    config.check()?;
    if let Some(core) = config.cpu {
        sys::pin(core).map_err(|source| CollectError::Pin { core, source })?;
    }
    let own_start_s = sys::thread_cpu_s();
    let mut sampler = Sampler::open(config)?;
    let mut out = OutputFile::create(config)?;
    serde_json::to_writer(&mut out.line, &sampler.header(config)).ok();
    out.line.push(b'\n');
    out.write()?;
    let start_s = sys::monotonic_s();
    let (mut samples, mut missed, mut due) = (0, 0, 0u64);
    let mut totals = None;
    while !stop.load(Ordering::Relaxed) {
        sampler.sample(&mut out.line)?;
        out.write()?;
        samples += 1;
        totals.get_or_insert_with(|| CounterTotals::start(&sampler)).add(&sampler);
        let passed = ((sys::monotonic_s() - start_s) / config.interval_s) as u64;
        missed += passed.saturating_sub(due);
        due = due.max(passed) + 1;
        wait(start_s + due as f64 * config.interval_s, stop);
    }
    let wall_s = sys::monotonic_s() - start_s;
    let own_cpu_s = sys::thread_cpu_s() - own_start_s;
    let (context_switches_per_s, packets_per_s) = totals.map_or_else(Default::default, |t| t.rates(&sampler));
    let own_share = if wall_s > 0.0 { own_cpu_s / wall_s } else { 0.0 };
    let bytes = out.bytes;
    Ok(Summary {
        samples,
        missed,
        wall_s,
        own_cpu_s,
        own_share,
        bytes,
        context_switches_per_s,
        packets_per_s,
    })
}

fn wait(until_s: f64, stop: &AtomicBool) {
    loop {
        let now_s = sys::monotonic_s();
        if now_s >= until_s || stop.load(Ordering::Relaxed) {
            return;
        }
        sys::sleep_until(until_s.min(now_s + LONGEST_SLEEP_S));
    }
}

/// The counters that the summary gives rates of, summed sample by sample so that 32 bits do not limit a run.
struct CounterTotals {
    start_s: f64,
    switches: Counter,
    packets: BTreeMap<String, (Counter32, u64)>,
}

impl CounterTotals {
    fn start(sampler: &Sampler) -> CounterTotals {
        let switches = sampler.stat.now().context_switches;
        let mut totals = CounterTotals { start_s: sys::monotonic_s(), switches, packets: BTreeMap::new() };
        totals.add(sampler);
        totals
    }

    fn add(&mut self, sampler: &Sampler) {
        for (core, now) in sampler.softnet.iter().flat_map(|reader| reader.now().cores.iter()) {
            if let Some((last, sum)) = self.packets.get_mut(core) {
                *sum += now.processed.change(*last).unwrap_or(0);
                *last = now.processed;
            } else {
                self.packets.insert(core.to_string(), (now.processed, 0));
            }
        }
    }

    fn rates(&self, sampler: &Sampler) -> (Option<f64>, BTreeMap<String, f64>) {
        let seconds = sys::monotonic_s() - self.start_s;
        let switches = sampler.stat.now().context_switches.since(self.switches, seconds);
        let rate = |(core, (_, sum)): (&String, &(Counter32, u64))| {
            Counter(*sum).since(Counter(0), seconds).map(|rate| (core.clone(), rate.per_s()))
        };
        (switches.map(crate::Rate::per_s), self.packets.iter().filter_map(rate).collect())
    }
}

/// The NDJSON file that samples go to; each line is one write, so that a crash leaves complete lines.
struct OutputFile<'a> {
    config: &'a Config,
    file: File,
    line: Vec<u8>,
    bytes: u64,
}

impl<'a> OutputFile<'a> {
    fn create(config: &'a Config) -> Result<Self, CollectError> {
        let error = |source| CollectError::Write { path: config.out.clone(), source };
        let file = File::create(&config.out).map_err(error)?;
        Ok(Self { config, file, line: Vec::with_capacity(16 * 1024), bytes: 0 })
    }

    fn write(&mut self) -> Result<(), CollectError> {
        let error = |source| CollectError::Write { path: self.config.out.clone(), source };
        self.file.write_all(&self.line).map_err(error)?;
        self.bytes += self.line.len() as u64;
        self.line.clear();
        Ok(())
    }
}
