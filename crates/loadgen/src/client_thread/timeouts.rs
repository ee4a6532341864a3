//! By when each request must have ended: its time-out counts from when it was due, also while it waits.

use std::collections::VecDeque;

/// Where a request is that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestState {
    /// In this pool, for a connection.
    Waiting(u32),
    /// On the connection in this slot.
    Sent(u32),
    Ended,
}

/// The requests of a lane from the oldest on that has not ended, by sequence number. They are taken up in the order in which
/// they are due, so the first one's time is up first.
#[derive(Debug, Default)]
pub struct TimeOuts {
    first: u64,
    requests: VecDeque<(f64, RequestState)>,
}

impl TimeOuts {
    /// The next request in sequence, which waits in `pool`, must have ended at `at_s`.
    pub fn push(&mut self, at_s: f64, pool: usize) {
        self.requests.push_back((at_s, RequestState::Waiting(pool as u32)));
    }

    pub fn sent(&mut self, sequence: u64, slot: u32) {
        self.set(sequence, RequestState::Sent(slot));
    }

    /// It has ended; what is before the first that has not is forgotten.
    pub fn ended(&mut self, sequence: u64) {
        self.set(sequence, RequestState::Ended);
        while let Some((_, RequestState::Ended)) = self.requests.front() {
            self.requests.pop_front();
            self.first += 1;
        }
    }

    fn set(&mut self, sequence: u64, place: RequestState) {
        if let Some(request) = self.requests.get_mut(sequence.wrapping_sub(self.first) as usize) {
            request.1 = place;
        }
    }

    /// When the first one's time is up.
    pub fn next_s(&self) -> f64 {
        self.requests.front().map_or(f64::INFINITY, |(at_s, _)| *at_s)
    }

    /// The first, if its time is up: its sequence number, and where it is.
    pub fn expired(&self, now_s: f64) -> Option<(u64, RequestState)> {
        self.requests.front().filter(|(at_s, _)| *at_s <= now_s).map(|(_, place)| (self.first, *place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_expire_in_the_order_in_which_they_were_due() {
        let mut timeouts = TimeOuts::default();
        assert_eq!((timeouts.next_s(), timeouts.expired(1e9)), (f64::INFINITY, None));
        (0..4).for_each(|i| timeouts.push(10.0 + f64::from(i), 7));
        timeouts.sent(1, 3);
        timeouts.ended(2);
        assert_eq!((timeouts.next_s(), timeouts.expired(9.9)), (10.0, None));
        assert_eq!(timeouts.expired(10.0), Some((0, RequestState::Waiting(7))));
        timeouts.ended(0);
        assert_eq!(timeouts.expired(11.0), Some((1, RequestState::Sent(3))));
        timeouts.ended(1);
        assert_eq!((timeouts.next_s(), timeouts.requests.len()), (13.0, 1), "what has ended is forgotten");
        timeouts.ended(1);
        timeouts.ended(9);
        assert_eq!(timeouts.expired(13.0), Some((3, RequestState::Waiting(7))));
    }
}
