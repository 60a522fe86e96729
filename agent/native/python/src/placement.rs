//! Loops of placement and simulation, for the arrays of `sinemora.recommendations.placement` and `sinemora.labs.simulation`.

use std::time::{Duration, Instant};

use pyo3::prelude::*;
use sinemora_solver::costs;
use sinemora_solver::latency::{self, Cluster, Paths};
use sinemora_solver::problem::Problem;
use sinemora_solver::{
    annealing, branching, by_job, network_simplex, relaxation, roots, start, tree,
};

use crate::arrays::{Flags, InOut, Input, Output, one_dimensional};
use crate::{Array, unfit};

/// A matrix of costs: 16 bits where every cost fits, else 32.
#[derive(FromPyObject)]
pub(crate) enum Costs {
    Narrow(Input<u16>),
    Wide(Input<i32>),
}

/// A matrix of costs that is written.
#[derive(FromPyObject)]
pub(crate) enum CostsOut {
    Narrow(InOut<u16>),
    Wide(InOut<i32>),
}

impl Costs {
    fn len(&self) -> usize {
        match self {
            Self::Narrow(costs) => costs.slice().len(),
            Self::Wide(costs) => costs.slice().len(),
        }
    }
}

fn fit(fits: bool) -> PyResult<()> {
    if fits { Ok(()) } else { Err(unfit()) }
}

/// Return true if the costs have a row for each of `most`, and the outputs room for their sum.
fn pairs_fit(
    costs: &Costs,
    price: &[i32],
    most: &[i64],
    out_job: &[i32],
    out_machine: &[i32],
) -> bool {
    let pairs: i128 = most.iter().map(|n| i128::from((*n).max(0))).sum();
    let room = out_job.len().min(out_machine.len());
    costs.len() == most.len() * price.len() && !price.is_empty() && pairs <= room as i128
}

/// Write costs of latency (rows, machines): each row's own row of `tables` (rows, steps) at the nearest step.
#[pyfunction]
pub(crate) fn fill_costs(
    py: Python<'_>,
    latency_ns: Input<i32>,
    step_ns: i64,
    tables: Input<i32>,
    mut out: CostsOut,
) -> PyResult<()> {
    let (machines, steps) = (latency_ns.columns(), tables.columns());
    let (latency, tables) = (latency_ns.slice(), tables.slice());
    let size = match &mut out {
        CostsOut::Narrow(out) => out.slice().len(),
        CostsOut::Wide(out) => out.slice().len(),
    };
    if size == 0 {
        return fit(latency.is_empty());
    }
    fit(steps > 0 && machines > 0 && step_ns > 0 && latency.len() == size)?;
    fit(size % machines == 0 && tables.len() == size / machines * steps)?;
    match &mut out {
        CostsOut::Narrow(out) => {
            let out = out.slice();
            py.detach(|| costs::fill(latency, machines, step_ns, tables, steps, out));
        }
        CostsOut::Wide(out) => {
            let out = out.slice();
            py.detach(|| costs::fill(latency, machines, step_ns, tables, steps, out));
        }
    }
    Ok(())
}

/// Write the `count` machines that are cheapest after their price; return their number.
#[pyfunction]
pub(crate) fn cheapest_machines(
    row: Costs,
    price: Input<i32>,
    count: usize,
    offset: usize,
    mut out: InOut<i32>,
) -> PyResult<usize> {
    let (price, out) = (price.slice(), out.slice());
    let count = count.min(price.len());
    fit(row.len() == price.len() && count <= out.len() && offset <= price.len())?;
    Ok(match &row {
        Costs::Narrow(row) => costs::cheapest(row.slice(), price, count, offset, out),
        Costs::Wide(row) => costs::cheapest(row.slice(), price, count, offset, out),
    })
}

/// Write the pairs whose reduced cost is negative, at most `most` of a job; return their number.
#[pyfunction]
pub(crate) fn violating_pairs(
    py: Python<'_>,
    costs: Costs,
    job_potential: Input<i64>,
    price: Input<i32>,
    most: Input<i64>,
    mut out_job: InOut<i32>,
    mut out_machine: InOut<i32>,
) -> PyResult<usize> {
    let (potential, price, most) = (job_potential.slice(), price.slice(), most.slice());
    let (jobs, machines) = (out_job.slice(), out_machine.slice());
    fit(most.len() == potential.len() && pairs_fit(&costs, price, most, jobs, machines))?;
    Ok(py.detach(|| match &costs {
        Costs::Narrow(costs) => {
            costs::violators(costs.slice(), potential, price, most, jobs, machines)
        }
        Costs::Wide(costs) => {
            costs::violators(costs.slice(), potential, price, most, jobs, machines)
        }
    }))
}

/// Write the `most` machines of every job that are cheapest after their price; return the number of pairs.
#[pyfunction]
pub(crate) fn candidate_pairs(
    py: Python<'_>,
    costs: Costs,
    price: Input<i32>,
    most: Input<i64>,
    barred: i64,
    mut out_job: InOut<i32>,
    mut out_machine: InOut<i32>,
) -> PyResult<usize> {
    let (price, most) = (price.slice(), most.slice());
    let (jobs, machines) = (out_job.slice(), out_machine.slice());
    fit(pairs_fit(&costs, price, most, jobs, machines))?;
    Ok(py.detach(|| match &costs {
        Costs::Narrow(costs) => {
            costs::candidates(costs.slice(), price, most, barred, jobs, machines)
        }
        Costs::Wide(costs) => costs::candidates(costs.slice(), price, most, barred, jobs, machines),
    }))
}

/// The arrays of `sinemora.recommendations.placement.solvers.spanning_tree.Arcs`.
#[derive(FromPyObject)]
pub(crate) struct Arcs {
    tail: InOut<i32>,
    head: InOut<i32>,
    cost: InOut<i64>,
    cap: InOut<i64>,
    state: InOut<i8>,
}

impl Arcs {
    fn slices(&mut self) -> tree::Arcs<'_> {
        tree::Arcs {
            tail: self.tail.slice(),
            head: self.head.slice(),
            cost: self.cost.slice(),
            cap: self.cap.slice(),
            state: self.state.slice(),
        }
    }
}

/// The arrays of `sinemora.recommendations.placement.solvers.spanning_tree.Tree`.
#[derive(FromPyObject)]
pub(crate) struct Tree {
    parent: InOut<i32>,
    arc: InOut<i32>,
    up: InOut<i8>,
    flow: InOut<i64>,
    children: InOut<i32>,
    anchor: InOut<i32>,
    offset: InOut<i64>,
    depth: InOut<i32>,
    potential: InOut<i64>,
    first: InOut<i32>,
    after: InOut<i32>,
    before: InOut<i32>,
}

impl Tree {
    fn slices(&mut self) -> tree::Tree<'_> {
        tree::Tree {
            parent: self.parent.slice(),
            arc: self.arc.slice(),
            up: self.up.slice(),
            flow: self.flow.slice(),
            children: self.children.slice(),
            anchor: self.anchor.slice(),
            offset: self.offset.slice(),
            depth: self.depth.slice(),
            potential: self.potential.slice(),
            first: self.first.slice(),
            after: self.after.slice(),
            before: self.before.slice(),
        }
    }
}

/// Pivot among the first `count` arcs until none can enter, at most `most` times; return the number of pivots.
#[pyfunction]
pub(crate) fn pivot(
    py: Python<'_>,
    mut arcs: Arcs,
    mut tree: Tree,
    count: usize,
    most: usize,
) -> PyResult<usize> {
    let (mut arcs, mut tree) = (arcs.slices(), tree.slices());
    py.detach(|| network_simplex::pivot(&mut arcs, &mut tree, count, most))
        .ok_or_else(unfit)
}

/// Hang nodes under one parent, each through its own arc with its own flow.
#[pyfunction]
pub(crate) fn hang_all(
    mut tree: Tree,
    nodes: Input<i64>,
    parent: usize,
    arcs: Input<i64>,
    up: i8,
    flows: Input<i64>,
) -> PyResult<()> {
    let (nodes, arcs, flows) = (nodes.slice(), arcs.slice(), flows.slice());
    fit(nodes.len() == arcs.len() && nodes.len() == flows.len())?;
    let mut tree = tree.slices();
    for ((node, arc), flow) in nodes.iter().zip(arcs).zip(flows) {
        tree.hang(*node as usize, parent, *arc as i32, up, *flow);
    }
    Ok(())
}

/// Give waiting tasks free slots along the arcs `first..count`, cheapest first; potentials are left to `walk_tree`.
#[pyfunction]
pub(crate) fn fill_cheapest(
    py: Python<'_>,
    mut arcs: Arcs,
    mut tree: Tree,
    first: usize,
    count: usize,
    free: usize,
    out: usize,
) -> PyResult<()> {
    let (mut arcs, mut tree) = (arcs.slices(), tree.slices());
    fit(py.detach(|| start::fill_cheapest(&mut arcs, &mut tree, first, count, free, out)))
}

/// Compute depths and potentials of everything under `root` from the costs of the tree's arcs.
#[pyfunction]
pub(crate) fn walk_tree(py: Python<'_>, mut arcs: Arcs, mut tree: Tree, root: usize) {
    let (arcs, mut tree) = (arcs.slices(), tree.slices());
    py.detach(|| tree.walk(&arcs, root));
}

/// Return the least cost and the row of its root when tasks fill the free slots nearest to each root.
#[pyfunction]
pub(crate) fn cheapest_root(
    py: Python<'_>,
    latency_ns: Input<i32>,
    roots: Input<i64>,
    free: Input<i64>,
    tasks: i64,
    table: Input<i32>,
    step_ns: i64,
) -> PyResult<(i64, usize)> {
    let (latency, roots, free) = (latency_ns.slice(), roots.slice(), free.slice());
    let table = table.slice();
    py.detach(|| roots::cheapest_root(latency, roots, free, tasks, table, step_ns))
        .ok_or_else(unfit)
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
