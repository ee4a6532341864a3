//! The bytes of an HTTP request: made before the start, or from a template.

use std::path::Path;

use crate::config::{check_value, BodyConfig, Credential, HeaderConfig, TargetConfig};
use crate::config_error::ConfigError;
use crate::error::LoadError;
use crate::request_template::{RequestTemplate, TemplateText};
use crate::url::Url;

/// A body is kept in memory, once a lane.
const BODY_MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Methods whose requests say the length of their body even where there is none (RFC 9110, section 8.6).
const WITH_BODY: [&str; 3] = ["POST", "PUT", "PATCH"];

/// What is sent to a target.
#[derive(Debug)]
pub struct EncodedRequest {
    /// The request; of a template the next one.
    pub bytes: Vec<u8>,
    pub template: Option<RequestTemplate>,
}

impl EncodedRequest {
    /// `name`: of the stream that placeholders are drawn from.
    pub fn new(target: &TargetConfig, url: &Url, seed: u64, name: &str) -> Result<EncodedRequest, LoadError> {
        let (mut head, mut body) = (TemplateText::default(), None);
        let add = |to: &mut TemplateText, text: &[u8], place: &str| {
            if target.template {
                return to.parse(text, place);
            }
            to.text(text);
            Ok(())
        };
        head.text(format!("{} ", target.method).as_bytes());
        add(&mut head, url.path().as_bytes(), "the path of the URL")?;
        head.text(b" HTTP/1.1\r\n");
        write_headers(target, url, &mut head, &add)?;
        if let Some(bytes) = read_body(target)? {
            let mut pieces = TemplateText::default();
            add(&mut pieces, &bytes, "body")?;
            body = Some(pieces);
        }
        let mut template = RequestTemplate::new(head.clone(), body.clone(), seed, name);
        let mut bytes = Vec::new();
        template.next(&mut bytes);
        let drawn = head.fixed().is_none() || body.is_some_and(|body| body.fixed().is_none());
        Ok(EncodedRequest { bytes, template: drawn.then_some(template) })
    }
}

type Add<'a> = dyn Fn(&mut TemplateText, &[u8], &str) -> Result<(), ConfigError> + 'a;

fn write_headers(
    target: &TargetConfig,
    url: &Url,
    head: &mut TemplateText,
    add: &Add,
) -> Result<(), ConfigError> {
    let agent = concat!("sojourn/", env!("CARGO_PKG_VERSION"));
    let ours = [
        ("Host", url.authority()),
        ("User-Agent", agent),
        ("Accept", "*/*"),
        ("Accept-Encoding", "identity"),
    ];
    for (name, value) in ours {
        if !target.headers.iter().any(|header| header.name.eq_ignore_ascii_case(name)) {
            head.text(format!("{name}: {value}\r\n").as_bytes());
        }
    }
    for header in &target.headers {
        head.text(format!("{}: ", header.name).as_bytes());
        match &header.value {
            Some(value) => add(head, value.trim().as_bytes(), &format!("header {}", header.name))?,
            // What a secret looks like is its own affair: no placeholders.
            None => head.text(secret(header)?.as_bytes()),
        }
        head.text(b"\r\n");
    }
    Ok(())
}

/// The value that the environment has for a header.
fn secret(header: &HeaderConfig) -> Result<String, ConfigError> {
    let variable = header.env.as_deref().unwrap_or_default();
    let (place, wrong) = (format!("header {}", header.name), |value: String, remedy| ConfigError::Value {
        place: format!("header {}", header.name),
        value,
        remedy,
    });
    let unset = || wrong(format!("environment variable {variable}, which is not set"), "export it first");
    let value = std::env::var(variable).ok().filter(|value| !value.trim().is_empty()).ok_or_else(unset)?;
    check_value(value.trim(), &place)?;
    let value = value.trim();
    match header.credential {
        None => Ok(value.to_string()),
        Some(Credential::Bearer) => Ok(format!("Bearer {value}")),
        Some(Credential::Basic) if value.contains(':') => Ok(format!("Basic {}", base64(value.as_bytes()))),
        Some(Credential::Basic) => Err(wrong(
            format!("environment variable {variable}, without a colon"),
            "write user:password into it",
        )),
    }
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = bytes.chunks(3).flat_map(|part| {
        let word = part.iter().fold(0, |word, b| word << 8 | u32::from(*b)) << (8 * (3 - part.len()));
        (0..4).map(move |i| match i <= part.len() {
            true => DIGITS[(word >> (18 - 6 * i)) as usize & 63] as char,
            false => '=',
        })
    });
    digits.collect()
}

/// The body; empty where the method announces one and none is given.
fn read_body(target: &TargetConfig) -> Result<Option<Vec<u8>>, LoadError> {
    match &target.body {
        None => Ok(WITH_BODY.contains(&target.method.as_str()).then(Vec::new)),
        Some(BodyConfig::Text(text)) => Ok(Some(text.clone().into_bytes())),
        Some(BodyConfig::File(path)) => read_file(path).map(Some),
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, LoadError> {
    let wrong = |value: String, remedy| {
        let place = format!("body file {}", path.display());
        LoadError::Config(ConfigError::Value { place, value, remedy })
    };
    let unreadable = |cause: std::io::Error| wrong(cause.to_string(), "give a file that can be read");
    let length = std::fs::metadata(path).map_err(unreadable)?.len();
    if length > BODY_MAX_BYTES {
        return Err(wrong(format!("{length} bytes"), "give at most 64 MiB"));
    }
    std::fs::read(path).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(json: serde_json::Value) -> Result<String, String> {
        let target: TargetConfig = serde_json::from_value(json).unwrap();
        let url = Url::parse(&target.url, "url").unwrap();
        let asked = EncodedRequest::new(&target, &url, 1, "target 0").map_err(|error| error.to_string())?;
        Ok(String::from_utf8(asked.bytes).unwrap())
    }

    #[test]
    fn base64_as_in_the_rfc() {
        // RFC 4648, section 10.
        let all = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        assert!(all.iter().all(|(plain, coded)| base64(plain.as_bytes()) == *coded));
    }

    #[test]
    fn requests_as_they_stand_on_the_wire() {
        let get = asked(serde_json::json!({"url": "http://a:81/x?y"})).unwrap();
        let agent = concat!("sojourn/", env!("CARGO_PKG_VERSION"));
        assert_eq!(
            get,
            format!("GET /x?y HTTP/1.1\r\nHost: a:81\r\nUser-Agent: {agent}\r\nAccept: */*\r\nAccept-Encoding: identity\r\n\r\n")
        );
        let post = asked(serde_json::json!({
            "url": "http://a/", "method": "POST", "body": {"text": "häuser"},
            "headers": [{"name": "host", "value": "b"}, {"name": "User-Agent", "value": "x"},
                        {"name": "Accept", "value": " text/html "}, {"name": "accept-encoding", "value": "gzip"}],
        }));
        assert_eq!(
            post.unwrap(),
            "POST / HTTP/1.1\r\nhost: b\r\nUser-Agent: x\r\nAccept: text/html\r\naccept-encoding: gzip\r\nContent-Length: 7\r\n\r\nhäuser"
        );
        let empty = asked(serde_json::json!({"url": "http://a/", "method": "PUT"})).unwrap();
        assert!(empty.ends_with("\r\nContent-Length: 0\r\n\r\n"), "{empty}");
        let delete = asked(serde_json::json!({"url": "http://a/", "method": "DELETE"})).unwrap();
        assert!(!delete.contains("Content-Length"), "{delete}");
    }

    #[test]
    fn credentials_come_from_the_environment_and_errors_do_not_tell_them() {
        // The only test of this crate that touches these names.
        std::env::set_var("SOJOURN_TEST_BASIC", "Aladdin:open sesame");
        std::env::set_var("SOJOURN_TEST_BROKEN", "hush\r\nX: y");
        let with = |env: &str, credential: &str| {
            let header = serde_json::json!({"name": "Authorization", "env": env, "credential": credential});
            asked(serde_json::json!({"url": "http://a/", "headers": [header]}))
        };
        // RFC 7617, section 2.
        let basic = with("SOJOURN_TEST_BASIC", "basic").unwrap();
        assert!(basic.contains("\r\nAuthorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n"), "{basic}");
        let unset = with("SOJOURN_TEST_UNSET", "bearer").unwrap_err();
        assert!(unset.contains("SOJOURN_TEST_UNSET, which is not set; export it"), "{unset}");
        let broken = with("SOJOURN_TEST_BROKEN", "bearer").unwrap_err();
        assert!(broken.contains("header Authorization") && !broken.contains("hush"), "{broken}");
        let no_colon = with("HOME", "basic").unwrap_err();
        assert!(no_colon.contains("write user:password"), "{no_colon}");
    }

    #[test]
    fn a_body_file_that_is_not_there() {
        let error = asked(serde_json::json!({"url": "http://a/", "body": {"file": "/no/such"}})).unwrap_err();
        assert!(error.contains("body file /no/such") && error.contains("give a file"), "{error}");
    }
}
