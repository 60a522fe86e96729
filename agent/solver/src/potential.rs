//! Most that a job gains by a few moves: while the tasks of others stay, and on machines that they could leave.
//!
//! Each set of moving tasks is priced with one of its tasks on every machine, and the others and the tasks that wait
//! where they cost least (`graphs`, Mini-buckets): where the links of a job have no cycle, these are true costs.

use super::graphs::{Graph, Prices};
use super::problem::{Problem, Sizes};

/// Most moves of a job of which the machine of each is looked at.
const COMING_MOST: usize = 2;

/// Capacity without prices.
pub(super) struct Free;

impl Prices for Free {
    fn price(&self, _: usize, _: i64) -> f64 {
        0.0
    }
}

/// A job on the room that it has next to certain tasks of others, shape of `room` (machines, resources).
pub(super) struct Roomy {
    pub(super) form: Graph,
    pub(super) room: Vec<i64>,
}

/// Gains of a job at most, against what it costs without moves.
pub(super) struct Potential {
    /// Least cost without moves.
    pub(super) base: f64,
    /// Gain by number of moves while no other job moves.
    pub(super) gain: Vec<f64>,
    /// Running tasks that may move, and their machines.
    pub(super) movers: Vec<usize>,
    pub(super) homes: Vec<usize>,
    /// Gain if only this task moves, to a machine where it fits now.
    pub(super) now: Vec<f64>,
    /// The same if waiting tasks start on any machine that others could leave.
    pub(super) now_with_starts: Vec<f64>,
    /// Gain if only this task moves, by machine if all others left it, shape (movers, machines).
    pub(super) there: Vec<Vec<f64>>,
    /// Gain if two tasks move, now and if all others left, shape (movers, movers).
    pub(super) pair_now: Vec<f64>,
    pub(super) pair_open: Vec<f64>,
    /// Gain if a task comes to a machine that all others left, by number of moves and machine.
    pub(super) comes: Vec<Vec<f64>>,
    /// Machines that waiting tasks could start on if others left.
    pub(super) waits: Vec<bool>,
}

impl Potential {
    /// Return the gains of a job with the bounds `lower` by number of moves, of which `moves` are looked at in all.
    ///
    /// `now` is the job next to all tasks of others, `open` if all of these left that may move. Add the work to `work`.
    pub(super) fn new(
        problem: &Problem<'_>,
        sizes: Sizes,
        lower: &[f64],
        moves: usize,
        now: &Roomy,
        open: &Roomy,
        work: &mut usize,
    ) -> Self {
        let machines = sizes.machines;
        let form = &open.form;
        let running = if lower.len() > 1 { form.running() } else { 0 };
        let waiting: Vec<usize> = (form.running()..form.tasks.len()).collect();
        let home = |member: &usize| problem.at[form.tasks[*member]] as usize;
        let mut potential = Self {
            base: lower[0],
            gain: lower.iter().map(|cost| lower[0] - cost).collect(),
            movers: form.tasks[..running].to_vec(),
            homes: (0..running).map(|member| home(&member)).collect(),
            now: Vec::new(),
            now_with_starts: Vec::new(),
            there: Vec::new(),
            pair_now: vec![f64::NEG_INFINITY; running * running],
            pair_open: vec![f64::NEG_INFINITY; running * running],
            comes: vec![vec![f64::NEG_INFINITY; machines]; COMING_MOST + 1],
            waits: vec![false; machines],
        };
        let (own_now, stay) = now.form.own_costs(problem, machines, &Free);
        let (own_open, _) = open.form.own_costs(problem, machines, &Free);
        for member in &waiting {
            let row = &own_open[member * machines..][..machines];
            for (waits, cost) in potential.waits.iter_mut().zip(row) {
                *waits |= cost.is_finite();
            }
        }
        // The tasks that wait start where there is room now.
        let first_waiting = form.running() * machines;
        let mut own_moved = own_open.clone();
        own_moved[first_waiting..].copy_from_slice(&own_now[first_waiting..]);
        let gains = |own: &[f64], set: &[usize], first: usize, work: &mut usize| -> Vec<f64> {
            let (row, used) =
                form.least_by_machine(problem, sizes, &open.room, own, &stay, set, first);
            *work += used;
            row.iter().map(|cost| lower[0] - cost).collect()
        };
        let best = |row: &[f64]| row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let raise = |list: &mut [f64], row: &[f64]| {
            for (most, gain) in list.iter_mut().zip(row) {
                *most = most.max(*gain);
            }
        };
        for first in &waiting {
            let row = gains(&own_open, &[], *first, work);
            raise(&mut potential.comes[0], &row);
        }
        for member in 0..running {
            let fits = &own_now[member * machines..][..machines];
            let fitting = |row: &[f64]| {
                let fit = row.iter().zip(fits).filter(|(_, cost)| cost.is_finite());
                fit.map(|(gain, _)| *gain).fold(f64::NEG_INFINITY, f64::max)
            };
            let alone = gains(&own_moved, &[member], member, work);
            potential.now.push(fitting(&alone));
            let there = if waiting.is_empty() {
                alone
            } else {
                gains(&own_open, &[member], member, work)
            };
            potential.now_with_starts.push(fitting(&there));
            raise(&mut potential.comes[1], &there);
            potential.there.push(there[..machines].to_vec());
            for first in &waiting {
                let row = gains(&own_open, &[member], *first, work);
                raise(&mut potential.comes[1], &row);
            }
        }
        if moves < COMING_MOST || lower.len() <= COMING_MOST {
            return potential;
        }
        for a in 0..running {
            for b in a + 1..running {
                let set = [a, b];
                let (row, used) = now
                    .form
                    .least_by_machine(problem, sizes, &now.room, &own_now, &stay, &set, a);
                *work += used;
                let pair_now = lower[0] - row.iter().copied().fold(f64::INFINITY, f64::min);
                let mut pair_open = f64::INFINITY;
                // Two moves next to one of another job, or nothing moves but these two and starts.
                for first in set.iter().chain(&waiting) {
                    let row = gains(&own_open, &set, *first, work);
                    pair_open = pair_open.min(best(&row));
                    raise(&mut potential.comes[2], &row);
                }
                for place in [a * running + b, b * running + a] {
                    potential.pair_now[place] = pair_now;
                    potential.pair_open[place] = pair_open;
                }
            }
        }
        potential
    }

    /// Return what the job gains at most by its number of moves if tasks leave `opened`, machines of others.
    ///
    /// `forced` are the places of its own tasks that have to move. Without them, `None` if it gains no more than now.
    pub(super) fn gains(&self, forced: &[usize], opened: &[usize]) -> Option<Vec<f64>> {
        let coming = |moves: usize| {
            let row = &self.comes[moves.min(COMING_MOST)];
            opened
                .iter()
                .map(|machine| row[*machine])
                .fold(f64::NEG_INFINITY, f64::max)
        };
        let mut gains: Vec<f64> = (0..self.gain.len())
            .map(|moves| match (forced, moves) {
                ([], _) => self.gain[moves].max(coming(moves)),
                (forced, moves) if moves < forced.len() => f64::NEG_INFINITY,
                ([one], 1) => self.one(*one, opened),
                ([one], 2) if opened.is_empty() => {
                    let count = self.movers.len();
                    let pairs = &self.pair_now[one * count..][..count];
                    pairs.iter().copied().fold(self.now[*one], f64::max)
                }
                ([one, other], 2) => self.two(*one, *other, opened),
                _ if opened.is_empty() => self.gain[moves],
                _ => self.gain[moves].max(coming(moves)),
            })
            .collect();
        for moves in 1..gains.len() {
            gains[moves] = gains[moves].max(gains[moves - 1]);
        }
        let more = || gains.iter().zip(&self.gain).any(|(new, old)| new > old);
        (!forced.is_empty() || more()).then_some(gains)
    }

    /// Return what the job gains at most if only the task at a place of `movers` moves while others leave `opened`.
    pub(super) fn one(&self, place: usize, opened: &[usize]) -> f64 {
        let starts = opened.iter().any(|machine| self.waits[*machine]);
        let now = if starts {
            self.now_with_starts[place]
        } else {
            self.now[place]
        };
        let there = opened.iter().map(|machine| self.there[place][*machine]);
        there.fold(now, f64::max)
    }

    /// Return what the job gains at most if the tasks at two places of `movers` move while others leave `opened`.
    pub(super) fn two(&self, a: usize, b: usize, opened: &[usize]) -> f64 {
        let pairs = if opened.is_empty() {
            &self.pair_now
        } else {
            &self.pair_open
        };
        pairs[a * self.movers.len() + b]
    }
}
