//! `/proc/meminfo`: memory, total and available.

use serde::Serialize;

use crate::kernel_file::{FileText, KernelFile};
use crate::ReadError;

/// Memory in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Memory {
    pub total_bytes: u64,
    pub available_bytes: u64,
}

impl KernelFile for Memory {
    const PATHS: &'static [&'static str] = &["meminfo"];

    // MemTotal:       24684096 kB
    // MemAvailable:   24321752 kB
    fn parse(&mut self, text: FileText<'_>) -> Result<(), ReadError> {
        for mut line in text.lines() {
            match line.next_text() {
                Some("MemTotal:") => self.total_bytes = line.number("the total in kB")? * 1024,
                Some("MemAvailable:") => {
                    self.available_bytes = line.number("what is available, in kB")? * 1024;
                }
                _ => {}
            }
        }
        Ok(())
    }
}
