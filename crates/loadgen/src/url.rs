//! `http://host[:port][/path][?query]`, and the request that it makes; `memcached://host[:port]`.

use crate::error::ConfigError;

const KV: &str = "memcached://";
const KV_PORT: u16 = 11211;

/// Is it memcached that this URL names?
pub fn is_kv(url: &str) -> bool {
    url.starts_with(KV)
}

/// The parts of a URL that a request needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    pub host: String,
    pub port: u16,
    /// As it stood in the URL, for the Host header.
    authority: String,
    path: String,
}

impl Url {
    /// `place` is where the URL stands in the configuration.
    pub fn parse(text: &str, place: &str) -> Result<Url, ConfigError> {
        let wrong = |remedy| {
            let (place, value) = (place.to_string(), format!("{text:?}"));
            ConfigError::Value { place, value, remedy }
        };
        if text.starts_with("https://") {
            return Err(wrong("https is not supported: give the http:// address behind the TLS front end"));
        }
        if let Some(rest) = text.strip_prefix(KV) {
            let remedy = "give memcached://HOST:PORT";
            let (host, port) = split_port(rest, KV_PORT).ok_or_else(|| wrong(remedy))?;
            let plain = host.bytes().all(|b| b.is_ascii_graphic() && !b"/@?#".contains(&b));
            let (host, authority) = (host.to_string(), rest.to_string());
            let url = Url { host, port, authority, path: String::new() };
            return plain.then_some(url).ok_or_else(|| wrong(remedy));
        }
        let rest = text.strip_prefix("http://").ok_or_else(|| wrong("give http://HOST:PORT/PATH"))?;
        if !rest.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(wrong("percent-encode blanks and characters that are not ASCII"));
        }
        let rest = rest.split('#').next().unwrap_or(rest);
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(wrong("a user name in the URL is not supported: remove it"));
        }
        let (host, port) = split_port(authority, 80).ok_or_else(|| wrong("give http://HOST:PORT/PATH"))?;
        let path = if path.starts_with('/') { path.to_string() } else { format!("/{path}") };
        Ok(Url { host: host.to_string(), port, authority: authority.to_string(), path })
    }

    /// The bytes of the GET request.
    pub fn request(&self) -> Vec<u8> {
        let agent = concat!("sojourn/", env!("CARGO_PKG_VERSION"));
        let (path, authority) = (&self.path, &self.authority);
        format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: {agent}\r\nAccept: */*\r\n\r\n")
            .into_bytes()
    }
}

fn split_port(authority: &str, usual: u16) -> Option<(&str, u16)> {
    let (host, rest) = match authority.strip_prefix('[') {
        Some(v6) => v6.split_once(']')?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let port = match rest.strip_prefix(':') {
        Some(port) => port.parse().ok().filter(|p| *p > 0)?,
        None if rest.is_empty() => usual,
        None => return None,
    };
    (!host.is_empty()).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::Url;

    #[test]
    fn parts() {
        let parts = |text| Url::parse(text, "url").map(|u| (u.host, u.port, u.path)).unwrap();
        let expect = |h: &str, p, path: &str| (h.to_string(), p, path.to_string());
        assert_eq!(parts("http://a:8080/x?y=1#z"), expect("a", 8080, "/x?y=1"));
        assert_eq!(parts("http://a"), expect("a", 80, "/"));
        assert_eq!(parts("http://a?q"), expect("a", 80, "/?q"));
        assert_eq!(parts("http://[::1]:81/"), expect("::1", 81, "/"));
        assert_eq!(parts("memcached://a"), expect("a", 11211, ""));
        assert_eq!(parts("memcached://[::1]:7"), expect("::1", 7, ""));
    }

    #[test]
    fn refused_with_a_remedy() {
        for text in [
            "https://a/",
            "ftp://a",
            "a",
            "http://",
            "http://a:0/",
            "http://a:99999/",
            "http://a:x",
            "memcached://a/x",
            "memcached://",
        ] {
            let message = Url::parse(text, "lanes[0].targets[0].url").unwrap_err().to_string();
            assert!(message.contains(text) && message.contains("lanes[0]"), "{message}");
        }
        assert!(Url::parse("http://a/ b", "url").unwrap_err().to_string().contains("percent-encode"));
        assert!(Url::parse("http://u:p@a/", "url").unwrap_err().to_string().contains("user name"));
    }
}
