//! Response times in log-linear bins, by groups of time-batches.
//!
//! A bin is the numbers that share exponent and first nine bits of the fraction: its relative width is at most
//! 2^-9 = 0.195 %. Groups are equally long; when there are more than 64, neighbours are added up.

use std::cmp::Ordering;

/// Fraction bits that are dropped.
const SHIFT: u32 = 52 - 9;
/// Below 2^-40 s (0.9 ps) all is one bin; above 2^40 s too.
const LOW: usize = (1023 - 40) << 9;
const BINS: usize = 80 << 9;
/// Bins that are kept together: early groups hold few values, far apart.
const BLOCK: usize = 16;
const BLOCKS: usize = BINS / BLOCK;
/// Groups are merged when there are more.
pub const GROUPS: usize = 64;

/// The blocks that were used, ascending, and the counts in their bins.
#[derive(Debug, Clone, Default)]
struct Group {
    blocks: Vec<u16>,
    counts: Vec<[u32; BLOCK]>,
}

/// The histogram of one key.
#[derive(Debug, Clone)]
pub struct Histogram {
    /// Small counts, so that what is used of them stays in the first-level cache.
    open: Box<[u32; BINS]>,
    used: Box<[bool; BLOCKS]>,
    groups: Vec<Group>,
    /// So many more values cannot fill a bin of the open group.
    room: u32,
}

impl Default for Histogram {
    fn default() -> Histogram {
        let open = vec![0; BINS].into_boxed_slice().try_into().expect("as many as BINS");
        Histogram { open, used: Box::new([false; BLOCKS]), groups: Vec::new(), room: u32::MAX }
    }
}

impl Histogram {
    /// Whether as many values are to be given to `count`; else to `count_full`, as a bin may be full.
    #[inline(always)]
    pub fn has_room(&mut self, values: usize) -> bool {
        let room = usize::try_from(self.room).map_or(None, |room| room.checked_sub(values));
        self.room = room.unwrap_or(0) as u32;
        room.is_some()
    }

    /// One value, s; `has_room` said that there is room for it.
    #[inline(always)]
    pub fn count(&mut self, value_s: f64) {
        let bin = bin(value_s);
        self.used[bin / BLOCK] = true;
        self.open[bin] = self.open[bin].wrapping_add(1);
    }

    /// The same where there may be none: a bin that has 2^32 - 1 of a group takes no more.
    pub fn count_full(&mut self, value_s: f64) {
        let bin = bin(value_s);
        self.used[bin / BLOCK] = true;
        self.open[bin] = self.open[bin].saturating_add(1);
    }

    /// Ends the open group.
    pub fn close(&mut self) {
        self.room = u32::MAX;
        let most = self.groups.last().map_or(0, |last| 2 * last.blocks.len());
        let mut group = Group::of(most);
        // Most are not used: many are looked at at once.
        for (i, many) in self.used.chunks_exact_mut(64).enumerate().filter(|(_, many)| **many != [false; 64])
        {
            for (j, used) in many.iter_mut().enumerate().filter(|(_, used)| **used) {
                *used = false;
                let block = 64 * i + j;
                let counts = &mut self.open[block * BLOCK..][..BLOCK];
                group.push(block as u16, std::array::from_fn(|bin| std::mem::take(&mut counts[bin])));
            }
        }
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
        let used = || self.groups.iter().flat_map(Group::bins).map(|(bin, _)| bin);
        let (first, end) = (used().min().unwrap_or(0), used().max().map_or(0, |last| last + 1));
        let row = |g: &Group| {
            let mut row = vec![0; end - first];
            g.bins().for_each(|(bin, count)| row[bin - first] = count);
            row
        };
        ((first..=end).map(edge).collect(), self.groups.iter().map(row).collect())
    }
}

impl Group {
    /// With room for so many blocks.
    fn of(most: usize) -> Group {
        Group { blocks: Vec::with_capacity(most), counts: Vec::with_capacity(most) }
    }

    fn push(&mut self, block: u16, counts: [u32; BLOCK]) {
        self.blocks.push(block);
        self.counts.push(counts);
    }

    /// Bins with a count.
    fn bins(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let all = self.blocks.iter().zip(&self.counts).flat_map(|(block, counts)| {
            counts
                .iter()
                .enumerate()
                .map(move |(i, count)| (usize::from(*block) * BLOCK + i, u64::from(*count)))
        });
        all.filter(|(_, count)| *count > 0)
    }
}

#[inline(always)]
fn bin(value_s: f64) -> usize {
    ((value_s.to_bits() >> SHIFT) as usize).saturating_sub(LOW).min(BINS - 1)
}

/// Lower edge of a bin; the first begins at 0.
fn edge(bin: usize) -> f64 {
    if bin == 0 {
        return 0.0;
    }
    f64::from_bits(((bin + LOW) as u64) << SHIFT)
}

/// The sum of two groups: two ascending lists become one.
fn merged(a: &Group, b: &Group) -> Group {
    let mut group = Group::of(a.blocks.len() + b.blocks.len());
    let next = |g: &Group, at: usize| g.blocks.get(at).copied().unwrap_or(u16::MAX);
    let (mut i, mut j) = (0, 0);
    while i < a.blocks.len() || j < b.blocks.len() {
        let (in_a, in_b) = (next(a, i), next(b, j));
        group.push(
            in_a.min(in_b),
            match in_a.cmp(&in_b) {
                Ordering::Less => a.counts[i],
                Ordering::Equal => {
                    std::array::from_fn(|bin| a.counts[i][bin].saturating_add(b.counts[j][bin]))
                }
                Ordering::Greater => b.counts[j],
            },
        );
        i += usize::from(in_a <= in_b);
        j += usize::from(in_b <= in_a);
    }
    group.blocks.shrink_to_fit();
    group.counts.shrink_to_fit();
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lies_in_its_bin_and_bins_are_narrow() {
        let mut histogram = Histogram::default();
        let values = [0.0, 1e-13, 3.7e-6, 0.02, 0.020_01, 1.0, 977.0];
        for value in values {
            histogram.count(value);
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
            histogram.count(0.1 * f64::from(i));
            histogram.close();
        }
        histogram.halve();
        assert_eq!(histogram.groups(), 4);
        let (_, rows) = histogram.table();
        assert_eq!(rows.iter().flatten().sum::<u64>(), 8);
    }
}
