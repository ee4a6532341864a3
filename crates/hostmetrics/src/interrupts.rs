//! `/proc/interrupts`: hardware interrupts by line and core.

use crate::kernel_file::{Fields, FileText, KernelFile};
use crate::softirqs::core_columns;
use crate::{Counter, NamedRows, ReadError};

/// Interrupts of each line that ever fired; the name is the line's number or short name and, after a
/// space, its last description field (`36 virtio1-req.0`). In a row, the index is the core.
#[derive(Clone, Debug, Default)]
pub struct Interrupts {
    pub lines: NamedRows<Vec<Counter>>,
    columns: Vec<usize>,
    name: String,
}

impl KernelFile for Interrupts {
    const PATHS: &'static [&'static str] = &["interrupts"];

    //            CPU0       CPU1
    //  36:          0      80289 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
    // LOC:      26719      29416   Local timer interrupts
    // ERR:          0                                              one count whatever the number of cores
    fn parse(&mut self, text: FileText<'_>) -> Result<(), ReadError> {
        self.lines.clear();
        let mut lines = text.lines();
        if let Some(header) = lines.next() {
            core_columns(header, &mut self.columns)?;
        }
        for line in lines {
            self.line(line)?;
        }
        Ok(())
    }
}

impl Interrupts {
    fn line(&mut self, mut line: Fields<'_>) -> Result<(), ReadError> {
        let Some(id) = line.next_text() else { return Ok(()) };
        let id = id.trim_end_matches(':');
        self.name.clear();
        self.name.push_str(id);
        if id.starts_with(|c: char| c.is_ascii_digit()) {
            let mut description = line.clone();
            if description.skip(self.columns.len(), "the counts").is_ok() {
                let mut last = None;
                while let Some(word) = description.next_text() {
                    last = Some(word);
                }
                if let Some(device) = last {
                    self.name.push(' ');
                    self.name.push_str(device);
                }
            }
        }
        if matches!(id, "ERR" | "MIS") {
            return Ok(()); // errors of the controller, not of a core
        }
        let row = self.lines.row(&self.name);
        crate::softirqs::counts(&mut line, &self.columns, row)?;
        if row.iter().all(|count| count.0 == 0) {
            self.lines.drop_last();
        }
        Ok(())
    }
}
