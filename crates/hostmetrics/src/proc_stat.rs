//! `/proc/stat`: per-core times, context switches, run queue.

use crate::kernel_file::{Fields, FileText, KernelFile};
use crate::{Counter, NamedRows, ReadError};

/// Times of one core, in ticks of 1/`USER_HZ` s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTicks {
    pub user: Counter,
    pub nice: Counter,
    pub system: Counter,
    pub idle: Counter,
    pub iowait: Counter,
    pub irq: Counter,
    pub softirq: Counter,
    pub steal: Counter,
}

impl CpuTicks {
    /// Name and value, in the order of the file.
    pub fn named(&self) -> [(&'static str, Counter); 8] {
        [
            ("user", self.user),
            ("nice", self.nice),
            ("system", self.system),
            ("idle", self.idle),
            ("iowait", self.iowait),
            ("irq", self.irq),
            ("softirq", self.softirq),
            ("steal", self.steal),
        ]
    }
}

/// The parts of `/proc/stat` that are used; cores are named by number.
#[derive(Clone, Debug, Default)]
pub struct ProcStat {
    pub cores: NamedRows<CpuTicks>,
    pub context_switches: Counter,
    pub running: u64,
    pub blocked: u64,
}

impl KernelFile for ProcStat {
    const PATHS: &'static [&'static str] = &["stat"];

    // cpu  6436 0 3559 256317 574 0 107 45 0 0        all cores together: left out
    // cpu0 2266 0 1365 129570 203 0 10 25 0 0         user nice system idle iowait irq softirq steal guest…
    // ctxt 442907
    // procs_running 2
    // procs_blocked 0
    fn parse(&mut self, text: FileText<'_>) -> Result<(), ReadError> {
        self.cores.clear();
        for mut line in text.lines() {
            match line.next_text() {
                Some("ctxt") => self.context_switches = line.counter("the count of context switches")?,
                Some("procs_running") => self.running = line.number("the number of running threads")?,
                Some("procs_blocked") => self.blocked = line.number("the number of blocked threads")?,
                Some(name) => match name.strip_prefix("cpu") {
                    Some(core) if !core.is_empty() => *self.cores.row(core) = cpu(&mut line)?,
                    _ => {}
                },
                None => {}
            }
        }
        Ok(())
    }
}

fn cpu(line: &mut Fields<'_>) -> Result<CpuTicks, ReadError> {
    Ok(CpuTicks {
        user: line.counter("user")?,
        nice: line.counter("nice")?,
        system: line.counter("system")?,
        idle: line.counter("idle")?,
        iowait: line.counter("iowait")?,
        irq: line.counter("irq")?,
        softirq: line.counter("softirq")?,
        steal: line.counter("steal")?,
    })
}
