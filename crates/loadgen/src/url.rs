//! `http://host[:port][/path][?query]` and `https://`, and the request that it makes; `memcached://host[:port]` and
//! `messages://host[:port]`, whose requests are drawn.

use crate::config_error::ConfigError;

/// What a URL speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Http,
    Memcached,
    /// The message service, over HTTP.
    Messages,
}

impl Scheme {
    /// By how the URL begins; what is neither of the two others is HTTP, or wrong.
    pub fn of(url: &str) -> Scheme {
        [Scheme::Memcached, Scheme::Messages]
            .into_iter()
            .find(|scheme| url.starts_with(scheme.prefix()))
            .unwrap_or(Scheme::Http)
    }

    fn prefix(self) -> &'static str {
        match self {
            Scheme::Http => "http://",
            Scheme::Memcached => "memcached://",
            Scheme::Messages => "messages://",
        }
    }

    fn port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Memcached => 11211,
            Scheme::Messages => 7400,
        }
    }

    fn remedy(self) -> &'static str {
        match self {
            Scheme::Http => "give http://HOST:PORT/PATH or https://HOST/PATH",
            Scheme::Memcached => "give memcached://HOST:PORT",
            Scheme::Messages => "give messages://HOST:PORT",
        }
    }
}

/// The parts of a URL that a request needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    pub scheme: Scheme,
    /// https://
    pub tls: bool,
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
        let scheme = Scheme::of(text);
        let remedy = scheme.remedy();
        let (tls, rest) = match text.strip_prefix("https://") {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix(scheme.prefix()).ok_or_else(|| wrong(remedy))?),
        };
        if scheme != Scheme::Http {
            let (host, port) = split_port(rest, scheme.port()).ok_or_else(|| wrong(remedy))?;
            let plain = host.bytes().all(|b| b.is_ascii_graphic() && !b"/@?#".contains(&b));
            let (host, authority) = (host.to_string(), rest.to_string());
            let url = Url { scheme, tls, host, port, authority, path: String::new() };
            return plain.then_some(url).ok_or_else(|| wrong(remedy));
        }
        if !rest.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(wrong("percent-encode blanks and characters that are not ASCII"));
        }
        let rest = rest.split('#').next().unwrap_or(rest);
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        if authority.contains('@') {
            // A password may stand there: the URL is not told.
            let (place, value) = (place.to_string(), "a URL with a user name or password".to_string());
            let remedy = "remove them and give --basic-auth-env NAME: a variable with user:password";
            return Err(ConfigError::Value { place, value, remedy });
        }
        let usual = if tls { 443 } else { scheme.port() };
        let (host, port) = split_port(authority, usual).ok_or_else(|| wrong(remedy))?;
        let path = if path.starts_with('/') { path.to_string() } else { format!("/{path}") };
        Ok(Url { scheme, tls, host: host.to_string(), port, authority: authority.to_string(), path })
    }

    /// With the query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// For the Host header.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// What stands between each path and its own headers in requests to the message service and of users in sessions.
    pub fn message_head(&self) -> Vec<u8> {
        let agent = concat!("sojourn/", env!("CARGO_PKG_VERSION"));
        format!(" HTTP/1.1\r\nHost: {}\r\nUser-Agent: {agent}\r\n", self.authority).into_bytes()
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
        assert_eq!(parts("https://a"), expect("a", 443, "/"));
        assert_eq!(parts("https://a:8443/x"), expect("a", 8443, "/x"));
        assert_eq!(parts("http://a?q"), expect("a", 80, "/?q"));
        assert_eq!(parts("http://[::1]:81/"), expect("::1", 81, "/"));
        assert_eq!(parts("memcached://a"), expect("a", 11211, ""));
        assert_eq!(parts("memcached://[::1]:7"), expect("::1", 7, ""));
        assert_eq!(parts("messages://a"), expect("a", 7400, ""));
    }

    #[test]
    fn refused_with_a_remedy() {
        for text in [
            "https://",
            "ftp://a",
            "a",
            "http://",
            "http://a:0/",
            "http://a:99999/",
            "http://a:x",
            "memcached://a/x",
            "memcached://",
            "messages://a/queues",
            "messages://",
        ] {
            let message = Url::parse(text, "lanes[0].targets[0].url").unwrap_err().to_string();
            assert!(message.contains(text) && message.contains("lanes[0]"), "{message}");
        }
        assert!(Url::parse("http://a/ b", "url").unwrap_err().to_string().contains("percent-encode"));
        let told = Url::parse("http://u:hush@a/", "url").unwrap_err().to_string();
        assert!(told.contains("--basic-auth-env") && !told.contains("hush"), "{told}");
    }
}
