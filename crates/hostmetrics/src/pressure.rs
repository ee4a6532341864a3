//! `/proc/pressure/*`: time in which some, or all, threads waited for a resource.

use std::path::Path;

use crate::kernel_file::{FileText, OpenKernelFile};
use crate::{Counter, NamedRows, ReadError};

/// The files that the machine has.
#[derive(Debug)]
pub struct PressureReader {
    sources: Vec<(&'static str, OpenKernelFile)>,
    now: NamedRows<Counter>,
}

impl PressureReader {
    /// Opens `pressure/cpu`, `io`, `memory`, `irq` below `root`; `None` if there is none of them.
    pub fn open(root: &Path) -> Result<Option<Self>, ReadError> {
        let mut sources = Vec::new();
        for kind in ["cpu", "io", "memory", "irq"] {
            if let Some(source) = OpenKernelFile::open(root.join("pressure").join(kind))? {
                sources.push((kind, source));
            }
        }
        // With `psi=0` the files are there and reading them fails.
        sources.retain_mut(|(_, source)| source.read().is_ok());
        Ok((!sources.is_empty()).then(|| Self { sources, now: NamedRows::default() }))
    }

    /// Totals in µs, named `cpu_some_us`, `memory_full_us`, …
    pub fn read(&mut self) -> Result<&NamedRows<Counter>, ReadError> {
        self.now.clear();
        for (kind, source) in &mut self.sources {
            parse(kind, source.read()?, &mut self.now)?;
        }
        Ok(&self.now)
    }

    /// What was read last.
    pub fn now(&self) -> &NamedRows<Counter> {
        &self.now
    }
}

// some avg10=0.00 avg60=0.04 avg300=0.23 total=10699215
// full avg10=0.00 avg60=0.00 avg300=0.00 total=0
fn parse(kind: &str, text: FileText<'_>, into: &mut NamedRows<Counter>) -> Result<(), ReadError> {
    for mut line in text.lines() {
        let Some(share) = line.next_text() else { continue };
        line.skip(3, "total")?;
        let total = line.text("total")?;
        let number = total.strip_prefix("total=").and_then(|n| n.parse().ok());
        let number = number.ok_or_else(|| line.not_a_number("total", total))?;
        *into.row(&format!("{kind}_{share}_us")) = Counter(number);
    }
    Ok(())
}
