//! Closed networks: exact mean value analysis and convolution.
//!
//! - `single`       one class, single servers: the recursion over the population
//! - `lattice`      vectors of populations in one row of memory
//! - `multi`        several classes, single servers: the recursion over the lattice
//! - `diagonal`     the same for lattices too large to keep, in parallel
//! - `station`      how many would be at one station of the open network: the weights of a convolution
//! - `tilt`         the open network whose mean numbers are the populations: what keeps a convolution in range
//! - `grid`         sums and recurrences over a lattice
//! - `leaf`         the numbers at one station, all others being summed up
//! - `convolution`  normalising constants and what follows from them, for stations of any speed

pub mod convolution;
pub mod diagonal;
pub mod grid;
pub mod lattice;
pub mod leaf;
pub mod multi;
pub mod single;
pub mod station;
pub mod tilt;
