//! What is counted for each (station, class), with additions only, and the time-batches it ends up in.
//!
//! A time integral of a number needs no last time of change: with times from the start of the batch, it is the sum of
//! leaving times, less the sum of coming times, plus the number still there times the length of the batch.

/// The columns of a batch, in the order of [`StatisticalCounters::row`].
pub const COLUMNS: [&str; 11] = [
    "arrivals",
    "completions",
    "losses",
    "response_s",
    "response_s2",
    "waiting_s",
    "waiting_s2",
    "waited",
    "present",
    "busy",
    "blocked",
];
pub const WIDTH: usize = COLUMNS.len();

/// Visits that are kept until they are added up together.
const KEPT: usize = 32;

/// One (station, class), or one class as a whole, since the segment began.
#[derive(Debug, Clone, Default)]
pub struct StatisticalCounters {
    pub arrivals: f64,
    present: f64,
    busy: f64,
    serving: f64,
    /// How many of `visits` are kept.
    kept: usize,
    pub losses: f64,
    completions: f64,
    /// Sums of response times and waiting times, s, and of their squares, s².
    sums: [f64; 2],
    squares: [f64; 2],
    waited: f64,
    blocked: f64,
    stuck: f64,
    /// How many were there when the segment began.
    number: f64,
    /// Response time and waiting time, s.
    visits: [[f64; 2]; KEPT],
}

/// Many who leave: kept in registers while they are added up.
#[derive(Debug, Clone, Copy, Default)]
pub struct DepartureTotals {
    count: f64,
    since: f64,
    times: [f64; 2],
    squares: [f64; 2],
    waited: f64,
}

impl DepartureTotals {
    #[inline(always)]
    pub fn add(&mut self, since: f64, response_s: f64, waiting_s: f64) {
        self.count += 1.0;
        self.since += since;
        self.add_times([response_s, waiting_s]);
    }

    #[inline(always)]
    fn add_times(&mut self, times: [f64; 2]) {
        for (i, time_s) in times.iter().enumerate() {
            self.times[i] += time_s;
            self.squares[i] += time_s * time_s;
        }
        self.waited += if times[1] > 0.0 { 1.0 } else { 0.0 };
    }
}

/// Each visit in turn; eight at a time without a jump.
#[inline(always)]
pub fn in_eights(visits: &[[f64; 2]], mut each: impl FnMut([f64; 2])) {
    let (eights, rest) = visits.as_chunks::<8>();
    for eight in eights {
        eight.iter().for_each(|times| each(*times));
    }
    rest.iter().for_each(|times| each(*times));
}

impl StatisticalCounters {
    #[inline(always)]
    pub fn come(&mut self, since: f64) {
        self.arrivals += 1.0;
        self.present -= since;
    }

    /// `count` come; `since` is the sum of their times.
    pub fn come_many(&mut self, count: usize, since: f64) {
        self.arrivals += count as f64;
        self.present -= since;
    }

    /// `count` services begin; `since` is the sum of their times.
    pub fn start_many(&mut self, count: usize, since: f64) {
        self.busy -= since;
        self.serving += count as f64;
    }

    /// Those who leave, summed up; `served` if they were in service.
    pub fn leave_many(&mut self, sums: &DepartureTotals, served: bool) {
        self.completions += sums.count;
        for i in 0..2 {
            self.sums[i] += sums.times[i];
            self.squares[i] += sums.squares[i];
        }
        self.waited += sums.waited;
        self.present += sums.since;
        if served {
            self.busy += sums.since;
            self.serving -= sums.count;
        }
    }

    /// `waiting_s` is 0 exactly for those who did not wait. True if no more can be kept: `visits` is next.
    #[inline(always)]
    #[must_use]
    pub fn leave(&mut self, since: f64, response_s: f64, waiting_s: f64) -> bool {
        self.gone(since);
        self.visits[self.kept % KEPT] = [response_s, waiting_s];
        self.kept += 1;
        self.kept == KEPT
    }

    /// Adds up the visits that are kept, and gives them away.
    #[inline]
    pub fn visits(&mut self) -> &[[f64; 2]] {
        let visits = &self.visits[..self.kept.min(KEPT)];
        self.completions += visits.len() as f64;
        let mut sums = DepartureTotals {
            times: self.sums,
            squares: self.squares,
            waited: self.waited,
            ..DepartureTotals::default()
        };
        in_eights(visits, |times| sums.add_times(times));
        (self.sums, self.squares, self.waited) = (sums.times, sums.squares, sums.waited);
        self.kept = 0;
        visits
    }

    /// The same where nobody waited.
    #[inline]
    pub fn passes(&mut self) -> &[[f64; 2]] {
        let visits = &self.visits[..self.kept.min(KEPT)];
        self.completions += visits.len() as f64;
        let (mut sum, mut squares) = (self.sums[0], self.squares[0]);
        in_eights(visits, |[response_s, _]| {
            sum += response_s;
            squares += response_s * response_s;
        });
        (self.sums[0], self.squares[0], self.kept) = (sum, squares, 0);
        visits
    }

    /// Leaves without being counted as served.
    #[inline(always)]
    pub fn gone(&mut self, since: f64) {
        self.present += since;
    }

    /// `clock` is the time since the segment began, or the service that one customer could have had since.
    #[inline(always)]
    pub fn start(&mut self, clock: f64) {
        self.busy -= clock;
        self.serving += 1.0;
    }

    #[inline(always)]
    pub fn stop(&mut self, clock: f64) {
        self.busy += clock;
        self.serving -= 1.0;
    }

    /// Served, but the next station is full: the server is held.
    #[inline]
    pub fn block(&mut self, since: f64) {
        self.blocked -= since;
        self.stuck += 1.0;
    }

    #[inline]
    pub fn unblock(&mut self, since: f64) {
        self.blocked += since;
        self.stuck -= 1.0;
    }

    /// A place of a limit is taken: the wait for it ends.
    #[inline]
    pub fn taken(&mut self, since: f64, waiting_s: f64) {
        self.sums[1] += waiting_s;
        self.squares[1] += waiting_s * waiting_s;
        self.waited += if waiting_s > 0.0 { 1.0 } else { 0.0 };
        self.start(since);
    }

    /// A place of a limit is given back.
    #[inline]
    pub fn given_back(&mut self, since: f64) {
        self.completions += 1.0;
        self.stop(since);
        self.gone(since);
    }

    /// Service that is credited at once.
    #[inline]
    pub fn served(&mut self, busy_s: f64) {
        self.busy += busy_s;
    }

    /// The segment's sums, and a fresh segment of which those present are part from the start; no visits are kept.
    pub fn row(&mut self, length: f64, clock: f64) -> [f64; WIDTH] {
        let number = self.number + self.arrivals - self.completions - self.losses;
        let row = [
            self.arrivals,
            self.completions,
            self.losses,
            self.sums[0],
            self.squares[0],
            self.sums[1],
            self.squares[1],
            self.waited,
            self.present + number * length,
            self.busy + self.serving * clock,
            self.blocked + self.stuck * length,
        ];
        (self.arrivals, self.completions, self.losses) = (0.0, 0.0, 0.0);
        (self.present, self.busy, self.blocked) = (0.0, 0.0, 0.0);
        (self.sums, self.squares, self.waited) = ([0.0; 2], [0.0; 2], 0.0);
        self.number = number;
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integral_is_exact_over_batches() {
        let mut cell = StatisticalCounters::default();
        cell.come(1.0);
        let first = cell.row(4.0, 4.0);
        assert_eq!((first[0], first[8]), (1.0, 3.0));
        assert!(!cell.leave(2.0, 5.0, 0.0));
        assert_eq!(cell.visits(), [[5.0, 0.0]]);
        let second = cell.row(4.0, 4.0);
        assert_eq!((second[1], second[3], second[7], second[8]), (1.0, 5.0, 0.0, 2.0));
    }
}
