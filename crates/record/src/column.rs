//! What a row is made of.

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    F64,
    I64,
    U64,
    U32,
    U16,
    U8,
}

impl Kind {
    /// The code in the header line; numpy reads `"<" + code` as a dtype.
    pub fn code(self) -> &'static str {
        match self {
            Kind::F64 => "f8",
            Kind::I64 => "i8",
            Kind::U64 => "u8",
            Kind::U32 => "u4",
            Kind::U16 => "u2",
            Kind::U8 => "u1",
        }
    }

    pub fn from_code(code: &str) -> Option<Kind> {
        let all = [Kind::F64, Kind::I64, Kind::U64, Kind::U32, Kind::U16, Kind::U8];
        all.into_iter().find(|kind| kind.code() == code)
    }

    pub fn size_bytes(self) -> usize {
        match self {
            Kind::F64 | Kind::I64 | Kind::U64 => 8,
            Kind::U32 => 4,
            Kind::U16 => 2,
            Kind::U8 => 1,
        }
    }
}

/// A named column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
}

/// One field of a row; its variant must be its column's kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    F64(f64),
    I64(i64),
    U64(u64),
    U32(u32),
    U16(u16),
    U8(u8),
}

impl Value {
    pub fn kind(self) -> Kind {
        match self {
            Value::F64(_) => Kind::F64,
            Value::I64(_) => Kind::I64,
            Value::U64(_) => Kind::U64,
            Value::U32(_) => Kind::U32,
            Value::U16(_) => Kind::U16,
            Value::U8(_) => Kind::U8,
        }
    }

    /// The value as a float, as statistics want it (a `u64` beyond 2^53 is rounded).
    pub fn as_f64(self) -> f64 {
        match self {
            Value::F64(v) => v,
            Value::I64(v) => v as f64,
            Value::U64(v) => v as f64,
            Value::U32(v) => f64::from(v),
            Value::U16(v) => f64::from(v),
            Value::U8(v) => f64::from(v),
        }
    }

    pub(crate) fn append_to(self, row: &mut Vec<u8>) {
        match self {
            Value::F64(v) => row.extend_from_slice(&v.to_le_bytes()),
            Value::I64(v) => row.extend_from_slice(&v.to_le_bytes()),
            Value::U64(v) => row.extend_from_slice(&v.to_le_bytes()),
            Value::U32(v) => row.extend_from_slice(&v.to_le_bytes()),
            Value::U16(v) => row.extend_from_slice(&v.to_le_bytes()),
            Value::U8(v) => row.push(v),
        }
    }

    /// Decodes `kind.size_bytes()` leading bytes; fewer are taken as high zeros.
    pub(crate) fn decode(kind: Kind, bytes: &[u8]) -> Value {
        let mut wide = [0u8; 8];
        for (to, from) in wide.iter_mut().zip(&bytes[..kind.size_bytes().min(bytes.len())]) {
            *to = *from;
        }
        let bits = u64::from_le_bytes(wide);
        match kind {
            Kind::F64 => Value::F64(f64::from_bits(bits)),
            Kind::I64 => Value::I64(bits as i64),
            Kind::U64 => Value::U64(bits),
            Kind::U32 => Value::U32(bits as u32),
            Kind::U16 => Value::U16(bits as u16),
            Kind::U8 => Value::U8(bits as u8),
        }
    }
}
