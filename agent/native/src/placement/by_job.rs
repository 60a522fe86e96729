//! The best placement with few moves: branch and bound over what each job does alone.
//!
//! Each job is placed alone for each number of its moves, by `graphs`, while the tasks of all others stay. Where the
//! cheapest placements of jobs do not go together on a machine, one of the tasks that come there gives it up
//! (G. Sharon et al. 2015, "Conflict-based search for optimal multi-agent pathfinding"). Room that tasks of other jobs
//! leave counts in branches of their own, in which they have to leave, if what is gained could pay for it at all.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::rc::Rc;

use super::graphs::{self, FEW_MOVES, Prices};
use super::making_room::{Openings, Room};
use super::problem::Problem;
use super::relaxation::{after_each, graph, least_rows, most_moves, present_cost, share_moves};
use super::state::State;
use super::watch::Watch;

const TOLERANCE: f64 = 1e-9;
/// Share of the work that may go into one job once.
const SHARE: usize = 20;
/// Moves of one job that are looked at where more than `FEW_MOVES` are allowed in all.
const MOVES_OF_A_JOB: usize = 4;

/// The best placement found, and a lower bound of every placement.
pub struct Best {
    /// Machine of each task.
    pub at: Vec<i64>,
    /// Least cost of any placement: links, moves and waiting tasks.
    pub bound: f64,
}

/// Capacity without prices.
struct Free;

impl Prices for Free {
    fn price(&self, _: usize, _: i64) -> f64 {
        0.0
    }
}

/// A job with tasks that may move.
pub(super) struct Job {
    pub(super) tasks: Vec<usize>,
    pub(super) moving: Vec<usize>,
    /// Most of its tasks that may move.
    pub(super) most: usize,
}

/// What a job costs alone by its number of moves: a lower bound, and the cheapest placement found.
pub(super) struct Alone {
    pub(super) lower: Vec<f64>,
    cost: Vec<f64>,
    /// Machines of `moving` for each number of moves.
    at: Vec<Vec<i64>>,
}

impl Alone {
    /// Return a job of which only a bound is known.
    fn bounded(lower: Vec<f64>) -> Self {
        Self {
            cost: vec![f64::INFINITY; lower.len()],
            at: vec![Vec::new(); lower.len()],
            lower,
        }
    }

    /// Return the same with a bound that is not below `lower`.
    fn above(mut self, lower: &[f64]) -> Self {
        for (own, other) in self.lower.iter_mut().zip(lower) {
            *own = own.max(*other);
        }
        self
    }
}

/// A branch: tasks that leave for others, machines that tasks give up, and what each job does within that.
struct Node {
    lower: f64,
    number: usize,
    /// Whether the newest branch comes first, not the one of the least bound.
    dive: bool,
    leaving: Vec<usize>,
    bars: Vec<(usize, i64)>,
    jobs: Vec<Rc<Alone>>,
}

impl Ord for Node {
    /// The branch that comes first is the greatest: that of the least bound, or the newest.
    fn cmp(&self, other: &Self) -> Ordering {
        if self.dive {
            return self.number.cmp(&other.number);
        }
        let bounds = other.lower.total_cmp(&self.lower);
        bounds.then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Node {}

struct Search<'a> {
    problem: &'a Problem<'a>,
    /// All tasks where they were.
    state: State<'a>,
    least: Vec<f64>,
    jobs: Vec<Job>,
    /// Most moves in all.
    most: usize,
    /// Place in `jobs` of each job.
    place_of: Vec<usize>,
    /// Cost of the jobs of which nothing may move.
    constant: f64,
    best: f64,
    chosen: Vec<i64>,
    /// Least bound of branches that could not be finished.
    open: f64,
    branches: BinaryHeap<Node>,
    number: usize,
    work: usize,
    /// Most work to place one job once.
    job_work: usize,
    watch: Watch<'a>,
}

/// Return the best placement that `work` looked-at machines lead to, from that of `begin` on.
///
/// `begin` keeps all limits. Where more than `FEW_MOVES` moves are allowed, only some of them are looked at: nothing is
/// proven, and the bound is infinitely low. `None` where arrays do not fit one another.
pub fn search<'a>(
    problem: &'a Problem<'a>,
    begin: &[i64],
    work: usize,
    watch: Watch<'a>,
) -> Option<Best> {
    let mut state = State::new(problem)?;
    state.go_to(begin)?;
    let best = state.total();
    let state = State::new(problem)?;
    let sizes = state.sizes;
    let mut search = Search {
        problem,
        least: least_rows(problem, sizes.machines),
        jobs: Vec::new(),
        most: 0,
        place_of: vec![usize::MAX; sizes.jobs],
        constant: 0.0,
        best,
        chosen: begin.to_vec(),
        open: f64::INFINITY,
        branches: BinaryHeap::new(),
        number: 0,
        work,
        job_work: work / SHARE,
        watch,
        state,
    };
    search.gather();
    search.run();
    let mut bound = search.open.min(search.best);
    if search.only_some() {
        bound = f64::NEG_INFINITY;
    }
    Some(Best {
        at: search.chosen,
        bound,
    })
}

impl Search<'_> {
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

    /// Return whether only some of the allowed moves are looked at.
    fn only_some(&self) -> bool {
        self.problem.most_moves > FEW_MOVES
    }

    fn tolerance(&self) -> f64 {
        TOLERANCE * self.best.abs().max(1.0)
    }

    /// Return false when the work is done or the search was stopped.
    fn goes_on(&mut self, bound: f64) -> bool {
        // Of only some moves the bound says nothing of all.
        let known = if self.only_some() { f64::NAN } else { bound };
        if !(self.watch)(self.best, known) {
            self.work = 0;
        }
        self.work > 0
    }

    fn run(&mut self) {
        let mut alone = Vec::new();
        for place in 0..self.jobs.len() {
            let everything = vec![f64::INFINITY; self.jobs[place].most + 1];
            match self.alone(place, &[], &[], &everything) {
                Some(job) if self.goes_on(f64::NAN) => alone.push(Rc::new(job)),
                _ => {
                    self.open = f64::NEG_INFINITY;
                    return;
                }
            }
        }
        let openings = self.openings(&alone);
        let mut leaving = Vec::new();
        if !self.only_some() {
            leaving = openings.leaving(self.best - self.tolerance());
        }
        let root = alone.clone();
        self.bound_and_add(Vec::new(), Vec::new(), alone);
        loop {
            let next = leaving.last().map_or(f64::INFINITY, |next| next.lower);
            let begun = self
                .branches
                .peek()
                .map_or(f64::INFINITY, |node| node.lower);
            let lower = next.min(begun);
            if lower >= self.best - self.tolerance() {
                if self.only_some() && self.branches.pop().is_some() {
                    continue;
                }
                break;
            }
            if !self.goes_on(lower) {
                self.open = self.open.min(lower);
                break;
            }
            if next < begun {
                if let Some(next) = leaving.pop() {
                    self.open_branch(next.tasks(), &root, &openings);
                }
            } else if let Some(node) = self.branches.pop() {
                self.settle(node);
            }
        }
    }

    /// Add a branch, unless its bound says that nothing in it is better.
    fn bound_and_add(
        &mut self,
        leaving: Vec<usize>,
        bars: Vec<(usize, i64)>,
        jobs: Vec<Rc<Alone>>,
    ) {
        if let Some(node) = self.bounded(leaving, bars, jobs) {
            self.add(node);
        }
    }

    fn add(&mut self, mut node: Node) {
        self.number += 1;
        node.number = self.number;
        self.branches.push(node);
    }

    /// Return a branch, unless its bound says that nothing in it is better.
    fn bounded(
        &self,
        leaving: Vec<usize>,
        bars: Vec<(usize, i64)>,
        jobs: Vec<Rc<Alone>>,
    ) -> Option<Node> {
        let lower = self.lower(&jobs);
        let better = lower < self.best - self.tolerance();
        better.then_some(Node {
            lower,
            number: 0,
            dive: self.only_some(),
            leaving,
            bars,
            jobs,
        })
    }

    /// Place the jobs of a branch in which tasks leave for others: theirs, and those that may come in their place.
    fn open_branch(&mut self, leaving: Vec<usize>, root: &[Rc<Alone>], openings: &Openings) {
        let mut jobs = root.to_vec();
        let mut changed = Vec::new();
        for (place, job) in jobs.iter_mut().enumerate() {
            if let Some(lower) = openings.lower(place, &leaving, &job.lower) {
                *job = Rc::new(Alone::bounded(lower));
                changed.push(place);
            }
        }
        for place in changed {
            if self.lower(&jobs) >= self.best - self.tolerance() {
                return;
            }
            let limits = self.limits(place, &jobs);
            if let Some(alone) = self.alone(place, &leaving, &[], &limits) {
                jobs[place] = Rc::new(alone.above(&jobs[place].lower));
            }
        }
        self.bound_and_add(leaving, Vec::new(), jobs);
    }

    /// Return a lower bound of the cost of a branch.
    fn lower(&self, jobs: &[Rc<Alone>]) -> f64 {
        let costs: Vec<&[f64]> = jobs.iter().map(|job| &job.lower[..]).collect();
        self.constant + share_moves(&costs, self.most).0
    }

    /// Return the cost by number of moves from which on a job is of no use to better what is known.
    fn limits(&self, place: usize, jobs: &[Rc<Alone>]) -> Vec<f64> {
        let others = jobs.iter().enumerate().filter(|(other, _)| *other != place);
        let costs: Vec<&[f64]> = others.map(|(_, job)| &job.lower[..]).collect();
        let most = self.most;
        let rows = after_each(costs.into_iter(), most);
        (0..=self.jobs[place].most)
            // Finite even where the others need all moves: the cost of what cannot be stays infinite.
            .map(|moves| (self.best - self.constant - rows[0][most - moves]).max(f64::MIN))
            .collect()
    }

    /// Take the cheapest placement of each job; where two do not go together, branch.
    fn settle(&mut self, node: Node) {
        let Node {
            lower,
            leaving,
            bars,
            jobs,
            ..
        } = node;
        let costs: Vec<&[f64]> = jobs.iter().map(|job| &job.cost[..]).collect();
        let (cost, moves) = share_moves(&costs, self.most);
        if !cost.is_finite() {
            self.open = self.open.min(lower);
            return;
        }
        let mut at = self.problem.at.to_vec();
        for ((job, alone), count) in self.jobs.iter().zip(&jobs).zip(&moves) {
            for (task, machine) in job.moving.iter().zip(&alone.at[*count]) {
                at[*task] = *machine;
            }
        }
        let conflict = self.conflict(&at);
        if conflict.is_empty() {
            let cost = cost + self.constant;
            if cost < self.best - self.tolerance() {
                self.best = cost;
                self.chosen.copy_from_slice(&at);
            }
            if lower < cost - self.tolerance() {
                self.open = self.open.min(lower); // a job was not placed to the end
            }
            return;
        }
        let mut branches = Vec::new();
        for (task, machine) in conflict {
            let mut bars = bars.clone();
            bars.push((task, machine));
            let place = self.place_of[self.problem.owner[task] as usize];
            let mut jobs = jobs.clone();
            let limits = self.limits(place, &jobs);
            let Some(alone) = self.alone(place, &leaving, &bars, &limits) else {
                self.open = self.open.min(lower);
                continue;
            };
            jobs[place] = Rc::new(alone.above(&jobs[place].lower));
            branches.extend(self.bounded(leaving.clone(), bars, jobs));
        }
        branches.sort_by(|a, b| b.lower.total_cmp(&a.lower));
        for branch in branches {
            self.add(branch);
        }
    }

    /// Return the tasks that came to one machine of which not all may be there; none if the placement keeps all limits.
    fn conflict(&mut self, at: &[i64]) -> Vec<(usize, i64)> {
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

    /// Place a job alone, beside all that stays but `leaving`, where that costs less than `limits` by number of moves.
    ///
    /// `None` if it has too many tasks.
    fn alone(
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
            .map(|(_, row)| most(row) - problem.price)
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

    /// Return what the tasks of each job gain at most, and what they could gain if others left.
    fn openings(&mut self, alone: &[Rc<Alone>]) -> Openings {
        let problem = self.problem;
        let mut rooms = Vec::new();
        for job in &self.jobs {
            for task in &job.moving {
                self.state.take(*task);
            }
            let now = graph(problem, &self.state, &job.tasks, &self.least, None, false);
            for task in &job.moving {
                self.state.put(*task, problem.at[*task]);
            }
            rooms.push(now);
        }
        let movers: Vec<usize> = self
            .jobs
            .iter()
            .flat_map(|job| job.moving.clone())
            .collect();
        for task in &movers {
            self.state.take(*task);
        }
        let mut all = Vec::new();
        for (job, now) in self.jobs.iter().zip(rooms) {
            let open = graph(problem, &self.state, &job.tasks, &self.least, None, false);
            all.push(Room { now, open });
        }
        for task in &movers {
            self.state.put(*task, problem.at[*task]);
        }
        let machines = self.state.sizes.machines;
        let mut fits = vec![false; problem.at.len() * machines];
        for task in movers {
            self.state.take(task);
            for machine in 0..machines {
                fits[task * machines + machine] = self.state.may_run(task, machine);
            }
            self.state.put(task, problem.at[task]);
        }
        let fits = |task: usize, machine: usize| fits[task * machines + machine];
        let lower: Vec<&[f64]> = alone.iter().map(|job| &job.lower[..]).collect();
        Openings::new(problem, self.state.sizes, self.constant, &lower, &all, fits)
    }
}
