//! How long an access takes in memory of several sizes: a chain of cache lines in an order that no prefetcher follows.
//!
//! Each line holds the number of the next one, for each size its own, and all lines of a size make one circle: by a linear
//! congruential generator whose period is the number of lines, a power of two (D. E. Knuth, The Art of Computer Programming, vol. 2,
//! 3rd ed. (1997), 3.2.1.2, theorem A: an odd increment, and a multiplier of remainder 1 by 4).

use std::hint::black_box;
use std::io;
use std::time::Instant;

use crate::sys;

const LINE: usize = 64;
/// Numbers in a line, and so how many sizes there can be.
pub const MOST_SIZES: usize = LINE / 4;
const MULTIPLIER: usize = 1_664_525;
const INCREMENT: usize = 1_013_904_223;
/// Accesses in a batch, of which the mean is taken.
const ACCESSES: usize = 1024;
/// Lines of 4 MiB: of larger sizes a round takes longer than all that is measured.
const WARM: usize = 1 << 16;

type Line = [u32; MOST_SIZES];

/// Times of an access on `core`, s: for each of `sizes_bytes`, powers of two from 4 KiB on, a mean for each of `batches` batches.
///
/// # Errors
/// A core that cannot be used, a size that is no such number, too many of them, or no memory for the largest.
pub fn pointer_chase_s(core: usize, sizes_bytes: &[usize], batches: usize) -> io::Result<Vec<Vec<f64>>> {
    let right = |size: &usize| size.is_power_of_two() && (1 << 12..=1 << 34).contains(size);
    if sizes_bytes.len() > MOST_SIZES || !sizes_bytes.iter().all(right) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    std::thread::scope(|scope| {
        let chase = std::thread::Builder::new().spawn_scoped(scope, || {
            sys::pin(core)?;
            let lines = chains(sizes_bytes)?;
            Ok(sizes_bytes
                .iter()
                .enumerate()
                .map(|(k, size)| timed(&lines[..size / LINE], k, batches))
                .collect())
        })?;
        chase.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    })
}

fn chains(sizes_bytes: &[usize]) -> io::Result<Vec<Line>> {
    let most = sizes_bytes.iter().max().map_or(0, |size| size / LINE);
    let mut lines: Vec<Line> = Vec::new();
    lines.try_reserve_exact(most).map_err(|_| io::ErrorKind::OutOfMemory)?;
    lines.extend((0..most).map(|at| {
        let mut line = [0; MOST_SIZES];
        for (next, size) in line.iter_mut().zip(sizes_bytes) {
            *next = successor(at, size / LINE) as u32;
        }
        line
    }));
    Ok(lines)
}

fn successor(at: usize, lines: usize) -> usize {
    at.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & (lines - 1)
}

/// Means of batches, after all lines were read once in order, and as many as `WARM` in the order of the chain: a cache keeps what was
/// read at random better than what was read in order.
fn timed(lines: &[Line], chain: usize, batches: usize) -> Vec<f64> {
    black_box(lines.iter().fold(0_u32, |sum, line| sum.wrapping_add(line[chain])));
    let mut at = 0;
    let mut go = |accesses: usize| {
        let start = Instant::now();
        for _ in 0..accesses {
            at = lines[at][chain] as usize;
        }
        black_box(at);
        start.elapsed().as_secs_f64() / accesses as f64
    };
    go(if lines.len() <= WARM { lines.len() } else { ACCESSES });
    (0..batches).map(|_| go(ACCESSES)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_chain_goes_through_every_line_of_its_size_once() {
        let sizes = [1 << 12, 1 << 16];
        let lines = chains(&sizes).unwrap();
        for (chain, size) in sizes.iter().enumerate() {
            let (mut at, mut seen) = (0, vec![false; size / LINE]);
            for _ in 0..size / LINE {
                at = lines[at][chain] as usize;
                seen[at] = true;
            }
            assert!(at == 0 && seen.into_iter().all(|line| line), "{size}");
        }
    }

    #[test]
    fn a_time_for_each_size_and_batch() {
        let times_s = pointer_chase_s(0, &[1 << 14, 1 << 20], 3).unwrap();
        assert_eq!(times_s.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3]);
        assert!(times_s.iter().flatten().all(|&time_s| time_s > 0.0), "{times_s:?}");
        assert!(pointer_chase_s(0, &[], 3).unwrap().is_empty());
    }

    #[test]
    fn sizes_and_cores_that_cannot_be_are_errors() {
        for sizes in [vec![3 << 12], vec![64], vec![1 << 14; MOST_SIZES + 1]] {
            assert!(pointer_chase_s(0, &sizes, 1).is_err(), "{sizes:?}");
        }
        assert!(pointer_chase_s(1000, &[1 << 14], 1).is_err());
    }
}
