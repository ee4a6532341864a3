//! What a row is made of.

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    F64,
    I64,
    U64,
    U32,
    U16,
    U8,
}

impl ColumnType {
    /// The code in the header line; numpy reads `"<" + code` as a dtype.
    pub fn code(self) -> &'static str {
        match self {
            ColumnType::F64 => "f8",
            ColumnType::I64 => "i8",
            ColumnType::U64 => "u8",
            ColumnType::U32 => "u4",
            ColumnType::U16 => "u2",
            ColumnType::U8 => "u1",
        }
    }

    pub fn from_code(code: &str) -> Option<ColumnType> {
        let all = [
            ColumnType::F64,
            ColumnType::I64,
            ColumnType::U64,
            ColumnType::U32,
            ColumnType::U16,
            ColumnType::U8,
        ];
        all.into_iter().find(|kind| kind.code() == code)
    }

    pub fn size_bytes(self) -> usize {
        match self {
            ColumnType::F64 | ColumnType::I64 | ColumnType::U64 => 8,
            ColumnType::U32 => 4,
            ColumnType::U16 => 2,
            ColumnType::U8 => 1,
        }
    }
}

/// A named column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: ColumnType,
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
    pub fn kind(self) -> ColumnType {
        match self {
            Value::F64(_) => ColumnType::F64,
            Value::I64(_) => ColumnType::I64,
            Value::U64(_) => ColumnType::U64,
            Value::U32(_) => ColumnType::U32,
            Value::U16(_) => ColumnType::U16,
            Value::U8(_) => ColumnType::U8,
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
    pub(crate) fn decode(kind: ColumnType, bytes: &[u8]) -> Value {
        let mut wide = [0u8; 8];
        for (to, from) in wide.iter_mut().zip(&bytes[..kind.size_bytes().min(bytes.len())]) {
            *to = *from;
        }
        let bits = u64::from_le_bytes(wide);
        match kind {
            ColumnType::F64 => Value::F64(f64::from_bits(bits)),
            ColumnType::I64 => Value::I64(bits as i64),
            ColumnType::U64 => Value::U64(bits),
            ColumnType::U32 => Value::U32(bits as u32),
            ColumnType::U16 => Value::U16(bits as u16),
            ColumnType::U8 => Value::U8(bits as u8),
        }
    }
}
