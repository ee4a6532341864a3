//! A run from its configuration to its summary.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sojourn_loadgen::recording::{pin, record_run, LiveCounts, OutcomeBatch, RunTerms, StopFlags};
use sojourn_loadgen::{now_s, ClientThreadSummary, LoadError, Progress};
use sojourn_nbdproto::{transmission_flags, Export};

use crate::config::{Config, Engine};
use crate::error::{check, BlockLoadError};
use crate::generator::{Generator, Work};
use crate::nbd_client::NbdClient;
use crate::nbd_connection::{connect, NbdStream};
use crate::nbd_url::NbdUrl;
use crate::open_file::{open_device, open_file, span_of};
use crate::operation::OperationKind;
use crate::path::BlockPath;
use crate::summary::{BlockSummary, StorageSummary};
use crate::sys;
use crate::target::Target;
use crate::thread_file::ThreadFile;
use crate::uring_file::{self, UringFile};

/// From everything open to the first I/O, and for buffers of so many bytes a second more.
const LEAD_S: f64 = 0.02;
const FILLED_PER_S: f64 = 5e8;

/// Open and checked, and not yet used.
enum Opened {
    File { file: File, engine: Engine },
    Nbd { url: NbdUrl, connection: (NbdStream, Export) },
}

/// Puts the load on the target; writes `requests.rec` and `latency.hlog` into `out`.
///
/// `progress` is called four times a second on the caller's thread. When `stop` is set, the run ends within about half a second.
///
/// # Errors
/// What cannot be used or written; nothing is written to a target before all of it is checked.
pub fn run(
    config: &Config,
    out: &Path,
    progress: &mut dyn FnMut(&Progress),
    stop: &AtomicBool,
) -> Result<BlockSummary, BlockLoadError> {
    let (opened, span_bytes, storage, cache) = open(config)?;
    config.block.verifiable(span_bytes, config.unit_bytes())?;
    std::fs::create_dir_all(out)
        .map_err(|cause| LoadError::Folder { path: out.to_path_buf(), cause })
        .map_err(BlockLoadError::Load)?;
    let share = || cache.as_ref().and_then(|file| sys::cached_share(file, span_bytes).ok());
    let cache_before = share();
    let filled_bytes = f64::from(config.block.depth) * f64::from(config.block.sizes.high());
    let ready_s = now_s() + LEAD_S + filled_bytes / FILLED_PER_S;
    let start_s = match config.start_at_s {
        Some(start_at_s) if start_at_s < ready_s => {
            return Err(LoadError::StartPassed { start_at_s, now_s: ready_s }.into());
        }
        given => given.unwrap_or(ready_s),
    };
    let terms = RunTerms {
        seed: config.seed,
        start_s,
        end_s: start_s + config.duration_s,
        timeout_s: config.timeout_s,
        record_limit: config.record_limit,
        realtime: false,
        slack_s: 0.0,
    };
    let halt = AtomicBool::new(false);
    let (flags, told) = (StopFlags { stop, halt: &halt }, Mutex::new(StorageSummary::default()));
    let thread = |gauges: &LiveCounts, sender: Sender<OutcomeBatch>| {
        let generated = generate(config, &terms, flags, gauges, sender, (opened, span_bytes, storage))?;
        *told.lock().unwrap_or_else(PoisonError::into_inner) = generated.1;
        Ok::<ClientThreadSummary, BlockLoadError>(generated.0)
    };
    let classes = OperationKind::NAMES.map(str::to_string);
    let run = record_run(&terms, out, &classes, |_| (), vec![thread], flags, progress)?;
    let mut storage = told.into_inner().unwrap_or_else(PoisonError::into_inner);
    (storage.cache_before, storage.cache_after) = (cache_before, share());
    storage.asked_iops = config.asked_iops();
    storage.conclude(&run);
    Ok(BlockSummary { run, storage })
}

/// The thread of the load.
fn generate(
    config: &Config,
    terms: &RunTerms,
    flags: StopFlags,
    gauges: &LiveCounts,
    sender: Sender<OutcomeBatch>,
    (opened, span_bytes, storage): (Opened, u64, StorageSummary),
) -> Result<(ClientThreadSummary, StorageSummary), BlockLoadError> {
    if let Some(cpu) = config.lane().cpu {
        pin(cpu).map_err(|cause| LoadError::Pin { lane: 0, cpu, cause }).map_err(BlockLoadError::Load)?;
    }
    let (depth, block_bytes) = (config.block.depth, config.block.sizes.high());
    let path: std::io::Result<Box<dyn BlockPath>> = match opened {
        Opened::File { file, engine: Engine::Psync } => {
            ThreadFile::new(file, depth, block_bytes).map(|path| Box::new(path) as _)
        }
        Opened::File { file, .. } => UringFile::new(file, depth, block_bytes).map(|path| Box::new(path) as _),
        Opened::Nbd { url, connection } => {
            let (quick_ack, limit_s) = (config.block.quick_ack, config.timeout_s);
            NbdClient::new(url, connection, depth, block_bytes, quick_ack, limit_s)
                .map(|path| Box::new(path) as _)
        }
    };
    let path = path.map_err(|cause| BlockLoadError::System { call: "the path's start", cause })?;
    Generator::new(config, terms, flags, gauges, Work { path, span_bytes, storage }, sender).run()
}

type OpenedTarget = (Opened, u64, StorageSummary, Option<File>);

/// Opens the target and checks it; the last is the file whose pages in the cache are counted.
fn open(config: &Config) -> Result<OpenedTarget, BlockLoadError> {
    let block = &config.block;
    let mut storage = StorageSummary { direct: block.direct, ..StorageSummary::default() };
    let target = config.target()?;
    let found = match target {
        Target::File(path) => open_file(&path, block)?,
        Target::Device(path) => open_device(&path, block)?,
        Target::Nbd(url) => {
            let remedy = "it is the server that opens the file: tell it, and leave --direct out";
            check(!block.direct, "--direct", &url, remedy)?;
            let connection = connect(&url, Duration::from_secs_f64(config.timeout_s))?;
            let span_bytes = offered(&url, &connection.1, config)?;
            let cache = block.cache_of.as_deref().map(open_cache).transpose()?;
            (storage.path, storage.engine) = ("nbd", "nbd");
            storage.quick_ack = Some(block.quick_ack);
            storage.span_bytes = span_bytes;
            return Ok((Opened::Nbd { url, connection }, span_bytes, storage, cache));
        }
    };
    let engine = engine(block.engine)?;
    let named = if engine == Engine::Psync { "psync" } else { "io_uring" };
    (storage.path, storage.engine, storage.span_bytes) = ("local", named, found.span_bytes);
    let cache = found.file.try_clone().map_err(|cause| BlockLoadError::System { call: "dup", cause })?;
    Ok((Opened::File { file: found.file, engine }, found.span_bytes, storage, Some(cache)))
}

/// The engine that is used where this one is asked for.
fn engine(asked: Engine) -> Result<Engine, BlockLoadError> {
    match (asked, uring_file::available()) {
        (Engine::Psync, _) | (Engine::Auto, Err(_)) => Ok(Engine::Psync),
        (_, Ok(())) => Ok(Engine::IoUring),
        (Engine::IoUring, Err(cause)) => {
            let what = cause.to_string();
            check(false, "--engine io_uring", what, "the system refuses it: take --engine psync")?;
            Ok(Engine::Psync)
        }
    }
}

fn open_cache(path: &Path) -> Result<File, BlockLoadError> {
    File::open(path).map_err(|cause| BlockLoadError::Target {
        target: format!("--backing-file {}", path.display()),
        cause,
        remedy: "give the file behind the server, which this user may read",
    })
}

/// Whether the export has what is asked of it; its span.
fn offered(url: &NbdUrl, export: &Export, config: &Config) -> Result<u64, BlockLoadError> {
    let block = &config.block;
    let has = |flag| export.has(flag);
    let read_only = has(transmission_flags::READ_ONLY) && block.writes();
    let remedy = "it is read-only: give --read-fraction 1, or one that can be written";
    check(!read_only, "the export", url, remedy)?;
    let flush = has(transmission_flags::SEND_FLUSH) || block.fsync_every == 0;
    check(flush, "--fsync-every", block.fsync_every, "this server does not flush; leave it out")?;
    let stable = has(transmission_flags::SEND_FUA) || block.fua_every == 0;
    check(stable, "--fua-every", block.fua_every, "this server does not force unit access; leave it out")?;
    if let Some((least, _, most)) = export.blocks_bytes {
        let sizes = [block.sizes.low(), block.sizes.high(), block.align_bytes.unwrap_or(least)];
        for bytes in sizes.into_iter().filter(|_| least > 1) {
            let remedy = format!("this server wants multiples of {least}");
            check(bytes.is_multiple_of(least), "--block-size or --align", bytes, remedy)?;
        }
        let remedy = format!("this server takes up to {most} bytes at a time");
        check(block.sizes.high() <= most, "--block-size", block.sizes.high(), remedy)?;
    }
    span_of(export.size_bytes, &url.to_string(), block)
}
