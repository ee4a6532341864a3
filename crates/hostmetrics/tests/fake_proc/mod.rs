//! A fake `/proc` and `/sys` in a folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

pub struct FakeProc(PathBuf);

impl FakeProc {
    pub fn new() -> FakeProc {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("sojourn-host-{}-{number}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        FakeProc(root)
    }

    pub fn root(&self) -> &Path {
        &self.0
    }

    /// Writes a file in place, so that a reader that holds it open sees the new text.
    pub fn write(&self, path: &str, text: &str) -> &FakeProc {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }
}

impl Drop for FakeProc {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).ok();
    }
}
