//! Files and devices, opened and checked before anything is written.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use crate::config::{BlockConfig, SECTOR_BYTES};
use crate::device_use::device_user;
use crate::error::{check, BlockLoadError};
use crate::sys;

/// A new file is written in pieces of this many bytes.
const PIECE_BYTES: usize = 1 << 20;

/// An open file or device, and how much of it is used.
#[derive(Debug)]
pub struct OpenFile {
    pub file: File,
    pub span_bytes: u64,
}

/// Opens a file; one that is not there is made, and filled with random bytes, where a span is given.
///
/// # Errors
/// What the file or the file system cannot do; one that was begun is removed.
pub fn open_file(path: &Path, config: &BlockConfig) -> Result<OpenFile, BlockLoadError> {
    let target = format!("file:{}", path.display());
    let made = !path.exists();
    if made {
        make(path, &target, config)?;
    }
    let open = || {
        let file =
            OpenOptions::new().read(true).write(config.writes()).custom_flags(direct(config)).open(path);
        let file = file.map_err(|cause| refused(&target, cause, config))?;
        let kind = file.metadata().map_err(|cause| refused(&target, cause, config))?.file_type();
        check(!kind.is_block_device(), "the file", &target, "it is a device: give blk:/dev/NAME")?;
        check(kind.is_file(), "the file", &target, "give a regular file")?;
        let span_bytes = span(&file, &target, config)?;
        if config.direct {
            // What is cached is none of this run's doing; what stays all the same makes it `cached`.
            sys::drop_cache(&file);
        }
        Ok(OpenFile { file, span_bytes })
    };
    let opened = open();
    if made && opened.is_err() {
        let _ = std::fs::remove_file(path);
    }
    opened
}

/// Opens a device that nobody uses; to write to it, it has to be named twice.
///
/// # Errors
/// It is mounted or in use, is no block device, was not named twice.
pub fn open_device(path: &Path, config: &BlockConfig) -> Result<OpenFile, BlockLoadError> {
    let target = format!("blk:{}", path.display());
    let twice = config.yes_destroy.as_deref() == Some(path);
    let remedy = format!("what is on it would be lost: say --allow-writes-to {} as well", path.display());
    check(twice || !config.writes(), "the target of writes", &target, remedy)?;
    let of = |cause| refused(&target, cause, config);
    let kind = std::fs::metadata(path).map_err(of)?.file_type();
    check(kind.is_block_device(), "the device", &target, "it is no block device; give file:PATH for a file")?;
    if let Some(user) = device_user(path) {
        let remedy = "give a device that nobody uses, or unmount it first";
        return Err(BlockLoadError::Value {
            place: target,
            value: format!("in use: {user}"),
            remedy: remedy.into(),
        });
    }
    // Of a block device O_EXCL: nobody else has it, by mount, RAID or swap.
    let flags = direct(config) | libc::O_EXCL;
    let file =
        OpenOptions::new().read(true).write(config.writes()).custom_flags(flags).open(path).map_err(of)?;
    let span_bytes = span(&file, &target, config)?;
    Ok(OpenFile { file, span_bytes })
}

fn direct(config: &BlockConfig) -> i32 {
    if config.direct {
        libc::O_DIRECT
    } else {
        0
    }
}

fn refused(target: &str, cause: io::Error, config: &BlockConfig) -> BlockLoadError {
    let remedy = match cause.raw_os_error() {
        Some(libc::EINVAL) if config.direct => {
            "this file system refuses O_DIRECT: take another one (ext4, xfs), or leave --direct out"
        }
        Some(libc::EBUSY) => "it is mounted or in use; give a device that nobody uses",
        Some(libc::ENOENT) => "give one that is there",
        Some(libc::EACCES | libc::EPERM) => "give one that this user may open, or run as root",
        Some(libc::ENOSPC | libc::EDQUOT) => "free space, or give a smaller --region-size",
        _ => "give another one",
    };
    BlockLoadError::Target { target: target.to_string(), cause, remedy }
}

/// How much of an open file is used.
fn span(file: &File, target: &str, config: &BlockConfig) -> Result<u64, BlockLoadError> {
    let mut at = file;
    let size = at.seek(SeekFrom::End(0)).map_err(|cause| refused(target, cause, config))?;
    if let Some(unit) = sys::direct_alignment(file).filter(|_| config.direct) {
        let remedy = "O_DIRECT is refused by this file system: take another one, or leave --direct out";
        check(unit > 0, "direct I/O", target, remedy)?;
        let align = config.align_bytes.unwrap_or(unit);
        let remedy = format!("direct I/O here wants multiples of {unit}");
        for bytes in [config.sizes.low(), config.sizes.high(), align] {
            check(bytes.is_multiple_of(unit), "--block-size or --align", bytes, remedy.as_str())?;
        }
    }
    span_of(size, target, config)
}

/// The span within a target of `size_bytes`.
///
/// # Errors
/// It is larger than the target, or smaller than a block.
pub fn span_of(size_bytes: u64, target: &str, config: &BlockConfig) -> Result<u64, BlockLoadError> {
    let span = config.span_bytes.unwrap_or(size_bytes - size_bytes % SECTOR_BYTES);
    let place = format!("the size of {target}");
    check(
        span <= size_bytes,
        &place,
        format!("{size_bytes} bytes"),
        format!("it is below the span of {span}"),
    )?;
    let block = u64::from(config.sizes.high());
    let remedy = format!("it has to hold a block of {block} bytes; give a larger one");
    check(span >= block, "the span", format!("{span} bytes of {target}"), remedy)?;
    Ok(span)
}

/// Makes a file of `span_bytes` of random bytes: what was never written would be answered without the device.
fn make(path: &Path, target: &str, config: &BlockConfig) -> Result<(), BlockLoadError> {
    let missing = || refused(target, io::Error::from_raw_os_error(libc::ENOENT), config);
    let span = config.span_bytes.ok_or_else(missing)?;
    let written = OpenOptions::new().write(true).create_new(true).open(path).and_then(|mut file| {
        let mut stream = sojourn_dist::Stream::new(0, "a new file");
        let piece: Vec<u8> = (0..PIECE_BYTES / 8).flat_map(|_| stream.bits().to_le_bytes()).collect();
        let mut left = span;
        while left > 0 {
            let length = left.min(PIECE_BYTES as u64) as usize;
            file.write_all(&piece[..length])?;
            left -= length as u64;
        }
        file.sync_all()
    });
    written.map_err(|cause| {
        if cause.kind() != io::ErrorKind::AlreadyExists {
            let _ = std::fs::remove_file(path);
        }
        refused(target, cause, config)
    })
}
