//! What is counted for each (station, class), with additions only, and the time-batches it ends up in.
//!
//! A time integral of a number needs no last time of change: with times from the start of the batch, it is the sum of
//! leaving times, less the sum of coming times, plus the number still there times the length of the batch.

/// The columns of a batch, in the order of [`Cell::row`].
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

/// One (station, class), or one class as a whole, since the segment began.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    pub arrivals: f64,
    pub completions: f64,
    pub losses: f64,
    pub response_s: f64,
    pub response_s2: f64,
    pub waiting_s: f64,
    pub waiting_s2: f64,
    pub waited: f64,
    present: f64,
    busy: f64,
    blocked: f64,
    number: f64,
    serving: f64,
    stuck: f64,
}

/// Many who leave: kept in registers while they are added up.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sums {
    count: f64,
    since: f64,
    response_s: f64,
    response_s2: f64,
    waiting_s: f64,
    waiting_s2: f64,
    waited: f64,
}

impl Sums {
    #[inline(always)]
    pub fn add(&mut self, since: f64, response_s: f64, waiting_s: f64) {
        self.count += 1.0;
        self.since += since;
        self.response_s += response_s;
        self.response_s2 += response_s * response_s;
        self.waiting_s += waiting_s;
        self.waiting_s2 += waiting_s * waiting_s;
        self.waited += if waiting_s > 0.0 { 1.0 } else { 0.0 };
    }
}

impl Cell {
    #[inline]
    pub fn come(&mut self, since: f64) {
        self.arrivals += 1.0;
        self.present -= since;
        self.number += 1.0;
    }

    /// `count` come; `since` is the sum of their times.
    pub fn come_many(&mut self, count: usize, since: f64) {
        self.arrivals += count as f64;
        self.present -= since;
        self.number += count as f64;
    }

    /// `count` services begin; `since` is the sum of their times.
    pub fn start_many(&mut self, count: usize, since: f64) {
        self.busy -= since;
        self.serving += count as f64;
    }

    /// Those who leave, summed up; `served` if they were in service.
    pub fn leave_many(&mut self, sums: &Sums, served: bool) {
        self.completions += sums.count;
        self.response_s += sums.response_s;
        self.response_s2 += sums.response_s2;
        self.waiting_s += sums.waiting_s;
        self.waiting_s2 += sums.waiting_s2;
        self.waited += sums.waited;
        self.present += sums.since;
        self.number -= sums.count;
        if served {
            self.busy += sums.since;
            self.serving -= sums.count;
        }
    }

    /// `waiting_s` is 0 exactly for those who did not wait.
    #[inline]
    pub fn leave(&mut self, since: f64, response_s: f64, waiting_s: f64) {
        self.completions += 1.0;
        self.response_s += response_s;
        self.response_s2 += response_s * response_s;
        self.waiting_s += waiting_s;
        self.waiting_s2 += waiting_s * waiting_s;
        self.waited += if waiting_s > 0.0 { 1.0 } else { 0.0 };
        self.gone(since);
    }

    /// Leaves without being counted as served.
    #[inline]
    pub fn gone(&mut self, since: f64) {
        self.present += since;
        self.number -= 1.0;
    }

    /// `clock` is the time since the segment began, or the service that one customer could have had since.
    #[inline]
    pub fn start(&mut self, clock: f64) {
        self.busy -= clock;
        self.serving += 1.0;
    }

    #[inline]
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
        self.waiting_s += waiting_s;
        self.waiting_s2 += waiting_s * waiting_s;
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

    /// The segment's sums, and a fresh segment of which those present are part from the start.
    pub fn row(&mut self, length: f64, clock: f64) -> [f64; WIDTH] {
        let row = [
            self.arrivals,
            self.completions,
            self.losses,
            self.response_s,
            self.response_s2,
            self.waiting_s,
            self.waiting_s2,
            self.waited,
            self.present + self.number * length,
            self.busy + self.serving * clock,
            self.blocked + self.stuck * length,
        ];
        *self = Cell { number: self.number, serving: self.serving, stuck: self.stuck, ..Cell::default() };
        row
    }
}

/// Batches of equal length: rows of `width` numbers; neighbours are added up when there are too many.
#[derive(Debug, Clone)]
pub struct Batches {
    pub width: usize,
    /// Length of a batch, s.
    pub length_s: f64,
    pub rows: Vec<f64>,
    /// The batch that is not full yet.
    open: Vec<f64>,
    /// How many ended batches there may be; none: no limit.
    most: Option<usize>,
    started_s: f64,
}

impl Batches {
    pub fn new(width: usize, length_s: f64, most: Option<usize>) -> Batches {
        Batches { width, length_s, rows: Vec::new(), open: vec![0.0; width], most, started_s: 0.0 }
    }

    /// When the open batch ends: a whole multiple of the length, so that rounding does not add up.
    pub fn end_s(&self) -> f64 {
        let ended = (self.started_s / self.length_s).round();
        (ended + 1.0) * self.length_s
    }

    pub fn len(&self) -> usize {
        self.rows.len() / self.width
    }

    pub fn add(&mut self, column: usize, values: &[f64]) {
        self.open[column..column + values.len()].iter_mut().zip(values).for_each(|(a, b)| *a += b);
    }

    /// Ends the open batch at `end_s()`; true if lengths doubled.
    pub fn close(&mut self) -> bool {
        self.started_s = self.end_s();
        self.rows.extend_from_slice(&self.open);
        self.open.fill(0.0);
        let full = self.most.is_some_and(|most| self.len() >= 2 * most);
        if full {
            self.halve();
        }
        full
    }

    fn halve(&mut self) {
        let pairs = self.len() / 2;
        for i in 0..pairs {
            for j in 0..self.width {
                self.rows[i * self.width + j] =
                    self.rows[2 * i * self.width + j] + self.rows[(2 * i + 1) * self.width + j];
            }
        }
        self.rows.truncate(pairs * self.width);
        self.length_s *= 2.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integral_is_exact_over_batches() {
        let mut cell = Cell::default();
        cell.come(1.0);
        let first = cell.row(4.0, 4.0);
        assert_eq!((first[0], first[8]), (1.0, 3.0));
        cell.leave(2.0, 5.0, 0.0);
        let second = cell.row(4.0, 4.0);
        assert_eq!((second[1], second[3], second[7], second[8]), (1.0, 5.0, 0.0, 2.0));
    }

    #[test]
    fn batches_double_and_keep_their_sums() {
        let mut batches = Batches::new(1, 0.1, Some(4));
        for i in 0..9 {
            batches.add(0, &[f64::from(i)]);
            batches.close();
        }
        assert_eq!(batches.rows[..4], [1.0, 5.0, 9.0, 13.0]);
        assert_eq!(batches.len(), 5);
        assert_eq!(batches.length_s, 0.2);
    }
}
