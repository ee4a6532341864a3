//! Answers that come only once a later request has gone out: Nagle's algorithm in the server holds the end of an answer back until
//! something is acknowledged, and the client's delayed acknowledgement goes with its next request.
//!
//! Such an answer is whole when it comes, so nothing of it tells; when it comes does. Of answers that took `SLOW_S` and more those count
//! that came within `RELEASE_S` of a later request. Requests at random times leave a share of 1 - exp(-rate `RELEASE_S`) of all answers
//! so near; what is beyond that, by more than `SIGMAS`, stalled. At 12 000 a second chance has nearly all, and nothing is told.

/// Answers sooner than this did not wait.
const SLOW_S: f64 = 600e-6;
/// From a request to the answer that its acknowledgement releases.
const RELEASE_S: f64 = 300e-6;
/// Standard deviations of a binomial count.
const SIGMAS: f64 = 5.0;

/// Counts over a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LateAnswers {
    last_number: u64,
    last_sent_s: f64,
    answers: u64,
    slow: u64,
    released: u64,
}

impl LateAnswers {
    /// A request goes out.
    pub fn sent(&mut self, number: u64, sent_s: f64) {
        (self.last_number, self.last_sent_s) = (number, sent_s);
    }

    /// The answer to one has come.
    pub fn answered(&mut self, number: u64, sent_s: f64, done_s: f64) {
        self.answers += 1;
        if done_s - sent_s >= SLOW_S {
            self.slow += 1;
            let later = self.last_number != number && done_s - self.last_sent_s < RELEASE_S;
            self.released += u64::from(later);
        }
    }

    /// The share in [0, 1] of all answers that waited for a later request, beyond what chance makes of requests at `rate_per_s`;
    /// `None` without an answer.
    pub fn stalled_share(&self, rate_per_s: f64) -> Option<f64> {
        let (slow, released) = (self.slow as f64, self.released as f64);
        let chance = 1.0 - (-rate_per_s * RELEASE_S).exp();
        let beyond = released - slow * chance;
        let seen = beyond > SIGMAS * (slow * chance * (1.0 - chance)).sqrt();
        let stalled = if seen { beyond / (1.0 - chance) } else { 0.0 };
        (self.answers > 0).then(|| stalled / self.answers as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Poisson requests at a rate; the answer to each comes at what `answer` makes of its time and of that of the next request.
    fn share(rate_per_s: f64, answer: impl Fn(f64, f64) -> f64) -> f64 {
        let mut stream = sojourn_dist::Stream::new(1, "late answers");
        let mut sent: Vec<f64> = vec![0.0];
        for _ in 0..4000 {
            sent.push(sent[sent.len() - 1] - (1.0 - stream.uniform()).ln() / rate_per_s);
        }
        let mut events: Vec<(f64, usize, bool)> = Vec::new();
        for (number, pair) in sent.windows(2).enumerate() {
            events.push((pair[0], number, true));
            events.push((answer(pair[0], pair[1]), number, false));
        }
        events.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut late = LateAnswers::default();
        for (at_s, number, is_sent) in events {
            if is_sent {
                late.sent(number as u64, at_s);
            } else {
                late.answered(number as u64, sent[number], at_s);
            }
        }
        late.stalled_share(rate_per_s).unwrap()
    }

    #[test]
    fn answers_that_wait_for_the_next_request_are_seen() {
        for rate_per_s in [200.0, 500.0, 2000.0] {
            // the next request is later than SLOW_S with this probability; before it nobody waited for long
            let expected = (-rate_per_s * (SLOW_S - 1e-4)).exp();
            let found = share(rate_per_s, |sent_s, next_s| next_s.max(sent_s + 1e-4) + 1e-4);
            assert!((found - expected).abs() < 0.05, "{rate_per_s}: {found}, expected {expected}");
        }
    }

    #[test]
    fn answers_that_are_slow_by_themselves_are_not() {
        for rate_per_s in [200.0, 2000.0, 12000.0] {
            for latency_s in [2e-4, 1e-3, 2e-2] {
                assert_eq!(
                    share(rate_per_s, |sent_s, _| sent_s + latency_s),
                    0.0,
                    "{rate_per_s}, {latency_s}"
                );
            }
        }
        assert_eq!(LateAnswers::default().stalled_share(500.0), None);
    }
}
