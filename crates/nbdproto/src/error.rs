//! What no peer may send.

use std::fmt;

/// Bytes of an option, or of the reply to one.
pub const OPTION_BYTES_MAX: u32 = 1 << 16;
/// Options of one client, and replies to one option.
pub const OPTIONS_MAX: u32 = 64;
/// Bytes of an export's name, by the protocol.
pub const NAME_BYTES_MAX: usize = 4096;

/// Why a connection cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProtocolError {
    /// Another protocol, or bytes that were lost.
    Magic {
        what: &'static str,
        found: u64,
    },
    /// A server before fixed newstyle negotiation (2011), or a client without it.
    NotFixedNewstyle {
        flags: u32,
    },
    TooLong {
        what: &'static str,
        bytes: u64,
        most: u64,
    },
    TooMany {
        what: &'static str,
        most: u32,
    },
    /// Fewer bytes than its own lengths say, or than it must have.
    Truncated {
        what: &'static str,
    },
    /// A reply to an option that was not sent.
    Unasked {
        option: u32,
    },
    /// The server refuses the export, in its own words.
    Refused {
        reply: u32,
        said: String,
    },
    /// It agreed without saying how large the export is.
    NoSize,
    /// A command that is not in the protocol as we speak it.
    Command {
        number: u16,
    },
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic { what, found } => write!(f, "{what} begins with {found:#x}: this is not NBD"),
            Self::NotFixedNewstyle { flags } => {
                write!(f, "flags {flags:#x} without fixed newstyle negotiation")
            }
            Self::TooLong { what, bytes, most } => {
                write!(f, "{what} of {bytes} bytes; at most {most} are taken")
            }
            Self::TooMany { what, most } => write!(f, "more than {most} {what}"),
            Self::Truncated { what } => write!(f, "{what} is shorter than it says"),
            Self::Unasked { option } => write!(f, "an answer to option {option}, which was not sent"),
            Self::Refused { reply, said } => {
                write!(f, "the server refuses the export: {}", refusal(*reply))?;
                if said.is_empty() {
                    return Ok(());
                }
                write!(f, " ({said})")
            }
            Self::NoSize => f.write_str("the server does not say how large the export is"),
            Self::Command { number } => write!(f, "command {number} is not known"),
        }
    }
}

impl std::error::Error for ProtocolError {}

/// The protocol's names of error replies.
fn refusal(reply: u32) -> String {
    let name = match reply & 0x7fff_ffff {
        1 => "it does not know this option",
        2 => "by its policy",
        3 => "the request was invalid",
        4 => "its platform cannot",
        5 => "it wants TLS",
        6 => "it has no such export",
        7 => "it is shutting down",
        8 => "it wants to be asked for block sizes",
        9 => "the request was too large",
        other => return format!("error {other}"),
    };
    name.to_string()
}
