//! What jobs could gain if tasks of other jobs left a machine: which tasks are worth to be made to leave.
//!
//! The gain of a set of moves is at most the sum of the credits of its tasks (`relaxation::graph`) and what the job had
//! left to gain without moves. That is compared with what is known already, before any job is placed again.

use super::graphs::FEW_MOVES;
use super::problem::{Problem, Sizes};
use super::relaxation::{self, share_moves};

/// What the tasks of a job gain at most: beside all tasks of others, and if all others left.
pub(super) struct Room {
    pub(super) now: relaxation::Graph,
    pub(super) open: relaxation::Graph,
}

/// A running task: its job, its machine, and what it gains at most.
struct Mover {
    task: usize,
    job: usize,
    home: usize,
    /// On machines where it fits now, or that tasks of its own job leave.
    now: f64,
    /// By machine if all others left it, shape (machines,).
    open: Vec<f64>,
}

/// A set of tasks that leave for others, and the least cost that may lead to.
pub(super) struct Leaving {
    pub(super) lower: f64,
    tasks: [Option<u32>; FEW_MOVES],
}

impl Leaving {
    pub(super) fn tasks(&self) -> Vec<usize> {
        self.tasks
            .iter()
            .flatten()
            .map(|task| *task as usize)
            .collect()
    }
}

/// One task, or two, of a job that may come to a machine if others leave it.
#[derive(Clone)]
struct Comer {
    job: usize,
    /// What they gain at most, with starts of the job on the same machine.
    gain: f64,
    moves: usize,
}

/// Gains in the place of leaving tasks.
pub(super) struct Openings {
    movers: Vec<Mover>,
    /// Cost if nothing moves.
    cost: f64,
    /// Most that any number of moves gains while no task makes room for another job.
    gain: Vec<f64>,
    /// Most that a move of a job gains, with what it may gain by its starts.
    most: Vec<f64>,
    /// What may come to a machine if others leave it, by machine.
    comers: Vec<Vec<Comer>>,
    /// What starts of each job gain on a machine if others leave it, by machine.
    starts: Vec<Vec<(usize, f64)>>,
    moves: usize,
}

impl Openings {
    /// Return the openings of jobs with the bounds `lower` by number of moves; `constant` is the cost of what stays.
    pub(super) fn new(
        problem: &Problem<'_>,
        sizes: Sizes,
        constant: f64,
        lower: &[&[f64]],
        rooms: &[Room],
        fits: impl Fn(usize, usize) -> bool,
    ) -> Self {
        let cost = constant + lower.iter().map(|lower| lower[0]).sum::<f64>();
        let all: usize = lower.iter().map(|lower| lower.len() - 1).sum();
        let moves = problem.most_moves.min(all);
        let mut openings = Self {
            movers: Vec::new(),
            cost,
            gain: (0..=moves)
                .map(|moves| cost - constant - share_moves(lower, moves).0)
                .collect(),
            most: Vec::new(),
            comers: vec![Vec::new(); sizes.machines],
            starts: vec![Vec::new(); sizes.machines],
            moves,
        };
        for (job, (room, lower)) in rooms.iter().zip(lower).enumerate() {
            openings.add_job(problem, job, room, lower, &fits);
        }
        openings
    }

    fn add_job(
        &mut self,
        problem: &Problem<'_>,
        job: usize,
        room: &Room,
        lower: &[f64],
        fits: &impl Fn(usize, usize) -> bool,
    ) {
        let least = |row: &[f64]| row.iter().copied().fold(problem.waiting_cost, f64::min);
        let starts = || room.now.costs.iter().zip(&room.open.costs);
        let start = room.now.present + starts().map(|((_, now), _)| least(now)).sum::<f64>();
        let slack = (lower[0] - start).max(0.0);
        let first = self.movers.len();
        let mut most: f64 = 0.0;
        let may_move = if lower.len() > 1 {
            room.now.gains.len()
        } else {
            0
        };
        let gains = room.now.gains.iter().zip(&room.open.gains);
        for ((task, now), (_, open)) in gains.take(may_move) {
            let worth = |gain: &f64| gain - problem.price + slack;
            let best = now.iter().map(worth).fold(f64::NEG_INFINITY, f64::max);
            most = most.max(best);
            self.movers.push(Mover {
                task: *task,
                job,
                home: problem.at[*task] as usize,
                now: best,
                open: open.iter().map(worth).collect(),
            });
        }
        self.most.push(most);
        for machine in 0..self.comers.len() {
            // Starts here, and whether any of them needs the room of others: alone, or beside another of the job.
            let (mut started, mut count, mut needs) = (0.0, 0, false);
            for ((task, now), (_, open)) in starts() {
                if open[machine] < problem.waiting_cost {
                    started += (least(now) - open[machine]).max(0.0);
                    count += 1;
                    needs |= !fits(*task, machine);
                }
            }
            if (needs || count > 1) && started + slack > 0.0 {
                self.starts[machine].push((job, started + slack));
            }
            let mut come = |gain: f64, moves: usize| {
                if gain.is_finite() {
                    self.comers[machine].push(Comer { job, gain, moves });
                }
            };
            let (mut one, mut two, mut alone) =
                (f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY);
            for mover in &self.movers[first..] {
                let gain = mover.open[machine];
                if gain > one {
                    (one, two) = (gain, one);
                } else {
                    two = two.max(gain);
                }
                if !fits(mover.task, machine) {
                    alone = alone.max(gain);
                }
            }
            come(if count > 0 { one + started } else { alone }, 1);
            come(one + two - slack + started, 2);
        }
    }

    /// Return the sets of tasks whose leaving could lead below the cost `worth`, those of the least bound last.
    pub(super) fn leaving(&self, worth: f64) -> Vec<Leaving> {
        let mut found = Vec::new();
        let count = self.movers.len();
        let mut take = |places: &[usize]| {
            let lower = self.cost - self.most_gain(places);
            if lower < worth {
                let mut tasks = [None; FEW_MOVES];
                for (task, place) in tasks.iter_mut().zip(places) {
                    *task = Some(self.movers[*place].task as u32);
                }
                found.push(Leaving { lower, tasks });
            }
        };
        for a in 0..if self.moves > 0 { count } else { 0 } {
            take(&[a]);
            for b in a + 1..if self.moves > 1 { count } else { 0 } {
                take(&[a, b]);
                for c in b + 1..if self.moves > 2 { count } else { 0 } {
                    take(&[a, b, c]);
                }
            }
        }
        found.sort_by(|a, b| b.lower.total_cmp(&a.lower));
        found
    }

    /// Return a lower bound of the cost of a job by its moves while `leaving` leave, from the bound `lower` if none does.
    ///
    /// `None` if that changes nothing for the job: it has none of them, and cannot come in their place.
    pub(super) fn lower(&self, job: usize, leaving: &[usize], lower: &[f64]) -> Option<Vec<f64>> {
        let places: Vec<usize> = (0..self.movers.len())
            .filter(|place| leaving.contains(&self.movers[*place].task))
            .collect();
        let homes = || places.iter().map(|place| self.movers[*place].home);
        let mine = |list: &[(usize, f64)]| of_job(list, job);
        let comes = homes()
            .flat_map(|home| &self.comers[home])
            .filter(|comer| comer.job == job)
            .map(|comer| comer.gain / comer.moves as f64)
            .fold(f64::NEG_INFINITY, f64::max);
        let starts: f64 = homes().filter_map(|home| mine(&self.starts[home])).sum();
        let forced = || {
            let own = places
                .iter()
                .filter(|place| self.movers[**place].job == job);
            own.map(|place| self.elsewhere(*place, &places))
        };
        let (count, own): (usize, f64) = (forced().count(), forced().sum());
        let changed = comes.is_finite() || starts > 0.0;
        if count == 0 && !changed {
            return None;
        }
        let one = self.most[job].max(comes).max(0.0);
        let bound = |moves: usize| {
            if moves < count {
                return f64::INFINITY;
            }
            let gain = own + starts + (moves - count) as f64 * one;
            let least = lower[0] - gain;
            if !changed {
                least.max(lower[moves])
            } else if count > 0 {
                least
            } else {
                least.min(lower[moves])
            }
        };
        Some((0..lower.len()).map(bound).collect())
    }

    /// Return the most that is gained if these tasks leave and others come to the machine of each.
    fn most_gain(&self, places: &[usize]) -> f64 {
        let left = self.moves - places.len();
        let starts = self.starts_on(places);
        let mut most = f64::NEG_INFINITY;
        if starts > 0.0 {
            let own: f64 = places
                .iter()
                .map(|place| self.elsewhere(*place, places))
                .sum();
            most = own + starts + self.rest(left, places, None);
        }
        let home = |place: usize| self.movers[place].home;
        most.max(match places {
            [a] if left > 0 => {
                let comers = self.comers[home(*a)].iter();
                comers
                    .filter(|comer| comer.job != self.movers[*a].job && comer.moves <= left)
                    .map(|comer| {
                        let rest = self.rest(left - comer.moves, places, Some(comer.job));
                        self.movers[*a].now + comer.gain + rest
                    })
                    .fold(f64::NEG_INFINITY, f64::max)
            }
            [a, b] => {
                let (to_b, to_a) = (self.in_place_of(*a, *b), self.in_place_of(*b, *a));
                let mut most = to_b + to_a + self.rest(left, places, None);
                if left > 0 {
                    let third =
                        |place: usize| self.best_comer(home(place), self.movers[place].job, 1);
                    let stay = |place: usize| self.movers[place].now;
                    most = most.max(to_b + stay(*b).max(to_a) + third(*a));
                    most = most.max(to_a + stay(*a).max(to_b) + third(*b));
                    if home(*a) == home(*b) {
                        let any = self.best_comer(home(*a), usize::MAX, 1);
                        most = most.max(stay(*a) + stay(*b) + any);
                    }
                }
                most
            }
            [a, b, c] => {
                let apart = home(*a) != home(*b) && home(*a) != home(*c) && home(*b) != home(*c);
                let others = |x: usize, y: usize, z: usize| {
                    let taken = self.in_place_of(x, y).max(self.in_place_of(x, z));
                    if apart {
                        taken
                    } else {
                        taken.max(self.movers[x].now)
                    }
                };
                others(*a, *b, *c) + others(*b, *a, *c) + others(*c, *a, *b)
            }
            _ => f64::NEG_INFINITY,
        })
    }

    /// Return what a task gains at most on the machine that another leaves.
    fn in_place_of(&self, place: usize, other: usize) -> f64 {
        let (mover, home) = (&self.movers[place], self.movers[other].home);
        if mover.home == home {
            f64::NEG_INFINITY
        } else {
            mover.open[home]
        }
    }

    /// Return what a leaving task gains at most, where it fits now or in the place of another that leaves.
    fn elsewhere(&self, place: usize, places: &[usize]) -> f64 {
        let others = places.iter().filter(|other| **other != place);
        others
            .map(|other| self.in_place_of(place, *other))
            .fold(self.movers[place].now, f64::max)
    }

    /// Return the most that one of at most `moves` moves to a machine gains, of jobs but one.
    fn best_comer(&self, machine: usize, but: usize, moves: usize) -> f64 {
        self.comers[machine]
            .iter()
            .filter(|comer| comer.job != but && comer.moves <= moves)
            .map(|comer| comer.gain / comer.moves as f64)
            .fold(f64::NEG_INFINITY, f64::max)
    }

    fn starts_on(&self, places: &[usize]) -> f64 {
        let homes = places.iter().map(|place| self.movers[*place].home);
        homes
            .flat_map(|home| &self.starts[home])
            .map(|(_, gain)| gain)
            .sum()
    }

    /// Return the most that further moves gain, of jobs that moved already or of others.
    fn rest(&self, moves: usize, places: &[usize], job: Option<usize>) -> f64 {
        let jobs = places
            .iter()
            .map(|place| self.movers[*place].job)
            .chain(job);
        let homes = || places.iter().map(|place| self.movers[*place].home);
        let starting = homes()
            .flat_map(|home| &self.starts[home])
            .map(|(job, _)| *job);
        let one = jobs
            .chain(starting)
            .map(|job| self.most[job])
            .chain(homes().map(|home| self.best_comer(home, usize::MAX, moves)))
            .fold(self.gain[moves.min(1)].max(0.0), f64::max);
        (moves as f64 * one).max(self.gain[moves])
    }
}

fn of_job(list: &[(usize, f64)], job: usize) -> Option<f64> {
    list.iter()
        .find(|(other, _)| *other == job)
        .map(|(_, gain)| *gain)
}
