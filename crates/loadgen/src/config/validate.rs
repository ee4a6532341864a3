//! The limits of a configuration.

use sojourn_dist::{Arrivals, DistError};

use super::http;
use super::{ClientThreadConfig, ClosedLoop, Config, KvConfig, MessagesConfig, SessionsConfig, TargetConfig};
use crate::config_error::{check, ConfigError};
use crate::url::{Scheme, Url};

const RATE_MAX_PER_S: f64 = 1e7;
const DURATION_MAX_S: f64 = 1e7;
const LANES_MAX: usize = 255;
/// More would hide what a service does to requests that follow each other closely.
const SLACK_MAX_S: f64 = 0.1;
const CONNECTIONS_MAX: u32 = 1_000_000;

impl Config {
    /// Reads and validates; unknown keys are errors.
    pub fn from_json(text: &str) -> Result<Config, ConfigError> {
        let config: Config =
            serde_json::from_str(text).map_err(|e| ConfigError::Parse { what: e.to_string() })?;
        config.validate()?;
        Ok(config)
    }

    pub fn validate(&self) -> Result<(), ConfigError> {
        let duration = self.duration_s;
        let in_time = duration > 0.0 && duration <= DURATION_MAX_S;
        check(in_time, "duration_s", duration, "give seconds above 0, at most 1e7")?;
        let timeout = self.timeout_s;
        check(
            timeout > 0.0 && timeout <= 86400.0,
            "timeout_s",
            timeout,
            "give seconds above 0, at most 86400",
        )?;
        check(self.record_limit > 0, "record_limit", self.record_limit, "give at least 1")?;
        check(self.start_at_s.is_none_or(f64::is_finite), "start_at_s", "not finite", "leave it out")?;
        let slack = self.slack_s;
        check((0.0..=SLACK_MAX_S).contains(&slack), "slack_s", slack, "give 0 to 0.1 seconds")?;
        let closed = self.lanes.iter().any(|lane| lane.closed.is_some());
        check(
            slack == 0.0 || !closed,
            "slack_s",
            "given with users",
            "remove it, or give arrivals: only an open loop has a schedule",
        )?;
        let expect = &self.expect;
        let (least, most) = (expect.min_bytes.unwrap_or(0), expect.max_bytes.unwrap_or(u64::MAX));
        check(least <= most, "expect.min_bytes", least, "give at most expect.max_bytes")?;
        expect.status.as_ref().map_or(Ok(()), |status| status.validate("expect.status"))?;
        let lanes = self.lanes.len();
        check((1..=LANES_MAX).contains(&lanes), "lanes", format!("{lanes} lanes"), "give 1 to 255")?;
        self.lanes.iter().enumerate().try_for_each(|(i, lane)| lane.validate(&format!("lanes[{i}]")))?;
        self.validate_scheme()?;
        self.validate_agent()
    }
}

impl Config {
    /// A load speaks one protocol: its columns and classes mean one thing.
    fn validate_scheme(&self) -> Result<(), ConfigError> {
        let targets = || self.lanes.iter().flat_map(|lane| &lane.targets);
        let other = targets().find(|target| Scheme::of(&target.url) != self.scheme());
        let value = other.map_or("", |target| target.url.as_str());
        let remedy = "give http://, memcached:// or messages:// targets, not both in one load";
        check(other.is_none(), "targets", value, remedy)?;
        let unused = self.kv.is_some() && self.scheme() != Scheme::Memcached;
        check(!unused, "kv", "given with other targets", "remove it, or give memcached://HOST:PORT")?;
        let unused = self.messages.is_some() && self.scheme() != Scheme::Messages;
        check(!unused, "messages", "given with other targets", "remove it, or give messages://HOST:PORT")?;
        let https = targets().any(|target| target.url.starts_with("https://"));
        check(
            https || self.tls.is_none(),
            "tls",
            "given without an https:// target",
            "remove it, or give https://",
        )?;
        let longest = self.unix_socket.as_ref().map_or(0, |path| path.as_os_str().len());
        check(
            longest <= 107,
            "unix_socket",
            format!("{longest} bytes long"),
            "give a path of at most 107 bytes",
        )?;
        let unused = self.unix_socket.is_some() && self.scheme() != Scheme::Http;
        check(!unused, "unix_socket", "given with other targets", "remove it, or give http:// targets")?;
        self.kv.as_ref().map_or(Ok(()), KvConfig::validate)?;
        self.messages.as_ref().map_or(Ok(()), MessagesConfig::validate)?;
        self.sessions.as_ref().map_or(Ok(()), |sessions| self.validate_sessions(sessions))
    }

    fn validate_sessions(&self, sessions: &SessionsConfig) -> Result<(), ConfigError> {
        let usable = self.scheme() == Scheme::Http;
        check(usable, "sessions", "given with other targets", "remove it, or give http://HOST:PORT")?;
        let open = self.lanes.iter().any(|lane| lane.closed.is_none());
        check(!open, "sessions", "given with arrivals", "give closed: sessions are of users")?;
        let plain = |target: &TargetConfig| {
            target.method == "GET" && target.headers.is_empty() && target.body.is_none() && !target.template
        };
        let other = self.lanes.iter().flat_map(|lane| &lane.targets).find(|target| !plain(target));
        let value = other.map_or("", |target| target.url.as_str());
        check(
            other.is_none(),
            "targets",
            value,
            "give the URL alone: users ask with GET, as links are followed",
        )?;
        sessions.validate(self.duration_s)
    }

    /// Connections that may be open at a time, of all lanes.
    pub(crate) fn connections_max(&self) -> u64 {
        self.lanes.iter().map(|lane| u64::from(lane.connections_max())).sum()
    }

    /// Of closed loops.
    pub(crate) fn users(&self) -> u64 {
        self.lanes.iter().filter_map(|lane| lane.closed.as_ref()).map(|closed| u64::from(closed.users)).sum()
    }

    /// What its targets speak.
    pub(crate) fn scheme(&self) -> Scheme {
        let first = self.lanes.iter().flat_map(|lane| &lane.targets).next();
        first.map_or(Scheme::Http, |target| Scheme::of(&target.url))
    }

    /// What is asked of memcached; `None` for the others.
    pub(crate) fn kv(&self) -> Option<KvConfig> {
        (self.scheme() == Scheme::Memcached).then(|| self.kv.clone().unwrap_or_default())
    }

    /// What is asked of the message service; `None` for the others.
    pub(crate) fn messages(&self) -> Option<MessagesConfig> {
        let wanted = self.messages.clone().unwrap_or_default();
        let token = wanted.token();
        (self.scheme() == Scheme::Messages).then_some(MessagesConfig { token, ..wanted })
    }
}

impl ClientThreadConfig {
    fn validate(&self, place: &str) -> Result<(), ConfigError> {
        match (&self.arrivals, &self.closed) {
            (Some(arrivals), None) => validate_arrivals(arrivals, &format!("{place}.arrivals"))?,
            (None, Some(closed)) => closed.validate(&format!("{place}.closed"))?,
            (both, _) => {
                let found = if both.is_some() { "both arrivals and closed" } else { "no load" };
                check(false, place, found, "give either arrivals (open) or closed (users)")?;
            }
        }
        let (least, most) = (self.connections(), self.connections_max());
        let (at, allowed) = (format!("{place}.connections"), (1..=CONNECTIONS_MAX).contains(&least));
        check(allowed, &at, least, "give 1 to 1000000")?;
        let allowed = (least..=CONNECTIONS_MAX).contains(&most);
        check(allowed, &format!("{at}_max"), most, "give at least connections, at most 1000000")?;
        let targets = self.targets.len();
        let allowed = (1..=10_000).contains(&targets);
        check(allowed, &format!("{place}.targets"), format!("{targets} targets"), "give 1 to 10000")?;
        let each = self.targets.iter().enumerate();
        each.map(|(i, t)| (format!("{place}.targets[{i}]"), t)).try_for_each(|(at, t)| t.validate(&at))
    }
}

impl TargetConfig {
    fn validate(&self, place: &str) -> Result<(), ConfigError> {
        let weight = self.weight;
        let allowed = weight > 0.0 && weight.is_finite();
        check(allowed, &format!("{place}.weight"), weight, "give a finite number above 0")?;
        let url = Url::parse(&self.url, &format!("{place}.url"))?;
        if url.scheme != Scheme::Http {
            let plain = self.method == "GET" && self.headers.is_empty() && self.body.is_none();
            return check(
                plain && !self.template,
                place,
                "asked as HTTP",
                "give an http:// URL, or the URL alone",
            );
        }
        http::validate_method(&self.method, &format!("{place}.method"))?;
        self.headers.iter().try_for_each(|header| header.validate(&format!("{place}.headers")))?;
        self.status.as_ref().map_or(Ok(()), |status| status.validate(&format!("{place}.status")))
    }
}

impl ClosedLoop {
    fn validate(&self, place: &str) -> Result<(), ConfigError> {
        let allowed = (1..=CONNECTIONS_MAX).contains(&self.users);
        check(allowed, &format!("{place}.users"), self.users, "give 1 to 1000000")?;
        within(self.think.validate(), &format!("{place}.think"))
    }
}

fn validate_arrivals(arrivals: &Arrivals, place: &str) -> Result<(), ConfigError> {
    within(arrivals.validate(), place)?;
    let peak = arrivals.peak_per_s();
    check(peak <= RATE_MAX_PER_S, &format!("{place}.rate_per_s"), peak, "give at most 1e7 a lane")
}

fn within(result: Result<(), DistError>, place: &str) -> Result<(), ConfigError> {
    result.map_err(|source| ConfigError::Process { place: place.to_string(), source })
}
