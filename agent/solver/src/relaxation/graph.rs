//! Jobs of any other form: each task is credited with all it could gain, or the job is placed exactly.

use super::super::graphs;
use super::super::problem::Problem;
use super::super::state::State;
use super::Relaxation;
use super::links::present_cost;
use super::moves::most_moves;

/// A job of any other form. Rows have an entry for each machine, infinite where the task may not run.
pub(crate) struct Graph {
    /// Tasks that run, and what each gains at most on a machine.
    pub(crate) gains: Vec<(usize, Vec<f64>)>,
    /// Tasks that wait, and what their links cost at least on a machine.
    pub(crate) costs: Vec<(usize, Vec<f64>)>,
    /// Cost of the links as they are.
    pub(crate) present: f64,
    /// Its job as a graph that is placed exactly; `None` where it is too large.
    pub(super) exact: Option<graphs::Graph>,
}

impl Relaxation<'_> {
    /// Return the cost of a graph without moves, and the moves of its tasks: gain, task, machine, best first.
    pub(super) fn graph_cost(&self, graph: &Graph) -> (f64, Vec<(f64, usize, usize)>) {
        let problem = self.problem;
        let rows = graph.gains.len() + graph.costs.len();
        self.work.set(self.work.get() + rows * self.sizes.machines);
        let mut cost = graph.present;
        let mut moves = Vec::new();
        for (task, gains) in &graph.gains {
            let home = self.price(*task, problem.at[*task]);
            cost += home;
            let best = gains
                .iter()
                .enumerate()
                .filter(|(_, gain)| gain.is_finite())
                .map(|(machine, gain)| (gain - self.arriving(*task, machine), machine))
                .max_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((gain, machine)) = best {
                let gain = gain + home - problem.move_price(*task);
                if gain > 0.0 {
                    moves.push((gain, *task, machine));
                }
            }
        }
        for (task, costs) in &graph.costs {
            cost += self
                .start(*task, costs)
                .map_or(problem.waiting_cost, |(cost, _)| cost);
        }
        moves.sort_by(|a, b| b.0.total_cmp(&a.0));
        (cost, moves)
    }

    /// Return the least cost of a graph without moves, and what the move of each running task gains at most.
    pub(super) fn credits(&self, graph: &Graph) -> (f64, Vec<f64>) {
        let problem = self.problem;
        let mut cost = graph.present;
        let mut most = Vec::new();
        for (task, gains) in &graph.gains {
            let home = self.price(*task, problem.at[*task]);
            cost += home;
            let best = gains
                .iter()
                .enumerate()
                .map(|(machine, gain)| gain - self.arriving(*task, machine))
                .fold(f64::NEG_INFINITY, f64::max);
            most.push(best + home - problem.move_price(*task));
        }
        for (task, costs) in &graph.costs {
            cost += self
                .start(*task, costs)
                .map_or(problem.waiting_cost, |(cost, _)| cost);
        }
        (cost, most)
    }

    /// Return the cheapest machine of a waiting task of a graph, `None` if waiting is cheaper.
    pub(super) fn start(&self, task: usize, costs: &[f64]) -> Option<(f64, usize)> {
        costs
            .iter()
            .enumerate()
            .map(|(machine, cost)| (cost + self.arriving(task, machine), machine))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .filter(|(cost, _)| *cost < self.problem.waiting_cost)
    }
}

pub(crate) fn graph(
    problem: &Problem<'_>,
    fixed: &State<'_>,
    tasks: &[usize],
    least: &[f64],
    exact: Option<graphs::Graph>,
    none_starts: bool,
) -> Graph {
    let machines = fixed.sizes.machines;
    let most = most_moves(problem, tasks);
    let mut more: Vec<(usize, f64)> = Vec::new();
    let mut graph = Graph {
        gains: Vec::new(),
        costs: Vec::new(),
        present: present_cost(problem, machines, tasks),
        exact,
    };
    for task in tasks
        .iter()
        .copied()
        .filter(|task| problem.movable[*task] != 0)
    {
        let home = problem.at[task];
        let curve = problem.row(task) / problem.table_steps;
        let row = (0..machines).map(|machine| {
            if !fixed.may_run(task, machine) || (none_starts && home < 0) {
                return if home < 0 {
                    f64::INFINITY
                } else {
                    f64::NEG_INFINITY
                };
            }
            let half = least[curve * machines + machine] / 2.0;
            let mut total = 0.0;
            more.clear();
            for link in problem.links(task) {
                let peer = problem.other[link] as usize;
                let (there, weight) = (problem.at[peer], problem.weight[link]);
                if there < 0 {
                    continue;
                }
                let near = problem.pair(task, machines, machine as i64, there);
                let (alone, together) = if home < 0 {
                    (near, near.min(half))
                } else {
                    let now = problem.pair(task, machines, home, there);
                    (now - near, (now - near).max(now / 2.0 - half))
                };
                total += weight * alone;
                if problem.movable[peer] != 0 {
                    let extra = weight * (together - alone);
                    match more.iter_mut().find(|(other, _)| *other == peer) {
                        Some((_, sum)) => *sum += extra,
                        None => more.push((peer, extra)),
                    }
                }
            }
            // No more of its neighbours move with it than the budget allows.
            more.sort_unstable_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
            let peers = most.saturating_sub(usize::from(home >= 0));
            total + more.iter().take(peers).map(|(_, extra)| extra).sum::<f64>()
        });
        let row = row.collect();
        if home >= 0 {
            graph.gains.push((task, row));
        } else {
            graph.costs.push((task, row));
        }
    }
    graph
}
