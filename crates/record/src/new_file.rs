//! The file that a log begins in: a new one, and never another user's choice.

use std::fs::{symlink_metadata, File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// A new, empty file at `path`. An ordinary file of that name is removed first, so that whoever has it open, or another name of it,
/// keeps what it had. A device, a pipe and a link are opened as they are, but for a link that another user may have planted: one in a
/// folder that all may write, such as /tmp, of neither this user nor the folder's owner (the rule of `fs.protected_symlinks`, which not
/// every kernel has on).
///
/// # Errors
/// That of the operating system; `PermissionDenied` for such a link.
pub fn new_file(path: &Path) -> Result<File> {
    match symlink_metadata(path) {
        Ok(found) if found.is_file() => std::fs::remove_file(path)?,
        Ok(found) if found.is_symlink() && planted(path, &found)? => {
            let told = format!("it is a link that user {} made", found.uid());
            return Err(Error::new(ErrorKind::PermissionDenied, told));
        }
        Ok(_) => return File::create(path),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    OpenOptions::new().write(true).create_new(true).custom_flags(libc::O_NOFOLLOW).open(path)
}

fn planted(path: &Path, link: &Metadata) -> Result<bool> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = std::fs::metadata(parent)?;
    let open_to_all = libc::S_ISVTX | libc::S_IWOTH;
    let own = std::fs::metadata("/proc/self")?.uid();
    Ok(folder.mode() & open_to_all == open_to_all && link.uid() != own && link.uid() != folder.uid())
}
