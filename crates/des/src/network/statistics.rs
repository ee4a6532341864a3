//! All that is counted in a simulation: cells, time-batches, a time series, histograms.

use super::cells::{Batches, Cell, WIDTH};
use super::config::Config;
use super::histogram::{Histogram, GROUPS};
use super::log::Log;

/// No histogram.
const NONE: u32 = u32::MAX;
/// Batches of a large model are fewer, so that they stay within this, bytes.
const MOST_BYTES: usize = 64 << 20;

/// Cells are rows of C: the K stations, the whole system, then the limits.
#[derive(Debug, Clone)]
pub struct Statistics {
    pub cells: Vec<Cell>,
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
    pub fn new(config: &Config) -> Statistics {
        let cells = (config.stations.len() + 1 + config.limits.len()) * config.classes.len();
        let width = cells * WIDTH;
        let most = config.batches.clamp(GROUPS, (MOST_BYTES / (16 * width)).max(GROUPS)).next_power_of_two();
        let batches = Batches::new(width, config.batch_s, Some(most));
        let series = config.period_s.map(|length_s| Batches::new(width, length_s, None));
        let end = |b: &Batches| b.end_s();
        let segment_end_s = end(&batches).min(series.as_ref().map_or(f64::INFINITY, end));
        Statistics {
            cells: vec![Cell::default(); cells],
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

    /// A response time of a cell, for its histograms.
    #[inline(always)]
    pub fn record(&mut self, cell: usize, response_s: f64) {
        if self.histograms.is_empty() {
            return;
        }
        let [own, all] = self.wanted[cell];
        if own != NONE {
            self.histograms[own as usize].record(response_s);
        }
        if all != NONE {
            self.histograms[all as usize].record(response_s);
        }
    }

    /// Many response times of a cell.
    pub fn record_many(&mut self, cell: usize, responses_s: impl Iterator<Item = f64> + Clone) {
        for histogram in self.wanted[cell].into_iter().filter(|h| *h != NONE) {
            let histogram = &mut self.histograms[histogram as usize];
            responses_s.clone().for_each(|r| histogram.count(r));
        }
    }

    /// Whether any response time of this cell is asked for.
    pub fn records(&self, cell: usize) -> bool {
        self.wanted[cell] != [NONE, NONE]
    }

    /// Ends the segment at `segment_end_s`; `clock(row)` is the service clock of a row of cells.
    pub fn close(&mut self, classes: usize, clock: impl Fn(usize) -> f64) {
        let end_s = self.segment_end_s;
        let length_s = end_s - self.segment_start_s;
        for (i, cell) in self.cells.iter_mut().enumerate() {
            let row = cell.row(length_s, clock(i / classes));
            self.batches.add(i * WIDTH, &row);
            self.series.iter_mut().for_each(|s| s.add(i * WIDTH, &row));
        }
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
