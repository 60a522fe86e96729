//! Lower bound of the cost of any placement: capacity gets prices, and each job is then placed alone.
//!
//! This is a Lagrangian relaxation (M. L. Fisher 1981, "The Lagrangian relaxation method for solving integer programming
//! problems"). Prices follow the subgradient. A star alone is placed exactly but for `apart`, for limits of tasks
//! that stay and for tasks of different sizes on one machine; a graph by `graphs`. Of a large graph, each task that moves
//! is credited with all it could gain, and both ends of a link that move with half of it each. Budgets are kept.

use std::cell::Cell;

use super::graphs::{self, Prices};
use super::problem::{Problem, Sizes};
use super::state::State;
use super::watch::Watch;

/// Capacity from which on a resource is not limited.
const UNLIMITED: i64 = 1 << 39;
/// Most places of tasks that are looked at for better prices: about two seconds.
const WORK: usize = 40_000_000;
/// Most machines that are looked at to place a graph once, and all graphs once.
const GRAPH_WORK: usize = 3_000_000;
const GRAPHS_WORK: usize = 15_000_000;
/// Rounds from one in which graphs are placed exactly to the next.
const EXACT_EVERY: usize = 10;
/// Rounds without a better bound after which prices change in smaller steps.
const PATIENCE: u32 = 8;

/// Tasks of a star that are alike, but for their machines.
struct Class {
    /// One of them, for its demand.
    task: usize,
    weight: f64,
    running: Vec<usize>,
    waiting: usize,
    /// Number of them that fit on each machine beside the tasks that may not move, 0 where they may not run.
    fitting: Vec<u32>,
    /// Levels above the machine with a limit, and the limit.
    limits: Vec<(usize, i64)>,
}

/// A job whose links all lead to one task.
struct Star {
    root: usize,
    movable: bool,
    /// Machines of the root that are tried: first the present one.
    roots: Vec<i64>,
    /// Machines of the root that were once the cheapest for some number of moves.
    likely: Vec<i64>,
    /// Machines and weights of tasks that may not move.
    fixed: Vec<(i64, f64)>,
    classes: Vec<Class>,
    /// Number of tasks that have to wait whatever else moves: spread limits leave them no place.
    stuck: usize,
}

/// A job of any other form. Rows have an entry for each machine, infinite where the task may not run.
pub(super) struct Graph {
    /// Tasks that run, and what each gains at most on a machine.
    pub(super) gains: Vec<(usize, Vec<f64>)>,
    /// Tasks that wait, and what their links cost at least on a machine.
    pub(super) costs: Vec<(usize, Vec<f64>)>,
    /// Cost of the links as they are.
    pub(super) present: f64,
    /// Its job as a graph that is placed exactly; `None` where it is too large.
    exact: Option<graphs::Graph>,
}

enum Shape {
    Star(Star),
    Graph(Graph),
}

/// A job with tasks that may move.
pub(super) struct Job {
    pub(super) tasks: Vec<usize>,
    /// The task all links lead to.
    pub(super) root: Option<usize>,
    /// Most tasks that may move.
    pub(super) most_moves: usize,
    shape: Shape,
}

/// Least cost of a job by its number of moves, and the machine of its root for each.
#[derive(Clone, Default)]
pub(super) struct Table {
    pub(super) cost: Vec<f64>,
    root: Vec<i64>,
}

/// The tasks of a class for one machine of the root.
#[derive(Default)]
struct Options {
    /// Cost of each running task where it is, dearest first.
    stays: Vec<(f64, usize)>,
    /// Cheapest places, cheapest first.
    places: Vec<(f64, usize)>,
    /// Number of running tasks that have to move, because the root takes their room.
    evicted: usize,
}

/// The relaxed problem at its prices.
pub(super) struct Relaxation<'a> {
    problem: &'a Problem<'a>,
    sizes: Sizes,
    pub(super) jobs: Vec<Job>,
    /// Cost of the jobs of which nothing may move.
    constant: f64,
    /// Capacity that the tasks that may not move leave, shape (machines, resources).
    room: Vec<i64>,
    /// Price of each, same shape.
    pub(super) prices: Vec<f64>,
    /// Machines by their latency from each machine, shape (machines, machines).
    near: Vec<u32>,
    /// Least cost of a curve at a step of latency or any later one, shape (curves, steps).
    floor: Vec<f64>,
    /// Number of places of tasks that were looked at.
    work: Cell<usize>,
    /// Most of them to place a graph once.
    graph_work: usize,
}

impl Prices for Relaxation<'_> {
    fn price(&self, task: usize, machine: i64) -> f64 {
        self.price(task, machine)
    }
}

impl<'a> Relaxation<'a> {
    /// Return the problem relaxed at `prices`, shape (machines, resources); `None` where arrays do not fit.
    pub(super) fn new(problem: &'a Problem<'a>, prices: &[f64]) -> Option<Self> {
        let mut state = State::new(problem)?;
        let sizes = state.sizes;
        if prices.len() != problem.room.len() {
            return None;
        }
        let movers: Vec<usize> = (0..sizes.tasks)
            .filter(|task| problem.movable[*task] != 0)
            .collect();
        for task in &movers {
            state.take(*task);
        }
        let mut relaxation = Self {
            problem,
            sizes,
            jobs: Vec::new(),
            constant: 0.0,
            room: state.free.iter().map(|free| (*free).max(0)).collect(),
            prices: prices.to_vec(),
            near: neighbours(problem, sizes.machines),
            floor: floors(problem),
            work: Cell::new(0),
            graph_work: GRAPH_WORK,
        };
        let mut tasks_of = vec![Vec::new(); sizes.jobs];
        for task in 0..sizes.tasks {
            tasks_of[problem.owner[task] as usize].push(task);
        }
        let least = least_rows(problem, sizes.machines);
        for (job, tasks) in tasks_of.iter().enumerate() {
            let moving: Vec<usize> = tasks
                .iter()
                .copied()
                .filter(|task| problem.movable[*task] != 0)
                .collect();
            if moving.is_empty() {
                relaxation.constant += present_cost(problem, sizes.machines, tasks);
                continue;
            }
            let running = moving.iter().filter(|task| problem.at[**task] >= 0).count();
            let root = center(problem, tasks);
            let shape = match root {
                Some(root) => Shape::Star(star(problem, &state, root, tasks)),
                None => {
                    // Where spread limits leave none of the waiting tasks a place, they say so at once.
                    let waiting = moving.len() - running;
                    let none_starts = stuck(problem, &state, tasks) >= waiting;
                    let exact = graphs::Graph::new(problem, &state, job, tasks, none_starts, &[]);
                    Shape::Graph(graph(problem, &state, tasks, &least, exact, none_starts))
                }
            };
            relaxation.jobs.push(Job {
                tasks: moving,
                root,
                most_moves: most_moves(problem, tasks),
                shape,
            });
        }
        let graphs = relaxation
            .jobs
            .iter()
            .filter(|job| job.root.is_none())
            .count();
        relaxation.graph_work = GRAPH_WORK.min(GRAPHS_WORK / graphs.max(1));
        Some(relaxation)
    }

    /// Return the price of a task's demand on a machine.
    pub(super) fn price(&self, task: usize, machine: i64) -> f64 {
        if machine < 0 {
            return 0.0;
        }
        let resources = self.sizes.resources;
        let need = &self.problem.need[task * resources..][..resources];
        let prices = &self.prices[machine as usize * resources..][..resources];
        need.iter()
            .zip(prices)
            .map(|(need, price)| *need as f64 * price)
            .sum()
    }

    /// Return the machines by their latency from `machine`.
    pub(super) fn near(&self, machine: i64) -> &[u32] {
        &self.near[machine as usize * self.sizes.machines..][..self.sizes.machines]
    }

    /// Return the least cost of a task's link at the latency between two machines or any longer one.
    pub(super) fn floor(&self, task: usize, machine: i64, peer: i64) -> f64 {
        let step = self.problem.steps[machine as usize * self.sizes.machines + peer as usize];
        self.floor[self.problem.row(task) + step as usize]
    }

    /// Return what the bound has besides the jobs: what never changes, less the worth of all capacity.
    pub(super) fn outside(&self) -> f64 {
        let worth: f64 = self
            .room
            .iter()
            .zip(&self.prices)
            .map(|(room, price)| *room as f64 * price)
            .sum();
        self.constant - worth
    }

    /// Return the tables of all jobs at the present prices; not `exact`, graphs cost what is known of them.
    pub(super) fn tables(&mut self, exact: bool) -> Vec<Table> {
        let mut options = Vec::new();
        let mut jobs = std::mem::take(&mut self.jobs);
        let tables = jobs
            .iter_mut()
            .map(|job| self.table(job, &mut options, exact))
            .collect();
        self.jobs = jobs;
        tables
    }

    fn table(&self, job: &mut Job, options: &mut Vec<Options>, exact: bool) -> Table {
        let mut table = Table {
            cost: vec![f64::INFINITY; job.most_moves + 1],
            root: vec![-1; job.most_moves + 1],
        };
        let mut gains = Vec::new();
        match &mut job.shape {
            Shape::Star(star) => {
                let roots = if exact { &star.roots } else { &star.likely };
                for at in roots {
                    let mut cost = self.star_cost(star, *at, options, &mut gains);
                    let evicted: usize = options.iter().map(|options| options.evicted).sum();
                    let moves = usize::from(star.moves(self.problem, *at)) + evicted;
                    for count in moves..=job.most_moves {
                        if count > moves {
                            cost -= gains.get(count - moves - 1).unwrap_or(&0.0);
                        }
                        if cost < table.cost[count] {
                            table.cost[count] = cost;
                            table.root[count] = *at;
                        }
                    }
                }
                if exact {
                    for at in table.root.iter().filter(|at| **at >= 0 || !star.movable) {
                        if !star.likely.contains(at) {
                            star.likely.push(*at);
                        }
                    }
                }
                if self.problem.at[star.root] < 0 && star.movable {
                    // While its root waits, the links cost nothing.
                    for count in 0..=job.most_moves {
                        if self.problem.waiting_cost < table.cost[count] {
                            table.cost[count] = self.problem.waiting_cost;
                            table.root[count] = -1;
                        }
                    }
                }
            }
            Shape::Graph(Graph {
                exact: Some(known), ..
            }) if !exact => {
                for (count, (cost, place)) in known
                    .cheapest_known(job.most_moves, self)
                    .into_iter()
                    .enumerate()
                {
                    table.cost[count] = cost;
                    table.root[count] = place as i64;
                }
            }
            Shape::Graph(graph) if graph.exact.is_some() => {
                let (start, gains) = self.credits(graph);
                let Some(known) = &mut graph.exact else {
                    return table;
                };
                let (bound, work) = known.price(
                    self.problem,
                    self.sizes,
                    &self.room,
                    self,
                    job.most_moves,
                    start,
                    &gains,
                    &vec![f64::INFINITY; job.most_moves + 1],
                    self.graph_work,
                );
                self.work.set(self.work.get() + work);
                for (count, (_, place)) in known
                    .cheapest_known(job.most_moves, self)
                    .into_iter()
                    .enumerate()
                {
                    table.cost[count] = bound[count];
                    table.root[count] = place as i64;
                }
            }
            Shape::Graph(graph) => {
                let (mut cost, moves) = self.graph_cost(graph);
                for count in 0..=job.most_moves {
                    if count > 0 {
                        cost -= moves.get(count - 1).map_or(0.0, |(gain, ..)| *gain);
                    }
                    table.cost[count] = cost;
                }
            }
        }
        table
    }

    /// Return the cost of a star without moves of its tasks, for one machine of its root; write what moves gain.
    fn star_cost(
        &self,
        star: &Star,
        at: i64,
        options: &mut Vec<Options>,
        gains: &mut Vec<f64>,
    ) -> f64 {
        let (problem, machines) = (self.problem, self.sizes.machines);
        let mut cost = 0.0;
        if star.movable {
            cost += self.price(star.root, at);
            if star.moves(problem, at) {
                cost += problem.price;
            }
        }
        for (machine, weight) in &star.fixed {
            if *machine >= 0 && at >= 0 {
                cost += weight * problem.pair(star.root, machines, at, *machine);
            }
        }
        gains.clear();
        let mut starts = Vec::new();
        options.resize_with(star.classes.len(), Options::default);
        for (class, options) in star.classes.iter().zip(options.iter_mut()) {
            self.class_options(star, class, at, options);
            cost += options.stays.iter().map(|(stay, _)| stay).sum::<f64>();
            let place = |number: usize| {
                options
                    .places
                    .get(number)
                    .map_or(f64::INFINITY, |place| place.0)
            };
            cost += (0..options.evicted)
                .map(|number| place(number) + problem.price)
                .sum::<f64>();
            let first = options.evicted;
            starts.extend(
                (first..first + class.waiting)
                    .map(|number| place(number).min(problem.waiting_cost)),
            );
            let places = options.places.iter().skip(first + class.waiting);
            for ((stay, _), (place, _)) in options.stays.iter().zip(places) {
                let gain = stay - place - problem.price;
                if gain <= 0.0 {
                    break;
                }
                gains.push(gain);
            }
        }
        gains.sort_unstable_by(|a, b| b.total_cmp(a));
        starts.sort_unstable_by(f64::total_cmp);
        let started = starts.len() - star.stuck.min(starts.len());
        cost += starts[..started].iter().sum::<f64>();
        cost + (starts.len() - started) as f64 * problem.waiting_cost
    }

    fn class_options(&self, star: &Star, class: &Class, at: i64, options: &mut Options) {
        let (problem, machines) = (self.problem, self.sizes.machines);
        let cost_on = |machine: i64| {
            let link = if at < 0 {
                0.0
            } else {
                class.weight * problem.pair(class.task, machines, at, machine)
            };
            link + self.price(class.task, machine)
        };
        options.stays.clear();
        options.places.clear();
        options.evicted = 0;
        let joins = star.movable && at >= 0 && problem.at[star.root] != at;
        // Room next to a root that comes.
        let next_to = if joins {
            self.next_to_root(star, class, at as usize)
        } else {
            usize::MAX
        };
        let mut stay_there = 0;
        for task in &class.running {
            if problem.at[*task] == at && stay_there >= next_to {
                options.evicted += 1;
                continue;
            }
            stay_there += usize::from(problem.at[*task] == at);
            options.stays.push((cost_on(problem.at[*task]), *task));
        }
        options
            .stays
            .sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let wanted = class.waiting + class.running.len();
        // A place that costs more is of use to no task.
        let mut dearest = options
            .stays
            .first()
            .map_or(f64::NEG_INFINITY, |(stay, _)| stay - problem.price);
        if class.waiting + options.evicted > 0 {
            dearest = f64::INFINITY;
        }
        let fitting = |machine: usize| {
            let most = class.fitting[machine] as usize;
            if star.movable && machine as i64 == at {
                let next_to = self.next_to_root(star, class, machine);
                most.min(next_to.saturating_sub(stay_there))
            } else {
                most
            }
        };
        // With limits of hosts or zones the cheapest places may not be those that count.
        let limited = !class.limits.is_empty();
        let order = if at < 0 { 0 } else { at };
        let mut looked = options.stays.len();
        for machine in self.near(order).iter().map(|machine| *machine as usize) {
            looked += 1;
            let full = !limited && options.places.len() >= wanted;
            let last = options.places.last().map_or(0.0, |(cost, _)| *cost);
            let limit = if full { last.min(dearest) } else { dearest };
            if at >= 0 && class.weight * self.floor(class.task, at, machine as i64) >= limit {
                break;
            }
            let cost = cost_on(machine as i64);
            let count = fitting(machine).min(wanted);
            if count == 0 || cost >= limit {
                continue;
            }
            if limited {
                options.places.extend((0..count).map(|_| (cost, machine)));
                continue;
            }
            let before = options.places.partition_point(|(other, _)| *other <= cost);
            let places = before..before;
            options
                .places
                .splice(places, (0..count).map(|_| (cost, machine)));
            options.places.truncate(wanted);
        }
        if limited {
            looked += 4 * options.places.len(); // they are sorted
            options.places.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.keep_limits(class, &mut options.places, wanted);
        }
        self.work.set(self.work.get() + looked);
    }

    /// Return the number of tasks of a class that fit on a machine beside the root.
    fn next_to_root(&self, star: &Star, class: &Class, machine: usize) -> usize {
        let resources = self.sizes.resources;
        (0..resources)
            .filter_map(|resource| {
                let need = self.problem.need[class.task * resources + resource];
                let root = self.problem.need[star.root * resources + resource];
                let room = self.room[machine * resources + resource] - root;
                (need > 0).then(|| (room.max(0) / need) as usize)
            })
            .min()
            .unwrap_or(usize::MAX)
    }

    /// Keep the cheapest `wanted` places within the limits of hosts and zones.
    fn keep_limits(&self, class: &Class, places: &mut Vec<(f64, usize)>, wanted: usize) {
        let mut loads = vec![0; class.limits.len() * self.sizes.domains];
        places.retain(|(_, machine)| {
            let of =
                |level: usize| self.problem.domain[level * self.sizes.machines + machine] as usize;
            let place = |row: usize, level: usize| row * self.sizes.domains + of(level);
            let limits = || class.limits.iter().enumerate();
            if limits().any(|(row, (level, most))| loads[place(row, *level)] >= *most) {
                return false;
            }
            for (row, (level, _)) in limits() {
                loads[place(row, *level)] += 1;
            }
            true
        });
        places.truncate(wanted);
    }

    /// Return the cost of a graph without moves, and the moves of its tasks: gain, task, machine, best first.
    fn graph_cost(&self, graph: &Graph) -> (f64, Vec<(f64, usize, usize)>) {
        let problem = self.problem;
        let rows = graph.gains.len() + graph.costs.len();
        self.work.set(self.work.get() + rows * self.sizes.machines);
        let mut cost = graph.present;
        let mut moves = Vec::new();
        for (task, gains) in &graph.gains {
            let home = self.price(*task, problem.at[*task]);
            cost += home;
            let best = gains
                .iter()
                .enumerate()
                .filter(|(_, gain)| gain.is_finite())
                .map(|(machine, gain)| (gain - self.price(*task, machine as i64), machine))
                .max_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((gain, machine)) = best {
                let gain = gain + home - problem.price;
                if gain > 0.0 {
                    moves.push((gain, *task, machine));
                }
            }
        }
        for (task, costs) in &graph.costs {
            cost += self
                .start(*task, costs)
                .map_or(problem.waiting_cost, |(cost, _)| cost);
        }
        moves.sort_by(|a, b| b.0.total_cmp(&a.0));
        (cost, moves)
    }

    /// Return the least cost of a graph without moves, and what the move of each running task gains at most.
    fn credits(&self, graph: &Graph) -> (f64, Vec<f64>) {
        let problem = self.problem;
        let mut cost = graph.present;
        let mut most = Vec::new();
        for (task, gains) in &graph.gains {
            let home = self.price(*task, problem.at[*task]);
            cost += home;
            let best = gains
                .iter()
                .enumerate()
                .map(|(machine, gain)| gain - self.price(*task, machine as i64))
                .fold(f64::NEG_INFINITY, f64::max);
            most.push(best + home - problem.price);
        }
        for (task, costs) in &graph.costs {
            cost += self
                .start(*task, costs)
                .map_or(problem.waiting_cost, |(cost, _)| cost);
        }
        (cost, most)
    }

    /// Return the cheapest machine of a waiting task of a graph, `None` if waiting is cheaper.
    fn start(&self, task: usize, costs: &[f64]) -> Option<(f64, usize)> {
        costs
            .iter()
            .enumerate()
            .map(|(machine, cost)| (cost + self.price(task, machine as i64), machine))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .filter(|(cost, _)| *cost < self.problem.waiting_cost)
    }

    /// Add to `used`, shape (machines, resources), what a job takes in its cheapest placement with `moves` moves.
    fn add_use(
        &self,
        job: &Job,
        root: i64,
        moves: usize,
        options: &mut Vec<Options>,
        used: &mut [f64],
    ) {
        let (problem, resources) = (self.problem, self.sizes.resources);
        let mut take = |task: usize, machine: i64| {
            if machine >= 0 {
                for resource in 0..resources {
                    used[machine as usize * resources + resource] +=
                        problem.need[task * resources + resource] as f64;
                }
            }
        };
        match &job.shape {
            Shape::Star(star) => {
                if root < 0 && star.movable {
                    return;
                }
                let mut gains = Vec::new();
                self.star_cost(star, root, options, &mut gains);
                if star.movable {
                    take(star.root, root);
                }
                let evicted: usize = options.iter().map(|options| options.evicted).sum();
                let left = moves - (usize::from(star.moves(problem, root)) + evicted).min(moves);
                let least = match left {
                    0 => f64::INFINITY,
                    _ => gains.get(left - 1).copied().unwrap_or(0.0),
                };
                let mut left = left;
                for (class, options) in star.classes.iter().zip(options.iter()) {
                    let mut places = options.places.iter();
                    for (_, machine) in places.by_ref().take(options.evicted) {
                        take(class.task, *machine as i64);
                    }
                    for (cost, machine) in places.by_ref().take(class.waiting) {
                        if *cost < problem.waiting_cost {
                            take(class.task, *machine as i64);
                        }
                    }
                    for (stay, task) in &options.stays {
                        let place = places.next();
                        let gain = place.map_or(0.0, |(cost, _)| stay - cost - problem.price);
                        match place {
                            Some((_, machine)) if left > 0 && gain > 0.0 && gain >= least => {
                                left -= 1;
                                take(*task, *machine as i64);
                            }
                            _ => take(*task, problem.at[*task]),
                        }
                    }
                }
            }
            Shape::Graph(Graph {
                exact: Some(known), ..
            }) => {
                let column = &known.known[root as usize];
                for (task, machine) in known.tasks.iter().zip(&column.at) {
                    take(*task, *machine);
                }
            }
            Shape::Graph(graph) => {
                let (_, chosen) = self.graph_cost(graph);
                let chosen = &chosen[..moves.min(chosen.len())];
                for (task, _) in &graph.gains {
                    let moved = chosen.iter().find(|(_, mover, _)| mover == task);
                    let machine = moved.map_or(problem.at[*task], |(.., to)| *to as i64);
                    take(*task, machine);
                }
                for (task, costs) in &graph.costs {
                    if let Some((_, machine)) = self.start(*task, costs) {
                        take(*task, machine as i64);
                    }
                }
            }
        }
    }

    /// Raise the bound by better prices in at most `rounds` rounds, towards the cost `upper` of a placement.
    ///
    /// Return the best bound; the prices are those of it.
    pub(super) fn improve(&mut self, upper: f64, rounds: usize, watch: Watch<'_>) -> f64 {
        let resources = self.sizes.resources;
        let mut best = f64::NEG_INFINITY;
        let mut best_prices = self.prices.clone();
        let (mut scale, mut waited) = (1.0, 0);
        let mut options = Vec::new();
        let (mut recent, mut last) = (f64::NEG_INFINITY, false);
        for round in 0..rounds.max(1) {
            last |= round + 1 == rounds.max(1);
            let exact = last || round % EXACT_EVERY == 0;
            let tables = self.tables(exact);
            let costs: Vec<&[f64]> = tables.iter().map(|table| &table.cost[..]).collect();
            let (inside, moves) = share_moves(&costs, self.problem.most_moves);
            let bound = self.outside() + inside;
            if exact && bound > best {
                best = bound;
                best_prices.copy_from_slice(&self.prices);
            }
            if last {
                break;
            }
            if exact && bound < recent {
                recent = bound; // what was known of graphs was too dear
            } else if bound > recent {
                waited = 0;
                recent = bound;
            } else {
                waited += 1;
                if waited >= PATIENCE {
                    (scale, waited) = (scale / 2.0, 0);
                    last = scale < 1e-4;
                }
            }
            if !watch(upper, if best.is_finite() { best } else { f64::NAN }) {
                break;
            }
            let gap = upper - bound;
            if exact && gap <= 1e-9 * upper.abs().max(1.0) {
                break;
            }
            last |= self.work.get() > WORK;
            let mut used = vec![0.0; self.prices.len()];
            for ((job, table), moves) in self.jobs.iter().zip(&tables).zip(&moves) {
                self.add_use(job, table.root[*moves], *moves, &mut options, &mut used);
            }
            let mut slope = 0.0;
            for (place, used) in used.iter_mut().enumerate() {
                let room = self.room[place];
                *used -= room as f64;
                // CPU and memory have larger units than slots: scaled by the room, prices of all grow alike.
                if room >= UNLIMITED || (*used < 0.0 && self.prices[place] <= 0.0) {
                    *used = 0.0;
                } else if place % resources > 0 {
                    *used /= (room as f64).max(1.0).powi(2);
                }
                slope += *used
                    * *used
                    * if place % resources > 0 {
                        (room as f64).max(1.0).powi(2)
                    } else {
                        1.0
                    };
            }
            if slope <= 0.0 {
                break;
            }
            let step = scale * gap.max(1e-3 * upper.abs()) / slope;
            for (price, used) in self.prices.iter_mut().zip(&used) {
                *price = (*price + step * used).max(0.0);
            }
        }
        self.prices = best_prices;
        best
    }
}

impl Star {
    /// Return whether the root moves if it runs on `at`.
    fn moves(&self, problem: &Problem<'_>, at: i64) -> bool {
        let home = problem.at[self.root];
        self.movable && home >= 0 && at != home
    }
}

/// Return the least cost of all jobs with at most `most` moves in all, and the moves of each.
pub(super) fn share_moves(tables: &[&[f64]], most: usize) -> (f64, Vec<usize>) {
    let all: usize = tables.iter().map(|table| table.len() - 1).sum();
    if all <= most {
        // Every table falls with the number of moves.
        let cost = tables.iter().map(|table| least(table).1).sum();
        return (cost, tables.iter().map(|table| least(table).0).collect());
    }
    let rows = after_each(tables.iter().copied(), most);
    let mut left = most;
    let mut moves = Vec::new();
    for (table, row) in tables.iter().zip(&rows[1..]) {
        let count = (0..table.len().min(left + 1))
            .min_by(|a, b| (table[*a] + row[left - a]).total_cmp(&(table[*b] + row[left - b])))
            .unwrap_or(0);
        moves.push(count);
        left -= count;
    }
    (rows[0][most], moves)
}

fn least(costs: &[f64]) -> (usize, f64) {
    let mut best = (0, f64::INFINITY);
    for (count, cost) in costs.iter().enumerate() {
        if *cost < best.1 {
            best = (count, *cost);
        }
    }
    best
}

/// Return, for each job and after the last, the least cost of it and those after it by the number of moves left.
pub(super) fn after_each<'t>(
    tables: impl DoubleEndedIterator<Item = &'t [f64]>,
    most: usize,
) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; most + 1]];
    for table in tables.rev() {
        let after = &rows[rows.len() - 1];
        let row = (0..=most)
            .map(|left| {
                (0..table.len().min(left + 1))
                    .map(|count| table[count] + after[left - count])
                    .fold(f64::INFINITY, f64::min)
            })
            .collect();
        rows.push(row);
    }
    rows.reverse();
    rows
}

/// Return the machines by their latency from each, nearest first, shape (machines, machines).
pub(super) fn neighbours(problem: &Problem<'_>, machines: usize) -> Vec<u32> {
    let mut near = Vec::with_capacity(machines * machines);
    for row in problem.steps.chunks_exact(machines) {
        let start = near.len();
        near.extend(0..machines as u32);
        near[start..].sort_by_key(|machine| row[*machine as usize]);
    }
    near
}

fn floors(problem: &Problem<'_>) -> Vec<f64> {
    let mut floor = problem.table.to_vec();
    for row in floor.chunks_exact_mut(problem.table_steps) {
        for step in (1..row.len()).rev() {
            row[step - 1] = row[step - 1].min(row[step]);
        }
    }
    floor
}

/// Return the least cost of a link from each machine by curve, shape (curves, machines).
pub(super) fn least_rows(problem: &Problem<'_>, machines: usize) -> Vec<f64> {
    let mut least = Vec::new();
    for table in problem.table.chunks_exact(problem.table_steps) {
        least.extend(problem.steps.chunks_exact(machines).map(|row| {
            row.iter()
                .map(|step| table[*step as usize])
                .fold(f64::INFINITY, f64::min)
        }));
    }
    least
}

/// Return the cost of the links of a job's tasks where both ends run.
pub(super) fn present_cost(problem: &Problem<'_>, machines: usize, tasks: &[usize]) -> f64 {
    let mut total = 0.0;
    for task in tasks {
        for link in problem.links(*task) {
            let (here, there) = (problem.at[*task], problem.at[problem.other[link] as usize]);
            if here >= 0 && there >= 0 {
                total += problem.weight[link] * problem.pair(*task, machines, here, there) / 2.0;
            }
        }
    }
    total
}

/// Return the most tasks of a job that may move.
pub(super) fn most_moves(problem: &Problem<'_>, tasks: &[usize]) -> usize {
    let moving = |task: &&usize| problem.movable[**task] != 0 && problem.at[**task] >= 0;
    let running = tasks.iter().filter(moving).count() as i64;
    let own = tasks.first().map_or(0, |task| {
        problem.most_moves_of[problem.owner[*task] as usize].clamp(0, running)
    });
    problem.most_moves.min(own as usize)
}

/// Return the task that all links of a job have in common, if there is one.
fn center(problem: &Problem<'_>, tasks: &[usize]) -> Option<usize> {
    let ends: usize = tasks.iter().map(|task| problem.links(*task).len()).sum();
    tasks
        .iter()
        .copied()
        .find(|task| ends > 0 && 2 * problem.links(*task).len() == ends)
}

fn star(problem: &Problem<'_>, fixed: &State<'_>, root: usize, tasks: &[usize]) -> Star {
    let sizes = fixed.sizes;
    let (home, movable) = (problem.at[root], problem.movable[root] != 0);
    let mut roots = Vec::new();
    if home >= 0 || !movable {
        roots.push(home);
    }
    if movable {
        let others = (0..sizes.machines as i64).filter(|machine| *machine != home);
        roots.extend(others.filter(|machine| fixed.fits(root, *machine)));
    }
    let mut star = Star {
        root,
        movable,
        roots,
        likely: Vec::new(),
        fixed: Vec::new(),
        classes: Vec::new(),
        stuck: stuck(problem, fixed, tasks),
    };
    let need = |task: usize| &problem.need[task * sizes.resources..][..sizes.resources];
    for task in tasks.iter().copied().filter(|task| *task != root) {
        let weight: f64 = problem.links(task).map(|link| problem.weight[link]).sum();
        if problem.movable[task] == 0 {
            star.fixed.push((problem.at[task], weight));
            continue;
        }
        let alike = star.classes.iter().position(|class| {
            class.weight == weight
                && need(class.task) == need(task)
                && problem.spared[class.task] == problem.spared[task]
                && fixed.barred(class.task) == fixed.barred(task)
        });
        let place = alike.unwrap_or_else(|| {
            star.classes.push(class(problem, fixed, task, weight));
            star.classes.len() - 1
        });
        if problem.at[task] >= 0 {
            star.classes[place].running.push(task);
            // Another one in its place would do as well as if it stayed, and cost a move.
            let fitting = &mut star.classes[place].fitting[problem.at[task] as usize];
            *fitting = fitting.saturating_sub(1);
        } else {
            star.classes[place].waiting += 1;
        }
    }
    star
}

/// Return how many tasks of a job have to wait, because the failure domains of a level cannot hold all of them.
fn stuck(problem: &Problem<'_>, fixed: &State<'_>, tasks: &[usize]) -> usize {
    let sizes = fixed.sizes;
    let counted: Vec<usize> = tasks
        .iter()
        .copied()
        .filter(|task| problem.movable[*task] != 0 && problem.spared[*task] == 0)
        .collect();
    let Some(job) = counted.first().map(|task| problem.owner[*task] as usize) else {
        return 0;
    };
    let levels = (0..sizes.levels).map(|level| {
        let mut room = vec![0; sizes.domains];
        for machine in 0..sizes.machines {
            let open = counted
                .iter()
                .any(|task| problem.at[*task] == machine as i64 || fixed.may_run(*task, machine));
            if open {
                let domain = problem.domain[level * sizes.machines + machine] as usize;
                room[domain] = fixed.left(job, level, machine).max(0);
            }
        }
        let room = room
            .iter()
            .fold(0_i64, |sum, left| sum.saturating_add(*left));
        (counted.len() as i64 - room).max(0) as usize
    });
    levels.max().unwrap_or(0)
}

fn class(problem: &Problem<'_>, fixed: &State<'_>, task: usize, weight: f64) -> Class {
    let sizes = fixed.sizes;
    let job = problem.owner[task] as usize;
    let limited = problem.spared[task] == 0;
    let fitting = (0..sizes.machines).map(|machine| {
        if !fixed.may_run(task, machine) {
            return 0;
        }
        let rooms = (0..sizes.resources).filter_map(|resource| {
            let need = problem.need[task * sizes.resources + resource];
            let free = fixed.free[machine * sizes.resources + resource].max(0);
            (need > 0).then(|| free / need)
        });
        let spread = limited.then(|| fixed.left(job, 0, machine));
        rooms
            .chain(spread)
            .min()
            .unwrap_or(i64::from(u32::MAX))
            .clamp(0, i64::from(u32::MAX)) as u32
    });
    let limits = (1..sizes.levels).filter_map(|level| {
        let most = (0..sizes.machines)
            .map(|machine| fixed.left(job, level, machine))
            .max()?;
        (limited && most < sizes.tasks as i64).then_some((level, most))
    });
    Class {
        task,
        weight,
        running: Vec::new(),
        waiting: 0,
        fitting: fitting.collect(),
        limits: limits.collect(),
    }
}

pub(super) fn graph(
    problem: &Problem<'_>,
    fixed: &State<'_>,
    tasks: &[usize],
    least: &[f64],
    exact: Option<graphs::Graph>,
    none_starts: bool,
) -> Graph {
    let machines = fixed.sizes.machines;
    let most = most_moves(problem, tasks);
    let mut more: Vec<(usize, f64)> = Vec::new();
    let mut graph = Graph {
        gains: Vec::new(),
        costs: Vec::new(),
        present: present_cost(problem, machines, tasks),
        exact,
    };
    for task in tasks
        .iter()
        .copied()
        .filter(|task| problem.movable[*task] != 0)
    {
        let home = problem.at[task];
        let curve = problem.row(task) / problem.table_steps;
        let row = (0..machines).map(|machine| {
            if !fixed.may_run(task, machine) || (none_starts && home < 0) {
                return if home < 0 {
                    f64::INFINITY
                } else {
                    f64::NEG_INFINITY
                };
            }
            let half = least[curve * machines + machine] / 2.0;
            let mut total = 0.0;
            more.clear();
            for link in problem.links(task) {
                let peer = problem.other[link] as usize;
                let (there, weight) = (problem.at[peer], problem.weight[link]);
                if there < 0 {
                    continue;
                }
                let near = problem.pair(task, machines, machine as i64, there);
                let (alone, together) = if home < 0 {
                    (near, near.min(half))
                } else {
                    let now = problem.pair(task, machines, home, there);
                    (now - near, (now - near).max(now / 2.0 - half))
                };
                total += weight * alone;
                if problem.movable[peer] != 0 {
                    let extra = weight * (together - alone);
                    match more.iter_mut().find(|(other, _)| *other == peer) {
                        Some((_, sum)) => *sum += extra,
                        None => more.push((peer, extra)),
                    }
                }
            }
            // No more of its neighbours move with it than the budget allows.
            more.sort_unstable_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
            let peers = most.saturating_sub(usize::from(home >= 0));
            total + more.iter().take(peers).map(|(_, extra)| extra).sum::<f64>()
        });
        let row = row.collect();
        if home >= 0 {
            graph.gains.push((task, row));
        } else {
            graph.costs.push((task, row));
        }
    }
    graph
}

/// A lower bound and the prices that give it, shape (machines, resources).
pub struct Bound {
    /// Least cost of any placement: links, moves and waiting tasks.
    pub cost: f64,
    /// Price of a unit of each resource of each machine.
    pub prices: Vec<f64>,
}

/// Return a lower bound of the cost of any placement; `upper` is the cost of one.
///
/// `None` where arrays do not fit one another.
pub fn bound(problem: &Problem<'_>, upper: f64, rounds: usize, watch: Watch<'_>) -> Option<Bound> {
    let mut relaxation = Relaxation::new(problem, &vec![0.0; problem.room.len()])?;
    let cost = relaxation.improve(upper, rounds, watch);
    Some(Bound {
        cost,
        prices: relaxation.prices,
    })
}
