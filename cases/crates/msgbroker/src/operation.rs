//! What clients can ask for, whatever they say it in.

use std::borrow::Cow;

/// One thing that the service does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operation<'a> {
    Create { queue: Cow<'a, str> },
    Drop { queue: Cow<'a, str> },
    List { after: Cow<'a, str> },
    Put { queue: Cow<'a, str>, sender: Option<Cow<'a, str>>, body: &'a [u8] },
    Take { queue: Cow<'a, str>, sender: Option<Cow<'a, str>> },
    Peek { queue: Cow<'a, str>, sender: Option<Cow<'a, str>> },
    Acknowledge { queue: Cow<'a, str>, id: i64, receipt: i64 },
}

/// The columns and labels of statistics, in this order.
pub(crate) const KINDS: [&str; 9] =
    ["create", "drop", "list", "put", "take", "empty", "peek", "acknowledge", "refused"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationKind {
    Create,
    Drop,
    List,
    Put,
    Take,
    /// A take that found nothing.
    Empty,
    Peek,
    Acknowledge,
    /// Not an operation.
    Refused,
}

impl Operation<'_> {
    pub fn kind(&self) -> OperationKind {
        match self {
            Self::Create { .. } => OperationKind::Create,
            Self::Drop { .. } => OperationKind::Drop,
            Self::List { .. } => OperationKind::List,
            Self::Put { .. } => OperationKind::Put,
            Self::Take { .. } => OperationKind::Take,
            Self::Peek { .. } => OperationKind::Peek,
            Self::Acknowledge { .. } => OperationKind::Acknowledge,
        }
    }
}

impl OperationKind {
    /// Whether anything is different after it.
    pub fn changes(self) -> bool {
        !matches!(self, Self::List | Self::Peek | Self::Refused)
    }
}
