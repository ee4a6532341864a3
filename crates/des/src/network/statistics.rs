//! All that is counted in a simulation: cells, time-batches, a time series, histograms.

use super::batches::Batches;
use super::config::Config;
use super::histogram::{Histogram, GROUPS};
use super::log::Log;
use super::statistical_counters::{in_eights, StatisticalCounters, WIDTH};

/// No histogram.
const NONE: u32 = u32::MAX;
/// Batches of a large model are fewer, so that they stay within this, bytes.
const MOST_BYTES: usize = 64 << 20;

/// Cells are rows of C: the K stations, the whole system, then the limits. Those of stations may be kept there.
#[derive(Debug, Clone)]
pub struct Statistics {
    pub cells: Vec<StatisticalCounters>,
    /// Number of the first of `cells`.
    first: usize,
    pub batches: Batches,
    pub series: Option<Batches>,
    pub log: Log,
    histograms: Vec<Histogram>,
    /// Which histograms a cell's response times go to.
    wanted: Vec<[u32; 2]>,
    /// Closed batches in a group of the histograms.
    group: usize,
    closed: usize,
    pub segment_start_s: f64,
    pub segment_end_s: f64,
}

impl Statistics {
    /// With the cells of stations, or without.
    pub fn new(config: &Config, with_stations: bool) -> Statistics {
        let first = if with_stations { 0 } else { config.stations.len() * config.classes.len() };
        let cells = (config.stations.len() + 1 + config.limits.len()) * config.classes.len();
        let width = cells * WIDTH;
        let most = config.batches.clamp(GROUPS, (MOST_BYTES / (16 * width)).max(GROUPS)).next_power_of_two();
        let batches = Batches::new(width, config.batch_s, Some(most));
        let series = config.period_s.map(|length_s| Batches::new(width, length_s, None));
        let end = |b: &Batches| b.end_s();
        let segment_end_s = end(&batches).min(series.as_ref().map_or(f64::INFINITY, end));
        Statistics {
            cells: vec![StatisticalCounters::default(); cells - first],
            first,
            batches,
            series,
            log: Log::new(config.requests),
            histograms: vec![Histogram::default(); config.histograms.len()],
            wanted: wanted(config, cells),
            group: 1,
            closed: 0,
            segment_start_s: 0.0,
            segment_end_s,
        }
    }

    /// A cell that is kept here.
    #[inline(always)]
    pub fn cell(&mut self, cell: usize) -> &mut StatisticalCounters {
        &mut self.cells[cell - self.first]
    }

    /// A pass of a class begins; the cells of stations are not kept here.
    #[inline(always)]
    pub fn pass_begins(&mut self, class: usize, since: f64) {
        self.cells[class].come(since);
    }

    /// A pass that began in a class ends; the cells of stations are not kept here.
    #[inline(always)]
    pub fn pass_ends(&mut self, class: usize, since: f64, response_s: f64) {
        let cell = &mut self.cells[class];
        if cell.leave(since, response_s, 0.0) {
            count_passes(cell, self.wanted[self.first + class], &mut self.histograms);
        }
    }

    /// Counts the visits that a cell has kept.
    #[inline(always)]
    pub fn count(&mut self, number: usize, cell: &mut StatisticalCounters) {
        count_visits(cell, self.wanted[number], &mut self.histograms);
    }

    /// Many response times of a cell.
    pub fn record_many(&mut self, cell: usize, responses_s: impl Iterator<Item = f64> + Clone) {
        for histogram in self.wanted[cell].into_iter().filter(|h| *h != NONE) {
            let histogram = &mut self.histograms[histogram as usize];
            let most = responses_s.size_hint().1.unwrap_or(usize::MAX);
            if histogram.has_room(most) {
                responses_s.clone().for_each(|r| histogram.count(r));
            } else {
                responses_s.clone().for_each(|r| histogram.count_full(r));
            }
        }
    }

    /// Whether any response time of this cell is asked for.
    pub fn records(&self, cell: usize) -> bool {
        self.wanted[cell] != [NONE, NONE]
    }

    /// Ends the segment at `segment_end_s`; of the cells of stations that are not kept here, each with its service clock.
    pub fn close<'a>(&mut self, at_stations: impl Iterator<Item = (&'a mut StatisticalCounters, f64)>) {
        let end_s = self.segment_end_s;
        let length_s = end_s - self.segment_start_s;
        let first = self.first;
        let mut end = |number: usize, cell: &mut StatisticalCounters, clock: f64| {
            count_visits(cell, self.wanted[number], &mut self.histograms);
            let row = cell.row(length_s, clock);
            self.batches.add(number * WIDTH, &row);
            self.series.iter_mut().for_each(|s| s.add(number * WIDTH, &row));
        };
        at_stations.enumerate().for_each(|(i, (cell, clock))| end(i, cell, clock));
        self.cells.iter_mut().enumerate().for_each(|(i, cell)| end(first + i, cell, length_s));
        if self.batches.end_s() <= end_s {
            self.close_batch();
        }
        let mut next = self.batches.end_s();
        if let Some(series) = &mut self.series {
            if series.end_s() <= end_s {
                series.close();
            }
            next = next.min(series.end_s());
        }
        self.segment_start_s = end_s;
        self.segment_end_s = next;
    }

    fn close_batch(&mut self) {
        self.closed += 1;
        let doubled = self.batches.close();
        if self.closed == self.group {
            self.closed = 0;
            self.histograms.iter_mut().for_each(Histogram::close);
            if self.histograms.first().is_some_and(|h| h.groups() == GROUPS) {
                self.histograms.iter_mut().for_each(Histogram::halve);
                self.group *= 2;
            }
        }
        if doubled {
            self.group /= 2;
            self.closed /= 2;
        }
    }

    /// Of one key: bin edges (s), counts (a row a group), length of a group (s).
    pub fn histogram(&self, index: usize) -> (Vec<f64>, Vec<Vec<u64>>, f64) {
        let (edges, rows) = self.histograms[index].table();
        (edges, rows, self.group as f64 * self.batches.length_s)
    }
}

/// Visits are counted together, so that an event waits for no sum and no histogram.
#[inline(never)]
fn count_visits(cell: &mut StatisticalCounters, wanted: [u32; 2], histograms: &mut [Histogram]) {
    record(cell.visits(), wanted, histograms);
}

/// The same of whole passes, which wait nowhere.
#[inline(never)]
fn count_passes(cell: &mut StatisticalCounters, wanted: [u32; 2], histograms: &mut [Histogram]) {
    record(cell.passes(), wanted, histograms);
}

#[inline(always)]
fn record(visits: &[[f64; 2]], wanted: [u32; 2], histograms: &mut [Histogram]) {
    for histogram in wanted.into_iter().filter(|h| *h != NONE) {
        let histogram = &mut histograms[histogram as usize];
        if histogram.has_room(visits.len()) {
            in_eights(visits, |[response_s, _]| histogram.count(response_s));
        } else {
            visits.iter().for_each(|[response_s, _]| histogram.count_full(*response_s));
        }
    }
}

/// For each cell the histogram of its own key, and of its station's over all classes.
fn wanted(config: &Config, cells: usize) -> Vec<[u32; 2]> {
    let find = |key: String| config.histograms.iter().position(|h| *h == key).map_or(NONE, |i| i as u32);
    let mut wanted = vec![[NONE; 2]; cells];
    let names = config.stations.iter().map(|s| s.name.as_str()).chain([""]);
    for (k, name) in names.enumerate() {
        for (c, class) in config.classes.iter().enumerate() {
            let own = find(format!("{name}/{}", class.name));
            wanted[k * config.classes.len() + c] = [own, find(format!("{name}/"))];
        }
    }
    wanted
}
