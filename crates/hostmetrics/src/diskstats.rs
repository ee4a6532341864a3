//! `/proc/diskstats`: requests and busy time of each block device.

use serde::Serialize;

use crate::kernel_file::{FileText, KernelFile};
use crate::{Counter, NamedRows, ReadError};

/// One device's counts; `io_ms` is the time in which at least one request was in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Disk {
    pub reads: Counter,
    pub writes: Counter,
    pub io_ms: Counter,
}

/// Devices that did anything, by name.
#[derive(Clone, Debug, Default)]
pub struct Disks {
    pub disks: NamedRows<Disk>,
}

impl KernelFile for Disks {
    const PATHS: &'static [&'static str] = &["diskstats"];

    //  254       0 vda 61044 9934 5192058 30710 25650 25241 4136744 10131 0 7916 41437 …
    //  major minor name reads merged sectors ms writes merged sectors ms now io_ms weighted_ms
    fn parse(&mut self, text: FileText<'_>) -> Result<(), ReadError> {
        self.disks.clear();
        for mut line in text.lines() {
            if line.next_text().is_none() {
                continue;
            }
            line.skip(1, "the device's name")?;
            let name = line.text("the device's name")?;
            let reads = line.counter("reads")?;
            line.skip(3, "writes")?;
            let writes = line.counter("writes")?;
            line.skip(4, "io_ms")?;
            let io_ms = line.counter("io_ms")?;
            if reads.0 + writes.0 > 0 {
                *self.disks.row(name) = Disk { reads, writes, io_ms };
            }
        }
        Ok(())
    }
}
