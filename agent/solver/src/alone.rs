//! Placement of one job at a time while the tasks of all other jobs stay where they are.

use std::rc::Rc;

use super::graphs::{self, FEW_MOVES};
use super::making_room::Openings;
use super::potential::{Free, Potential, Roomy};
use super::problem::Problem;
use super::relaxation::{graph, least_rows, most_moves, present_cost};
use super::state::State;

/// Share of the work that may go into one job once.
const SHARE: usize = 20;
/// Moves of one job that are looked at where more than `FEW_MOVES` are allowed in all.
const MOVES_OF_A_JOB: usize = 4;

/// A job with tasks that may move.
pub(super) struct Job {
    pub(super) tasks: Vec<usize>,
    pub(super) moving: Vec<usize>,
    /// Most of its tasks that may move.
    pub(super) most: usize,
}

/// Cost of one job by its number of moves, others staying: a lower bound, and the cheapest placement found.
pub(super) struct Alone {
    pub(super) lower: Vec<f64>,
    pub(super) cost: Vec<f64>,
    /// Machines of `moving` for each number of moves.
    pub(super) at: Vec<Vec<i64>>,
}

impl Alone {
    /// Return a job of which only a bound is known.
    pub(super) fn bounded(lower: Vec<f64>) -> Self {
        Self {
            cost: vec![f64::INFINITY; lower.len()],
            at: vec![Vec::new(); lower.len()],
            lower,
        }
    }

    /// Return the same with a bound that is not below `lower`.
    pub(super) fn above(mut self, lower: &[f64]) -> Self {
        for (own, other) in self.lower.iter_mut().zip(lower) {
            *own = own.max(*other);
        }
        self
    }
}

/// The jobs with tasks that may move, while all tasks are where they were.
pub(super) struct Jobs<'a> {
    problem: &'a Problem<'a>,
    /// All tasks where they were.
    state: State<'a>,
    least: Vec<f64>,
    pub(super) jobs: Vec<Job>,
    /// Most moves in all.
    pub(super) most: usize,
    /// Place in `jobs` of each job.
    pub(super) place_of: Vec<usize>,
    /// Cost of the jobs of which nothing may move.
    pub(super) constant: f64,
    pub(super) work: usize,
    /// Most work to place one job once.
    job_work: usize,
}

impl<'a> Jobs<'a> {
    /// Return the jobs of a problem, with the work that may go into placing them; `None` where arrays do not fit.
    pub(super) fn new(problem: &'a Problem<'a>, work: usize) -> Option<Self> {
        let state = State::new(problem)?;
        let sizes = state.sizes;
        let mut jobs = Self {
            problem,
            least: least_rows(problem, sizes.machines),
            jobs: Vec::new(),
            most: 0,
            place_of: vec![usize::MAX; sizes.jobs],
            constant: 0.0,
            work,
            job_work: work / SHARE,
            state,
        };
        jobs.gather();
        Some(jobs)
    }

    /// Return whether only some of the allowed moves are looked at.
    pub(super) fn only_some(&self) -> bool {
        self.problem.most_moves > FEW_MOVES
    }

    fn gather(&mut self) {
        let sizes = self.state.sizes;
        let mut tasks_of = vec![Vec::new(); sizes.jobs];
        for task in 0..sizes.tasks {
            tasks_of[self.problem.owner[task] as usize].push(task);
        }
        for (job, tasks) in tasks_of.into_iter().enumerate() {
            let may_move = |task: &usize| self.problem.movable[*task] != 0;
            let moving: Vec<usize> = tasks.iter().copied().filter(may_move).collect();
            if moving.is_empty() {
                self.constant += present_cost(self.problem, sizes.machines, &tasks);
                continue;
            }
            self.place_of[job] = self.jobs.len();
            let most = most_moves(self.problem, &tasks);
            self.jobs.push(Job {
                most: if self.only_some() {
                    most.min(MOVES_OF_A_JOB)
                } else {
                    most
                },
                tasks,
                moving,
            });
        }
        let all = self.jobs.iter().map(|job| job.most).sum();
        self.most = self.problem.most_moves.min(all);
    }

    /// Return the tasks that came to one machine of which not all may be there; none if the placement keeps all limits.
    pub(super) fn conflict(&mut self, at: &[i64]) -> Vec<(usize, i64)> {
        let problem = self.problem;
        let changed: Vec<usize> = (0..at.len())
            .filter(|task| at[*task] != problem.at[*task])
            .collect();
        let mut machine_of_conflict = None;
        for task in &changed {
            self.state.take(*task);
        }
        for task in &changed {
            self.state.put(*task, at[*task]);
        }
        for task in &changed {
            let machine = at[*task];
            self.state.take(*task);
            if machine >= 0 && !self.state.fits(*task, machine) {
                machine_of_conflict = Some(machine);
            }
            self.state.put(*task, machine);
            if machine_of_conflict.is_some() {
                break;
            }
        }
        for task in &changed {
            self.state.take(*task);
        }
        for task in &changed {
            self.state.put(*task, problem.at[*task]);
        }
        let Some(machine) = machine_of_conflict else {
            return Vec::new();
        };
        let there = changed.iter().filter(|task| at[**task] == machine);
        there.map(|task| (*task, machine)).collect()
    }

    /// Place one job while all tasks but `leaving` stay, where that costs less than `limits` by number of moves.
    ///
    /// `None` if it has too many tasks.
    pub(super) fn alone(
        &mut self,
        place: usize,
        leaving: &[usize],
        bars: &[(usize, i64)],
        limits: &[f64],
    ) -> Option<Alone> {
        let (problem, sizes) = (self.problem, self.state.sizes);
        let job = &self.jobs[place];
        let number = problem.owner[job.tasks[0]] as usize;
        let away: Vec<usize> = leaving
            .iter()
            .chain(&job.moving)
            .copied()
            .filter(|task| self.state.at[*task] >= 0)
            .collect();
        let mine = |task: usize| problem.owner[task] as usize == number;
        let forced: Vec<usize> = leaving.iter().copied().filter(|task| mine(*task)).collect();
        let mut taken = Vec::new();
        for task in away {
            if self.state.at[task] >= 0 {
                self.state.take(task);
                taken.push(task);
            }
        }
        let own_bars = || bars.iter().filter(|(task, _)| mine(*task));
        for (task, machine) in own_bars() {
            self.state.bar(*task, *machine);
        }
        let form = graphs::Graph::new(problem, &self.state, number, &job.tasks, false, &forced);
        let credits = graph(problem, &self.state, &job.tasks, &self.least, None, false);
        let room: Vec<i64> = self.state.free.iter().map(|free| (*free).max(0)).collect();
        for (task, _) in own_bars() {
            self.state.unbar(*task);
        }
        for task in taken {
            self.state.put(task, problem.at[task]);
        }
        let mut form = form?;
        let most = |row: &[f64]| row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = |row: &[f64]| row.iter().copied().fold(f64::INFINITY, f64::min);
        let gains: Vec<f64> = credits
            .gains
            .iter()
            .map(|(task, row)| most(row) - problem.move_price(*task))
            .collect();
        let starts = credits.costs.iter();
        let start = credits.present
            + starts
                .map(|(_, row)| least(row).min(problem.waiting_cost))
                .sum::<f64>();
        let (mut lower, used) = form.price(
            problem,
            sizes,
            &room,
            &Free,
            job.most,
            start,
            &gains,
            limits,
            self.work.min(self.job_work),
        );
        self.work = self
            .work
            .saturating_sub(used + job.moving.len() * sizes.machines);
        lower
            .iter_mut()
            .take(forced.len())
            .for_each(|cost| *cost = f64::INFINITY);
        let cheapest = form.cheapest_known(job.most, &Free);
        let machines_of = |(cost, column): &(f64, usize)| {
            if !cost.is_finite() {
                return Vec::new();
            }
            let column = &form.known[*column].at;
            job.moving
                .iter()
                .map(|task| {
                    let member = form.tasks.iter().position(|other| other == task);
                    member.map_or(-1, |member| column[member])
                })
                .collect()
        };
        Some(Alone {
            lower,
            cost: cheapest.iter().map(|(cost, _)| *cost).collect(),
            at: cheapest.iter().map(machines_of).collect(),
        })
    }

    /// Return what leaving tasks open for others, from what each job costs alone.
    pub(super) fn openings(&mut self, alone: &[Rc<Alone>]) -> Openings {
        let (problem, sizes) = (self.problem, self.state.sizes);
        let everybody: Vec<usize> = self
            .jobs
            .iter()
            .flat_map(|job| job.moving.clone())
            .collect();
        let mut potentials = Vec::new();
        for (place, alone) in alone.iter().enumerate() {
            let now = self.roomy(place, &self.jobs[place].moving.clone());
            let open = self.roomy(place, &everybody);
            let (Some(now), Some(open)) = (now, open) else {
                continue; // what has too many tasks was not placed alone
            };
            let mut used = 0;
            let lower = &alone.lower;
            potentials.push(Potential::new(
                problem, sizes, lower, self.most, &now, &open, &mut used,
            ));
            self.work = self.work.saturating_sub(used);
        }
        Openings::new(potentials, self.constant, self.most, sizes.machines)
    }

    /// Return a job on the room that all tasks but `away` leave; `None` if it has too many tasks.
    fn roomy(&mut self, place: usize, away: &[usize]) -> Option<Roomy> {
        let problem = self.problem;
        for task in away {
            self.state.take(*task);
        }
        let job = &self.jobs[place];
        let number = problem.owner[job.tasks[0]] as usize;
        let form = graphs::Graph::new(problem, &self.state, number, &job.tasks, false, &[]);
        let room = self.state.free.iter().map(|free| (*free).max(0)).collect();
        for task in away {
            self.state.put(*task, problem.at[*task]);
        }
        form.map(|form| Roomy { form, room })
    }
}
