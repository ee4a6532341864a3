//! `/proc/softirqs`: soft interrupts by kind and core.

use crate::kernel_file::{Fields, FileText, KernelFile};
use crate::{Counter, NamedRows, ReadError};

/// Runs of each kind of soft interrupt; in a row, the index is the core.
///
/// `NET_RX` counts runs, also those that only send packets on to another core: packets are in `Softnet`.
#[derive(Clone, Debug, Default)]
pub struct Softirqs {
    pub kinds: NamedRows<Vec<Counter>>,
    columns: Vec<usize>,
}

impl KernelFile for Softirqs {
    const PATHS: &'static [&'static str] = &["softirqs"];

    //                     CPU0       CPU1
    //       NET_RX:       5446       6855
    fn parse(&mut self, text: FileText<'_>) -> Result<(), ReadError> {
        self.kinds.clear();
        let mut lines = text.lines();
        if let Some(header) = lines.next() {
            core_columns(header, &mut self.columns)?;
        }
        for mut line in lines {
            let Some(name) = line.next_text() else { continue };
            let row = self.kinds.row(name.trim_end_matches(':'));
            counts(&mut line, &self.columns, row)?;
        }
        Ok(())
    }
}

/// Reads `CPU0 CPU2 …` into core numbers.
pub(crate) fn core_columns(mut line: Fields<'_>, columns: &mut Vec<usize>) -> Result<(), ReadError> {
    columns.clear();
    while let Some(text) = line.next_text() {
        let number = text.strip_prefix("CPU").and_then(|n| n.parse().ok());
        columns.push(number.ok_or_else(|| line.not_a_number("a core's heading", text))?);
    }
    Ok(())
}

/// Reads one count per column into `row[core]`; cores without a column stay 0.
pub(crate) fn counts(
    line: &mut Fields<'_>,
    columns: &[usize],
    row: &mut Vec<Counter>,
) -> Result<(), ReadError> {
    row.clear();
    row.resize(columns.iter().max().map_or(0, |last| last + 1), Counter(0));
    for &core in columns {
        row[core] = line.counter("the count of a core")?;
    }
    Ok(())
}
