//! What an HTTP target is asked: method, headers, body; and what a good answer is.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config_error::check;
use crate::config_error::ConfigError;

/// The methods that can be asked for.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// Headers that follow from the body: a second opinion on where it ends would let one request pass for two.
const OURS: [&str; 3] = ["content-length", "transfer-encoding", "expect"];

/// A header as it is given: its value, or the environment variable that has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderConfig {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Read when the run begins; never written anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
    /// How the variable's value becomes the header's: as it is, or as a credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<Credential>,
}

/// RFC 6750 and RFC 7617.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Credential {
    /// The variable has the token.
    Bearer,
    /// The variable has `user:password`.
    Basic,
}

/// A request's body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BodyConfig {
    Text(String),
    File(PathBuf),
}

/// The statuses that a good answer has: one, or any of several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ExpectedStatuses {
    One(u16),
    Any(Vec<u16>),
}

impl ExpectedStatuses {
    pub fn has(&self, status: u16) -> bool {
        match self {
            ExpectedStatuses::One(wanted) => *wanted == status,
            ExpectedStatuses::Any(wanted) => wanted.contains(&status),
        }
    }

    pub(super) fn validate(&self, place: &str) -> Result<(), ConfigError> {
        let all = match self {
            ExpectedStatuses::One(status) => std::slice::from_ref(status),
            ExpectedStatuses::Any(statuses) => statuses,
        };
        check(!all.is_empty(), place, "empty", "give 100 to 599, one or several")?;
        let wrong = all.iter().find(|status| !(100..600).contains(*status));
        wrong.map_or(Ok(()), |status| check(false, place, status, "give 100 to 599"))
    }
}

pub(super) fn validate_method(method: &str, place: &str) -> Result<(), ConfigError> {
    let known = METHODS.contains(&method);
    check(known, place, format!("{method:?}"), "use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS")
}

impl HeaderConfig {
    /// All but the value that an environment variable will have.
    pub(super) fn validate(&self, place: &str) -> Result<(), ConfigError> {
        let name = format!("{:?}", self.name);
        let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        let plain = !self.name.is_empty() && self.name.bytes().all(token);
        check(plain, &format!("{place}.name"), &name, "write a header as 'Name: value'")?;
        let ours = OURS.contains(&self.name.to_ascii_lowercase().as_str());
        check(!ours, &format!("{place}.name"), &name, "leave it out: it follows from the body")?;
        let one = self.value.is_some() != self.env.is_some();
        let place = format!("header {}", self.name);
        check(one, &place, "without one value", "give either a value or an environment variable")?;
        let fits = self.credential.is_none() || self.env.is_some();
        check(fits, &place, "a credential in clear text", "give the environment variable that has it")?;
        self.value.as_ref().map_or(Ok(()), |value| check_value(value, &place))
    }
}

/// A value that cannot end its header (RFC 9110, section 5.5). The value itself is not told: it may be a secret.
pub(crate) fn check_value(value: &str, place: &str) -> Result<(), ConfigError> {
    let clean = value.bytes().all(|b| b == b'\t' || (b >= b' ' && b != 0x7f));
    check(clean, place, "a value with a line break or another control character", "give it in one line")
}
