//! `nbd://host:port/export` and `nbd+unix:///export?socket=path`.

use std::fmt;
use std::path::PathBuf;

use crate::error::BlockLoadError;

const PORT: u16 = 10_809;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NbdAddress {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

/// A server and one of its exports; the empty name is its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NbdUrl {
    pub address: NbdAddress,
    pub export: String,
    text: String,
}

impl fmt::Display for NbdUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl NbdUrl {
    /// # Errors
    /// `BlockLoadError::Value` for what is neither form.
    pub fn parse(text: &str) -> Result<NbdUrl, BlockLoadError> {
        let wrong = |remedy: &str| BlockLoadError::Value {
            place: "the URL".to_string(),
            value: text.to_string(),
            remedy: remedy.to_string(),
        };
        let url =
            |address, export: &str| NbdUrl { address, export: export.to_string(), text: text.to_string() };
        if let Some(rest) = text.strip_prefix("nbd+unix:///") {
            let (export, socket) = rest
                .split_once("?socket=")
                .filter(|(_, socket)| !socket.is_empty())
                .ok_or_else(|| wrong("give nbd+unix:///EXPORT?socket=PATH"))?;
            return Ok(url(NbdAddress::Unix(socket.into()), export));
        }
        let rest = text.strip_prefix("nbd://").ok_or_else(|| wrong("give nbd://HOST:PORT/EXPORT"))?;
        let (authority, export) = rest.split_once('/').unwrap_or((rest, ""));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !authority.ends_with(']') => {
                let port = port.parse().ok().filter(|port| *port > 0);
                (host, port.ok_or_else(|| wrong("give a port, 1 to 65535"))?)
            }
            _ => (authority, PORT),
        };
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if host.is_empty() {
            return Err(wrong("give a host: nbd://HOST:PORT/EXPORT"));
        }
        Ok(url(NbdAddress::Tcp { host: host.to_string(), port }, export))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_and_their_defaults() {
        let tcp = |host: &str, port| NbdAddress::Tcp { host: host.to_string(), port };
        let parsed = |text: &str| NbdUrl::parse(text).map(|url| (url.address, url.export)).unwrap();
        assert_eq!(parsed("nbd://127.0.0.1:10810/disk"), (tcp("127.0.0.1", 10_810), "disk".to_string()));
        assert_eq!(parsed("nbd://storage"), (tcp("storage", 10_809), String::new()));
        assert_eq!(parsed("nbd://[::1]:7/a/b"), (tcp("::1", 7), "a/b".to_string()));
        assert_eq!(
            parsed("nbd+unix:///x?socket=/run/s"),
            (NbdAddress::Unix("/run/s".into()), "x".to_string())
        );
        for wrong in ["nbd://", "nbd://h:0", "nbd://h:99999", "nbd+unix:///x", "nbd:h"] {
            assert!(NbdUrl::parse(wrong).is_err(), "{wrong}");
        }
    }
}
