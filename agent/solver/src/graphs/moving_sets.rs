//! Bounds by the number of moves: every set of moving tasks that may be of use is placed.

use super::super::problem::{Problem, Sizes};
use super::combinations::combinations;
use super::{Graph, Prices};

/// Most sets of moving tasks of one size that are looked at.
const SETS: usize = 600;
/// Most sets where few tasks move: every set of three of the most tasks.
const SETS_OF_FEW: usize = 2_024;
/// Number of moves that are few.
pub(crate) const FEW_MOVES: usize = 3;

impl Graph {
    /// Return a lower bound of the cost with at most each number of moves, up to `most`; learn the cheapest placements.
    ///
    /// `gains` is what the move of each running task saves at most, `start` the least cost if none moves. What costs not
    /// less than `limit` by number of moves is of no use: the bound is at most that.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn price(
        &mut self,
        problem: &Problem<'_>,
        sizes: Sizes,
        room: &[i64],
        prices: &impl Prices,
        most: usize,
        start: f64,
        gains: &[f64],
        limits: &[f64],
        mut work: usize,
    ) -> (Vec<f64>, usize) {
        let machines = sizes.machines;
        let given = work;
        let (own, stay) = self.own_costs(problem, machines, prices);
        work = work.saturating_sub(own.len());
        let mut order: Vec<usize> = (0..self.running).collect();
        order.sort_by(|a, b| gains[*b].total_cmp(&gains[*a]));
        let mut bound: Vec<f64> = self
            .cheapest_known(most, prices)
            .iter()
            .zip(limits)
            .map(|(known, limit)| known.0.min(*limit))
            .collect();
        let mut limit = vec![f64::INFINITY; most + 1];
        let sets_most = if most <= FEW_MOVES { SETS_OF_FEW } else { SETS };
        for size in 0..=most.min(self.running) {
            let bar = bound[size];
            let credit =
                |set: &[usize]| start - set.iter().map(|place| gains[order[*place]]).sum::<f64>();
            let mut sets: Vec<(f64, Vec<usize>)> = Vec::new();
            let mut whole = true;
            combinations(self.running, size, &mut |set| {
                let cost = credit(set);
                if cost >= bar - 1e-9 {
                    return Some(false);
                }
                let moves = |member: &usize| set.iter().any(|place| order[*place] == *member);
                if !self.forced.iter().all(moves) {
                    return Some(true);
                }
                if sets.len() >= sets_most {
                    whole = false;
                    return None;
                }
                sets.push((cost, set.iter().map(|place| order[*place]).collect()));
                Some(true)
            });
            if !whole {
                limit[size] = credit(&(0..size).collect::<Vec<_>>());
                continue;
            }
            sets.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (credit, set) in sets {
                let bar = bound[size];
                if credit >= bar - 1e-9 {
                    break;
                }
                if work == 0 {
                    limit[size] = limit[size].min(credit);
                    break;
                }
                let (least, found, left) =
                    self.dive(problem, sizes, room, &own, &stay, &set, bar, work);
                work = left;
                if let Some(at) = found {
                    let place = self.know(problem, machines, at);
                    let cost = self.cost(place, prices).min(bar);
                    for bound in &mut bound[size..] {
                        *bound = bound.min(cost);
                    }
                }
                if work == 0 {
                    limit[size] = limit[size].min(least.max(credit));
                }
            }
        }
        // Where not every set was looked at, a price of moves bounds all of them.
        if let Some(first) = (0..=most).find(|moves| limit[*moves] < bound[*moves]) {
            let mut toll: Vec<f64> = (1..=most)
                .map(|moves| bound[moves - 1] - bound[moves])
                .collect();
            toll.push(0.0);
            toll.retain(|toll| toll.is_finite());
            toll.sort_by(f64::total_cmp);
            toll.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
            for toll in toll {
                let (least, used) = self.tolled(problem, sizes, room, &own, &stay, toll);
                work = work.saturating_sub(used);
                for (moves, limit) in limit.iter_mut().enumerate().skip(first) {
                    *limit = limit.max(least - toll * moves as f64);
                }
            }
        }
        for moves in 0..=most {
            bound[moves] = bound[moves].min(limit[moves]);
            if moves > 0 {
                bound[moves] = bound[moves].min(bound[moves - 1]);
            }
        }
        (bound, given - work)
    }

    /// Return a lower bound of the cost by the machine of `first`, the last for waiting, and the work of it.
    ///
    /// The members of `set` move, which `first` is one of unless it waits; `own` and `stay` are those of `own_costs`.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn least_by_machine(
        &self,
        problem: &Problem<'_>,
        sizes: Sizes,
        room: &[i64],
        own: &[f64],
        stay: &[f64],
        set: &[usize],
        first: usize,
    ) -> (Vec<f64>, usize) {
        let (cost, mut dive) = self.laid_out(
            problem,
            sizes,
            room,
            own,
            stay,
            set,
            Some(first),
            usize::MAX,
        );
        let others: f64 = dive.least[1..].iter().sum();
        let mut row = dive.rows.swap_remove(0);
        row.iter_mut().for_each(|least| *least += cost + others);
        (row, usize::MAX - dive.work)
    }

    /// Place the tasks of `set` and those that wait; return a bound, a placement cheaper than `bar`, and the work left.
    #[allow(clippy::too_many_arguments)]
    fn dive(
        &self,
        problem: &Problem<'_>,
        sizes: Sizes,
        room: &[i64],
        own: &[f64],
        stay: &[f64],
        set: &[usize],
        bar: f64,
        work: usize,
    ) -> (f64, Option<Vec<i64>>, usize) {
        let (cost, mut dive) = self.laid_out(problem, sizes, room, own, stay, set, None, work);
        dive.bar = bar;
        let bound = cost + dive.least.iter().sum::<f64>();
        if bound < bar - 1e-9 {
            dive.place(0, bound);
        }
        (bound, dive.best, dive.work)
    }

    /// Return a lower bound of the cost if every move costs `toll` more, whichever tasks move, and the work of it.
    fn tolled(
        &self,
        problem: &Problem<'_>,
        sizes: Sizes,
        room: &[i64],
        own: &[f64],
        stay: &[f64],
        toll: f64,
    ) -> (f64, usize) {
        let machines = sizes.machines;
        let members: Vec<usize> = (0..self.tasks.len()).collect();
        let mut dive = self.begin(problem, sizes, room, self.order(&members, None), usize::MAX);
        for member in dive.order.clone() {
            let mut row = own[member * machines..][..machines].to_vec();
            let running = member < self.running;
            if running {
                row.iter_mut().for_each(|cost| *cost += toll);
                row[self.homes[member] as usize] = stay[member];
            }
            row.push(if running {
                f64::INFINITY
            } else {
                problem.waiting_cost
            });
            dive.rows.push(row);
        }
        dive.send();
        (
            self.fixed + dive.least.iter().sum::<f64>(),
            usize::MAX - dive.work,
        )
    }
}
