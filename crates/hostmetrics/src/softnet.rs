//! `/proc/net/softnet_stat`: packets taken by each core's receive soft interrupt.

use serde::Serialize;

use crate::kernel_file::{Fields, FileText, KernelFile};
use crate::{Counter32, NamedRows, ReadError};

/// One core's counts; the kernel keeps them in 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SoftnetCore {
    pub processed: Counter32,
    pub dropped: Counter32,
    pub time_squeeze: Counter32,
    pub received_rps: Counter32,
}

/// Counts by core number.
#[derive(Clone, Debug, Default)]
pub struct Softnet {
    pub cores: NamedRows<SoftnetCore>,
}

impl KernelFile for Softnet {
    const PATHS: &'static [&'static str] = &["net/softnet_stat"];

    // 000027bb 00000000 00000001 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000001 …
    // processed dropped  squeeze  –        –        –        –        –        collisn. rps      flowlim. backlog  core
    // Offline cores have no line. Older kernels end before the core's number: then the line's
    // index is all there is.
    fn parse(&mut self, text: FileText<'_>) -> Result<(), ReadError> {
        self.cores.clear();
        for (index, mut line) in text.lines().enumerate() {
            let counts = core(&mut line)?;
            let core = match line.next_text().and_then(|_| line.next_text().zip(line.next_text())) {
                Some((_, core)) => parse_hex(&line, "the core", core)? as usize,
                None => index,
            };
            *self.cores.row(&core.to_string()) = counts;
        }
        Ok(())
    }
}

fn core(line: &mut Fields<'_>) -> Result<SoftnetCore, ReadError> {
    let processed = hex(line, "processed")?;
    let dropped = hex(line, "dropped")?;
    let time_squeeze = hex(line, "time_squeeze")?;
    line.skip(6, "received_rps")?;
    Ok(SoftnetCore { processed, dropped, time_squeeze, received_rps: hex(line, "received_rps")? })
}

fn hex(line: &mut Fields<'_>, item: &'static str) -> Result<Counter32, ReadError> {
    let text = line.text(item)?;
    parse_hex(line, item, text).map(Counter32)
}

fn parse_hex(line: &Fields<'_>, item: &'static str, text: &str) -> Result<u32, ReadError> {
    u32::from_str_radix(text, 16).map_err(|_| line.not_a_number(item, text))
}
