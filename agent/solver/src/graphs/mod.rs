//! The cheapest placements of one job at prices of capacity, by its number of moves, within the limits of the job.
//!
//! For each set of tasks that move, the others stay, and the moving and waiting tasks are placed depth first. Each task
//! first sends those before it what it costs at least next to them (R. Dechter, I. Rish 2003, "Mini-buckets"): exact where
//! their links have no cycle. Sets and branches that cannot be better than the placements known are left out.

mod combinations;
mod dive;
mod moving_sets;
mod start;

use super::problem::Problem;
use super::state::State;
pub(super) use moving_sets::FEW_MOVES;

/// Most tasks of a graph that are placed exactly.
const TASKS: usize = 24;
/// Most placements of a job that are remembered.
const REMEMBERED: usize = 300;

struct Link {
    peer: usize,
    weight: f64,
}

/// A placement of a job: the machine of each of its tasks that may move, -1 for none.
pub(super) struct Column {
    pub(super) at: Vec<i64>,
    pub(super) moves: usize,
    /// Cost of links, moves and waiting tasks, without prices of capacity.
    cost: f64,
}

/// A job of any form, with the tasks that may move: those that run first.
pub(super) struct Graph {
    pub(super) tasks: Vec<usize>,
    homes: Vec<i64>,
    running: usize,
    links: Vec<Vec<Link>>,
    /// Cost of the links to tasks that may not move, shape (tasks, machines), infinite where a task may not begin to run.
    alone: Vec<f64>,
    /// Its value where each task runs.
    at_home: Vec<f64>,
    /// Cost of the links of tasks that may not move.
    fixed: f64,
    /// Row of costs of links by step of latency.
    row: usize,
    /// Tasks of the job that each failure domain may have, shape (levels, domains).
    left: Vec<i64>,
    counted: Vec<bool>,
    /// Members that have to move.
    forced: Vec<usize>,
    pub(super) known: Vec<Column>,
}

/// Prices of a task on a machine.
pub(super) trait Prices {
    fn price(&self, task: usize, machine: i64) -> f64;
}

impl Graph {
    /// Return a job next to what runs in `fixed`, without its own tasks; those of `forced` have to move.
    ///
    /// `None` if it has too many tasks.
    pub(super) fn new(
        problem: &Problem<'_>,
        fixed: &State<'_>,
        job: usize,
        tasks: &[usize],
        none_starts: bool,
        forced: &[usize],
    ) -> Option<Self> {
        let sizes = fixed.sizes;
        let machines = sizes.machines;
        let mut moving: Vec<usize> = tasks
            .iter()
            .copied()
            .filter(|task| problem.movable[*task] != 0)
            .collect();
        if moving.len() > TASKS {
            return None;
        }
        moving.sort_by_key(|task| (problem.at[*task] < 0, *task));
        let running = moving.iter().filter(|task| problem.at[**task] >= 0).count();
        let place = |task: usize| moving.iter().position(|other| *other == task);
        let mut graph = Self {
            homes: moving.iter().map(|task| problem.at[*task]).collect(),
            running,
            links: Vec::new(),
            alone: Vec::new(),
            at_home: Vec::new(),
            fixed: 0.0,
            row: problem.curve[job] as usize * problem.table_steps,
            left: Vec::new(),
            counted: moving
                .iter()
                .map(|task| problem.spared[*task] == 0)
                .collect(),
            forced: forced.iter().filter_map(|task| place(*task)).collect(),
            known: Vec::new(),
            tasks: Vec::new(),
        };
        graph.left = vec![0; sizes.levels * sizes.domains];
        for level in 0..sizes.levels {
            for machine in 0..machines {
                let domain = problem.domain[level * machines + machine] as usize;
                graph.left[level * sizes.domains + domain] = fixed.left(job, level, machine);
            }
        }
        for task in tasks
            .iter()
            .copied()
            .filter(|task| problem.movable[*task] == 0)
        {
            for link in problem.links(task) {
                let peer = problem.other[link] as usize;
                if problem.movable[peer] == 0 && problem.at[task] >= 0 && problem.at[peer] >= 0 {
                    let cost = problem.pair(task, machines, problem.at[task], problem.at[peer]);
                    graph.fixed += problem.weight[link] * cost / 2.0;
                }
            }
        }
        for task in &moving {
            let open: Vec<bool> = (0..machines)
                .map(|machine| {
                    fixed.may_run(*task, machine) && !(none_starts && problem.at[*task] < 0)
                })
                .collect();
            let mut alone: Vec<f64> = open
                .iter()
                .map(|open| if *open { 0.0 } else { f64::INFINITY })
                .collect();
            let mut at_home = 0.0;
            let mut links: Vec<Link> = Vec::new();
            for link in problem.links(*task) {
                let (peer, weight) = (problem.other[link] as usize, problem.weight[link]);
                if let Some(peer) = place(peer) {
                    match links.iter_mut().find(|other| other.peer == peer) {
                        Some(same) => same.weight += weight,
                        None => links.push(Link { peer, weight }),
                    }
                    continue;
                }
                let there = problem.at[peer];
                if there < 0 {
                    continue;
                }
                for (machine, cost) in alone.iter_mut().enumerate() {
                    *cost += weight * problem.pair(*task, machines, machine as i64, there);
                }
                if problem.at[*task] >= 0 {
                    at_home += weight * problem.pair(*task, machines, problem.at[*task], there);
                }
            }
            graph.alone.extend(alone);
            graph.at_home.push(at_home);
            graph.links.push(links);
        }
        graph.tasks = moving;
        if graph.forced.is_empty() {
            let now = graph.homes.clone();
            graph.know(problem, machines, now);
        }
        Some(graph)
    }

    /// Remember a placement; return its place in `known`.
    fn know(&mut self, problem: &Problem<'_>, machines: usize, at: Vec<i64>) -> usize {
        if let Some(place) = self.known.iter().position(|column| column.at == at) {
            return place;
        }
        let mut cost = self.fixed;
        let mut moves = 0;
        for (member, machine) in at.iter().copied().enumerate() {
            if machine < 0 {
                cost += problem.waiting_cost;
                continue;
            }
            if machine == self.homes[member] {
                cost += self.at_home[member];
            } else {
                let task = self.tasks[member];
                cost += self.alone[member * machines + machine as usize];
                cost += problem.coming(task, machines, machine);
                moves += usize::from(member < self.running);
            }
            for link in &self.links[member] {
                if at[link.peer] >= 0 {
                    cost += link.weight
                        * problem.pair(self.tasks[member], machines, machine, at[link.peer])
                        / 2.0;
                }
            }
        }
        if self.known.len() >= REMEMBERED {
            self.known.remove(1);
        }
        self.known.push(Column { at, moves, cost });
        self.known.len() - 1
    }

    /// Return the cost of a known placement at the prices.
    pub(super) fn cost(&self, column: usize, prices: &impl Prices) -> f64 {
        let column = &self.known[column];
        let paid = column
            .at
            .iter()
            .zip(&self.tasks)
            .map(|(machine, task)| prices.price(*task, *machine));
        column.cost + paid.sum::<f64>()
    }

    /// Return the cheapest of the known placements by number of moves, at most `most`: cost and place.
    pub(super) fn cheapest_known(&self, most: usize, prices: &impl Prices) -> Vec<(f64, usize)> {
        let mut best = vec![(f64::INFINITY, 0); most + 1];
        for (place, column) in self
            .known
            .iter()
            .enumerate()
            .filter(|(_, column)| column.moves <= most)
        {
            let cost = self.cost(place, prices);
            if cost < best[column.moves].0 {
                best[column.moves] = (cost, place);
            }
        }
        for moves in 1..=most {
            if best[moves - 1].0 < best[moves].0 {
                best[moves] = best[moves - 1];
            }
        }
        best
    }

    /// Return the own cost of each task on each machine it may move to, shape (tasks, machines), and of each that stays.
    pub(super) fn own_costs(
        &self,
        problem: &Problem<'_>,
        machines: usize,
        prices: &impl Prices,
    ) -> (Vec<f64>, Vec<f64>) {
        let mut own = self.alone.clone();
        let mut stay = self.at_home.clone();
        for (member, task) in self.tasks.iter().enumerate() {
            for machine in 0..machines {
                let cost = &mut own[member * machines + machine];
                if cost.is_finite() {
                    *cost += prices.price(*task, machine as i64);
                    *cost += problem.brought(*task, machines, machine);
                    if member < self.running {
                        *cost += problem.move_price(*task);
                    }
                }
            }
            if member < self.running {
                stay[member] += prices.price(*task, self.homes[member]);
            }
        }
        (own, stay)
    }

    /// Return the number of tasks that run: the first of `tasks`.
    pub(super) fn running(&self) -> usize {
        self.running
    }
}
