//! By when a connection has to do something, or to be gone.

/// After its last answer a client may go on sending for so long, ns: closing at once, with bytes unread, would reset the
/// connection, and the kernel would throw away what the client has not read (nginx: `lingering_close`).
const LINGER: u64 = 1_000_000_000;

/// The clock of one connection, which ends it where it is idle, or has lingered long enough.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConnectionDeadline {
    active: u64,
    lingers_until: Option<u64>,
}

impl ConnectionDeadline {
    /// Of a connection that was opened now.
    #[must_use]
    pub fn new(now: u64) -> Self {
        Self { active: now, lingers_until: None }
    }

    /// It did something that counts: a whole request was taken up, or the client took an answer.
    #[inline]
    pub fn acted(&mut self, now: u64) {
        self.active = self.active.max(now);
    }

    /// Nothing is owed to it any more: what it still sends is dropped, for a while. True the first time.
    pub fn linger(&mut self, now: u64) -> bool {
        let first = self.lingers_until.is_none();
        self.lingers_until.get_or_insert(now + LINGER);
        first
    }

    /// Whether its last answer has been written.
    #[must_use]
    pub fn is_lingering(&self) -> bool {
        self.lingers_until.is_some()
    }

    /// Whether it is to be closed: it has lingered, or did nothing for `idle` ns although the service `waits` for it,
    /// to send a request or to take an answer.
    #[must_use]
    pub fn has_passed(&self, now: u64, idle: u64, waits: bool) -> bool {
        match self.lingers_until {
            Some(until) => now > until,
            None => waits && now.saturating_sub(self.active) > idle,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_client_is_closed_only_where_the_service_waits_for_it() {
        let mut deadline = ConnectionDeadline::new(100);
        assert!(deadline.has_passed(151, 50, true) && !deadline.has_passed(150, 50, true));
        assert!(!deadline.has_passed(u64::MAX, 50, false), "its request is under way");
        deadline.acted(140);
        deadline.acted(120);
        assert!(!deadline.has_passed(190, 50, true), "what another thread saw earlier takes nothing back");
    }

    #[test]
    fn a_lingering_client_has_so_long_whatever_it_sends() {
        let mut deadline = ConnectionDeadline::new(0);
        assert!(deadline.linger(10) && !deadline.linger(LINGER) && deadline.is_lingering());
        deadline.acted(LINGER);
        assert!(
            !deadline.has_passed(LINGER + 10, 1, true) && deadline.has_passed(LINGER + 11, u64::MAX, false)
        );
    }
}
