//! What a load on messages counts beside what every load counts.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ACKNOWLEDGE, CLASSES, EMPTY, LANE_SHIFT, PUT, TAKE};
use crate::class_statistics::{ClassStatistics, ClassSummary};
use crate::request_outcome::{Failure, RequestOutcome, NO_MESSAGE};

/// A number above this in its lane is no message of ours: the set would grow without bound.
const COUNT_MAX: u64 = 1 << 40;
const NOT_FOUND: u16 = 404;

/// The message part of a summary.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessagesSummary {
    /// Puts that were acknowledged, takes that brought a message, takes that found nothing.
    pub put: u64,
    pub taken: u64,
    pub empty: u64,
    /// Messages whose receipt was accepted, and those that had been given to somebody else by then.
    pub acknowledged: u64,
    pub late: u64,
    /// Puts that ended without a good answer: the message may be there or not.
    pub unknown: u64,
    /// Messages of this run that did not come as they were put.
    pub wrong: u64,
    /// Takes of a message of this run that had been taken before.
    pub twice: u64,
    /// Messages of other runs.
    pub foreign: u64,
    /// Puts that were acknowledged and whose message no client of this run has taken.
    pub left: u64,
    pub bytes_put: u64,
    pub bytes_taken: u64,
    /// Were messages compared?
    pub verified: bool,
    pub classes: BTreeMap<&'static str, ClassSummary>,
}

/// Adds up outcomes by class, and follows each message by its number.
pub struct MessagesTally {
    classes: [ClassStatistics; CLASSES.len()],
    put: MessageNumberSet,
    taken: MessageNumberSet,
    late: u64,
    wrong: u64,
    twice: u64,
    foreign: u64,
    verified: bool,
}

impl MessagesTally {
    pub fn new(verified: bool) -> MessagesTally {
        MessagesTally {
            classes: [(); CLASSES.len()].map(|()| ClassStatistics::new()),
            put: MessageNumberSet::default(),
            taken: MessageNumberSet::default(),
            late: 0,
            wrong: 0,
            twice: 0,
            foreign: 0,
            verified,
        }
    }

    pub fn add(&mut self, outcome: &RequestOutcome) {
        let ok = outcome.failure == Failure::Ok;
        self.wrong += u64::from(outcome.failure == Failure::Wrong);
        if let Some(class) = self.classes.get_mut(usize::from(outcome.class)) {
            class.add(outcome);
        }
        match outcome.class {
            PUT if ok => {
                self.put.insert(outcome.message);
            }
            TAKE if ok && outcome.message == NO_MESSAGE => self.foreign += 1,
            TAKE if ok => self.twice += u64::from(!self.taken.insert(outcome.message)),
            ACKNOWLEDGE if ok => self.late += u64::from(outcome.status == NOT_FOUND),
            _ => {}
        }
    }

    pub fn summary(&self) -> MessagesSummary {
        let of = |class: u16| &self.classes[usize::from(class)];
        let seen = CLASSES.iter().zip(&self.classes).filter(|(_, class)| class.ok + class.failed > 0);
        MessagesSummary {
            put: of(PUT).ok,
            taken: of(TAKE).ok,
            empty: of(EMPTY).ok,
            acknowledged: of(ACKNOWLEDGE).ok - self.late,
            late: self.late,
            unknown: of(PUT).failed,
            wrong: self.wrong,
            twice: self.twice,
            foreign: self.foreign,
            left: self.put.without(&self.taken),
            bytes_put: of(PUT).bytes,
            bytes_taken: of(TAKE).bytes,
            verified: self.verified,
            classes: seen.map(|(name, class)| (*name, class.summary())).collect(),
        }
    }
}

/// A set of message numbers: a bit for each, by lane.
#[derive(Debug, Default)]
struct MessageNumberSet {
    lanes: BTreeMap<u64, Vec<u64>>,
}

impl MessageNumberSet {
    /// True if it was not there before.
    fn insert(&mut self, number: u64) -> bool {
        let (lane, count) = (number >> LANE_SHIFT, number & ((1 << LANE_SHIFT) - 1));
        if count >= COUNT_MAX {
            return true;
        }
        let (word, bit) = ((count / 64) as usize, 1 << (count % 64));
        let words = self.lanes.entry(lane).or_default();
        if words.len() <= word {
            words.resize(word + 1, 0);
        }
        let new = words[word] & bit == 0;
        words[word] |= bit;
        new
    }

    /// How many are here and not in `other`.
    fn without(&self, other: &MessageNumberSet) -> u64 {
        let none = Vec::new();
        let lanes = self.lanes.iter().map(|(lane, here)| (here, other.lanes.get(lane).unwrap_or(&none)));
        lanes
            .flat_map(|(here, there)| here.iter().zip(there.iter().copied().chain(std::iter::repeat(0))))
            .map(|(here, there)| u64::from((here & !there).count_ones()))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_by_lane() {
        let (mut put, mut taken) = (MessageNumberSet::default(), MessageNumberSet::default());
        let second = 1 << LANE_SHIFT;
        assert!([0, 1, 64, 1000, second, second + 1].into_iter().all(|number| put.insert(number)));
        assert!(!put.insert(64));
        assert!(taken.insert(second) && taken.insert(1) && taken.insert(5) && !taken.insert(1));
        assert_eq!((put.without(&taken), taken.without(&put), put.without(&put)), (4, 1, 0));
    }
}
