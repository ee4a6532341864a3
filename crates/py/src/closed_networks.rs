//! Kernels of closed networks.

use numpy::ndarray::{Array2, Array3};
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArray3, PyReadonlyArray1, PyReadonlyArray2, PyReadonlyArray3,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sojourn_solve::closed::linearizer::{self, SingleServers, Stop};
use sojourn_solve::closed::{convolution, mva_by_diagonals, mva_multiclass, mva_single_class, open_rates};

/// Adds this file's functions to the native module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(closed_single, module)?)?;
    module.add_function(wrap_pyfunction!(closed_multi, module)?)?;
    module.add_function(wrap_pyfunction!(closed_diagonal, module)?)?;
    module.add_function(wrap_pyfunction!(closed_linearizer, module)?)?;
    module.add_function(wrap_pyfunction!(closed_convolution, module)?)
}

type Means<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);

/// Exact mean value analysis of one class: demands P x K, think P, population P → throughput P, mean numbers present and
/// waiting P x K.
#[pyfunction]
fn closed_single<'py>(
    py: Python<'py>,
    demands_s: PyReadonlyArray2<'py, f64>,
    think_s: PyReadonlyArray1<'py, f64>,
    population: PyReadonlyArray1<'py, i64>,
) -> PyResult<Means<'py>> {
    let (demands, think, number) = (demands_s.as_slice()?, think_s.as_slice()?, population.as_slice()?);
    let (count, stations) = (think.len(), demands_s.as_array().ncols());
    if number.len() != count || demands.len() != count * stations {
        return Err(PyValueError::new_err("shapes do not agree"));
    }
    let (mut x, mut q) = (vec![0.0; count], Array2::zeros((count, stations)));
    let mut line = q.clone();
    let points: Vec<mva_single_class::SingleClassNetwork> = (0..count)
        .map(|p| mva_single_class::SingleClassNetwork {
            demands_s: &demands[p * stations..(p + 1) * stations],
            think_s: think[p],
            population: number[p].max(0) as u64,
        })
        .collect();
    let (numbers, waiting) = (q.as_slice_mut().unwrap_or(&mut []), line.as_slice_mut().unwrap_or(&mut []));
    py.detach(|| mva_single_class::run(&points, &mut x, numbers, waiting));
    Ok((x.into_pyarray(py), q.into_pyarray(py), line.into_pyarray(py)))
}

/// Populations P x R as vectors.
fn vectors(points: &PyReadonlyArray2<i64>) -> Vec<Vec<usize>> {
    points.as_array().rows().into_iter().map(|row| row.iter().map(|&n| n.max(0) as usize).collect()).collect()
}

fn rows(table: &PyReadonlyArray2<f64>) -> Vec<Vec<f64>> {
    table.as_array().rows().into_iter().map(|row| row.to_vec()).collect()
}

fn classes(demands: &[Vec<f64>], think: &[f64], points: &[Vec<usize>]) -> PyResult<()> {
    let count = think.len();
    if count == 0
        || demands.iter().any(|row| row.len() != count)
        || points.iter().any(|row| row.len() != count)
    {
        return Err(PyValueError::new_err("shapes do not agree"));
    }
    Ok(())
}

type Several<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray3<f64>>, Bound<'py, PyArray3<f64>>);

/// Exact mean value analysis: demands K x R, think R, points P x R → throughput P x R, mean numbers present and waiting
/// P x K x R.
#[pyfunction]
fn closed_multi<'py>(
    py: Python<'py>,
    demands_s: PyReadonlyArray2<'py, f64>,
    think_s: PyReadonlyArray1<'py, f64>,
    points: PyReadonlyArray2<'py, i64>,
) -> PyResult<Several<'py>> {
    several(py, &demands_s, &think_s, &points, mva_multiclass::run)
}

/// The same for each point by itself, in parallel, two diagonals of the lattice kept; every class has customers.
#[pyfunction]
fn closed_diagonal<'py>(
    py: Python<'py>,
    demands_s: PyReadonlyArray2<'py, f64>,
    think_s: PyReadonlyArray1<'py, f64>,
    points: PyReadonlyArray2<'py, i64>,
) -> PyResult<Several<'py>> {
    let few = points.as_array().ncols() < 2 || points.as_array().iter().any(|&n| n < 1);
    if few {
        return Err(PyValueError::new_err("two classes or more, each with customers"));
    }
    several(py, &demands_s, &think_s, &points, |model, points| {
        points.iter().map(|p| mva_by_diagonals::run(model, p)).collect()
    })
}

fn several<'py>(
    py: Python<'py>,
    demands_s: &PyReadonlyArray2<'py, f64>,
    think_s: &PyReadonlyArray1<'py, f64>,
    points: &PyReadonlyArray2<'py, i64>,
    run: impl Fn(&mva_multiclass::ClassDemands, &[Vec<usize>]) -> Vec<mva_multiclass::MvaMeans> + Send + Sync,
) -> PyResult<Several<'py>> {
    let (stations, wanted) = (rows(demands_s), vectors(points));
    let think: Vec<f64> = think_s.as_array().to_vec();
    classes(&stations, &think, &wanted)?;
    let by_class: Vec<Vec<f64>> =
        (0..think.len()).map(|r| stations.iter().map(|row| row[r]).collect()).collect();
    let model = mva_multiclass::ClassDemands::new(&by_class, &think);
    let found = py.detach(|| run(&model, &wanted));
    let x = Array2::from_shape_fn((wanted.len(), think.len()), |(p, r)| found[p].throughput[r]);
    let shape = (wanted.len(), stations.len(), think.len());
    let q = Array3::from_shape_fn(shape, |(p, k, r)| found[p].queue[r][k]);
    let line = Array3::from_shape_fn(shape, |(p, k, r)| found[p].line[r][k]);
    Ok((x.into_pyarray(py), q.into_pyarray(py), line.into_pyarray(py)))
}

type Sums<'py> = (
    Bound<'py, PyArray2<f64>>, // throughput P x R, NaN where a point failed
    Bound<'py, PyArray3<f64>>, // mean numbers P x K x R
    Bound<'py, PyArray3<f64>>, // probability of being busy, by shares of those present
    Bound<'py, PyArray2<f64>>, // second moment of the number P x K
    Bound<'py, PyArray2<f64>>, // mean of (n + 1)/speed(n + 1)
    Bound<'py, PyArray3<f64>>, // p(0) … p(most - 1), P x K x most
    Bound<'py, PyArray3<f64>>, // mean numbers beyond the servers, P x K x R
);

/// Convolution: demands K x R, relative speeds of each station with 1, 2, … present, think R, points P x R.
#[pyfunction]
fn closed_convolution<'py>(
    py: Python<'py>,
    demands_s: PyReadonlyArray2<'py, f64>,
    speeds: Vec<Vec<f64>>,
    think_s: PyReadonlyArray1<'py, f64>,
    points: PyReadonlyArray2<'py, i64>,
    most: usize,
) -> PyResult<Sums<'py>> {
    let (demands, wanted) = (rows(&demands_s), vectors(&points));
    let think: Vec<f64> = think_s.as_array().to_vec();
    classes(&demands, &think, &wanted)?;
    if speeds.len() != demands.len() || speeds.iter().flatten().any(|s| s.is_nan() || *s <= 0.0) {
        return Err(PyValueError::new_err("each station needs speeds > 0"));
    }
    if speeds.iter().any(Vec::is_empty) {
        return Err(PyValueError::new_err("each station needs a speed"));
    }
    let model = open_rates::ClosedModel { demands_s: &demands, speeds: &speeds, think_s: &think };
    let found = py.detach(|| convolution::run(&model, &wanted, most));
    let (p, k, r) = (wanted.len(), demands.len(), think.len());
    let at =
        |i: usize, f: &dyn Fn(&convolution::ConvolutionMeans) -> f64| found[i].as_ref().map_or(f64::NAN, f);
    Ok((
        Array2::from_shape_fn((p, r), |(i, r)| at(i, &|a| a.throughput[r])).into_pyarray(py),
        Array3::from_shape_fn((p, k, r), |(i, k, r)| at(i, &|a| a.queue[k][r])).into_pyarray(py),
        Array3::from_shape_fn((p, k, r), |(i, k, r)| at(i, &|a| a.busy[k][r])).into_pyarray(py),
        Array2::from_shape_fn((p, k), |(i, k)| at(i, &|a| a.second[k])).into_pyarray(py),
        Array2::from_shape_fn((p, k), |(i, k)| at(i, &|a| a.spread[k])).into_pyarray(py),
        Array3::from_shape_fn((p, k, most), |(i, k, n)| at(i, &|a| a.exactly[k][n])).into_pyarray(py),
        Array3::from_shape_fn((p, k, r), |(i, k, r)| at(i, &|a| a.line[k][r])).into_pyarray(py),
    ))
}

type Settled<'py> = (Bound<'py, PyArray3<f64>>, Bound<'py, PyArray3<f64>>, Bound<'py, PyArray1<bool>>);

/// Linearizer of single servers: demands P x K x R, think and population P x R → mean numbers and residence times P x K x R,
/// and which points settled.
#[pyfunction]
fn closed_linearizer<'py>(
    py: Python<'py>,
    demands_s: PyReadonlyArray3<'py, f64>,
    think_s: PyReadonlyArray2<'py, f64>,
    population: PyReadonlyArray2<'py, f64>,
    tolerance: f64,
    rounds: usize,
) -> PyResult<Settled<'py>> {
    let (count, stations, classes) = demands_s.as_array().dim();
    if [think_s.as_array().dim(), population.as_array().dim()] != [(count, classes); 2] {
        return Err(PyValueError::new_err("shapes do not agree"));
    }
    let (demands, think, number) = (demands_s.as_slice()?, think_s.as_slice()?, population.as_slice()?);
    let (size, shape) = (stations * classes, (count, stations, classes));
    let points: Vec<SingleServers> = (0..count)
        .map(|p| SingleServers {
            demands_s: &demands[p * size..(p + 1) * size],
            think_s: &think[p * classes..(p + 1) * classes],
            population: &number[p * classes..(p + 1) * classes],
        })
        .collect();
    let found = py.detach(|| linearizer::run(&points, Stop { tolerance, rounds }));
    let settled: Vec<bool> = found.iter().map(|point| point.settled).collect();
    let (mut queue, mut residence) = (Array3::zeros(shape), Array3::zeros(shape));
    for (p, point) in found.into_iter().enumerate() {
        for (table, own) in [(&mut queue, point.queue), (&mut residence, point.residence_s)] {
            table.as_slice_mut().unwrap_or(&mut [])[p * size..(p + 1) * size].copy_from_slice(&own);
        }
    }
    Ok((queue.into_pyarray(py), residence.into_pyarray(py), settled.into_pyarray(py)))
}
