//! Branch and bound: tasks are placed one after the other, and branches that cannot be better are left out.
//!
//! The bound of a branch is that of the relaxation for the jobs not begun, and the cheapest machines that still fit for
//! the tasks of the job that is placed. A search that ends within its work has proven its placement optimal.

use super::problem::Problem;
use super::relaxation::{Relaxation, Table, after_each, least_rows};
use super::state::{State, tolerance};
use super::watch::Watch;

/// Work from one look at whether to stop to the next: some milliseconds.
const WATCHED_EVERY: usize = 200_000;

/// The best placement found, and whether none is better.
pub struct Best {
    /// Machine of each task.
    pub at: Vec<i64>,
    /// Whether the search ended: no placement is better.
    pub proven: bool,
}

/// Costs of the tasks of a job that are not placed yet, at least.
struct Rest {
    cost: f64,
    /// What their moves gain at most, best first.
    gains: Vec<f64>,
    /// Tasks that can no longer stay.
    moves: usize,
}

/// Budgets that are left.
#[derive(Clone, Copy)]
struct Budget {
    all: usize,
    job: usize,
}

struct Search<'a> {
    problem: &'a Problem<'a>,
    state: State<'a>,
    relaxation: Relaxation<'a>,
    /// Tasks of each job in the order in which they are placed.
    order: Vec<Vec<usize>>,
    /// Least cost of the jobs from each on, by the moves that are left.
    after: Vec<Vec<f64>>,
    /// Least cost of a link from each machine by curve.
    least: Vec<f64>,
    decided: Vec<bool>,
    outside: f64,
    best: f64,
    chosen: Vec<i64>,
    work: usize,
    watch: Watch<'a>,
    /// The work that is left at the next call of `watch`.
    watched_at: usize,
}

/// Return the best placement that `work` looked-at machines of tasks lead to, from that of `begin` on.
///
/// `begin` keeps all limits; `prices` are those of the bound. `None` where arrays do not fit one another.
pub fn branch<'a>(
    problem: &'a Problem<'a>,
    begin: &[i64],
    prices: &[f64],
    work: usize,
    watch: Watch<'a>,
) -> Option<Best> {
    let mut state = State::of(problem, begin)?;
    let best = state.total();
    let mut relaxation = Relaxation::new(problem, prices)?;
    let movers = || (0..problem.at.len()).filter(|task| problem.movable[*task] != 0);
    let mut decided = vec![true; problem.at.len()];
    for task in movers() {
        state.take(task);
        decided[task] = false;
    }
    let tables: Vec<Table> = relaxation.tables(true);
    let most = problem.most_moves.min(movers().count());
    let after = after_each(tables.iter().map(|table| &table.cost[..]), most);
    let order = relaxation
        .jobs
        .iter()
        .map(|job| ordered(problem, &job.tasks, job.root))
        .collect();
    let mut search = Search {
        problem,
        outside: relaxation.outside(),
        least: least_rows(problem, state.sizes.machines),
        state,
        relaxation,
        order,
        after,
        decided,
        best,
        chosen: begin.to_vec(),
        work,
        watch,
        watched_at: work,
    };
    search.job(0, 0.0, most);
    Some(Best {
        proven: search.work > 0,
        at: search.chosen,
    })
}

/// Return the tasks so that each follows one it is linked with; tasks that are alike follow one another.
fn ordered(problem: &Problem<'_>, tasks: &[usize], root: Option<usize>) -> Vec<usize> {
    let mut left = tasks.to_vec();
    let mut order = Vec::with_capacity(tasks.len());
    if let Some(root) = root {
        left.sort_by_key(|task| (*task != root, problem.at[*task], *task));
        return left;
    }
    while !left.is_empty() {
        let linked = |task: usize| {
            problem
                .links(task)
                .filter(|link| order.contains(&(problem.other[*link] as usize)))
                .count()
        };
        let next = (0..left.len())
            .max_by_key(|place| {
                let task = left[*place];
                (linked(task), problem.links(task).len(), usize::MAX - task)
            })
            .unwrap_or(0);
        order.push(left.remove(next));
    }
    order
}

impl Search<'_> {
    /// Place the jobs from `job` on; `priced` is the cost of those before with the prices of capacity.
    fn job(&mut self, job: usize, priced: f64, moves: usize) {
        let Some(most) = self.relaxation.jobs.get(job).map(|job| job.most_moves) else {
            self.finish();
            return;
        };
        let budget = Budget {
            all: moves,
            job: most.min(moves),
        };
        self.task(job, 0, priced, budget);
    }

    fn finish(&mut self) {
        self.spend(self.state.at.len());
        // A task that moved before one that stayed was placed may break a limit with it.
        for task in 0..self.state.at.len() {
            let machine = self.state.at[task];
            if machine >= 0 && machine != self.problem.at[task] {
                self.state.take(task);
                let fits = self.state.fits(task, machine);
                self.state.put(task, machine);
                if !fits {
                    return;
                }
            }
        }
        let cost = self.state.total();
        if cost < self.best - self.tolerance() && self.state.pays() {
            self.best = cost;
            self.chosen.copy_from_slice(&self.state.at);
        }
    }

    fn spend(&mut self, work: usize) {
        self.work = self.work.saturating_sub(work);
        if self.work < self.watched_at {
            self.watched_at = self.work.saturating_sub(WATCHED_EVERY);
            if !(self.watch)(self.best, f64::NAN) {
                self.work = 0;
            }
        }
    }

    fn tolerance(&self) -> f64 {
        tolerance(self.best)
    }

    /// Place the tasks of a job from `place` on, then the jobs after it.
    fn task(&mut self, job: usize, place: usize, priced: f64, budget: Budget) {
        let Some(task) = self.order[job].get(place).copied() else {
            self.job(job + 1, priced, budget.all);
            return;
        };
        let root = self.relaxation.jobs[job].root;
        let leaf = root.is_some_and(|root| root != task);
        self.decided[task] = true;
        // The place of a leaf says nothing of those after it but for the room it takes.
        let rest = if leaf {
            self.rest(job, place + 1, budget)
        } else {
            None
        };
        if leaf && rest.is_none() {
            self.decided[task] = false;
            return;
        }
        let mut options: Vec<(f64, i64, f64, Budget)> = Vec::new();
        let home = self.problem.at[task];
        let twin = self.twin(job, place);
        let center = root.filter(|_| leaf).map_or(-1, |root| self.state.at[root]);
        let weight = self.weight(task);
        let machines = self.state.sizes.machines as i64;
        for number in -1..machines {
            // First where it is, then from the nearest machine of the root on.
            let machine = if number < 0 {
                home
            } else if center >= 0 {
                i64::from(self.relaxation.near(center)[number as usize])
            } else {
                number
            };
            if number >= 0 && machine == home {
                continue;
            }
            self.spend(1);
            if number >= 0 && center >= 0 {
                if let Some(rest) = &rest {
                    let link = weight * self.relaxation.floor(task, center, machine);
                    if priced + link + self.ahead(job, rest, budget) >= self.best - self.tolerance()
                    {
                        break;
                    }
                }
            }
            if machine < twin || !self.state.fits(task, machine) {
                continue;
            }
            let moved = usize::from(home >= 0 && machine != home);
            if moved > budget.job.min(budget.all) {
                continue;
            }
            let left = Budget {
                all: budget.all - moved,
                job: budget.job - moved,
            };
            self.state.put(task, machine);
            let own = self.state.cost(task);
            let price = self.relaxation.price(task, machine);
            let ahead = match &rest {
                Some(rest) => self.ahead(job, rest, left),
                None => self
                    .rest(job, place + 1, left)
                    .map_or(f64::INFINITY, |rest| self.ahead(job, &rest, left)),
            };
            self.state.take(task);
            let bound = priced + own + price + ahead;
            if bound < self.best - self.tolerance() {
                options.push((bound, machine, own + price, left));
            }
        }
        options.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (bound, machine, own, left) in options {
            if self.work == 0 || bound >= self.best - self.tolerance() {
                break;
            }
            self.state.put(task, machine);
            self.task(job, place + 1, priced + own, left);
            self.state.take(task);
        }
        self.decided[task] = false;
    }

    /// Return the machine of the task before, if the two are alike: the order of such tasks does not matter.
    fn twin(&self, job: usize, place: usize) -> i64 {
        let order = &self.order[job];
        let Some(before) = place.checked_sub(1).map(|place| order[place]) else {
            return -1;
        };
        let (problem, resources) = (self.problem, self.state.sizes.resources);
        let need = |task: usize| &problem.need[task * resources..][..resources];
        let task = order[place];
        let same = self.relaxation.jobs[job]
            .root
            .is_some_and(|root| root != before)
            && problem.at[task] == problem.at[before]
            && need(task) == need(before)
            && problem.spared[task] == problem.spared[before]
            && self.weight(task) == self.weight(before)
            && self.state.barred(task) == self.state.barred(before);
        if same { self.state.at[before] } else { -1 }
    }

    fn weight(&self, task: usize) -> f64 {
        self.problem
            .links(task)
            .map(|link| self.problem.weight[link])
            .sum()
    }

    /// Return the least cost of what is not placed: the rest of the job, and the jobs after it.
    fn ahead(&self, job: usize, rest: &Rest, left: Budget) -> f64 {
        let after = &self.after[job + 1];
        let most = left.all.min(left.job);
        let mut cost = rest.cost;
        let mut least = f64::INFINITY;
        for moves in rest.moves..=most {
            if moves > rest.moves {
                match rest.gains.get(moves - rest.moves - 1) {
                    Some(gain) => cost -= gain,
                    None => break,
                }
            }
            least = least.min(cost + after[left.all - moves]);
        }
        least + self.outside
    }

    /// Return the least cost of the tasks of a job from `place` on; `None` if one has no machine.
    fn rest(&mut self, job: usize, place: usize, left: Budget) -> Option<Rest> {
        let mut rest = Rest {
            cost: 0.0,
            gains: Vec::new(),
            moves: 0,
        };
        let root = self.relaxation.jobs[job].root;
        let count = self.order[job].len() - place;
        self.spend(count);
        // If most tasks of a graph have to stay, what the others gain says more than what each costs at least.
        let by_gain = root.is_none() && left.all.min(left.job) < count;
        for later in place..self.order[job].len() {
            let task = self.order[job][later];
            let home = self.problem.at[task];
            if home < 0 {
                let cost = match root {
                    Some(root) => self.cheapest_leaf(task, self.state.at[root], f64::INFINITY),
                    None => self.cheapest(task),
                };
                rest.cost += cost.min(self.problem.waiting_cost);
                continue;
            }
            let stays = self.state.fits(task, home);
            let (stay, away) = match root {
                _ if by_gain => {
                    let stay = self.present(task);
                    (stay, stay - self.best_gain(task))
                }
                Some(root) => {
                    let stay = self.least_on(task, home);
                    let enough = if stays { stay } else { f64::INFINITY };
                    (stay, self.cheapest_leaf(task, self.state.at[root], enough))
                }
                None => (self.least_on(task, home), self.cheapest(task)),
            };
            let away = away + self.problem.move_price(task);
            if stays {
                rest.cost += stay;
                if away < stay {
                    rest.gains.push(stay - away);
                }
            } else if away.is_finite() {
                rest.cost += away;
                rest.moves += 1;
            } else {
                return None;
            }
        }
        rest.gains.sort_unstable_by(|a, b| b.total_cmp(a));
        Some(rest)
    }

    /// Return the cost of a task where it was: of links to tasks not placed, the half of what they cost there.
    fn present(&self, task: usize) -> f64 {
        let problem = self.problem;
        let home = problem.at[task];
        let mut cost = self.relaxation.price(task, home);
        for link in problem.links(task) {
            let (there, share) = self.peer(problem.other[link] as usize);
            if there >= 0 {
                cost += share * problem.weight[link] * self.state.pair(task, home, there);
            }
        }
        cost
    }

    /// Return the machine of a task at the other end of a link, and the share of the link that is this end's.
    ///
    /// A task that is not placed is taken to be where it was.
    fn peer(&self, peer: usize) -> (i64, f64) {
        if self.decided[peer] {
            (self.state.at[peer], 1.0)
        } else {
            (self.problem.at[peer], 0.5)
        }
    }

    /// Return what a task gains at most by a move, without its price; the other ends of its links may move too.
    fn best_gain(&mut self, task: usize) -> f64 {
        let problem = self.problem;
        let machines = self.state.sizes.machines;
        let home = problem.at[task];
        let curve = problem.row(task) / problem.table_steps;
        let mut best = f64::NEG_INFINITY;
        for machine in (0..machines as i64).filter(|machine| *machine != home) {
            if !self.state.fits(task, machine) {
                continue;
            }
            let half = self.least[curve * machines + machine as usize] / 2.0;
            let mut gain = self.relaxation.price(task, home) - self.relaxation.price(task, machine);
            for link in problem.links(task) {
                let (there, share) = self.peer(problem.other[link] as usize);
                if there >= 0 {
                    let now = self.state.pair(task, home, there);
                    let mut less = now - self.state.pair(task, machine, there);
                    if share < 1.0 {
                        less = less.max(now / 2.0 - half);
                    }
                    gain += problem.weight[link] * less;
                }
            }
            best = best.max(gain);
        }
        self.spend(machines);
        best
    }

    /// Return the least cost of a task on a machine: of links to tasks not placed, the half.
    fn least_on(&self, task: usize, machine: i64) -> f64 {
        let problem = self.problem;
        let machines = self.state.sizes.machines;
        let curve = problem.row(task) / problem.table_steps;
        let half = self.least[curve * machines + machine as usize] / 2.0;
        let mut cost = self.relaxation.price(task, machine);
        for link in problem.links(task) {
            let peer = problem.other[link] as usize;
            let there = self.state.at[peer];
            if there >= 0 {
                cost += problem.weight[link] * self.state.pair(task, machine, there);
            } else if !self.decided[peer] && problem.at[peer] >= 0 {
                cost += problem.weight[link] * half;
            }
        }
        cost
    }

    fn cheapest(&mut self, task: usize) -> f64 {
        let mut least = f64::INFINITY;
        for machine in 0..self.state.sizes.machines as i64 {
            if machine != self.problem.at[task] && self.state.fits(task, machine) {
                least = least.min(self.least_on(task, machine));
            }
        }
        self.spend(self.state.sizes.machines);
        least
    }

    /// Return the least cost of a leaf on another machine, or one not below `enough`.
    fn cheapest_leaf(&mut self, task: usize, root: i64, enough: f64) -> f64 {
        if root < 0 {
            return self.cheapest(task);
        }
        let weight = self.weight(task);
        let mut least = enough;
        let mut found = f64::INFINITY;
        for place in 0..self.state.sizes.machines {
            let machine = i64::from(self.relaxation.near(root)[place]);
            self.spend(1);
            if weight * self.relaxation.floor(task, root, machine) >= least {
                break;
            }
            if machine != self.problem.at[task] && self.state.fits(task, machine) {
                let cost = self.least_on(task, machine);
                found = found.min(cost);
                least = least.min(cost);
            }
        }
        if found.is_finite() { found } else { enough }
    }
}
