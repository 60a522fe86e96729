//! Moves shared among jobs within the budget of all.

use super::super::problem::Problem;

/// Return the least cost of all jobs with at most `most` moves in all, and the moves of each.
pub(crate) fn share_moves(tables: &[&[f64]], most: usize) -> (f64, Vec<usize>) {
    let all: usize = tables.iter().map(|table| table.len() - 1).sum();
    if all <= most {
        // Every table falls with the number of moves.
        let cost = tables.iter().map(|table| least(table).1).sum();
        return (cost, tables.iter().map(|table| least(table).0).collect());
    }
    let rows = after_each(tables.iter().copied(), most);
    let mut left = most;
    let mut moves = Vec::new();
    for (table, row) in tables.iter().zip(&rows[1..]) {
        let count = (0..table.len().min(left + 1))
            .min_by(|a, b| (table[*a] + row[left - a]).total_cmp(&(table[*b] + row[left - b])))
            .unwrap_or(0);
        moves.push(count);
        left -= count;
    }
    (rows[0][most], moves)
}

fn least(costs: &[f64]) -> (usize, f64) {
    let mut best = (0, f64::INFINITY);
    for (count, cost) in costs.iter().enumerate() {
        if *cost < best.1 {
            best = (count, *cost);
        }
    }
    best
}

/// Return, for each job and after the last, the least cost of it and those after it by the number of moves left.
pub(crate) fn after_each<'t>(
    tables: impl DoubleEndedIterator<Item = &'t [f64]>,
    most: usize,
) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; most + 1]];
    for table in tables.rev() {
        let after = &rows[rows.len() - 1];
        let row = (0..=most)
            .map(|left| {
                (0..table.len().min(left + 1))
                    .map(|count| table[count] + after[left - count])
                    .fold(f64::INFINITY, f64::min)
            })
            .collect();
        rows.push(row);
    }
    rows.reverse();
    rows
}

/// Return the most tasks of a job that may move.
pub(crate) fn most_moves(problem: &Problem<'_>, tasks: &[usize]) -> usize {
    let moving = |task: &&usize| problem.movable[**task] != 0 && problem.at[**task] >= 0;
    let running = tasks.iter().filter(moving).count() as i64;
    let own = tasks.first().map_or(0, |task| {
        problem.most_moves_of[problem.owner[*task] as usize].clamp(0, running)
    });
    problem.most_moves.min(own as usize)
}
