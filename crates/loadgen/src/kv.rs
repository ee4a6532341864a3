//! A load on memcached: which operation comes next, what it sends, whether the answer is right.
//!
//! - `key_chooser`     which key: uniform, Zipf, sequential; and how it is written
//! - `keys_and_values`  the value of a key, derived from the key alone, so that every read can be checked
//! - `exchange` one request and its answer on a connection
//! - `populate` every key stored before the start
//! - `tally`    hits, misses and the times of each class

mod exchange;
mod key_chooser;
mod keys_and_values;
mod populate;
mod tally;

use sojourn_dist::Stream;

use crate::config::{KvConfig, OperationMix};
use key_chooser::KeyChooser;
use keys_and_values::KeysAndValues;

pub use exchange::Exchange;
pub use populate::{populate, PopulateError};
pub use tally::{KvSummary, KvTally};

/// The classes of a memcached load, in the order of their numbers.
pub const CLASSES: [&str; 3] = ["set", "get", "multi-get"];
const SET: u16 = 0;
const MULTI_GET: u16 = 2;

/// What one lane asks for: draws operations and keys, writes requests, judges answers.
pub struct RequestGenerator {
    config: KvConfig,
    content: KeysAndValues,
    chooser: KeyChooser,
    operations: Stream,
    /// Sums of the weights of set and get, as shares of all.
    set_up_to: f64,
    get_up_to: f64,
}

impl RequestGenerator {
    /// For lane `lane` of `lanes`.
    pub fn new(config: &KvConfig, seed: u64, lane: usize, lanes: usize) -> RequestGenerator {
        let OperationMix { set, get, multi_get } = config.mix;
        let total = set + get + multi_get;
        RequestGenerator {
            content: KeysAndValues::new(config),
            chooser: KeyChooser::new(config, seed, lane, lanes),
            operations: Stream::new(seed, &format!("lane {lane} operations")),
            set_up_to: set / total,
            get_up_to: (set + get) / total,
            config: config.clone(),
        }
    }

    /// The class of the next request.
    pub fn choose(&mut self) -> u16 {
        let u = self.operations.uniform();
        u16::from(u >= self.set_up_to) + u16::from(u >= self.get_up_to)
    }

    /// Draws the keys of a request of this class and writes it into `exchange`.
    pub fn compose(&mut self, class: u16, exchange: &mut Exchange) {
        let count = match class {
            MULTI_GET => self.config.multi_get_keys.at(self.operations.uniform()),
            _ => 1,
        };
        exchange.begin(class);
        for _ in 0..count {
            exchange.asked.push(self.chooser.next());
        }
        if class == SET {
            self.content.push_set(exchange.asked[0], self.config.exptime_s, &mut exchange.out);
        } else {
            self.content.push_get(&exchange.asked, &mut exchange.out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_by_weight() {
        let count = |set, get, multi_get| {
            let config = KvConfig { mix: OperationMix { set, get, multi_get }, ..KvConfig::default() };
            let mut generator = RequestGenerator::new(&config, 1, 0, 1);
            let mut counts = [0u32; 3];
            (0..10_000).for_each(|_| counts[usize::from(generator.choose())] += 1);
            counts
        };
        assert_eq!(count(1.0, 0.0, 0.0), [10_000, 0, 0]);
        assert_eq!(count(0.0, 2.0, 0.0), [0, 10_000, 0]);
        assert_eq!(count(0.0, 0.0, 1.0), [0, 0, 10_000]);
        let [sets, gets, multi_gets] = count(1.0, 1.0, 2.0);
        // Binomial(10 000, 1/4): sigma is 43.
        assert!([sets, gets, multi_gets / 2].iter().all(|n| n.abs_diff(2500) < 200), "{sets} {gets}");
    }
}
