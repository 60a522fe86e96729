//! Jobs whose links all lead to one task: classes of tasks that are alike, each placed by its cheapest machines.

use super::super::problem::Problem;
use super::super::state::State;
use super::Relaxation;

/// Tasks of a star that are alike, but for their machines.
pub(super) struct Class {
    /// One of them, for its demand.
    pub(super) task: usize,
    pub(super) weight: f64,
    pub(super) running: Vec<usize>,
    pub(super) waiting: usize,
    /// Number of them that fit on each machine next to the tasks that may not move, 0 where they may not run.
    pub(super) fitting: Vec<u32>,
    /// Levels above the machine with a limit, and the limit.
    pub(super) limits: Vec<(usize, i64)>,
}

/// A job whose links all lead to one task.
pub(super) struct Star {
    pub(super) root: usize,
    pub(super) movable: bool,
    /// Machines of the root that are tried: first the present one.
    pub(super) roots: Vec<i64>,
    /// Machines of the root that were once the cheapest for some number of moves.
    pub(super) likely: Vec<i64>,
    /// Machines and weights of tasks that may not move.
    pub(super) fixed: Vec<(i64, f64)>,
    pub(super) classes: Vec<Class>,
    /// Number of tasks that have to wait whatever else moves: spread limits leave them no place.
    pub(super) stuck: usize,
}

/// The tasks of a class for one machine of the root.
#[derive(Default)]
pub(super) struct Options {
    /// Cost of each running task where it is, dearest first.
    pub(super) stays: Vec<(f64, usize)>,
    /// Cheapest places, cheapest first.
    pub(super) places: Vec<(f64, usize)>,
    /// Number of running tasks that have to move, because the root takes their room.
    pub(super) evicted: usize,
}

impl Star {
    /// Return whether the root moves if it runs on `at`.
    pub(super) fn moves(&self, problem: &Problem<'_>, at: i64) -> bool {
        let home = problem.at[self.root];
        self.movable && home >= 0 && at != home
    }
}

impl Relaxation<'_> {
    /// Return the cost of a star without moves of its tasks, for one machine of its root; write what moves gain.
    pub(super) fn star_cost(
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
            cost += problem.coming(star.root, machines, at);
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
                .map(|number| place(number) + problem.move_price(class.task))
                .sum::<f64>();
            let first = options.evicted;
            starts.extend(
                (first..first + class.waiting)
                    .map(|number| place(number).min(problem.waiting_cost)),
            );
            let places = options.places.iter().skip(first + class.waiting);
            for ((stay, _), (place, _)) in options.stays.iter().zip(places) {
                let gain = stay - place - problem.move_price(class.task);
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
            .map_or(f64::NEG_INFINITY, |(stay, _)| {
                stay - problem.move_price(class.task)
            });
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
            let brought = problem.brought(class.task, machines, machine);
            let cost = cost_on(machine as i64) + brought;
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

    /// Return the number of tasks of a class that fit on a machine next to the root.
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
}

/// Return the task that all links of a job have in common, if there is one.
pub(super) fn center(problem: &Problem<'_>, tasks: &[usize]) -> Option<usize> {
    let ends: usize = tasks.iter().map(|task| problem.links(*task).len()).sum();
    tasks
        .iter()
        .copied()
        .find(|task| ends > 0 && 2 * problem.links(*task).len() == ends)
}

pub(super) fn star(problem: &Problem<'_>, fixed: &State<'_>, root: usize, tasks: &[usize]) -> Star {
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
                && problem.region(class.task, sizes.machines)
                    == problem.region(task, sizes.machines)
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
pub(super) fn stuck(problem: &Problem<'_>, fixed: &State<'_>, tasks: &[usize]) -> usize {
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
