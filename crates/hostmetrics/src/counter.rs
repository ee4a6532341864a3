//! Counters as read and rates derived are different types.

use serde::Serialize;

/// A 64-bit count since some start (boot, creation of a device).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Counter(pub u64);

/// A count that the kernel keeps in 32 bits (the fields of `softnet_stat`): it wraps in normal use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Counter32(pub u32);

/// Change per second; finite and at least 0.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Rate(f64);

impl Rate {
    /// The rate in 1/s.
    pub fn per_s(self) -> f64 {
        self.0
    }

    fn new(change: u64, seconds: f64) -> Option<Rate> {
        let rate = change as f64 / seconds;
        (seconds > 0.0 && rate.is_finite()).then_some(Rate(rate))
    }
}

impl Counter {
    /// The rate since an earlier reading `seconds` ago. `None` if the counter went back (64 bits do not
    /// wrap: the device or process was made anew) or if `seconds` is not positive.
    pub fn since(self, earlier: Counter, seconds: f64) -> Option<Rate> {
        Rate::new(self.0.checked_sub(earlier.0)?, seconds)
    }
}

impl Counter32 {
    /// The rate since an earlier reading `seconds` ago, corrected for one wrap-around. A step of 2^31 or
    /// more is a reset rather than a wrap: `None`.
    pub fn since(self, earlier: Counter32, seconds: f64) -> Option<Rate> {
        Rate::new(self.change(earlier)?, seconds)
    }

    /// The steps since an earlier reading, on the same terms.
    pub(crate) fn change(self, earlier: Counter32) -> Option<u64> {
        let change = self.0.wrapping_sub(earlier.0);
        (change < 1 << 31).then_some(u64::from(change))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_change_over_time() {
        assert_eq!(Counter(150).since(Counter(100), 0.5).unwrap().per_s(), 100.0);
        assert_eq!(Counter(100).since(Counter(100), 0.5).unwrap().per_s(), 0.0);
    }

    #[test]
    fn a_64_bit_counter_that_went_back_has_no_rate() {
        assert_eq!(Counter(3).since(Counter(100), 1.0), None);
    }

    #[test]
    fn a_32_bit_wrap_is_corrected_and_a_reset_is_not_taken_for_one() {
        // 0xffff_fff0 → 0x10 are 32 steps
        assert_eq!(Counter32(0x10).since(Counter32(0xffff_fff0), 2.0).unwrap().per_s(), 16.0);
        assert_eq!(Counter32(5).since(Counter32(1000), 1.0), None);
    }

    #[test]
    fn no_time_or_negative_time_has_no_rate() {
        assert_eq!(Counter(2).since(Counter(1), 0.0), None);
        assert_eq!(Counter(2).since(Counter(1), -1.0), None);
        assert_eq!(Counter32(2).since(Counter32(1), f64::NAN), None);
    }
}
