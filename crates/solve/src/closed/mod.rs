//! Closed networks: exact mean value analysis and convolution, and Linearizer.
//!
//! - `mva_single_class`       one class, single servers: the recursion over the population
//! - `population_lattice`      vectors of populations in one row of memory
//! - `mva_multiclass`        several classes, single servers: the recursion over the lattice
//! - `mva_by_diagonals`     the same for lattices too large to keep, in parallel
//! - `number_distribution`      how many would be at one station of the open network: the weights of a convolution
//! - `open_rates`         the open network whose mean numbers are the populations: what keeps a convolution in range
//! - `lattice_rows`         sums and recurrences over a lattice
//! - `station_sums`         the numbers at one station, all others being summed up
//! - `linearizer`   several classes, approximately, for many points
//! - `convolution`  normalising constants and what follows from them, for stations of any speed

pub mod convolution;
pub mod lattice_rows;
pub mod linearizer;
pub mod mva_by_diagonals;
pub mod mva_multiclass;
pub mod mva_single_class;
pub mod number_distribution;
pub mod open_rates;
pub mod population_lattice;
pub mod station_sums;
