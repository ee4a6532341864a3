//! What is loaded: a file, a device, an export of a server.

use std::path::PathBuf;

use crate::error::BlockLoadError;
use crate::nbd_url::NbdUrl;

const REMEDY: &str =
    "give file:PATH, blk:/dev/NAME, nbd://HOST:PORT/EXPORT or nbd+unix:///EXPORT?socket=PATH";

/// Where I/O goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    File(PathBuf),
    Device(PathBuf),
    Nbd(NbdUrl),
}

impl Target {
    /// # Errors
    /// A URL of another kind.
    pub fn parse(url: &str) -> Result<Target, BlockLoadError> {
        let path = |text: &str| PathBuf::from(text.strip_prefix("//").unwrap_or(text));
        let target = match url.split_once(':') {
            Some(("file", rest)) if !rest.is_empty() => Target::File(path(rest)),
            Some(("blk", rest)) if !rest.is_empty() => Target::Device(path(rest)),
            Some(("nbd" | "nbd+unix", _)) => Target::Nbd(NbdUrl::parse(url)?),
            _ => {
                let what = (url.to_string(), REMEDY.to_string());
                return Err(BlockLoadError::Value { place: "the URL".into(), value: what.0, remedy: what.1 });
            }
        };
        Ok(target)
    }
}
