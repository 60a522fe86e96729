//! A placement while it is searched: where tasks are, what is free, and which limits hold.

use super::problem::{Problem, Sizes};

/// Return the difference from which on another cost is better.
pub(super) fn tolerance(cost: f64) -> f64 {
    1e-9 * cost.abs().max(1.0)
}

/// The present machine of each task, and the free capacity of each machine.
pub(super) struct State<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) sizes: Sizes,
    pub(super) at: Vec<i64>,
    pub(super) free: Vec<i64>,
    /// Tasks of each job in each domain of each level, shape (jobs, levels, domains).
    loads: Vec<i64>,
    /// The limit of each: that of the job, or the load at the beginning where it exceeded that already.
    most: Vec<i64>,
    /// Tasks of each job on each machine, shape (jobs, machines).
    present: Vec<i64>,
    /// First task on each machine, of doubly linked lists.
    pub(super) first: Vec<i64>,
    pub(super) after: Vec<i64>,
    before: Vec<i64>,
    /// Of `loads`, those that came from elsewhere.
    guests: Vec<i64>,
    /// Use of each resource of each machine by tasks that came, shape (machines, resources).
    brought: Vec<i64>,
    /// True if a limit is broken at the beginning: nothing may join that.
    broken: bool,
    /// Tasks of each job, and what each job costs at the beginning.
    tasks_of: Vec<Vec<usize>>,
    begun: Vec<f64>,
    /// Tasks whose machine breaks a limit already: there they may stay.
    forgiven: Vec<bool>,
    /// Tasks that have moved, and the place of each in that list, -1 for none.
    pub(super) away: Vec<usize>,
    place_of: Vec<i64>,
    /// Number of tasks of each job that have moved.
    moved_of: Vec<i64>,
    /// Jobs that must not share a machine with each job.
    rivals: Vec<Vec<u32>>,
    /// Machines that each task may not come to, whatever its job may.
    barred: Vec<Vec<i64>>,
}

impl<'a> State<'a> {
    pub(super) fn new(problem: &'a Problem<'a>) -> Option<Self> {
        let sizes = problem.sizes()?;
        let mut state = Self {
            problem,
            at: vec![-1; sizes.tasks],
            free: problem.room.to_vec(),
            loads: vec![0; sizes.jobs * sizes.levels * sizes.domains],
            most: Vec::new(),
            guests: vec![0; sizes.jobs * sizes.levels * sizes.domains],
            brought: vec![0; problem.room.len()],
            broken: false,
            tasks_of: vec![Vec::new(); sizes.jobs],
            begun: Vec::new(),
            present: vec![0; sizes.jobs * sizes.machines],
            first: vec![-1; sizes.machines],
            after: vec![-1; sizes.tasks],
            before: vec![-1; sizes.tasks],
            forgiven: vec![false; sizes.tasks],
            away: Vec::new(),
            place_of: vec![-1; sizes.tasks],
            moved_of: vec![0; sizes.jobs],
            rivals: rivals(problem, sizes.jobs),
            barred: vec![Vec::new(); sizes.tasks],
            sizes,
        };
        for (task, machine) in problem.barred() {
            state.barred[task as usize].push(machine);
        }
        let home = problem.at;
        for task in (0..home.len()).filter(|task| home[*task] >= 0) {
            state.put(task, home[task]);
        }
        state.most = state.loads.clone();
        state.broken = problem.over.iter().any(|over| *over > 0);
        for (load, most) in state.most.iter_mut().enumerate() {
            state.broken |= *most > problem.most[load / sizes.domains];
            *most = problem.most[load / sizes.domains].max(*most);
        }
        for task in 0..sizes.tasks {
            state.tasks_of[problem.owner[task] as usize].push(task);
        }
        state.begun = (0..sizes.jobs).map(|job| state.of_job(job)).collect();
        for task in (0..home.len()).filter(|task| problem.movable[*task] != 0 && home[*task] >= 0) {
            state.take(task);
            state.forgiven[task] = !state.fits(task, home[task]);
            state.put(task, home[task]);
        }
        Some(state)
    }

    /// Return the placement `begin`; `None` where arrays do not fit, or that is no placement within the budgets.
    pub(super) fn of(problem: &'a Problem<'a>, begin: &[i64]) -> Option<Self> {
        let mut state = Self::new(problem)?;
        state.go_to(begin)?;
        Some(state)
    }

    /// Move the tasks to `at`; `None` where that is no placement of them within the budgets.
    fn go_to(&mut self, at: &[i64]) -> Option<()> {
        let machines = self.sizes.machines as i64;
        if at.len() != self.at.len() || !at.iter().all(|machine| (-1..machines).contains(machine)) {
            return None;
        }
        let changed: Vec<usize> = (0..at.len())
            .filter(|task| self.at[*task] != at[*task])
            .collect();
        for task in &changed {
            self.take(*task);
        }
        for task in &changed {
            self.put(*task, at[*task]);
        }
        if !self.within_budgets(&changed) {
            return None;
        }
        for task in changed {
            self.note(task);
        }
        Some(())
    }

    fn load(&self, job: usize, level: usize, machine: usize) -> usize {
        let domain = self.problem.domain[level * self.sizes.machines + machine] as usize;
        (job * self.sizes.levels + level) * self.sizes.domains + domain
    }

    /// Let a task that runs nowhere run on a machine (below 0: wait).
    pub(super) fn put(&mut self, task: usize, machine: i64) {
        self.at[task] = machine;
        if machine < 0 {
            return;
        }
        let machine = machine as usize;
        self.occupy(task, machine, 1);
        self.before[task] = -1;
        self.after[task] = self.first[machine];
        if self.first[machine] >= 0 {
            self.before[self.first[machine] as usize] = task as i64;
        }
        self.first[machine] = task as i64;
    }

    /// Take a task from its machine.
    pub(super) fn take(&mut self, task: usize) {
        let machine = self.at[task];
        if machine < 0 {
            return;
        }
        let machine = machine as usize;
        self.occupy(task, machine, -1);
        let (before, after) = (self.before[task], self.after[task]);
        if before >= 0 {
            self.after[before as usize] = after;
        } else {
            self.first[machine] = after;
        }
        if after >= 0 {
            self.before[after as usize] = before;
        }
        self.at[task] = -1;
    }

    /// Count a task on a machine, or off it with -1.
    fn occupy(&mut self, task: usize, machine: usize, count: i64) {
        let (job, resources) = (self.problem.owner[task] as usize, self.sizes.resources);
        let need = &self.problem.need[task * resources..][..resources];
        for (free, need) in self.free[machine * resources..][..resources]
            .iter_mut()
            .zip(need)
        {
            *free -= count * need;
        }
        self.present[job * self.sizes.machines + machine] += count;
        if self.broken {
            self.count_guest(task, machine, count);
        }
        if self.problem.spared[task] == 0 {
            for level in 0..self.sizes.levels {
                let load = self.load(job, level, machine);
                self.loads[load] += count;
            }
        }
    }

    /// Count a task among those that came to a machine and its failure domains, or off them with -1.
    fn count_guest(&mut self, task: usize, machine: usize, count: i64) {
        let (job, resources) = (self.problem.owner[task] as usize, self.sizes.resources);
        for resource in (0..resources).filter(|_| self.problem.at[task] != machine as i64) {
            self.brought[machine * resources + resource] +=
                count * self.problem.need[task * resources + resource];
        }
        for level in (0..self.sizes.levels).filter(|_| self.problem.spared[task] == 0) {
            if self.comes_to(task, level, machine) {
                let load = self.load(job, level, machine);
                self.guests[load] += count;
            }
        }
    }

    /// Return whether a task was not in the failure domain of a machine at the beginning.
    fn comes_to(&self, task: usize, level: usize, machine: usize) -> bool {
        let domain = &self.problem.domain[level * self.sizes.machines..];
        let home = self.problem.at[task];
        home < 0 || domain[home as usize] != domain[machine]
    }

    /// Return whether no limit that is broken at the beginning is joined by a task that comes to a machine.
    fn joins_nothing(&self, task: usize, machine: usize) -> bool {
        if !self.broken {
            return true;
        }
        let (problem, resources) = (self.problem, self.sizes.resources);
        let came = i64::from(problem.at[task] != machine as i64);
        let exceeds = |resource: usize| {
            let place = machine * resources + resource;
            let need = problem.need[task * resources + resource];
            let left = self.free[place] - need - problem.over[place];
            need > 0 && left < 0 && self.brought[place] + came * need > 0
        };
        let job = problem.owner[task] as usize;
        let crowds = |level: usize| {
            let load = self.load(job, level, machine);
            let guests = self.guests[load] + i64::from(self.comes_to(task, level, machine));
            guests > 0 && self.loads[load] >= problem.most[job * self.sizes.levels + level]
        };
        !(0..resources).any(exceeds)
            && (problem.spared[task] != 0 || !(0..self.sizes.levels).any(crowds))
    }

    /// Return what a job costs: its links, and its moves with what they bring.
    fn of_job(&self, job: usize) -> f64 {
        let cost = |task: &usize| {
            let links = self.problem.links(*task);
            let paid = links.map(|link| {
                let peer = self.problem.other[link] as usize;
                let (a, b) = (self.at[*task], self.at[peer]);
                let both = a >= 0 && b >= 0;
                let cost = if both { self.pair(*task, a, b) } else { 0.0 };
                self.problem.weight[link] * cost / 2.0
            });
            let coming = self
                .problem
                .coming(*task, self.sizes.machines, self.at[*task]);
            paid.sum::<f64>() + coming
        };
        self.tasks_of[job].iter().map(cost).sum()
    }

    /// Return whether each job that moves gains more than its moves cost, starts a task, or consents to lose.
    pub(super) fn pays(&self) -> bool {
        (0..self.sizes.jobs).all(|job| self.job_pays(job))
    }

    fn job_pays(&self, job: usize) -> bool {
        let mut tasks = self.tasks_of[job].iter();
        let starts = |task: &usize| self.problem.at[*task] < 0 && self.at[*task] >= 0;
        self.problem.pays[job] == 0
            || !tasks.clone().any(|task| self.is_moved(*task))
            || tasks.any(starts)
            || self.of_job(job) <= self.begun[job] + tolerance(self.begun[job])
    }

    /// Let the jobs that do not pay stay; return whether the rest fits.
    pub(super) fn settle(&mut self) -> bool {
        while let Some(job) = (0..self.sizes.jobs).find(|job| !self.job_pays(*job)) {
            let tasks = self.tasks_of[job].iter().copied();
            let moved: Vec<usize> = tasks.filter(|task| self.is_moved(*task)).collect();
            for task in &moved {
                self.take(*task);
            }
            for task in moved {
                if !self.fits(task, self.problem.at[task]) {
                    return false;
                }
                self.put(task, self.problem.at[task]);
            }
        }
        true
    }

    /// Return whether a task that runs nowhere may be put on a machine.
    pub(super) fn fits(&self, task: usize, machine: i64) -> bool {
        let home = self.problem.at[task];
        if machine < 0 {
            return home < 0;
        }
        let at = machine as usize;
        let forgiven = machine == home && self.forgiven[task] && !self.is_joined(task, at);
        self.has_room(task, at)
            && self.joins_nothing(task, at)
            && (forgiven || self.is_allowed(task, at))
    }

    /// Return whether a task that has moved to a machine must not share it with `task`.
    fn is_joined(&self, task: usize, machine: usize) -> bool {
        let (problem, jobs) = (self.problem, self.sizes.jobs);
        let mut other = self.first[machine];
        while other >= 0 {
            let rival = problem.owner[other as usize] as usize;
            let apart = problem.apart[problem.owner[task] as usize * jobs + rival] != 0;
            if apart && problem.at[other as usize] != machine as i64 {
                return true;
            }
            other = self.after[other as usize];
        }
        false
    }

    /// Return whether a task that runs nowhere may begin to run on a machine, were it not there at the beginning.
    pub(super) fn may_run(&self, task: usize, machine: usize) -> bool {
        self.has_room(task, machine) && self.is_allowed(task, machine)
    }

    /// Return the machines that a task may not come to, whatever its job may.
    pub(super) fn barred(&self, task: usize) -> &[i64] {
        &self.barred[task]
    }

    /// Keep a task from a machine until the next call of `unbar` for it.
    pub(super) fn bar(&mut self, task: usize, machine: i64) {
        self.barred[task].push(machine);
    }

    /// Take back the latest `bar` of a task.
    pub(super) fn unbar(&mut self, task: usize) {
        self.barred[task].pop();
    }

    /// Return how many more tasks of a job the failure domain of a machine may have.
    pub(super) fn left(&self, job: usize, level: usize, machine: usize) -> i64 {
        let load = self.load(job, level, machine);
        self.most[load] - self.loads[load]
    }

    fn has_room(&self, task: usize, machine: usize) -> bool {
        let (problem, resources) = (self.problem, self.sizes.resources);
        let need = &problem.need[task * resources..][..resources];
        let free = &self.free[machine * resources..][..resources];
        if need
            .iter()
            .zip(free)
            .any(|(need, free)| *need > 0 && free < need)
        {
            return false;
        }
        let job = problem.owner[task] as usize;
        problem.spared[task] != 0
            || (0..self.sizes.levels).all(|level| self.left(job, level, machine) > 0)
    }

    fn is_allowed(&self, task: usize, machine: usize) -> bool {
        let (problem, machines) = (self.problem, self.sizes.machines);
        let job = problem.owner[task] as usize;
        let region = problem.region(task, machines);
        problem.allowed[job * machines + machine] != 0
            && (region < 0 || region == problem.location[machines + machine])
            && !self.barred[task].contains(&(machine as i64))
            && self.rivals[job]
                .iter()
                .all(|rival| self.present[*rival as usize * machines + machine] <= 0)
    }

    /// Return the cost of a link of `task` between two machines, without its weight.
    pub(super) fn pair(&self, task: usize, machine: i64, peer: i64) -> f64 {
        self.problem.pair(task, self.sizes.machines, machine, peer)
    }

    /// Return the cost of a task's links, of its move, or of its waiting.
    pub(super) fn cost(&self, task: usize) -> f64 {
        let machine = self.at[task];
        if machine < 0 {
            return self.problem.waiting_cost;
        }
        let mut total = 0.0;
        for link in self.problem.links(task) {
            let peer = self.at[self.problem.other[link] as usize];
            if peer >= 0 {
                total += self.problem.weight[link] * self.pair(task, machine, peer);
            }
        }
        total += self.problem.coming(task, self.sizes.machines, machine);
        total
    }

    /// Return the cost of the placement: of its links, its moves and the tasks that wait.
    pub(super) fn total(&self) -> f64 {
        let problem = self.problem;
        let mut total = 0.0;
        for task in 0..self.sizes.tasks {
            let machine = self.at[task];
            if machine < 0 {
                total += problem.waiting_cost * f64::from(problem.movable[task]);
                continue;
            }
            for link in problem.links(task) {
                let peer = self.at[problem.other[link] as usize];
                if peer >= 0 {
                    total += problem.weight[link] * self.pair(task, machine, peer) / 2.0;
                }
            }
            total += problem.coming(task, self.sizes.machines, machine);
        }
        total
    }

    /// Return the cost of the links between two tasks: `cost` of both counts them twice.
    pub(super) fn link(&self, a: usize, b: usize) -> f64 {
        if self.at[a] < 0 || self.at[b] < 0 {
            return 0.0;
        }
        let mut total = 0.0;
        for link in self.problem.links(a) {
            if self.problem.other[link] == b as i64 {
                total += self.problem.weight[link] * self.pair(a, self.at[a], self.at[b]);
            }
        }
        total
    }

    pub(super) fn is_moved(&self, task: usize) -> bool {
        let home = self.problem.at[task];
        home >= 0 && self.at[task] != home
    }

    /// Keep the list of tasks that have moved.
    pub(super) fn note(&mut self, task: usize) {
        let place = self.place_of[task];
        if self.is_moved(task) {
            if place < 0 {
                self.place_of[task] = self.away.len() as i64;
                self.away.push(task);
                self.moved_of[self.problem.owner[task] as usize] += 1;
            }
        } else if place >= 0 {
            self.away.swap_remove(place as usize);
            if let Some(last) = self.away.get(place as usize) {
                self.place_of[*last] = place;
            }
            self.place_of[task] = -1;
            self.moved_of[self.problem.owner[task] as usize] -= 1;
        }
    }

    /// Return whether one more move of a task exceeds a budget.
    pub(super) fn is_spent(&self, task: usize) -> bool {
        let job = self.problem.owner[task] as usize;
        self.away.len() >= self.problem.most_moves
            || self.moved_of[job] >= self.problem.most_moves_of[job]
    }

    /// Return a task that has moved, from place `start` of their list on, whose return makes room for a move of `task`.
    pub(super) fn other_away(&self, task: usize, start: usize) -> Option<usize> {
        let owner = &self.problem.owner;
        let job = owner[task] as usize;
        let own = self.moved_of[job] >= self.problem.most_moves_of[job];
        let count = self.away.len();
        (0..count)
            .map(|place| self.away[(start + place) % count])
            .find(|other| !own || owner[*other] as usize == job)
    }

    /// Return whether the tasks that moved stay within the budgets if `changed` are noted; fewer moves always do.
    pub(super) fn within_budgets(&self, changed: &[usize]) -> bool {
        let problem = self.problem;
        let change =
            |task: usize| i64::from(self.is_moved(task)) - i64::from(self.place_of[task] >= 0);
        let sum: i64 = changed.iter().map(|task| change(*task)).sum();
        if sum > 0 && self.away.len() as i64 + sum > problem.most_moves as i64 {
            return false;
        }
        changed.iter().all(|task| {
            let job = problem.owner[*task];
            let own = changed.iter().filter(|other| problem.owner[**other] == job);
            let sum: i64 = own.map(|other| change(*other)).sum();
            sum <= 0 || self.moved_of[job as usize] + sum <= problem.most_moves_of[job as usize]
        })
    }
}

/// Return the jobs that each job must not share a machine with.
fn rivals(problem: &Problem<'_>, jobs: usize) -> Vec<Vec<u32>> {
    let row = |job: usize| {
        let apart = &problem.apart[job * jobs..][..jobs];
        (0..jobs as u32)
            .filter(|rival| apart[*rival as usize] != 0)
            .collect()
    };
    (0..jobs).map(row).collect()
}
