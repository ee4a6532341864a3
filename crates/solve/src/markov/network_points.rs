//! Networks that differ in their speeds of service alone: their states are found once, and read once for all their measures.

use std::time::Duration;

use rayon::prelude::*;

use super::mean_measures::{measure, MeanMeasures};
use super::network_spec::NetworkSpec;
use super::state_space::StateSpace;
use super::steady_state::steady;
use super::transition_rates::Clocks;

/// Points that are read at once: enough that reading a state costs little beside what it adds to them.
const AT_ONCE: usize = 64;
/// Probabilities held at once, by each thread.
const MOST_HELD: usize = 4_000_000;

/// As in `SteadyState`, with the measures in place of the distribution.
pub struct SolvedPoint {
    pub measures: MeanMeasures,
    pub residual: f64,
    pub cycles: usize,
    pub late: bool,
}

/// Where to end: as the arguments of `steady`, for each point.
#[derive(Clone, Copy)]
pub struct SteadyLimits {
    pub tolerance: f64,
    pub most: usize,
    pub skewed: bool,
    pub limit: Duration,
}

/// The stationary measures of each point; `speeds`: points × (node · classes + class), times the speed of `spec`.
pub fn solve_points(
    spec: &NetworkSpec,
    explored: &StateSpace,
    speeds: &[f64],
    limits: SteadyLimits,
) -> Vec<SolvedPoint> {
    let (clocks, width) = (Clocks::of(spec), spec.stations.len() * spec.classes);
    let points = (MOST_HELD / explored.keys.len().max(1)).clamp(1, AT_ONCE);
    speeds
        .par_chunks(points * width)
        .flat_map_iter(|own| some_points(spec, explored, &clocks, own, limits))
        .collect()
}

fn some_points(
    spec: &NetworkSpec,
    explored: &StateSpace,
    clocks: &Clocks,
    speeds: &[f64],
    limits: SteadyLimits,
) -> Vec<SolvedPoint> {
    let rates: Vec<Vec<f64>> =
        speeds.chunks(spec.stations.len() * spec.classes).map(|own| clocks.at_speeds(own)).collect();
    let solved: Vec<_> = rates
        .iter()
        .map(|own| {
            let chain = explored.pattern.generator(own);
            steady(&chain, limits.tolerance, limits.most, limits.skewed, limits.limit)
        })
        .collect();
    let laws: Vec<&[f64]> = solved.iter().map(|s| s.p.as_slice()).collect();
    let told = measure(spec, &explored.keys, &laws, &rates);
    let point = |(s, measures): (&super::steady_state::SteadyState, MeanMeasures)| SolvedPoint {
        measures,
        residual: s.residual,
        cycles: s.cycles,
        late: s.late,
    };
    solved.iter().zip(told).map(point).collect()
}
