//! Which servers are up, as an operator sees it: a server is up when all threads have it up.

use std::sync::atomic::{AtomicUsize, Ordering};

use sojourn_serving::{log, LogLevel};

#[derive(Debug)]
struct Server {
    address: String,
    /// Threads for which it is down.
    down: AtomicUsize,
}

#[derive(Debug)]
pub(crate) struct Availability(Vec<Server>);

impl Availability {
    /// All are up.
    pub fn new(addresses: &[String]) -> Self {
        let up = |address: &String| Server { address: address.clone(), down: AtomicUsize::new(0) };
        Self(addresses.iter().map(up).collect())
    }

    pub fn is_up(&self, server: usize) -> bool {
        self.0[server].down.load(Ordering::Relaxed) == 0
    }

    /// A thread has lost it; the first one to do so logs why.
    pub fn lost(&self, server: usize, why: &str) {
        let Server { address, down } = &self.0[server];
        if down.fetch_add(1, Ordering::Relaxed) == 0 {
            log(LogLevel::Warn, "server_down", &[("server", address), ("reason", &why)]);
        }
    }

    /// A thread that had lost it has it again; the last one logs it.
    pub fn regained(&self, server: usize) {
        let Server { address, down } = &self.0[server];
        if down.fetch_sub(1, Ordering::Relaxed) == 1 {
            log(LogLevel::Info, "server_up", &[("server", address)]);
        }
    }

    /// Reads are served while one is up.
    pub fn ready(&self) -> Result<(), String> {
        let one = (0..self.0.len()).any(|server| self.is_up(server));
        one.then_some(()).ok_or_else(|| "no server is up".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_up_when_all_threads_have_it() {
        let servers = Availability::new(&["a:1".into(), "b:1".into()]);
        servers.lost(0, "timed out");
        servers.lost(0, "timed out");
        servers.lost(1, "is gone");
        assert_eq!(servers.ready(), Err("no server is up".into()));
        servers.regained(0);
        assert!(!servers.is_up(0));
        servers.regained(0);
        assert!(servers.is_up(0) && servers.ready().is_ok());
    }
}
