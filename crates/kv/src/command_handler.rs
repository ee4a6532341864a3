//! What a request does, and the bytes that it answers.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use sojourn_memproto::{c_unsigned, IncrOrDecr, Refusal, Request, RequestLimits, StoreVerb};

use crate::lru_store::{expires_s, LruStore, RELATIVE_MAX_S};
use crate::{Config, Summary};

/// The store and its account.
pub struct CommandHandler {
    pub store: LruStore,
    pub limits: RequestLimits,
    pub summary: Summary,
    pub open: usize,
    started_s: i64,
}

impl CommandHandler {
    pub fn new(config: &Config) -> CommandHandler {
        CommandHandler {
            store: LruStore::new(config.memory_bytes),
            limits: RequestLimits { value_bytes: config.value_bytes, ..RequestLimits::default() },
            summary: Summary::default(),
            open: 0,
            started_s: unix_s(),
        }
    }

    /// The account up to now.
    pub fn account(&self) -> Summary {
        let (items, bytes, evictions) =
            (self.store.len() as u64, self.store.bytes as u64, self.store.evictions);
        Summary { items, bytes, evictions, ..self.summary.clone() }
    }

    /// Does the request and appends its answer, where the client wants one. False: the connection ends.
    pub fn answer(&mut self, request: &Request<'_>, out: &mut Vec<u8>) -> bool {
        let (before, now_s) = (out.len(), unix_s());
        match request {
            Request::Get { cas, touch, keys } => {
                keys.iter().for_each(|key| self.get(key, *cas, *touch, now_s, out));
                out.extend_from_slice(b"END\r\n");
            }
            Request::Store { verb, key, flags, exptime_s, cas, data, .. } => {
                self.summary.sets += 1;
                out.extend_from_slice(self.store(*verb, key, *flags, *exptime_s, *cas, data, now_s));
            }
            Request::Delete { key, .. } => {
                let there = self.store.get(key, now_s).is_some() && self.store.remove(key);
                out.extend_from_slice(found(there, b"DELETED\r\n"));
            }
            Request::Arithmetic { direction, key, delta, .. } => {
                self.count(*direction, key, *delta, now_s, out);
            }
            Request::Touch { key, exptime_s, .. } => {
                let there = self.store.set_expiry(key, expires_s(*exptime_s, now_s), now_s);
                out.extend_from_slice(found(there, b"TOUCHED\r\n"));
            }
            Request::FlushAll { delay_s, .. } => {
                let at_s = expires_s(delay_s.unwrap_or(0), now_s).unwrap_or(now_s);
                match delay_s {
                    // A date before the start is none, and ends what was due.
                    Some(date) if *date > RELATIVE_MAX_S && at_s <= self.started_s => {
                        self.store.unflush();
                    }
                    _ => self.store.flush(at_s, now_s),
                }
                out.extend_from_slice(b"OK\r\n");
            }
            Request::Verbosity { .. } => out.extend_from_slice(b"OK\r\n"),
            Request::Version => {
                out.extend_from_slice(
                    concat!("VERSION sojourn-", env!("CARGO_PKG_VERSION"), "\r\n").as_bytes(),
                );
            }
            Request::Stats { arguments } => self.stats(arguments, now_s, out),
            Request::Quit => return false,
        }
        if !request.is_answered() {
            out.truncate(before);
        }
        true
    }

    fn get(&mut self, key: &[u8], cas: bool, touch: Option<i64>, now_s: i64, out: &mut Vec<u8>) {
        self.summary.gets += 1;
        let Some(item) = self.store.get(key, now_s) else {
            return;
        };
        self.summary.hits += 1;
        out.extend_from_slice(b"VALUE ");
        out.extend_from_slice(key);
        // Writing to a vector cannot fail.
        let _ = write!(out, " {} {}", item.flags, item.value.len());
        if cas {
            let _ = write!(out, " {}", item.unique);
        }
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(&item.value);
        out.extend_from_slice(b"\r\n");
        // Behind the answer: what goes with it is answered once more.
        if let Some(exptime_s) = touch {
            self.store.set_expiry(key, expires_s(exptime_s, now_s), now_s);
        }
    }

    #[allow(clippy::too_many_arguments)] // the words of the command line, in their order
    fn store(
        &mut self,
        verb: StoreVerb,
        key: &[u8],
        flags: u32,
        exptime_s: i64,
        cas: Option<u64>,
        data: &[u8],
        now_s: i64,
    ) -> &'static [u8] {
        let present = self.store.get(key, now_s);
        let (value, flags, expires) = match (verb, present) {
            (StoreVerb::Add, Some(_))
            | (StoreVerb::Replace | StoreVerb::Append | StoreVerb::Prepend, None) => {
                return b"NOT_STORED\r\n";
            }
            (StoreVerb::Cas, None) => return b"NOT_FOUND\r\n",
            (StoreVerb::Cas, Some(item)) if Some(item.unique) != cas => return b"EXISTS\r\n",
            (StoreVerb::Append, Some(item)) => ([&item.value, data].concat(), item.flags, None),
            (StoreVerb::Prepend, Some(item)) => ([data, &item.value].concat(), item.flags, None),
            _ => (data.to_vec(), flags, Some(expires_s(exptime_s, now_s))),
        };
        if value.len() > self.limits.value_bytes {
            return Refusal::TooLarge.reply();
        }
        let expires = expires.unwrap_or_else(|| self.store.expiry(key, now_s));
        if self.store.put(key, value, flags, expires) {
            b"STORED\r\n"
        } else {
            b"SERVER_ERROR out of memory storing object\r\n"
        }
    }

    /// Up wraps round at 2^64, down ends at 0; a shorter number is filled up with spaces, as memcached does it.
    fn count(&mut self, direction: IncrOrDecr, key: &[u8], delta: u64, now_s: i64, out: &mut Vec<u8>) {
        let Some(item) = self.store.get(key, now_s) else {
            return out.extend_from_slice(b"NOT_FOUND\r\n");
        };
        let text = item.value.split(|b| *b == 0).next().unwrap_or_default();
        let Some(value) = c_unsigned(text) else {
            return out
                .extend_from_slice(b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n");
        };
        let changed = match direction {
            IncrOrDecr::Up => value.wrapping_add(delta),
            IncrOrDecr::Down => value.saturating_sub(delta),
        };
        let text = format!("{changed}");
        let (flags, width) = (item.flags, item.value.len());
        let expires = self.store.expiry(key, now_s);
        self.store.put(key, format!("{text:<width$}").into_bytes(), flags, expires);
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(b"\r\n");
    }

    fn stats(&mut self, arguments: &[u8], now_s: i64, out: &mut Vec<u8>) {
        if arguments == b"reset" {
            self.summary = Summary { connections: self.summary.connections, ..Summary::default() };
            self.store.evictions = 0;
            return out.extend_from_slice(b"RESET\r\n");
        }
        let account = self.account();
        let figures: [(&str, u64); 13] = [
            ("pid", u64::from(std::process::id())),
            ("uptime", (now_s - self.started_s).max(0) as u64),
            ("time", now_s.max(0) as u64),
            ("curr_connections", self.open as u64),
            ("total_connections", account.connections),
            ("cmd_get", account.gets),
            ("cmd_set", account.sets),
            ("get_hits", account.hits),
            ("get_misses", account.gets - account.hits),
            ("bytes", account.bytes),
            ("curr_items", account.items),
            ("limit_maxbytes", self.store.memory_bytes as u64),
            ("evictions", account.evictions),
        ];
        let wanted = figures.iter().filter(|_| arguments.is_empty());
        wanted.for_each(|(name, value)| drop(write!(out, "STAT {name} {value}\r\n")));
        out.extend_from_slice(b"END\r\n");
    }
}

fn found(there: bool, done: &'static [u8]) -> &'static [u8] {
    if there {
        done
    } else {
        b"NOT_FOUND\r\n"
    }
}

// Expiry times are given in Unix time, as memcached has it.
#[allow(clippy::disallowed_methods)]
fn unix_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_memproto::{parse, ParseStep};

    fn talk(handler: &mut CommandHandler, text: &str) -> String {
        let mut out = Vec::new();
        let ParseStep::Done { request, used } = parse(text.as_bytes(), &handler.limits) else {
            panic!("{text}")
        };
        assert_eq!(used, text.len());
        assert!(handler.answer(&request, &mut out));
        String::from_utf8(out).unwrap()
    }

    /// The answers are those of memcached 1.6 to the same conversation.
    #[test]
    fn a_conversation() {
        let config = Config { listen: String::new(), memory_bytes: 1 << 20, value_bytes: 100 };
        let handler = &mut CommandHandler::new(&config);
        for (asked, answered) in [
            ("get a\r\n", "END\r\n"),
            ("set a 5 0 2\r\nhi\r\n", "STORED\r\n"),
            ("get a b\r\n", "VALUE a 5 2\r\nhi\r\nEND\r\n"),
            ("gets a\r\n", "VALUE a 5 2 1\r\nhi\r\nEND\r\n"),
            ("cas a 6 0 2 9\r\nho\r\n", "EXISTS\r\n"),
            ("cas a 6 0 2 1\r\nho\r\n", "STORED\r\n"),
            ("cas b 6 0 2 1\r\nho\r\n", "NOT_FOUND\r\n"),
            ("add a 0 0 1\r\nx\r\n", "NOT_STORED\r\n"),
            ("replace b 0 0 1\r\nx\r\n", "NOT_STORED\r\n"),
            ("append a 9 0 1\r\n!\r\n", "STORED\r\n"),
            ("prepend a 9 0 1\r\n<\r\n", "STORED\r\n"),
            ("get a\r\n", "VALUE a 6 4\r\n<ho!\r\nEND\r\n"),
            ("set n 0 0 2\r\n10\r\n", "STORED\r\n"),
            ("decr n 1\r\n", "9\r\n"),
            ("get n\r\n", "VALUE n 0 2\r\n9 \r\nEND\r\n"),
            ("incr n 18446744073709551615\r\n", "8\r\n"),
            ("decr n 100\r\n", "0\r\n"),
            // As the C library reads numbers.
            ("set n 0 0 4\r\n 7 x\r\n", "STORED\r\n"),
            ("incr n 1\r\n", "8\r\n"),
            ("incr a 1\r\n", "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n"),
            ("incr x 1\r\n", "NOT_FOUND\r\n"),
            ("touch a 100\r\n", "TOUCHED\r\n"),
            ("gat -1 a\r\n", "VALUE a 6 4\r\n<ho!\r\nEND\r\n"),
            ("get a\r\n", "END\r\n"),
            ("delete n\r\n", "DELETED\r\n"),
            ("delete n\r\n", "NOT_FOUND\r\n"),
            ("set q 0 0 1 noreply\r\nq\r\n", ""),
            ("flush_all 100\r\n", "OK\r\n"),
            ("get q\r\n", "VALUE q 0 1\r\nq\r\nEND\r\n"),
            ("flush_all\r\n", "OK\r\n"),
            ("get q\r\n", "END\r\n"),
            ("verbosity 1\r\n", "OK\r\n"),
        ] {
            assert_eq!(talk(handler, asked), answered, "{asked}");
        }
        assert!(talk(handler, "stats\r\n").contains("STAT get_hits 6\r\n"));
    }
}
