//! What `fuzz/protocols` does with bytes of a database: answers to a statement, in two pieces.

use crate::wire::WireProtocol;

/// `data`: where it is cut, and the bytes.
pub fn answers(data: &[u8]) {
    let Some((cut, bytes)) = data.split_first() else { return };
    let cut = usize::from(*cut).min(bytes.len());
    let mut wire = WireProtocol::default();
    if wire.query("SELECT 1").is_err() {
        return;
    }
    for piece in [&bytes[..cut], &bytes[cut..]] {
        wire.received(piece);
        let mut each = |row: Option<crate::Row>| {
            if let Some(row) = row {
                for column in 0..4 {
                    let _ = (row.bytes(column), row.text(column), row.int(column));
                }
            }
        };
        while let Ok(true) = wire.take_in(&mut each) {}
    }
}
