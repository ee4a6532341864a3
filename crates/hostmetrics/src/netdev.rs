//! `/proc/net/dev`: packets and bytes of each NIC of the caller's network namespace.

use serde::Serialize;

use crate::kernel_file::{FileText, KernelFile};
use crate::{Counter, NamedRows, ReadError};

/// One NIC's counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Nic {
    pub rx_packets: Counter,
    pub rx_bytes: Counter,
    pub tx_packets: Counter,
    pub tx_bytes: Counter,
}

/// NICs by name.
#[derive(Clone, Debug, Default)]
pub struct Nics {
    pub nics: NamedRows<Nic>,
}

impl KernelFile for Nics {
    // `net` is that of the process; a thread may have moved to another namespace.
    const PATHS: &'static [&'static str] = &["thread-self/net/dev", "net/dev"];

    // Inter-|   Receive                                                |  Transmit
    //  face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs …
    //   eth0: 479078194   10040    0    0    0     0          0         0   521325    5887    0 …
    // Large counts may stand against the colon: "eth0:479078194".
    fn parse(&mut self, text: FileText<'_>) -> Result<(), ReadError> {
        self.nics.clear();
        for mut line in text.lines().skip(2) {
            let Some(first) = line.next_text() else { continue };
            let Some((name, joined)) = first.split_once(':') else {
                return Err(line.not_a_number("a NIC's name with a colon", first));
            };
            let rx_bytes = match joined {
                "" => line.counter("received bytes")?,
                digits => Counter(digits.parse().map_err(|_| line.not_a_number("received bytes", digits))?),
            };
            let rx_packets = line.counter("received packets")?;
            line.skip(6, "sent bytes")?;
            let (tx_bytes, tx_packets) = (line.counter("sent bytes")?, line.counter("sent packets")?);
            *self.nics.row(name) = Nic { rx_packets, rx_bytes, tx_packets, tx_bytes };
        }
        Ok(())
    }
}
