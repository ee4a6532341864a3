//! The bpf(2) calls, with owned file descriptors and errors that say what to do.

use crate::bpf_assembler::Instruction;
use crate::xdp_program::TABLE;
use std::ffi::CString;
use std::fmt;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// An owned descriptor of a map, a program or a link.
pub struct BpfFd(OwnedFd);

impl BpfFd {
    pub(crate) fn number(&self) -> i32 {
        self.0.as_raw_fd()
    }
}

/// Why no work could be attached.
#[derive(Debug)]
pub enum AttachError {
    /// A value of the table of times, or its length, is out of range.
    Table { index: usize, value: f64 },
    /// No such interface in this network namespace.
    Interface { name: String },
    /// The kernel said no.
    Kernel { step: &'static str, cause: std::io::Error, log: String },
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table { index, value } => write!(
                f,
                "interrupt work table: value {value} at {index}; give {TABLE} times in [0, 0.01] s"
            ),
            Self::Interface { name } => {
                write!(f, "no network interface {name:?} in this namespace; create it first")
            }
            Self::Kernel { step, cause, log } => write!(
                f,
                "bpf {step}: {cause}; interrupt work needs root (CAP_BPF, CAP_NET_ADMIN) and a kernel >= 5.9 with \
                 BPF {log}"
            ),
        }
    }
}

impl std::error::Error for AttachError {}

const MAP_CREATE: i64 = 0;
const MAP_LOOKUP: i64 = 1;
const MAP_UPDATE: i64 = 2;
const PROG_LOAD: i64 = 5;
const LINK_CREATE: i64 = 28;
const TYPE_ARRAY: u32 = 2;
const TYPE_PERCPU_ARRAY: u32 = 6;
const TYPE_XDP: u32 = 6;
const ATTACH_XDP: u32 = 37;
const FLAG_GENERIC: u32 = 1 << 1;

/// `union bpf_attr` of the calls used, padded to a size every kernel since 5.9 knows.
#[repr(C, align(8))]
struct BpfAttr([u8; 120]);

impl BpfAttr {
    fn new() -> Self {
        Self([0; 120])
    }
    fn u32(mut self, at: usize, value: u32) -> Self {
        self.0[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }
    fn u64(mut self, at: usize, value: u64) -> Self {
        self.0[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        self
    }
}

fn bpf(command: i64, attr: &mut BpfAttr, step: &'static str) -> Result<i32, AttachError> {
    // SAFETY: `attr` is a live, writable buffer of the size given; pointers inside it are live in the callers.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, command, attr.0.as_mut_ptr(), attr.0.len()) };
    if answer < 0 {
        return Err(AttachError::Kernel { step, cause: std::io::Error::last_os_error(), log: String::new() });
    }
    Ok(answer as i32)
}

fn owned(fd: i32) -> BpfFd {
    // SAFETY: the kernel has just returned this descriptor to us and nobody else holds it.
    BpfFd(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn create_map(kind: u32, value_bytes: u32, entries: u32) -> Result<BpfFd, AttachError> {
    let mut attr = BpfAttr::new().u32(0, kind).u32(4, 4).u32(8, value_bytes).u32(12, entries);
    bpf(MAP_CREATE, &mut attr, "map create").map(owned)
}

/// The table of drawn times.
pub fn table(values_ns: &[u64]) -> Result<BpfFd, AttachError> {
    let map = create_map(TYPE_ARRAY, 8, values_ns.len() as u32)?;
    for (index, value) in values_ns.iter().enumerate() {
        let key = index as u32;
        let mut attr = BpfAttr::new()
            .u32(0, map.number() as u32)
            .u64(8, std::ptr::from_ref(&key) as u64)
            .u64(16, std::ptr::from_ref(value) as u64);
        bpf(MAP_UPDATE, &mut attr, "map update")?;
    }
    Ok(map)
}

/// Packets and time counted by the program, one entry for each core.
pub struct PerCoreCounters {
    map: BpfFd,
    cores: usize,
}

impl PerCoreCounters {
    pub(crate) fn new() -> Result<Self, AttachError> {
        Ok(Self { map: create_map(TYPE_PERCPU_ARRAY, 16, 1)?, cores: possible_cores() })
    }

    pub(crate) fn number(&self) -> i32 {
        self.map.number()
    }

    pub(crate) fn read(&self) -> Result<(u64, u64), AttachError> {
        let key = 0_u32;
        let mut values = vec![0_u64; 2 * self.cores];
        let mut attr = BpfAttr::new()
            .u32(0, self.map.number() as u32)
            .u64(8, std::ptr::from_ref(&key) as u64)
            .u64(16, values.as_mut_ptr() as u64);
        bpf(MAP_LOOKUP, &mut attr, "map lookup")?;
        Ok(values.chunks(2).fold((0, 0), |sum, core| (sum.0 + core[0], sum.1 + core[1])))
    }
}

/// The kernel writes one value for each *possible* core, which can be more than are online.
fn possible_cores() -> usize {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = text.trim().rsplit(['-', ',']).next().and_then(|n| n.parse::<usize>().ok());
    last.map_or(1024, |n| n + 1)
}

/// Loads the program; the verifier's words are in the error.
pub fn load(code: &[Instruction]) -> Result<BpfFd, AttachError> {
    let licence = CString::new("Dual MIT/GPL").unwrap_or_default();
    let attr = |log: &mut [u8]| {
        let attr = BpfAttr::new()
            .u32(0, TYPE_XDP)
            .u32(4, code.len() as u32)
            .u64(8, code.as_ptr() as u64)
            .u64(16, licence.as_ptr() as u64);
        if log.is_empty() {
            return attr;
        }
        attr.u32(24, 1).u32(28, log.len() as u32).u64(32, log.as_mut_ptr() as u64)
    };
    match bpf(PROG_LOAD, &mut attr(&mut []), "program load") {
        Ok(fd) => Ok(owned(fd)),
        Err(AttachError::Kernel { step, cause, .. }) => {
            let mut log = vec![0_u8; 1 << 20];
            let _ = bpf(PROG_LOAD, &mut attr(&mut log), "program load");
            let text = String::from_utf8_lossy(&log);
            let tail: Vec<&str> = text.trim_end_matches('\0').lines().rev().take(4).collect();
            Err(AttachError::Kernel { step, cause, log: tail.join(" | ") })
        }
        Err(other) => Err(other),
    }
}

/// Attaches in generic mode, which runs after receive steering (native mode runs before it).
pub fn link(program: &BpfFd, interface: &str) -> Result<BpfFd, AttachError> {
    let name = CString::new(interface).unwrap_or_default();
    // SAFETY: `name` is a live, NUL-terminated string.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 {
        return Err(AttachError::Interface { name: interface.to_owned() });
    }
    let mut attr =
        BpfAttr::new().u32(0, program.number() as u32).u32(4, index).u32(8, ATTACH_XDP).u32(12, FLAG_GENERIC);
    bpf(LINK_CREATE, &mut attr, "link create").map(owned)
}
