//! A known demand in soft-interrupt context: work attached to each request packet at a NIC.
//!
//! A small XDP program in generic mode runs in the NIC's receive soft interrupt, after receive steering, and
//! loops until a drawn time has passed. It keeps an exact account of the packets it worked on and of the
//! time it burnt, so that an estimator of the interrupt demand can be judged.
//!
//! - `bpf_assembler`      a BPF assembler of the dozen instructions used
//! - `xdp_program`  the program
//! - `bpf`   the bpf(2) calls: maps, load, attach
//!
//! The program is attached by a BPF link: it goes away with the process that holds it, also after kill -9.
//!
//! `unsafe` is needed for the raw bpf(2) system call; it is confined to `bpf`.

mod bpf;
mod bpf_assembler;
mod xdp_program;

use xdp_program::LoopBound;

pub use bpf::{AttachError, PerCoreCounters};
pub use xdp_program::TABLE;

/// Demand attached to request packets on some NICs; dropped, it is gone from all of them.
pub struct IrqWork {
    meter: PerCoreCounters,
    _links: Vec<bpf::BpfFd>,
}

/// The work done so far, over all cores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkDone {
    /// Request packets seen.
    pub packets: u64,
    /// Time spent in the program for them, s.
    pub seconds: f64,
}

impl IrqWork {
    /// Attaches to `interfaces` (names in the caller's network namespace) work for TCP packets that carry
    /// data to `port`; each takes a time picked at random from `table_s` (1024 values in [0, 0.01] s).
    ///
    /// # Errors
    /// `AttachError` where the kernel refuses (no permission, no BPF, no such NIC) or a value is out of range.
    pub fn attach(interfaces: &[String], port: u16, table_s: &[f64]) -> Result<Self, AttachError> {
        let table_ns = table_in_ns(table_s)?;
        let table = bpf::table(&table_ns)?;
        let meter = PerCoreCounters::new()?;
        let with = |bound| bpf::load(&xdp_program::assemble(port, table.number(), meter.number(), bound));
        // a kernel older than 6.9 does not know the first; what else is wrong, the second says
        let program = with(LoopBound::Kernel).or_else(|_| with(LoopBound::Counter))?;
        let links = interfaces.iter().map(|name| bpf::link(&program, name)).collect::<Result<_, _>>()?;
        Ok(Self { meter, _links: links })
    }

    /// Reads the account.
    ///
    /// # Errors
    /// `AttachError::Kernel` where the map cannot be read.
    pub fn burnt(&self) -> Result<WorkDone, AttachError> {
        let (packets, ns) = self.meter.read()?;
        Ok(WorkDone { packets, seconds: ns as f64 * 1e-9 })
    }
}

fn table_in_ns(table_s: &[f64]) -> Result<Vec<u64>, AttachError> {
    const LONGEST_S: f64 = 0.01;
    if table_s.len() != TABLE {
        return Err(AttachError::Table { index: table_s.len(), value: f64::NAN });
    }
    let bad = table_s.iter().position(|s| !(0.0..=LONGEST_S).contains(s));
    match bad {
        Some(index) => Err(AttachError::Table { index, value: table_s[index] }),
        None => Ok(table_s.iter().map(|s| (s * 1e9).round() as u64).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_the_wrong_size_or_range_is_refused() {
        assert!(matches!(table_in_ns(&[0.0; 3]), Err(AttachError::Table { index: 3, .. })));
        let mut table = [0.001; TABLE];
        table[7] = 0.5;
        let message = table_in_ns(&table).unwrap_err().to_string();
        assert!(message.contains("0.5") && message.contains('7'), "{message}");
        table[7] = 0.0;
        assert_eq!(table_in_ns(&table).unwrap()[0], 1_000_000);
    }
}
