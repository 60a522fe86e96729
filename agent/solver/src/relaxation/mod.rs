//! Lower bound of the cost of any placement: capacity gets prices, and each job is then placed alone.
//!
//! This is a Lagrangian relaxation (M. L. Fisher 1981, "The Lagrangian relaxation method for solving integer programming
//! problems"). Prices follow the subgradient. A star alone is placed exactly but for `apart`, for limits of tasks
//! that stay and for tasks of different sizes on one machine; a graph by `graphs`. Of a large graph, each task that moves
//! is credited with all it could gain, and both ends of a link that move with half of it each. Budgets are kept.

mod graph;
mod improving;
mod links;
mod moves;
mod star;

use std::cell::Cell;

use super::graphs::{self, Prices};
use super::problem::{Problem, Sizes};
use super::state::State;
use super::watch::Watch;
use graph::Graph;
pub(super) use graph::graph;
use links::floors;
pub(super) use links::{least_rows, neighbours, present_cost};
pub(super) use moves::{after_each, most_moves, share_moves};
use star::{Options, Star, center, star, stuck};

/// Most machines that are looked at to place a graph once, and all graphs once.
const GRAPH_WORK: usize = 3_000_000;
const GRAPHS_WORK: usize = 15_000_000;

enum Shape {
    Star(Star),
    Graph(Graph),
}

/// A job with tasks that may move.
pub(super) struct Job {
    pub(super) tasks: Vec<usize>,
    /// The task all links lead to.
    pub(super) root: Option<usize>,
    /// Most tasks that may move.
    pub(super) most_moves: usize,
    shape: Shape,
}

/// Least cost of a job by its number of moves, and the machine of its root for each.
#[derive(Clone, Default)]
pub(super) struct Table {
    pub(super) cost: Vec<f64>,
    root: Vec<i64>,
}

/// The relaxed problem at its prices.
pub(super) struct Relaxation<'a> {
    problem: &'a Problem<'a>,
    sizes: Sizes,
    pub(super) jobs: Vec<Job>,
    /// Cost of the jobs of which nothing may move.
    constant: f64,
    /// Capacity that the tasks that may not move leave, shape (machines, resources).
    room: Vec<i64>,
    /// Price of each, same shape.
    pub(super) prices: Vec<f64>,
    /// Machines by their latency from each machine, shape (machines, machines).
    near: Vec<u32>,
    /// Least cost of a curve at a step of latency or any later one, shape (curves, steps).
    floor: Vec<f64>,
    /// Number of places of tasks that were looked at.
    work: Cell<usize>,
    /// Most of them to place a graph once.
    graph_work: usize,
}

impl Prices for Relaxation<'_> {
    fn price(&self, task: usize, machine: i64) -> f64 {
        self.price(task, machine)
    }
}

impl<'a> Relaxation<'a> {
    /// Return the problem relaxed at `prices`, shape (machines, resources); `None` where arrays do not fit.
    pub(super) fn new(problem: &'a Problem<'a>, prices: &[f64]) -> Option<Self> {
        let mut state = State::new(problem)?;
        let sizes = state.sizes;
        if prices.len() != problem.room.len() {
            return None;
        }
        let movers: Vec<usize> = (0..sizes.tasks)
            .filter(|task| problem.movable[*task] != 0)
            .collect();
        for task in &movers {
            state.take(*task);
        }
        let mut relaxation = Self {
            problem,
            sizes,
            jobs: Vec::new(),
            constant: 0.0,
            room: state.free.iter().map(|free| (*free).max(0)).collect(),
            prices: prices.to_vec(),
            near: neighbours(problem, sizes.machines),
            floor: floors(problem),
            work: Cell::new(0),
            graph_work: GRAPH_WORK,
        };
        let mut tasks_of = vec![Vec::new(); sizes.jobs];
        for task in 0..sizes.tasks {
            tasks_of[problem.owner[task] as usize].push(task);
        }
        let least = least_rows(problem, sizes.machines);
        for (job, tasks) in tasks_of.iter().enumerate() {
            let moving: Vec<usize> = tasks
                .iter()
                .copied()
                .filter(|task| problem.movable[*task] != 0)
                .collect();
            if moving.is_empty() {
                relaxation.constant += present_cost(problem, sizes.machines, tasks);
                continue;
            }
            let running = moving.iter().filter(|task| problem.at[**task] >= 0).count();
            let root = center(problem, tasks);
            let shape = match root {
                Some(root) => Shape::Star(star(problem, &state, root, tasks)),
                None => {
                    // Where spread limits leave none of the waiting tasks a place, they say so at once.
                    let waiting = moving.len() - running;
                    let none_starts = stuck(problem, &state, tasks) >= waiting;
                    let exact = graphs::Graph::new(problem, &state, job, tasks, none_starts, &[]);
                    Shape::Graph(graph(problem, &state, tasks, &least, exact, none_starts))
                }
            };
            relaxation.jobs.push(Job {
                tasks: moving,
                root,
                most_moves: most_moves(problem, tasks),
                shape,
            });
        }
        let graphs = relaxation
            .jobs
            .iter()
            .filter(|job| job.root.is_none())
            .count();
        relaxation.graph_work = GRAPH_WORK.min(GRAPHS_WORK / graphs.max(1));
        Some(relaxation)
    }

    /// Return the price of a task's demand on a machine.
    pub(super) fn price(&self, task: usize, machine: i64) -> f64 {
        if machine < 0 {
            return 0.0;
        }
        let resources = self.sizes.resources;
        let need = &self.problem.need[task * resources..][..resources];
        let prices = &self.prices[machine as usize * resources..][..resources];
        need.iter()
            .zip(prices)
            .map(|(need, price)| *need as f64 * price)
            .sum()
    }

    /// Return the price of a task that comes to a machine, without that of its move.
    pub(super) fn arriving(&self, task: usize, machine: usize) -> f64 {
        let brought = self.problem.brought(task, self.sizes.machines, machine);
        self.price(task, machine as i64) + brought
    }

    /// Return the machines by their latency from `machine`.
    pub(super) fn near(&self, machine: i64) -> &[u32] {
        &self.near[machine as usize * self.sizes.machines..][..self.sizes.machines]
    }

    /// Return the least cost of a task's link at the latency between two machines or any longer one.
    pub(super) fn floor(&self, task: usize, machine: i64, peer: i64) -> f64 {
        let step = self.problem.steps[machine as usize * self.sizes.machines + peer as usize];
        self.floor[self.problem.row(task) + step as usize]
    }

    /// Return what the bound has apart from the jobs: what never changes, less the worth of all capacity.
    pub(super) fn outside(&self) -> f64 {
        let worth: f64 = self
            .room
            .iter()
            .zip(&self.prices)
            .map(|(room, price)| *room as f64 * price)
            .sum();
        self.constant - worth
    }

    /// Return the tables of all jobs at the present prices; not `exact`, graphs cost what is known of them.
    pub(super) fn tables(&mut self, exact: bool) -> Vec<Table> {
        let mut options = Vec::new();
        let mut jobs = std::mem::take(&mut self.jobs);
        let tables = jobs
            .iter_mut()
            .map(|job| self.table(job, &mut options, exact))
            .collect();
        self.jobs = jobs;
        tables
    }

    fn table(&self, job: &mut Job, options: &mut Vec<Options>, exact: bool) -> Table {
        let mut table = Table {
            cost: vec![f64::INFINITY; job.most_moves + 1],
            root: vec![-1; job.most_moves + 1],
        };
        let mut gains = Vec::new();
        match &mut job.shape {
            Shape::Star(star) => {
                let roots = if exact { &star.roots } else { &star.likely };
                for at in roots {
                    let mut cost = self.star_cost(star, *at, options, &mut gains);
                    let evicted: usize = options.iter().map(|options| options.evicted).sum();
                    let moves = usize::from(star.moves(self.problem, *at)) + evicted;
                    for count in moves..=job.most_moves {
                        if count > moves {
                            cost -= gains.get(count - moves - 1).unwrap_or(&0.0);
                        }
                        if cost < table.cost[count] {
                            table.cost[count] = cost;
                            table.root[count] = *at;
                        }
                    }
                }
                if exact {
                    for at in table.root.iter().filter(|at| **at >= 0 || !star.movable) {
                        if !star.likely.contains(at) {
                            star.likely.push(*at);
                        }
                    }
                }
                if self.problem.at[star.root] < 0 && star.movable {
                    // While its root waits, the links cost nothing.
                    for count in 0..=job.most_moves {
                        if self.problem.waiting_cost < table.cost[count] {
                            table.cost[count] = self.problem.waiting_cost;
                            table.root[count] = -1;
                        }
                    }
                }
            }
            Shape::Graph(Graph {
                exact: Some(known), ..
            }) if !exact => {
                for (count, (cost, place)) in known
                    .cheapest_known(job.most_moves, self)
                    .into_iter()
                    .enumerate()
                {
                    table.cost[count] = cost;
                    table.root[count] = place as i64;
                }
            }
            Shape::Graph(graph) if graph.exact.is_some() => {
                let (start, gains) = self.credits(graph);
                let Some(known) = &mut graph.exact else {
                    return table;
                };
                let (bound, work) = known.price(
                    self.problem,
                    self.sizes,
                    &self.room,
                    self,
                    job.most_moves,
                    start,
                    &gains,
                    &vec![f64::INFINITY; job.most_moves + 1],
                    self.graph_work,
                );
                self.work.set(self.work.get() + work);
                for (count, (_, place)) in known
                    .cheapest_known(job.most_moves, self)
                    .into_iter()
                    .enumerate()
                {
                    table.cost[count] = bound[count];
                    table.root[count] = place as i64;
                }
            }
            Shape::Graph(graph) => {
                let (mut cost, moves) = self.graph_cost(graph);
                for count in 0..=job.most_moves {
                    if count > 0 {
                        cost -= moves.get(count - 1).map_or(0.0, |(gain, ..)| *gain);
                    }
                    table.cost[count] = cost;
                }
            }
        }
        table
    }
}

/// A lower bound and the prices that give it, shape (machines, resources).
pub struct Bound {
    /// Least cost of any placement: links, moves and waiting tasks.
    pub cost: f64,
    /// Price of a unit of each resource of each machine.
    pub prices: Vec<f64>,
}

/// Return a lower bound of the cost of any placement; `upper` is the cost of one.
///
/// `None` where arrays do not fit one another.
pub fn bound(problem: &Problem<'_>, upper: f64, rounds: usize, watch: Watch<'_>) -> Option<Bound> {
    let mut relaxation = Relaxation::new(problem, &vec![0.0; problem.room.len()])?;
    let cost = relaxation.improve(upper, rounds, watch);
    Some(Bound {
        cost,
        prices: relaxation.prices,
    })
}
