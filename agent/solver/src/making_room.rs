//! Tasks that leave a machine so that tasks of other jobs can come: which sets of them could lead to a better placement.
//!
//! The upper bound of each job's gain (`potential`) given the sets is compared with what is known already, before any job is
//! placed again.

use super::graphs::FEW_MOVES;
use super::potential::Potential;
use super::relaxation::share_moves;

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

/// A running task: its job, its place among the movers of that, and its machine.
#[derive(Clone, Copy)]
struct Mover {
    task: usize,
    job: usize,
    place: usize,
    home: usize,
}

/// Gains in the place of leaving tasks.
pub(super) struct Openings {
    jobs: Vec<Potential>,
    movers: Vec<Mover>,
    /// Cost of what stays, and of the jobs without moves.
    cost: f64,
    moves: usize,
    /// Most that one move gains while no task makes room for another job.
    one: f64,
    /// Most that all starts gain on a machine that others leave, by machine.
    starts: Vec<f64>,
    /// Most that a job gains by one move to a machine that others leave, by machine.
    comes: Vec<f64>,
}

impl Openings {
    /// Return the openings between jobs of which `moves` tasks may move in all; `constant` is the cost of what stays.
    pub(super) fn new(jobs: Vec<Potential>, constant: f64, moves: usize, machines: usize) -> Self {
        let mut movers = Vec::new();
        let (mut starts, mut comes) = (vec![0.0; machines], vec![0.0; machines]);
        let mut one: f64 = 0.0;
        for (job, potential) in jobs.iter().enumerate() {
            for (place, (task, home)) in potential.movers.iter().zip(&potential.homes).enumerate() {
                movers.push(Mover {
                    task: *task,
                    job,
                    place,
                    home: *home,
                });
            }
            one = one.max(potential.gain.get(1).copied().unwrap_or(0.0));
            for machine in 0..machines {
                starts[machine] += potential.comes[0][machine].max(0.0);
                comes[machine] = f64::max(comes[machine], potential.comes[1][machine]);
            }
        }
        Self {
            cost: constant + jobs.iter().map(|job| job.base).sum::<f64>(),
            jobs,
            movers,
            moves,
            one,
            starts,
            comes,
        }
    }

    /// Return openings where no task leaves.
    pub(super) fn none() -> Self {
        Self::new(Vec::new(), 0.0, 0, 0)
    }

    /// Return the sets of tasks whose leaving could lead below the cost `worth`, those of the least bound last.
    pub(super) fn leaving(&self, worth: f64) -> Vec<Leaving> {
        let mut found = Vec::new();
        let mut take = |movers: &[Mover]| {
            let lower = self.cost - self.most_gain(movers);
            if lower >= worth {
                return;
            }
            let mut tasks = [None; FEW_MOVES];
            for (task, mover) in tasks.iter_mut().zip(movers) {
                *task = Some(mover.task as u32);
            }
            found.push(Leaving { lower, tasks });
        };
        let after = |place: usize, least: usize| {
            let first = if self.moves > least {
                place + 1
            } else {
                usize::MAX
            };
            self.movers.iter().copied().enumerate().skip(first)
        };
        for (place, a) in self.movers.iter().copied().enumerate() {
            if self.moves == 0 {
                break;
            }
            take(&[a]);
            for (place, b) in after(place, 1) {
                take(&[a, b]);
                for (_, c) in after(place, 2) {
                    take(&[a, b, c]);
                }
            }
        }
        found.sort_by(|a, b| b.lower.total_cmp(&a.lower));
        found
    }

    /// Return a lower bound of the cost of a job by its moves while `leaving` leave.
    ///
    /// `None` if that changes nothing for the job: it has none of them, and gains nothing in their place.
    pub(super) fn lower(&self, job: usize, leaving: &[usize]) -> Option<Vec<f64>> {
        let movers = self.movers.iter();
        let leaving: Vec<&Mover> = movers
            .filter(|mover| leaving.contains(&mover.task))
            .collect();
        let (own, others): (Vec<&Mover>, Vec<&Mover>) =
            leaving.iter().copied().partition(|mover| mover.job == job);
        let forced: Vec<usize> = own.iter().map(|mover| mover.place).collect();
        let opened: Vec<usize> = others.iter().map(|mover| mover.home).collect();
        let potential = &self.jobs[job];
        let gains = potential.gains(&forced, &opened)?;
        Some(gains.iter().map(|gain| potential.base - gain).collect())
    }

    /// Return the most that is gained if these tasks leave and others come to the machine of each.
    fn most_gain(&self, movers: &[Mover]) -> f64 {
        let starts: f64 = movers.iter().map(|mover| self.starts[mover.home]).sum();
        let left = self.moves - movers.len();
        match *movers {
            [a] if left == 0 => self.jobs[a.job].one(a.place, &[]) + starts,
            [a] => self.shared(&[a.task]),
            [a, b] => starts + self.of_two(a, b, left),
            [a, b, c] => {
                starts
                    + match (a.job == b.job, a.job == c.job, b.job == c.job) {
                        (true, true, _) => self.jobs[a.job]
                            .gain
                            .get(3)
                            .copied()
                            .unwrap_or(f64::NEG_INFINITY),
                        (true, ..) => self.pair_and_one(a, b, c),
                        (_, true, _) => self.pair_and_one(a, c, b),
                        (.., true) => self.pair_and_one(b, c, a),
                        _ => {
                            self.one(a, [b.home, c.home])
                                + self.one(b, [a.home, c.home])
                                + self.one(c, [a.home, b.home])
                        }
                    }
            }
            _ => f64::NEG_INFINITY,
        }
    }

    /// Return the most that all jobs gain together while `leaving` leave.
    fn shared(&self, leaving: &[usize]) -> f64 {
        let tables: Vec<Vec<f64>> = (0..self.jobs.len())
            .map(|job| {
                let gains = self.lower(job, leaving);
                let potential = &self.jobs[job];
                let now = || potential.gain.iter().map(|gain| potential.base - gain);
                gains.unwrap_or_else(|| now().collect())
            })
            .collect();
        let tables: Vec<&[f64]> = tables.iter().map(|table| &table[..]).collect();
        let base: f64 = self.jobs.iter().map(|job| job.base).sum();
        base - share_moves(&tables, self.moves).0
    }

    fn of_two(&self, a: Mover, b: Mover, left: usize) -> f64 {
        if a.job == b.job {
            let job = &self.jobs[a.job];
            let two = job.two(a.place, b.place, &[]);
            if left == 0 {
                return two;
            }
            let own = job.gain.get(3).copied().unwrap_or(two);
            return own.max(two + self.further(&[a.home, b.home]));
        }
        let (of_a, of_b) = (self.one(a, [b.home; 2]), self.one(b, [a.home; 2]));
        if left == 0 {
            return of_a + of_b;
        }
        let more = |mover: Mover, opened: usize| {
            let gains = self.jobs[mover.job].gains(&[mover.place], &[opened]);
            gains.map_or(f64::NEG_INFINITY, |gains| gains[gains.len().min(3) - 1])
        };
        (of_a + of_b + self.further(&[a.home, b.home]))
            .max(more(a, b.home) + of_b)
            .max(of_a + more(b, a.home))
    }

    /// Return the most that one more move of another job gains.
    fn further(&self, opened: &[usize]) -> f64 {
        let comes = opened.iter().map(|machine| self.comes[*machine]);
        comes.fold(self.one.max(0.0), f64::max)
    }

    fn one(&self, mover: Mover, opened: [usize; 2]) -> f64 {
        self.jobs[mover.job].one(mover.place, &opened)
    }

    fn pair_and_one(&self, a: Mover, b: Mover, c: Mover) -> f64 {
        self.jobs[a.job].two(a.place, b.place, &[c.home]) + self.one(c, [a.home, b.home])
    }
}
