//! The best placement with few moves: branch and bound over what each job does alone.
//!
//! Each job is placed alone for each number of its moves, by `graphs`, while the tasks of all others stay. Where the
//! cheapest placements of jobs do not go together on a machine, one of the tasks that come there gives it up
//! (G. Sharon et al. 2015, "Conflict-based search for optimal multi-agent pathfinding"). Room that tasks of other jobs
//! leave counts in branches of their own, in which they have to leave, if what is gained could pay for it at all.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::rc::Rc;

use super::alone::{Alone, Jobs};
use super::making_room::Openings;
use super::problem::Problem;
use super::relaxation::{after_each, share_moves};
use super::state::{State, tolerance};
use super::watch::Watch;

/// The best placement found, and a lower bound of every placement.
pub struct Best {
    /// Machine of each task.
    pub at: Vec<i64>,
    /// Least cost of any placement: links, moves and waiting tasks.
    pub bound: f64,
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
    jobs: Jobs<'a>,
    best: f64,
    chosen: Vec<i64>,
    /// Least bound of branches that could not be finished.
    open: f64,
    branches: BinaryHeap<Node>,
    number: usize,
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
    let mut search = Search {
        problem,
        jobs: Jobs::new(problem, work)?,
        best: State::of(problem, begin)?.total(),
        chosen: begin.to_vec(),
        open: f64::INFINITY,
        branches: BinaryHeap::new(),
        number: 0,
        watch,
    };
    search.run();
    let mut bound = search.open.min(search.best);
    if search.jobs.only_some() {
        bound = f64::NEG_INFINITY;
    }
    Some(Best {
        at: search.chosen,
        bound,
    })
}

impl Search<'_> {
    fn tolerance(&self) -> f64 {
        tolerance(self.best)
    }

    /// Return false when the work is done or the search was stopped.
    fn goes_on(&mut self, bound: f64) -> bool {
        // Of only some moves the bound says nothing of all.
        let known = if self.jobs.only_some() {
            f64::NAN
        } else {
            bound
        };
        if !(self.watch)(self.best, known) {
            self.jobs.work = 0;
        }
        self.jobs.work > 0
    }

    fn run(&mut self) {
        let mut alone = Vec::new();
        for place in 0..self.jobs.jobs.len() {
            let everything = vec![f64::INFINITY; self.jobs.jobs[place].most + 1];
            match self.jobs.alone(place, &[], &[], &everything) {
                Some(job) if self.goes_on(f64::NAN) => alone.push(Rc::new(job)),
                _ => {
                    self.open = f64::NEG_INFINITY;
                    return;
                }
            }
        }
        // Where only some moves are looked at, nothing is proven, and no task makes room.
        let openings = match self.jobs.only_some() {
            true => Openings::none(),
            false => self.jobs.openings(&alone),
        };
        let mut leaving = openings.leaving(self.best - self.tolerance());
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
                if self.jobs.only_some() && self.branches.pop().is_some() {
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
            dive: self.jobs.only_some(),
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
            if let Some(lower) = openings.lower(place, &leaving) {
                *job = Rc::new(Alone::bounded(lower));
                changed.push(place);
            }
        }
        for place in changed {
            if self.lower(&jobs) >= self.best - self.tolerance() {
                return;
            }
            let limits = self.limits(place, &jobs);
            if let Some(alone) = self.jobs.alone(place, &leaving, &[], &limits) {
                jobs[place] = Rc::new(alone.above(&jobs[place].lower));
            }
        }
        self.bound_and_add(leaving, Vec::new(), jobs);
    }

    /// Return a lower bound of the cost of a branch.
    fn lower(&self, jobs: &[Rc<Alone>]) -> f64 {
        let costs: Vec<&[f64]> = jobs.iter().map(|job| &job.lower[..]).collect();
        self.jobs.constant + share_moves(&costs, self.jobs.most).0
    }

    /// Return the cost by number of moves from which on a job is of no use to better what is known.
    fn limits(&self, place: usize, jobs: &[Rc<Alone>]) -> Vec<f64> {
        let others = jobs.iter().enumerate().filter(|(other, _)| *other != place);
        let costs: Vec<&[f64]> = others.map(|(_, job)| &job.lower[..]).collect();
        let most = self.jobs.most;
        let rows = after_each(costs.into_iter(), most);
        (0..=self.jobs.jobs[place].most)
            // Finite even where the others need all moves: the cost of what cannot be stays infinite.
            .map(|moves| (self.best - self.jobs.constant - rows[0][most - moves]).max(f64::MIN))
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
        let (cost, moves) = share_moves(&costs, self.jobs.most);
        if !cost.is_finite() {
            self.open = self.open.min(lower);
            return;
        }
        let mut at = self.problem.at.to_vec();
        for ((job, alone), count) in self.jobs.jobs.iter().zip(&jobs).zip(&moves) {
            for (task, machine) in job.moving.iter().zip(&alone.at[*count]) {
                at[*task] = *machine;
            }
        }
        let conflict = self.jobs.conflict(&at);
        if conflict.is_empty() {
            let cost = cost + self.jobs.constant;
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
            let place = self.jobs.place_of[self.problem.owner[task] as usize];
            let mut jobs = jobs.clone();
            let limits = self.limits(place, &jobs);
            let Some(alone) = self.jobs.alone(place, &leaving, &bars, &limits) else {
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
}
