//! How long an access takes in memory of several sizes: a chain of cache lines in an order that no prefetcher follows.
//!
//! Each line holds the number of the next one, and all lines make one circle: by a linear congruential generator whose period is the
//! number of lines, a power of two (D. E. Knuth, The Art of Computer Programming, vol. 2, 3rd ed. (1997), 3.2.1.2, theorem A: an odd
//! increment, and a multiplier of remainder 1 by 4).

use std::hint::black_box;
use std::io;
use std::time::Instant;

use crate::sys;

const LINE: usize = 64;
const MULTIPLIER: usize = 1_664_525;
const INCREMENT: usize = 1_013_904_223;
/// Accesses in a batch, of which the mean is taken.
const ACCESSES: usize = 1024;
/// Lines of 4 MiB: of larger sizes a round takes longer than all that is measured.
const WARM: usize = 1 << 16;

type Line = [u32; LINE / 4];

/// Times of an access on `core`, s: for each of `sizes_bytes`, powers of two from 4 KiB on, a mean for each of `batches` batches. Each size
/// has memory of its own, since laying out the largest one leaves the caches in a state that lasts for milliseconds.
///
/// # Errors
/// A core that cannot be used, a size that is no such number, or no memory for one.
pub fn pointer_chase_s(core: usize, sizes_bytes: &[usize], batches: usize) -> io::Result<Vec<Vec<f64>>> {
    let right = |size: &usize| size.is_power_of_two() && (1 << 12..=1 << 34).contains(size);
    if !sizes_bytes.iter().all(right) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    std::thread::scope(|scope| {
        let chase = std::thread::Builder::new().spawn_scoped(scope, || {
            sys::pin(core)?;
            sizes_bytes.iter().map(|size| Ok(timed(&circle(size / LINE)?, batches))).collect()
        })?;
        chase.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    })
}

fn circle(lines: usize) -> io::Result<Vec<Line>> {
    let mut made: Vec<Line> = Vec::new();
    made.try_reserve_exact(lines).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let successor = |at: usize| at.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT) & (lines - 1);
    made.extend((0..lines).map(|at| [successor(at) as u32; LINE / 4]));
    Ok(made)
}

/// Means of batches, after a round through all lines, if there are no more than `WARM`.
fn timed(lines: &[Line], batches: usize) -> Vec<f64> {
    let mut at = 0;
    let mut go = |accesses: usize| {
        let start = Instant::now();
        for _ in 0..accesses {
            at = lines[at][0] as usize;
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
    fn the_circle_goes_through_every_line_once() {
        for lines in [64, 1 << 10, 1 << 16] {
            let next = circle(lines).unwrap();
            let (mut at, mut seen) = (0, vec![false; lines]);
            for _ in 0..lines {
                at = next[at][0] as usize;
                seen[at] = true;
            }
            assert!(at == 0 && seen.into_iter().all(|line| line), "{lines}");
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
        for sizes in [vec![3 << 12], vec![64], vec![1 << 14, 0]] {
            assert!(pointer_chase_s(0, &sizes, 1).is_err(), "{sizes:?}");
        }
        assert!(pointer_chase_s(1000, &[1 << 14], 1).is_err());
    }
}
