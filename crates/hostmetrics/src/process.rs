//! `/proc/PID`: CPU time of a watched process and its threads.
//!
//! `run_s` comes from `schedstat`: exact (not counted in ticks), but soft interrupts that hit a thread are
//! charged to it, and a thread that runs right now is up to date only as of its last tick.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::kernel_file::{Fields, FileText, OpenKernelFile};
use crate::{NamedRows, ReadError};

/// A process; `run_s` and `wait_s` are sums over its threads, those that ended included.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Process {
    pub run_s: f64,
    pub wait_s: f64,
    pub utime_s: f64,
    pub stime_s: f64,
    pub threads: NamedRows<Thread>,
}

/// A thread: time on a core, time ready but waiting for one, the core it was on last.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Thread {
    pub name: String,
    pub run_s: f64,
    pub wait_s: f64,
    pub core: u64,
}

/// Watches one process.
#[derive(Debug)]
pub struct ProcessReader {
    folder: PathBuf,
    hz: f64,
    stat: OpenKernelFile,
    threads: BTreeMap<u32, ThreadFiles>,
    ended_run_s: f64,
    ended_wait_s: f64,
    now: Process,
}

#[derive(Debug)]
struct ThreadFiles {
    stat: OpenKernelFile,
    schedstat: OpenKernelFile,
    run_s: f64,
    wait_s: f64,
}

impl ProcessReader {
    /// Opens process `pid` below `root`; `None` if there is no such process. `hz` is `USER_HZ`.
    pub fn open(root: &Path, pid: u32, hz: f64) -> Result<Option<Self>, ReadError> {
        let folder = root.join(pid.to_string());
        let Some(stat) = OpenKernelFile::open(folder.join("stat"))? else { return Ok(None) };
        let (threads, now) = (BTreeMap::new(), Process::default());
        Ok(Some(Self { folder, hz, stat, threads, ended_run_s: 0.0, ended_wait_s: 0.0, now }))
    }

    /// Reads again; `None` once the process has ended.
    pub fn read(&mut self) -> Result<Option<&Process>, ReadError> {
        // A file of a process that ended cannot be read (ESRCH): that is its end, not an error.
        let Ok(text) = self.stat.read() else { return Ok(None) };
        let line = parse_stat(text)?;
        self.now.utime_s = line.utime as f64 / self.hz;
        self.now.stime_s = line.stime as f64 / self.hz;
        self.open_new_threads()?;
        self.read_threads()?;
        Ok(Some(&self.now))
    }

    fn open_new_threads(&mut self) -> Result<(), ReadError> {
        let Ok(entries) = std::fs::read_dir(self.folder.join("task")) else { return Ok(()) };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(id) = name.to_str().and_then(|n| n.parse().ok()) else { continue };
            if self.threads.contains_key(&id) {
                continue;
            }
            let stat = OpenKernelFile::open(entry.path().join("stat"))?;
            let schedstat = OpenKernelFile::open(entry.path().join("schedstat"))?;
            if let Some((stat, schedstat)) = stat.zip(schedstat) {
                self.threads.insert(id, ThreadFiles { stat, schedstat, run_s: 0.0, wait_s: 0.0 });
            }
        }
        Ok(())
    }

    fn read_threads(&mut self) -> Result<(), ReadError> {
        let mut ended = Vec::new();
        self.now.threads.clear();
        for (&id, files) in &mut self.threads {
            if !files.read(id, &mut self.now.threads)? {
                ended.push(id);
            }
        }
        for files in ended.iter().filter_map(|id| self.threads.remove(id)) {
            self.ended_run_s += files.run_s;
            self.ended_wait_s += files.wait_s;
        }
        let live = self.threads.values();
        self.now.run_s = self.ended_run_s + live.clone().map(|t| t.run_s).sum::<f64>();
        self.now.wait_s = self.ended_wait_s + live.map(|t| t.wait_s).sum::<f64>();
        Ok(())
    }
}

impl ThreadFiles {
    /// False once the thread has ended; what was read last is kept for the sums.
    fn read(&mut self, id: u32, into: &mut NamedRows<Thread>) -> Result<bool, ReadError> {
        let (Ok(stat), Ok(schedstat)) = (self.stat.read(), self.schedstat.read()) else { return Ok(false) };
        let line = parse_stat(stat)?;
        (self.run_s, self.wait_s) = parse_schedstat(schedstat)?;
        let thread = into.row(&id.to_string());
        if thread.name != line.name {
            line.name.clone_into(&mut thread.name);
        }
        (thread.run_s, thread.wait_s, thread.core) = (self.run_s, self.wait_s, line.core);
        Ok(true)
    }
}

struct ProcStatLine<'a> {
    name: &'a str,
    utime: u64,
    stime: u64,
    core: u64,
}

// 7061 (a name) R 7051 7051 4317 0 -1 4194304 101 0 0 0 12 3 0 0 20 0 1 0 133860 … 17 0 0 0 0 0 0 …
// fields, counted from 1: 2 name (may hold spaces and brackets), 14 utime, 15 stime, 39 core
fn parse_stat(text: FileText<'_>) -> Result<ProcStatLine<'_>, ReadError> {
    let (name, mut rest) = text.bracketed("the thread's name in brackets")?;
    rest.skip(11, "utime")?;
    let (utime, stime) = (rest.number("utime")?, rest.number("stime")?);
    rest.skip(23, "the core")?;
    Ok(ProcStatLine { name, utime, stime, core: rest.number("the core")? })
}

// 123456789 4567 89        run ns, wait ns, time slices
fn parse_schedstat(text: FileText<'_>) -> Result<(f64, f64), ReadError> {
    let mut line: Fields<'_> = text.first();
    Ok((line.number("the run time")? as f64 * 1e-9, line.number("the wait time")? as f64 * 1e-9))
}
