//! The database's clock, which can jump, beside our monotonic one, which cannot.
//!
//! A lent message has the time of the database's clock until which it is lent. When that clock jumps, messages lent before
//! would be overdue too early or too late. They are told from those lent later by their receipts, which only grow, and judged
//! by a clock that goes on as if there had been no jump; what is uncertain is always given the longer time.

/// A smaller change between two readings is the clock being slewed, us.
const TOLERANCE_US: i64 = 100_000;

/// What the database said, and when it was asked and had answered by our clock, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClockReading {
    pub database_us: i64,
    /// The last that was given out.
    pub receipt: i64,
    pub asked: u64,
    pub heard: u64,
}

/// Messages that are overdue: lent until `old_us` with a receipt up to `old_receipt`, until `new_us` with a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OverdueMessages {
    pub new_us: i64,
    pub old_us: i64,
    pub old_receipt: i64,
}

/// What was lent before a jump.
#[derive(Clone, Copy, Debug)]
struct ClockJump {
    /// How far the clock is ahead of where it would be.
    ahead_us: i64,
    receipt: i64,
    /// When none of it is lent any more, by our clock, ns.
    over: u64,
}

#[derive(Debug, Default)]
pub(super) struct DatabaseClock {
    last: Option<ClockReading>,
    before: Option<ClockJump>,
}

impl DatabaseClock {
    /// How far the clock has jumped since the last reading, us: at least what is certain, and never less than may be.
    pub fn jump(&self, reading: &ClockReading) -> Option<i64> {
        let last = self.last?;
        let passed_us = reading.database_us - last.database_us;
        let least_us = (reading.asked.saturating_sub(last.heard) / 1000) as i64;
        let most_us = (reading.heard.saturating_sub(last.asked) / 1000) as i64;
        let slewed = passed_us <= most_us + TOLERANCE_US && passed_us >= least_us - TOLERANCE_US;
        (!slewed).then_some(passed_us - least_us)
    }

    /// The last receipt of the reading before.
    pub fn last_receipt(&self) -> i64 {
        self.last.map_or(0, |last| last.receipt)
    }

    /// What is overdue at a reading after a `jump` or without; after one, `longest_us` is the longest time that a
    /// message may still be lent.
    pub fn overdue(&mut self, reading: ClockReading, jump: Option<i64>, longest_us: i64) -> OverdueMessages {
        self.before = self.before.filter(|before| reading.heard < before.over);
        if let Some(jump_us) = jump {
            let (ahead_us, over) = self
                .before
                .map_or((jump_us, 0), |before| ((before.ahead_us + jump_us).max(jump_us), before.over));
            let over = over.max(reading.heard + longest_us.max(0) as u64 * 1000);
            self.before = Some(ClockJump { ahead_us, receipt: reading.receipt, over });
        }
        self.last = Some(reading);
        let now_us = reading.database_us;
        let before = self.before.unwrap_or(ClockJump { ahead_us: 0, receipt: 0, over: 0 });
        OverdueMessages { new_us: now_us, old_us: now_us - before.ahead_us, old_receipt: before.receipt }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = 1_000_000;

    fn reading(at_s: u64, database_s: i64, receipt: i64) -> ClockReading {
        let at = at_s * 1_000_000_000;
        ClockReading { database_us: database_s * S, receipt, asked: at, heard: at }
    }

    fn read(clock: &mut DatabaseClock, reading: ClockReading, longest_s: i64) -> OverdueMessages {
        let jump = clock.jump(&reading);
        clock.overdue(reading, jump, longest_s * S)
    }

    #[test]
    fn without_a_jump_all_is_judged_by_the_clock() {
        let mut clock = DatabaseClock::default();
        for second in 0..5 {
            let overdue = read(&mut clock, reading(second, 1000 + second as i64, 7), 60);
            assert_eq!(
                (overdue.new_us, overdue.old_us),
                ((1000 + second as i64) * S, (1000 + second as i64) * S)
            );
        }
    }

    #[test]
    fn after_a_jump_the_old_go_by_the_old_clock_until_none_is_left() {
        for jump in [3600, -3600] {
            let mut clock = DatabaseClock::default();
            read(&mut clock, reading(0, 10_000, 7), 60);
            let at = read(&mut clock, reading(1, 10_001 + jump, 8), 60);
            assert_eq!(at.old_receipt, 8);
            // The second that passed between the readings is the jump's uncertainty, here none.
            assert_eq!((at.new_us, at.old_us), ((10_001 + jump) * S, 10_001 * S));
            let later = read(&mut clock, reading(60, 10_060 + jump, 9), 60);
            assert_eq!((later.old_us, later.old_receipt), (10_060 * S, 8));
            let over = read(&mut clock, reading(62, 10_062 + jump, 9), 60);
            assert_eq!(
                (over.new_us, over.old_us, over.old_receipt),
                ((10_062 + jump) * S, (10_062 + jump) * S, 0)
            );
        }
    }

    #[test]
    fn a_second_jump_makes_nothing_early() {
        let mut clock = DatabaseClock::default();
        read(&mut clock, reading(0, 1000, 1), 60);
        read(&mut clock, reading(1, 1001 + 50, 2), 60);
        // Back by 30: what was lent before both jumps is due by the clock less 20, what was lent between by it plus 30.
        let both = read(&mut clock, reading(2, 1002 + 20, 3), 60);
        assert_eq!((both.old_us, both.old_receipt), (1002 * S, 3));
    }

    #[test]
    fn an_answer_that_was_slow_to_come_is_no_jump() {
        let mut clock = DatabaseClock::default();
        clock.overdue(reading(0, 1000, 1), None, 0);
        let slow =
            ClockReading { database_us: 1001 * S, receipt: 1, asked: 1_000_000_000, heard: 6_000_000_000 };
        assert_eq!(clock.jump(&slow), None);
        clock.overdue(slow, None, 0);
        assert_eq!(clock.jump(&reading(7, 1007, 1)), None);
    }
}
