//! A placement problem of tasks of any size and links, with its limits.

use std::ops::Range;

/// The problem: tasks, links, machines and limits. Matrices are row after row; -1 is no machine.
pub struct Problem<'a> {
    /// Machine each task runs on.
    pub at: &'a [i64],
    /// Flags of the tasks that may move.
    pub movable: &'a [u8],
    /// Job of each task.
    pub owner: &'a [i64],
    /// Demand of a task, shape (tasks, resources).
    pub need: &'a [i64],
    /// Capacity of a machine, shape (machines, resources).
    pub room: &'a [i64],
    /// Row of `table` by job.
    pub curve: &'a [i64],
    /// Cost of a link at every step of latency, shape (curves, steps).
    pub table: &'a [f64],
    /// Number of columns of `table`.
    pub table_steps: usize,
    /// Step of the latency between machines, shape (machines, machines).
    pub steps: &'a [i32],
    /// Flags of machines each job may use, shape (jobs, machines).
    pub allowed: &'a [u8],
    /// Failure domain of each machine by level, shape (levels, machines).
    pub domain: &'a [i64],
    /// Most tasks of each job in one domain of each level, shape (jobs, levels).
    pub most: &'a [i64],
    /// Flags of tasks exempt from spread limits.
    pub spared: &'a [u8],
    /// Flags of jobs that must not share a machine, shape (jobs, jobs).
    pub apart: &'a [u8],
    /// Place of each task's first link in `other` and `weight`, and their number at the end.
    pub starts: &'a [i64],
    /// Task at the other end of each link.
    pub other: &'a [i64],
    /// Weight of each link.
    pub weight: &'a [f64],
    /// Price of a move by job.
    pub price: &'a [f64],
    /// Price of what a task of a job brings to a machine, shape (jobs, machines).
    pub bringing: &'a [f64],
    /// Zone, region and provider of each machine, shape (3, machines).
    pub location: &'a [i64],
    /// Price of each of them that a task leaves: of equal places the nearest is chosen.
    pub far: f64,
    /// Flags of the jobs whose running tasks stay in their region.
    pub stays: &'a [u8],
    /// Flags of the jobs that move only where they gain more than their own moves cost.
    pub pays: &'a [u8],
    /// By how much the room exceeds what the machine has, because more runs there, shape (machines, resources).
    pub over: &'a [i64],
    /// Cost of a task that waits.
    pub waiting_cost: f64,
    /// Most tasks that may end elsewhere than they began.
    pub most_moves: usize,
    /// The same by job, shape (jobs,).
    pub most_moves_of: &'a [i64],
    /// Tasks and the machine that each may not come to, shape (pairs, 2).
    pub barred: &'a [i64],
}

/// Sizes of a problem.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) tasks: usize,
    pub(super) machines: usize,
    pub(super) jobs: usize,
    pub(super) resources: usize,
    pub(super) levels: usize,
    pub(super) domains: usize,
}

impl Problem<'_> {
    /// Return the sizes, or `None` where arrays do not fit one another or hold numbers out of range.
    pub(super) fn sizes(&self) -> Option<Sizes> {
        let (tasks, jobs) = (self.at.len(), self.curve.len());
        let below = |numbers: &[i64], low: i64, end: usize| {
            numbers.iter().all(|n| (low..end as i64).contains(n))
        };
        let per = |numbers: &[i64], rows: usize| {
            (rows > 0 && numbers.len() % rows == 0).then(|| numbers.len() / rows)
        };
        let resources = per(self.need, tasks)?;
        let machines = per(self.room, resources)?;
        let levels = per(self.most, jobs)?;
        let domains = self.domain.iter().max().map_or(0, |most| *most as usize) + 1;
        let rows = self.table.len().checked_div(self.table_steps)?;
        let links = self.other.len();
        let whole = self.movable.len() == tasks
            && self.owner.len() == tasks
            && self.spared.len() == tasks
            && self.steps.len() == machines * machines
            && self.allowed.len() == jobs * machines
            && self.domain.len() == levels * machines
            && self.apart.len() == jobs * jobs
            && self.starts.len() == tasks + 1
            && self.weight.len() == links
            && self.most_moves_of.len() == jobs
            && [self.price.len(), self.stays.len(), self.pays.len()] == [jobs; 3]
            && self.bringing.len() == jobs * machines
            && self.location.len() == 3 * machines
            && self.over.len() == self.room.len()
            && self.barred.len() % 2 == 0
            && self.barred().all(|(task, machine)| {
                (0..tasks as i64).contains(&task) && (0..machines as i64).contains(&machine)
            })
            && below(self.at, -1, machines)
            && below(self.owner, 0, jobs)
            && below(self.curve, 0, rows)
            && below(self.domain, 0, domains)
            && below(self.starts, 0, links + 1)
            && below(self.other, 0, tasks)
            && self
                .steps
                .iter()
                .all(|step| (0..self.table_steps as i64).contains(&i64::from(*step)));
        whole.then_some(Sizes {
            tasks,
            machines,
            jobs,
            resources,
            levels,
            domains,
        })
    }

    /// Return the tasks and the machine that each may not come to.
    pub(super) fn barred(&self) -> impl Iterator<Item = (i64, i64)> {
        self.barred.chunks_exact(2).map(|pair| (pair[0], pair[1]))
    }

    pub(super) fn links(&self, task: usize) -> Range<usize> {
        self.starts[task] as usize..self.starts[task + 1] as usize
    }

    /// Return the cost of a link of `task` between two machines, without its weight.
    pub(super) fn pair(&self, task: usize, machines: usize, machine: i64, peer: i64) -> f64 {
        let step = self.steps[machine as usize * machines + peer as usize] as usize;
        self.table[self.row(task) + step]
    }

    /// Return the price of a move of a task, wherever it leads.
    pub(super) fn move_price(&self, task: usize) -> f64 {
        self.price[self.owner[task] as usize]
    }

    /// Return the price of what a task brings to a machine.
    pub(super) fn brought(&self, task: usize, machines: usize, machine: usize) -> f64 {
        self.bringing[self.owner[task] as usize * machines + machine]
    }

    /// Return the price of a task's being on a machine: 0 where it is now.
    pub(super) fn coming(&self, task: usize, machines: usize, machine: i64) -> f64 {
        let home = self.at[task];
        if machine < 0 || machine == home {
            return 0.0;
        }
        let brought = self.brought(task, machines, machine as usize);
        if home < 0 {
            return brought;
        }
        let levels = self.location.chunks_exact(machines);
        let left = levels.filter(|level| level[home as usize] != level[machine as usize]);
        brought + self.move_price(task) + self.far * left.count() as f64
    }

    /// Return the region that a running task stays in, -1 if it may leave it.
    pub(super) fn region(&self, task: usize, machines: usize) -> i64 {
        let home = self.at[task];
        if home < 0 || self.stays[self.owner[task] as usize] == 0 {
            return -1;
        }
        self.location[machines + home as usize]
    }

    /// Return where the row of `table` of a task's job begins.
    pub(super) fn row(&self, task: usize) -> usize {
        self.curve[self.owner[task] as usize] as usize * self.table_steps
    }
}
