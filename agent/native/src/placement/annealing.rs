//! Annealing of tasks on machines: the proposals of a search, every limit held at each step.

use super::random::Random;

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
    /// Price of a move.
    pub price: f64,
    /// Cost of a task that waits.
    pub waiting_cost: f64,
    /// Most tasks that may end elsewhere than they began.
    pub most_moves: usize,
}

/// Sizes of a problem.
struct Sizes {
    tasks: usize,
    machines: usize,
    jobs: usize,
    resources: usize,
    levels: usize,
    domains: usize,
}

impl Problem<'_> {
    /// Return the sizes, or `None` where arrays do not fit one another or hold numbers out of range.
    fn sizes(&self) -> Option<Sizes> {
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
}

/// The present machine of each task, and the free capacity of each machine.
struct Search<'a> {
    problem: &'a Problem<'a>,
    sizes: Sizes,
    at: Vec<i64>,
    free: Vec<i64>,
    /// Tasks of each job in each domain of each level, shape (jobs, levels, domains).
    loads: Vec<i64>,
    /// Tasks of each job on each machine, shape (jobs, machines).
    present: Vec<i64>,
    /// First task on each machine, of doubly linked lists.
    first: Vec<i64>,
    after: Vec<i64>,
    before: Vec<i64>,
    /// Tasks whose machine breaks a limit already: there they may stay.
    forgiven: Vec<bool>,
    /// Tasks that have moved, and the place of each in that list, -1 for none.
    away: Vec<usize>,
    place_of: Vec<i64>,
}

impl<'a> Search<'a> {
    fn new(problem: &'a Problem<'a>) -> Option<Self> {
        let sizes = problem.sizes()?;
        let mut search = Self {
            problem,
            at: vec![-1; sizes.tasks],
            free: problem.room.to_vec(),
            loads: vec![0; sizes.jobs * sizes.levels * sizes.domains],
            present: vec![0; sizes.jobs * sizes.machines],
            first: vec![-1; sizes.machines],
            after: vec![-1; sizes.tasks],
            before: vec![-1; sizes.tasks],
            forgiven: vec![false; sizes.tasks],
            away: Vec::new(),
            place_of: vec![-1; sizes.tasks],
            sizes,
        };
        let home = problem.at;
        for task in (0..home.len()).filter(|task| home[*task] >= 0) {
            search.put(task, home[task]);
        }
        for task in (0..home.len()).filter(|task| problem.movable[*task] != 0 && home[*task] >= 0) {
            search.take(task);
            search.forgiven[task] = !search.fits(task, home[task]);
            search.put(task, home[task]);
        }
        Some(search)
    }

    fn load(&self, job: usize, level: usize, machine: usize) -> usize {
        let domain = self.problem.domain[level * self.sizes.machines + machine] as usize;
        (job * self.sizes.levels + level) * self.sizes.domains + domain
    }

    /// Let a task that runs nowhere run on a machine (below 0: wait).
    fn put(&mut self, task: usize, machine: i64) {
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
    fn take(&mut self, task: usize) {
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
        if self.problem.spared[task] == 0 {
            for level in 0..self.sizes.levels {
                let load = self.load(job, level, machine);
                self.loads[load] += count;
            }
        }
    }

    /// Return whether a task that runs nowhere may be put on a machine.
    fn fits(&self, task: usize, machine: i64) -> bool {
        let problem = self.problem;
        let home = problem.at[task];
        if machine < 0 {
            return home < 0;
        }
        let (job, at) = (problem.owner[task] as usize, machine as usize);
        let (resources, machines) = (self.sizes.resources, self.sizes.machines);
        let need = &problem.need[task * resources..][..resources];
        let free = &self.free[at * resources..][..resources];
        if need
            .iter()
            .zip(free)
            .any(|(need, free)| *need > 0 && free < need)
        {
            return false;
        }
        if machine == home && self.forgiven[task] {
            return true;
        }
        if problem.allowed[job * machines + at] == 0 {
            return false;
        }
        if problem.spared[task] == 0 {
            for level in 0..self.sizes.levels {
                if self.loads[self.load(job, level, at)]
                    >= problem.most[job * self.sizes.levels + level]
                {
                    return false;
                }
            }
        }
        let apart = &problem.apart[job * self.sizes.jobs..][..self.sizes.jobs];
        (0..self.sizes.jobs)
            .all(|rival| apart[rival] == 0 || self.present[rival * machines + at] <= 0)
    }

    /// Return the costs of links by step of a task's latency to `machine`.
    fn link_cost(&self, task: usize, machine: i64, peer: i64) -> f64 {
        let problem = self.problem;
        let curve = problem.curve[problem.owner[task] as usize] as usize;
        let step = problem.steps[machine as usize * self.sizes.machines + peer as usize];
        problem.table[curve * problem.table_steps + step as usize]
    }

    fn links(&self, task: usize) -> std::ops::Range<usize> {
        self.problem.starts[task] as usize..self.problem.starts[task + 1] as usize
    }

    /// Return the cost of a task's links, of its move, or of its waiting.
    fn cost(&self, task: usize) -> f64 {
        let (machine, home) = (self.at[task], self.problem.at[task]);
        if machine < 0 {
            return self.problem.waiting_cost;
        }
        let mut total = 0.0;
        for link in self.links(task) {
            let peer = self.at[self.problem.other[link] as usize];
            if peer >= 0 {
                total += self.problem.weight[link] * self.link_cost(task, machine, peer);
            }
        }
        if home >= 0 && machine != home {
            total += self.problem.price;
        }
        total
    }

    /// Return the cost of the links between two tasks: `cost` of both counts them twice.
    fn link(&self, a: usize, b: usize) -> f64 {
        if self.at[a] < 0 || self.at[b] < 0 {
            return 0.0;
        }
        let mut total = 0.0;
        for link in self.links(a) {
            if self.problem.other[link] == b as i64 {
                total += self.problem.weight[link] * self.link_cost(a, self.at[a], self.at[b]);
            }
        }
        total
    }

    fn is_moved(&self, task: usize) -> bool {
        let home = self.problem.at[task];
        home >= 0 && self.at[task] != home
    }

    /// Keep the list of tasks that have moved.
    fn note(&mut self, task: usize) {
        let place = self.place_of[task];
        if self.is_moved(task) {
            if place < 0 {
                self.place_of[task] = self.away.len() as i64;
                self.away.push(task);
            }
        } else if place >= 0 {
            self.away.swap_remove(place as usize);
            if let Some(last) = self.away.get(place as usize) {
                self.place_of[*last] = place;
            }
            self.place_of[task] = -1;
        }
    }

    /// Move a task that runs nowhere to a machine, or swap it with one there from `source`; `None` if neither fits.
    ///
    /// Return the task that made room, and what its links cost before.
    fn propose(
        &mut self,
        a: usize,
        source: i64,
        target: i64,
        random: &mut Random,
    ) -> Option<Option<(usize, f64)>> {
        if self.fits(a, target) {
            self.put(a, target);
            return Some(None);
        }
        // A task there has to make room: one of the first few.
        let mut b = self.first[target as usize];
        for _ in 0..random.below(4) {
            if b >= 0 && self.after[b as usize] >= 0 {
                b = self.after[b as usize];
            }
        }
        if b < 0 || self.problem.movable[b as usize] == 0 || source < 0 {
            self.put(a, source);
            return None;
        }
        let b = b as usize;
        self.at[a] = source; // for the links between the two, which neither loses
        let cost = self.cost(b) - self.link(a, b);
        self.at[a] = -1;
        self.take(b);
        if self.fits(a, target) {
            self.put(a, target);
            if self.fits(b, source) {
                self.put(b, source);
                return Some(Some((b, cost)));
            }
            self.take(a);
        }
        self.put(b, target);
        self.put(a, source);
        None
    }
}

/// Return the best placement seen in `proposals` proposals: a task moves to a free slot or swaps with another.
///
/// `None` where arrays do not fit one another, or nothing may move.
pub fn anneal(problem: &Problem<'_>, proposals: usize, seed: u32) -> Option<Vec<i64>> {
    let mut search = Search::new(problem)?;
    let movers: Vec<usize> = (0..problem.at.len())
        .filter(|task| problem.movable[*task] != 0)
        .collect();
    if movers.is_empty() {
        return None;
    }
    let mut random = Random::new(seed);
    let machines = search.sizes.machines;
    let (mut now, mut best) = (0.0, 0.0);
    let mut chosen = search.at.clone();
    // The temperature starts near what a proposal changes and ends where nothing worse is accepted.
    let (mut scale, mut seen) = (0.0, 0_u32);
    for step in 0..proposals {
        let mut a = movers[random.below(movers.len())];
        // Under a budget that is used up only tasks that have moved can go anywhere.
        let moved = search.away.len();
        if moved >= problem.most_moves && moved > 0 && random.unit() < 0.5 {
            a = search.away[random.below(moved)];
        }
        let (source, home) = (search.at[a], problem.at[a]);
        let mut target = random.below(machines) as i64;
        if home >= 0 && source != home && random.unit() < 0.1 {
            target = home;
        }
        if target == source {
            continue;
        }
        let mut old = search.cost(a);
        let moved_a = usize::from(search.is_moved(a));
        search.take(a);
        let Some(swapped) = search.propose(a, source, target, &mut random) else {
            continue;
        };
        let b = swapped.map(|(b, _)| b);
        let mut new = search.cost(a);
        let (mut moved_before, mut moved_after) = (moved_a, usize::from(search.is_moved(a)));
        if let Some((b, cost)) = swapped {
            old += cost;
            new += search.cost(b) - search.link(a, b);
            moved_before += usize::from(problem.at[b] >= 0 && problem.at[b] != target);
            moved_after += usize::from(search.is_moved(b));
        }
        let change: f64 = new - old;
        seen += 1;
        if change.abs() < problem.waiting_cost / 2.0 {
            scale += (change.abs() - scale) / f64::from(seen.min(1000));
        }
        let temperature = 0.3 * scale * 1e-4_f64.powf(step as f64 / proposals as f64);
        let mut taken = change <= 0.0 || random.unit() < (-change / temperature.max(1e-30)).exp();
        if moved + moved_after > problem.most_moves + moved_before && moved_after > moved_before {
            taken = false;
        }
        if taken {
            search.note(a);
            if let Some(b) = b {
                search.note(b);
            }
            now += change;
            if now < best - 1e-9 {
                best = now;
                chosen.copy_from_slice(&search.at);
            }
            continue;
        }
        search.take(a);
        if let Some(b) = b {
            search.take(b);
            search.put(b, target);
        }
        search.put(a, source);
    }
    Some(chosen)
}
