//! Whom an https:// load trusts.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Without one, the authorities that this machine trusts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsConfig {
    /// Certificates (PEM) of the authorities that are trusted instead.
    #[serde(default)]
    pub ca: Option<PathBuf>,
    /// Any certificate is taken, whoever signed it and for whatever name.
    #[serde(default)]
    pub insecure: bool,
}
