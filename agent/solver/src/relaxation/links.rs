//! Costs of links by machine, latency and curve.

use super::super::problem::Problem;

/// Return the machines by their latency from each, nearest first, shape (machines, machines).
pub(crate) fn neighbours(problem: &Problem<'_>, machines: usize) -> Vec<u32> {
    let mut near = Vec::with_capacity(machines * machines);
    for row in problem.steps.chunks_exact(machines) {
        let start = near.len();
        near.extend(0..machines as u32);
        near[start..].sort_by_key(|machine| row[*machine as usize]);
    }
    near
}

pub(super) fn floors(problem: &Problem<'_>) -> Vec<f64> {
    let mut floor = problem.table.to_vec();
    for row in floor.chunks_exact_mut(problem.table_steps) {
        for step in (1..row.len()).rev() {
            row[step - 1] = row[step - 1].min(row[step]);
        }
    }
    floor
}

/// Return the least cost of a link from each machine by curve, shape (curves, machines).
pub(crate) fn least_rows(problem: &Problem<'_>, machines: usize) -> Vec<f64> {
    let mut least = Vec::new();
    for table in problem.table.chunks_exact(problem.table_steps) {
        least.extend(problem.steps.chunks_exact(machines).map(|row| {
            row.iter()
                .map(|step| table[*step as usize])
                .fold(f64::INFINITY, f64::min)
        }));
    }
    least
}

/// Return the cost of the links of a job's tasks where both ends run.
pub(crate) fn present_cost(problem: &Problem<'_>, machines: usize, tasks: &[usize]) -> f64 {
    let mut total = 0.0;
    for task in tasks {
        for link in problem.links(*task) {
            let (here, there) = (problem.at[*task], problem.at[problem.other[link] as usize]);
            if here >= 0 && there >= 0 {
                total += problem.weight[link] * problem.pair(*task, machines, here, there) / 2.0;
            }
        }
    }
    total
}
