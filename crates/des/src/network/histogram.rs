//! Response times in log-linear bins, by groups of time-batches.
//!
//! A bin is the numbers that share exponent and first nine bits of the fraction: its relative width is at most
//! 2^-9 = 0.195 %. Groups are equally long; when there are more than 64, neighbours are added up.

/// Fraction bits that are dropped.
const SHIFT: u32 = 52 - 9;
/// Below 2^-40 s (0.9 ps) all is one bin; above 2^40 s too.
const LOW: usize = (1023 - 40) << 9;
const OCTAVES: usize = 80;
const BINS: usize = OCTAVES << 9;
/// Groups are merged when there are more.
pub const GROUPS: usize = 64;

#[derive(Debug, Clone)]
struct Group {
    first: usize,
    counts: Vec<u64>,
}

/// The histogram of one key.
#[derive(Debug, Clone)]
pub struct Histogram {
    /// Small counts, so that what is used of them stays in the first-level cache.
    open: Vec<u32>,
    /// Which powers of two were used, so that closing a group looks at few bins.
    used: [bool; OCTAVES],
    groups: Vec<Group>,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { open: vec![0; BINS], used: [false; OCTAVES], groups: Vec::new() }
    }
}

impl Histogram {
    #[inline(always)]
    pub fn record(&mut self, value_s: f64) {
        let bin = ((value_s.to_bits() >> SHIFT) as usize).saturating_sub(LOW);
        let bin = bin.min(BINS - 1);
        self.used[bin >> 9] = true;
        let count = &mut self.open[bin];
        *count = count.saturating_add(1);
    }

    /// Ends the open group.
    pub fn close(&mut self) {
        let first = self.used.iter().position(|u| *u).unwrap_or(0) << 9;
        let end = self.used.iter().rposition(|u| *u).map_or(0, |last| last + 1) << 9;
        let group = trimmed(&self.open[first..end], first);
        self.used = [false; OCTAVES];
        self.open[group.first..group.first + group.counts.len()].fill(0);
        self.groups.push(group);
    }

    /// Adds up neighbours; there is an even number of them.
    pub fn halve(&mut self) {
        self.groups = self.groups.chunks_exact(2).map(|pair| merged(&pair[0], &pair[1])).collect();
    }

    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Upper and lower edges of the bins that were used (n + 1 of them), and counts, a row a group.
    pub fn table(&self) -> (Vec<f64>, Vec<Vec<u64>>) {
        let used = self.groups.iter().filter(|g| !g.counts.is_empty());
        let first = used.clone().map(|g| g.first).min().unwrap_or(0);
        let end = used.map(|g| g.first + g.counts.len()).max().unwrap_or(0);
        let row = |g: &Group| {
            let mut row = vec![0; end - first];
            if !g.counts.is_empty() {
                row[g.first - first..][..g.counts.len()].copy_from_slice(&g.counts);
            }
            row
        };
        ((first..=end).map(edge).collect(), self.groups.iter().map(row).collect())
    }
}

/// Lower edge of a bin; the first begins at 0.
fn edge(bin: usize) -> f64 {
    if bin == 0 {
        return 0.0;
    }
    f64::from_bits(((bin + LOW) as u64) << SHIFT)
}

/// Without the empty ends; `start` is the bin of the first.
fn trimmed(counts: &[u32], start: usize) -> Group {
    let first = counts.iter().position(|c| *c > 0);
    let last = counts.iter().rposition(|c| *c > 0);
    match (first, last) {
        (Some(first), Some(last)) => Group {
            first: start + first,
            counts: counts[first..=last].iter().map(|c| u64::from(*c)).collect(),
        },
        _ => Group { first: 0, counts: Vec::new() },
    }
}

fn merged(a: &Group, b: &Group) -> Group {
    if a.counts.is_empty() || b.counts.is_empty() {
        return if a.counts.is_empty() { b.clone() } else { a.clone() };
    }
    let first = a.first.min(b.first);
    let end = (a.first + a.counts.len()).max(b.first + b.counts.len());
    let mut counts = vec![0; end - first];
    for group in [a, b] {
        let part = &mut counts[group.first - first..];
        part.iter_mut().zip(&group.counts).for_each(|(sum, c)| *sum += c);
    }
    Group { first, counts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lies_in_its_bin_and_bins_are_narrow() {
        let mut histogram = Histogram::default();
        let values = [0.0, 1e-13, 3.7e-6, 0.02, 0.020_01, 1.0, 977.0];
        for value in values {
            histogram.record(value);
        }
        histogram.close();
        let (edges, rows) = histogram.table();
        assert_eq!(rows[0].iter().sum::<u64>(), 7);
        for value in values {
            let i = edges.iter().rposition(|e| *e <= value).unwrap();
            assert!(rows[0][i] > 0 && value < edges[i + 1]);
            assert!(i == 0 || edges[i + 1] / edges[i] < 1.002);
        }
    }

    #[test]
    fn groups_merge_without_loss() {
        let mut histogram = Histogram::default();
        for i in 0..8 {
            histogram.record(0.1 * f64::from(i));
            histogram.close();
        }
        histogram.halve();
        assert_eq!(histogram.groups(), 4);
        let (_, rows) = histogram.table();
        assert_eq!(rows.iter().flatten().sum::<u64>(), 8);
    }
}
