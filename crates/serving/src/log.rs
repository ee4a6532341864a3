//! The log that an operator reads: one line an event on standard error, `2026-11-22T18:20:00.123Z warn name key="value"`.

use std::fmt::{Display, Write as _};
use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// Nothing to do.
    Info,
    /// Clients may be refused until something comes back by itself.
    Warn,
    /// Somebody has to look.
    Error,
}

impl LogLevel {
    fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// Writes an event, its name in `snake_case`. A standard error that is closed is no reason to end.
pub fn log(level: LogLevel, event: &str, fields: &[(&str, &dyn Display)]) {
    // An operator's other logs have the wall clock's time.
    #[allow(clippy::disallowed_methods)]
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let text = line(since.as_millis() as u64, level, event, fields);
    // In one piece: threads do not mix their lines.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn line(unix_ms: u64, level: LogLevel, event: &str, fields: &[(&str, &dyn Display)]) -> String {
    let mut out = format!("{} {} {event}", timestamp(unix_ms), level.word());
    for (key, value) in fields {
        // Writing to a string cannot fail.
        let _ = write!(out, " {key}={:?}", value.to_string());
    }
    out.push('\n');
    out
}

/// RFC 3339, in UTC. Days to dates by Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
fn timestamp(unix_ms: u64) -> String {
    let (days, ms) = (unix_ms / 86_400_000, unix_ms % 86_400_000);
    let shifted = days + 719_468;
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
    let year = year + era * 400 + next;
    format!("{year:04}-{month:02}-{date:02}T{hours:02}:{minutes:02}:{seconds:02}.{:03}Z", ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `date -u -d @SECONDS +%FT%TZ`.
    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00.007Z"),
            (951_782_399, "2000-02-28T23:59:59.007Z"),
            (951_782_400, "2000-02-29T00:00:00.007Z"),
            (1_709_251_200, "2024-03-01T00:00:00.007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.007Z"),
        ] {
            assert_eq!(timestamp(seconds * 1000 + 7), date);
        }
    }

    #[test]
    fn an_event_is_one_line_whatever_its_values_hold() {
        let text = line(0, LogLevel::Warn, "server_down", &[("server", &"a:1"), ("reason", &"no\n\"such\"")]);
        let whole = "1970-01-01T00:00:00.000Z warn server_down server=\"a:1\" reason=\"no\\n\\\"such\\\"\"\n";
        assert_eq!(text, whole);
    }
}
