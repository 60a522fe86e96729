//! Loops of placement and simulation, for the arrays of `sinemora.recommendations.placement` and `sinemora.labs.simulation`.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use sinemora_solver::latency::{self, Cluster, Paths};
use sinemora_solver::problem::Problem;
use sinemora_solver::{annealing, branching, by_job, relaxation};

use crate::arrays::{Flags, Input, Output, one_dimensional};
use crate::{Array, unfit};

fn fit(fits: bool) -> PyResult<()> {
    if fits { Ok(()) } else { Err(unfit()) }
}

/// The arrays of `sinemora.recommendations.placement.policies.search.SearchProblem`.
#[derive(FromPyObject)]
pub(crate) struct SearchProblem {
    at: Input<i64>,
    movable: Flags,
    owner: Input<i64>,
    need: Input<i64>,
    room: Input<i64>,
    curve: Input<i64>,
    table: Input<f64>,
    steps: Input<i32>,
    allowed: Flags,
    domain: Input<i64>,
    most: Input<i64>,
    spared: Flags,
    apart: Flags,
    move_price: Input<f64>,
    bringing: Input<f64>,
    location: Input<i64>,
    far: f64,
    stays: Flags,
    pays: Flags,
    over: Input<i64>,
    most_moves: usize,
    most_moves_of: Input<i64>,
    barred: Input<i64>,
}

/// Links by task: where each task's begin, the tasks at their other ends, and their weights.
#[derive(FromPyObject)]
pub(crate) struct Links {
    starts: Input<i64>,
    other: Input<i64>,
    weight: Input<f64>,
}

impl SearchProblem {
    fn with<'a>(&'a self, links: &'a Links, waiting_cost: f64) -> Problem<'a> {
        Problem {
            at: self.at.slice(),
            movable: self.movable.slice(),
            owner: self.owner.slice(),
            need: self.need.slice(),
            room: self.room.slice(),
            curve: self.curve.slice(),
            table: self.table.slice(),
            table_steps: self.table.columns(),
            steps: self.steps.slice(),
            allowed: self.allowed.slice(),
            domain: self.domain.slice(),
            most: self.most.slice(),
            spared: self.spared.slice(),
            apart: self.apart.slice(),
            starts: links.starts.slice(),
            other: links.other.slice(),
            weight: links.weight.slice(),
            price: self.move_price.slice(),
            bringing: self.bringing.slice(),
            location: self.location.slice(),
            far: self.far,
            stays: self.stays.slice(),
            pays: self.pays.slice(),
            over: self.over.slice(),
            waiting_cost,
            most_moves: self.most_moves,
            most_moves_of: self.most_moves_of.slice(),
            barred: self.barred.slice(),
        }
    }
}

/// Shortest time between two calls of a watch.
const WATCHED_EVERY: Duration = Duration::from_millis(100);

/// Run a search that a Python function watches: it gets cost and bound, and what it raises stops the search.
fn watched<T: Send>(
    py: Python<'_>,
    watch: Option<Py<PyAny>>,
    search: impl FnOnce(&mut dyn FnMut(f64, f64) -> bool) -> Option<T> + Send,
) -> PyResult<T> {
    let mut raised = None;
    let found = py.detach(|| {
        let mut last = Instant::now();
        let mut report = |cost: f64, bound: f64| {
            let Some(watch) = &watch else { return true };
            if last.elapsed() < WATCHED_EVERY {
                return true;
            }
            last = Instant::now();
            raised = Python::attach(|py| watch.call1(py, (cost, bound)).err());
            raised.is_none()
        };
        search(&mut report)
    });
    match raised {
        Some(error) => Err(error),
        None => found.ok_or_else(unfit),
    }
}

/// Return the best placement seen in `proposals` proposals, from that of `begin` on.
#[pyfunction]
#[pyo3(signature = (problem, links, waiting_cost, begin, proposals, seed, watch=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn anneal<'py>(
    py: Python<'py>,
    problem: SearchProblem,
    links: Links,
    waiting_cost: f64,
    begin: Input<i64>,
    proposals: usize,
    seed: u32,
    watch: Option<Py<PyAny>>,
) -> PyResult<Array<'py>> {
    let (given, begin) = (problem.with(&links, waiting_cost), begin.slice());
    let at = watched(py, watch, |watch| {
        annealing::anneal(&given, begin, proposals, seed, watch)
    })?;
    one_dimensional(py, &at)
}

/// Return a lower bound of the cost of any placement, and the price of each resource of each machine.
#[pyfunction]
#[pyo3(signature = (problem, links, waiting_cost, upper, rounds, watch=None))]
pub(crate) fn placement_bound<'py>(
    py: Python<'py>,
    problem: SearchProblem,
    links: Links,
    waiting_cost: f64,
    upper: f64,
    rounds: usize,
    watch: Option<Py<PyAny>>,
) -> PyResult<(f64, Array<'py>)> {
    let given = problem.with(&links, waiting_cost);
    let bound = watched(py, watch, |watch| {
        relaxation::bound(&given, upper, rounds, watch)
    })?;
    Ok((bound.cost, one_dimensional(py, &bound.prices)?))
}

/// Return the best placement that branch and bound finds within its work, and whether it is proven.
#[pyfunction]
#[pyo3(signature = (problem, links, waiting_cost, begin, prices, work, watch=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn branch<'py>(
    py: Python<'py>,
    problem: SearchProblem,
    links: Links,
    waiting_cost: f64,
    begin: Input<i64>,
    prices: Input<f64>,
    work: usize,
    watch: Option<Py<PyAny>>,
) -> PyResult<(Array<'py>, bool)> {
    let given = problem.with(&links, waiting_cost);
    let (begin, prices) = (begin.slice(), prices.slice());
    let best = watched(py, watch, |watch| {
        branching::branch(&given, begin, prices, work, watch)
    })?;
    Ok((one_dimensional(py, &best.at)?, best.proven))
}

/// Return the best placement found by placing jobs alone and resolving conflicts, and a lower bound.
///
/// With more than a few moves the bound is minus infinity.
#[pyfunction]
#[pyo3(signature = (problem, links, waiting_cost, begin, work, watch=None))]
pub(crate) fn place_by_job<'py>(
    py: Python<'py>,
    problem: SearchProblem,
    links: Links,
    waiting_cost: f64,
    begin: Input<i64>,
    work: usize,
    watch: Option<Py<PyAny>>,
) -> PyResult<(Array<'py>, f64)> {
    let (given, begin) = (problem.with(&links, waiting_cost), begin.slice());
    let best = watched(py, watch, |watch| {
        by_job::search(&given, begin, work, watch)
    })?;
    Ok((one_dimensional(py, &best.at)?, best.bound))
}

/// Return latency from each source to every machine, ns: one of a few base values (3, values) a class.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn cluster_latency<'py>(
    py: Python<'py>,
    sources: Input<i64>,
    rack: Input<i64>,
    pod: Input<i64>,
    base_ns: Input<i64>,
    seed: i64,
    noise: f64,
    draw: i64,
) -> PyResult<Array<'py>> {
    let (sources, rack, pod) = (sources.slice(), rack.slice(), pod.slice());
    let base_ns = base_ns.slice();
    let cluster = Cluster {
        rack,
        pod,
        seed,
        noise,
        draw,
    };
    let mut latency = Output::new(py, &[sources.len(), rack.len()])?;
    let out = latency.slice();
    fit(py.detach(|| latency::rows(&cluster, sources, base_ns, out)))?;
    Ok(latency.array())
}

/// Return the round trip from each source to every machine, ns, from those of the paths of a class (3, paths).
///
/// With `targets` the round trips of single pairs, shape (pairs,).
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn traced_latency<'py>(
    py: Python<'py>,
    sources: Input<i64>,
    targets: Option<Input<i64>>,
    rack: Input<i64>,
    pod: Input<i64>,
    round_trip_ns: Input<i32>,
    scales: Input<f64>,
    seed: i64,
    noise: f64,
    draw: i64,
) -> PyResult<Array<'py>> {
    let (sources, rack, pod) = (sources.slice(), rack.slice(), pod.slice());
    let cluster = Cluster {
        rack,
        pod,
        seed,
        noise,
        draw,
    };
    let given = Paths {
        round_trip_ns: round_trip_ns.slice(),
        scales: scales.slice(),
    };
    if let Some(targets) = targets {
        let targets = targets.slice();
        let mut latency = Output::new(py, &[sources.len()])?;
        let out = latency.slice();
        fit(py.detach(|| latency::traced_pairs(&cluster, &given, sources, targets, out)))?;
        return Ok(latency.array());
    }
    let mut latency = Output::new(py, &[sources.len(), rack.len()])?;
    let out = latency.slice();
    fit(py.detach(|| latency::traced_rows(&cluster, &given, sources, out)))?;
    Ok(latency.array())
}
