//! The cheapest placements of one job at prices of capacity, by its number of moves, within the limits of the job.
//!
//! For each set of tasks that move, the others stay, and the moving and waiting tasks are placed depth first. Each task
//! first sends those before it what it costs at least next to them (R. Dechter, I. Rish 2003, "Mini-buckets"): exact where
//! their links have no cycle. Sets and branches that cannot be better than the placements known are left out.

use super::problem::{Problem, Sizes};
use super::state::State;

/// Most sets of moving tasks of one size that are looked at.
const SETS: usize = 600;
/// The same for few moves: every set of three of the most tasks.
const SETS_OF_FEW: usize = 2_024;
/// Number of moves that are few.
pub(super) const FEW_MOVES: usize = 3;
/// Most tasks of a graph that are placed exactly.
const TASKS: usize = 24;
/// Most placements of a job that are remembered.
const REMEMBERED: usize = 300;

struct Link {
    peer: usize,
    weight: f64,
}

/// A placement of a job: the machine of each of its tasks that may move, -1 for none.
pub(super) struct Column {
    pub(super) at: Vec<i64>,
    pub(super) moves: usize,
    /// Cost of links, moves and waiting tasks, without prices of capacity.
    cost: f64,
}

/// A job of any form, with the tasks that may move: those that run first.
pub(super) struct Graph {
    pub(super) tasks: Vec<usize>,
    homes: Vec<i64>,
    running: usize,
    links: Vec<Vec<Link>>,
    /// Cost of the links to tasks that may not move, shape (tasks, machines), infinite where a task may not begin to run.
    alone: Vec<f64>,
    /// Its value where each task runs.
    at_home: Vec<f64>,
    /// Cost of the links of tasks that may not move.
    fixed: f64,
    /// Row of costs of links by step of latency.
    row: usize,
    /// Tasks of the job that each failure domain may have, shape (levels, domains).
    left: Vec<i64>,
    counted: Vec<bool>,
    /// Members that have to move.
    forced: Vec<usize>,
    pub(super) known: Vec<Column>,
}

/// Prices of a task on a machine.
pub(super) trait Prices {
    fn price(&self, task: usize, machine: i64) -> f64;
}

/// Least cost that a task placed later adds to the cost of an earlier one, by the machine of that, the last for waiting.
struct Message {
    /// Place of the earlier task in the order.
    to: usize,
    weight: f64,
    cost: Vec<f64>,
}

/// A search for the cheapest placement of one set of moving tasks.
struct Dive<'a> {
    problem: &'a Problem<'a>,
    sizes: Sizes,
    graph: &'a Graph,
    /// Tasks to place, in order.
    order: Vec<usize>,
    /// Cost of each on each machine, with the messages of those after it; the last is for waiting.
    rows: Vec<Vec<f64>>,
    /// Messages of each to those before it.
    messages: Vec<Vec<Message>>,
    /// Least cost of each that has no link to one before it.
    least: Vec<f64>,
    at: Vec<i64>,
    /// Room next to the tasks that stay and are placed, shape (machines, resources).
    room: Vec<i64>,
    left: Vec<i64>,
    bar: f64,
    best: Option<Vec<i64>>,
    work: usize,
}

impl Graph {
    /// Return a job beside what runs in `fixed`, without its own tasks; those of `forced` have to move.
    ///
    /// `None` if it has too many tasks.
    pub(super) fn new(
        problem: &Problem<'_>,
        fixed: &State<'_>,
        job: usize,
        tasks: &[usize],
        none_starts: bool,
        forced: &[usize],
    ) -> Option<Self> {
        let sizes = fixed.sizes;
        let machines = sizes.machines;
        let mut moving: Vec<usize> = tasks
            .iter()
            .copied()
            .filter(|task| problem.movable[*task] != 0)
            .collect();
        if moving.len() > TASKS {
            return None;
        }
        moving.sort_by_key(|task| (problem.at[*task] < 0, *task));
        let running = moving.iter().filter(|task| problem.at[**task] >= 0).count();
        let place = |task: usize| moving.iter().position(|other| *other == task);
        let mut graph = Self {
            homes: moving.iter().map(|task| problem.at[*task]).collect(),
            running,
            links: Vec::new(),
            alone: Vec::new(),
            at_home: Vec::new(),
            fixed: 0.0,
            row: problem.curve[job] as usize * problem.table_steps,
            left: Vec::new(),
            counted: moving
                .iter()
                .map(|task| problem.spared[*task] == 0)
                .collect(),
            forced: forced.iter().filter_map(|task| place(*task)).collect(),
            known: Vec::new(),
            tasks: Vec::new(),
        };
        graph.left = vec![0; sizes.levels * sizes.domains];
        for level in 0..sizes.levels {
            for machine in 0..machines {
                let domain = problem.domain[level * machines + machine] as usize;
                graph.left[level * sizes.domains + domain] = fixed.left(job, level, machine);
            }
        }
        for task in tasks
            .iter()
            .copied()
            .filter(|task| problem.movable[*task] == 0)
        {
            for link in problem.links(task) {
                let peer = problem.other[link] as usize;
                if problem.movable[peer] == 0 && problem.at[task] >= 0 && problem.at[peer] >= 0 {
                    let cost = problem.pair(task, machines, problem.at[task], problem.at[peer]);
                    graph.fixed += problem.weight[link] * cost / 2.0;
                }
            }
        }
        for task in &moving {
            let open: Vec<bool> = (0..machines)
                .map(|machine| {
                    fixed.may_run(*task, machine) && !(none_starts && problem.at[*task] < 0)
                })
                .collect();
            let mut alone: Vec<f64> = open
                .iter()
                .map(|open| if *open { 0.0 } else { f64::INFINITY })
                .collect();
            let mut at_home = 0.0;
            let mut links: Vec<Link> = Vec::new();
            for link in problem.links(*task) {
                let (peer, weight) = (problem.other[link] as usize, problem.weight[link]);
                if let Some(peer) = place(peer) {
                    match links.iter_mut().find(|other| other.peer == peer) {
                        Some(same) => same.weight += weight,
                        None => links.push(Link { peer, weight }),
                    }
                    continue;
                }
                let there = problem.at[peer];
                if there < 0 {
                    continue;
                }
                for (machine, cost) in alone.iter_mut().enumerate() {
                    *cost += weight * problem.pair(*task, machines, machine as i64, there);
                }
                if problem.at[*task] >= 0 {
                    at_home += weight * problem.pair(*task, machines, problem.at[*task], there);
                }
            }
            graph.alone.extend(alone);
            graph.at_home.push(at_home);
            graph.links.push(links);
        }
        graph.tasks = moving;
        if graph.forced.is_empty() {
            let now = graph.homes.clone();
            graph.know(problem, machines, now);
        }
        Some(graph)
    }

    /// Remember a placement; return its place in `known`.
    fn know(&mut self, problem: &Problem<'_>, machines: usize, at: Vec<i64>) -> usize {
        if let Some(place) = self.known.iter().position(|column| column.at == at) {
            return place;
        }
        let mut cost = self.fixed;
        let mut moves = 0;
        for (member, machine) in at.iter().copied().enumerate() {
            if machine < 0 {
                cost += problem.waiting_cost;
                continue;
            }
            if machine == self.homes[member] {
                cost += self.at_home[member];
            } else {
                cost += self.alone[member * machines + machine as usize];
                if member < self.running {
                    cost += problem.price;
                    moves += 1;
                }
            }
            for link in &self.links[member] {
                if at[link.peer] >= 0 {
                    cost += link.weight
                        * problem.pair(self.tasks[member], machines, machine, at[link.peer])
                        / 2.0;
                }
            }
        }
        if self.known.len() >= REMEMBERED {
            self.known.remove(1);
        }
        self.known.push(Column { at, moves, cost });
        self.known.len() - 1
    }

    /// Return the cost of a known placement at the prices.
    pub(super) fn cost(&self, column: usize, prices: &impl Prices) -> f64 {
        let column = &self.known[column];
        let paid = column
            .at
            .iter()
            .zip(&self.tasks)
            .map(|(machine, task)| prices.price(*task, *machine));
        column.cost + paid.sum::<f64>()
    }

    /// Return the cheapest of the known placements by number of moves, at most `most`: cost and place.
    pub(super) fn cheapest_known(&self, most: usize, prices: &impl Prices) -> Vec<(f64, usize)> {
        let mut best = vec![(f64::INFINITY, 0); most + 1];
        for (place, column) in self
            .known
            .iter()
            .enumerate()
            .filter(|(_, column)| column.moves <= most)
        {
            let cost = self.cost(place, prices);
            if cost < best[column.moves].0 {
                best[column.moves] = (cost, place);
            }
        }
        for moves in 1..=most {
            if best[moves - 1].0 < best[moves].0 {
                best[moves] = best[moves - 1];
            }
        }
        best
    }

    /// Return a lower bound of the cost with at most each number of moves, up to `most`; learn the cheapest placements.
    ///
    /// `gains` is what the move of each running task saves at most, `start` the least cost if none moves. What costs not
    /// less than `limit` by number of moves is of no use: the bound is at most that.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn price(
        &mut self,
        problem: &Problem<'_>,
        sizes: Sizes,
        room: &[i64],
        prices: &impl Prices,
        most: usize,
        start: f64,
        gains: &[f64],
        limits: &[f64],
        mut work: usize,
    ) -> (Vec<f64>, usize) {
        let machines = sizes.machines;
        let given = work;
        let (own, stay) = self.own_costs(problem, machines, prices);
        work = work.saturating_sub(own.len());
        let mut order: Vec<usize> = (0..self.running).collect();
        order.sort_by(|a, b| gains[*b].total_cmp(&gains[*a]));
        let mut bound: Vec<f64> = self
            .cheapest_known(most, prices)
            .iter()
            .zip(limits)
            .map(|(known, limit)| known.0.min(*limit))
            .collect();
        let mut limit = vec![f64::INFINITY; most + 1];
        let sets_most = if most <= FEW_MOVES { SETS_OF_FEW } else { SETS };
        for size in 0..=most.min(self.running) {
            let bar = bound[size];
            let credit =
                |set: &[usize]| start - set.iter().map(|place| gains[order[*place]]).sum::<f64>();
            let mut sets: Vec<(f64, Vec<usize>)> = Vec::new();
            let mut whole = true;
            combinations(self.running, size, &mut |set| {
                let cost = credit(set);
                if cost >= bar - 1e-9 {
                    return Some(false);
                }
                let moves = |member: &usize| set.iter().any(|place| order[*place] == *member);
                if !self.forced.iter().all(moves) {
                    return Some(true);
                }
                if sets.len() >= sets_most {
                    whole = false;
                    return None;
                }
                sets.push((cost, set.iter().map(|place| order[*place]).collect()));
                Some(true)
            });
            if !whole {
                limit[size] = credit(&(0..size).collect::<Vec<_>>());
                continue;
            }
            sets.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (credit, set) in sets {
                let bar = bound[size];
                if credit >= bar - 1e-9 {
                    break;
                }
                if work == 0 {
                    limit[size] = limit[size].min(credit);
                    break;
                }
                let (least, found, left) =
                    self.dive(problem, sizes, room, &own, &stay, &set, bar, work);
                work = left;
                if let Some(at) = found {
                    let place = self.know(problem, machines, at);
                    let cost = self.cost(place, prices).min(bar);
                    for bound in &mut bound[size..] {
                        *bound = bound.min(cost);
                    }
                }
                if work == 0 {
                    limit[size] = limit[size].min(least.max(credit));
                }
            }
        }
        // Where not every set was looked at, a price of moves bounds all of them.
        if let Some(first) = (0..=most).find(|moves| limit[*moves] < bound[*moves]) {
            let mut toll: Vec<f64> = (1..=most)
                .map(|moves| bound[moves - 1] - bound[moves])
                .collect();
            toll.push(0.0);
            toll.retain(|toll| toll.is_finite());
            toll.sort_by(f64::total_cmp);
            toll.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
            for toll in toll {
                let (least, used) = self.tolled(problem, sizes, room, &own, &stay, toll);
                work = work.saturating_sub(used);
                for (moves, limit) in limit.iter_mut().enumerate().skip(first) {
                    *limit = limit.max(least - toll * moves as f64);
                }
            }
        }
        for moves in 0..=most {
            bound[moves] = bound[moves].min(limit[moves]);
            if moves > 0 {
                bound[moves] = bound[moves].min(bound[moves - 1]);
            }
        }
        (bound, given - work)
    }

    /// Return the own cost of each task on each machine it may move to, shape (tasks, machines), and of each that stays.
    pub(super) fn own_costs(
        &self,
        problem: &Problem<'_>,
        machines: usize,
        prices: &impl Prices,
    ) -> (Vec<f64>, Vec<f64>) {
        let mut own = self.alone.clone();
        let mut stay = self.at_home.clone();
        for (member, task) in self.tasks.iter().enumerate() {
            for machine in 0..machines {
                let cost = &mut own[member * machines + machine];
                if cost.is_finite() {
                    *cost += prices.price(*task, machine as i64);
                    if member < self.running {
                        *cost += problem.price;
                    }
                }
            }
            if member < self.running {
                stay[member] += prices.price(*task, self.homes[member]);
            }
        }
        (own, stay)
    }

    /// Return the number of tasks that run: the first of `tasks`.
    pub(super) fn running(&self) -> usize {
        self.running
    }

    /// Return a lower bound of the cost by the machine of `first`, the last for waiting, and the work of it.
    ///
    /// The members of `set` move, which `first` is one of unless it waits; `own` and `stay` are those of `own_costs`.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn least_by_machine(
        &self,
        problem: &Problem<'_>,
        sizes: Sizes,
        room: &[i64],
        own: &[f64],
        stay: &[f64],
        set: &[usize],
        first: usize,
    ) -> (Vec<f64>, usize) {
        let (cost, mut dive) = self.laid_out(
            problem,
            sizes,
            room,
            own,
            stay,
            set,
            Some(first),
            usize::MAX,
        );
        let others: f64 = dive.least[1..].iter().sum();
        let mut row = dive.rows.swap_remove(0);
        row.iter_mut().for_each(|least| *least += cost + others);
        (row, usize::MAX - dive.work)
    }

    /// Place the tasks of `set` and those that wait; return a bound, a placement cheaper than `bar`, and the work left.
    #[allow(clippy::too_many_arguments)]
    fn dive(
        &self,
        problem: &Problem<'_>,
        sizes: Sizes,
        room: &[i64],
        own: &[f64],
        stay: &[f64],
        set: &[usize],
        bar: f64,
        work: usize,
    ) -> (f64, Option<Vec<i64>>, usize) {
        let (cost, mut dive) = self.laid_out(problem, sizes, room, own, stay, set, None, work);
        dive.bar = bar;
        let bound = cost + dive.least.iter().sum::<f64>();
        if bound < bar - 1e-9 {
            dive.place(0, bound);
        }
        (bound, dive.best, dive.work)
    }

    /// Return the tasks of `set` and those that wait before any is placed, with their messages, and the cost of the rest.
    #[allow(clippy::too_many_arguments)]
    fn laid_out<'s>(
        &'s self,
        problem: &'s Problem<'s>,
        sizes: Sizes,
        room: &[i64],
        own: &[f64],
        stay: &[f64],
        set: &[usize],
        first: Option<usize>,
        work: usize,
    ) -> (f64, Dive<'s>) {
        let machines = sizes.machines;
        let moves = |member: usize| member >= self.running || set.contains(&member);
        let members: Vec<usize> = (0..self.tasks.len())
            .filter(|member| moves(*member))
            .collect();
        let mut dive = self.begin(problem, sizes, room, self.order(&members, first), work);
        dive.work = dive.work.saturating_sub(room.len());
        let mut cost = self.fixed;
        for member in (0..self.running).filter(|member| !moves(*member)) {
            let home = self.homes[member];
            cost += stay[member];
            dive.occupy(member, home as usize, 1);
            for link in self.links[member]
                .iter()
                .filter(|link| link.peer < member && !moves(link.peer))
            {
                cost += link.weight
                    * problem.pair(self.tasks[member], machines, home, self.homes[link.peer]);
            }
        }
        for member in dive.order.clone() {
            let mut row = own[member * machines..][..machines].to_vec();
            for link in self.links[member].iter().filter(|link| !moves(link.peer)) {
                for (cost, step) in
                    row.iter_mut()
                        .zip(self.steps(problem, machines, self.homes[link.peer]))
                {
                    *cost += link.weight * problem.table[self.row + *step as usize];
                }
            }
            for (machine, cost) in row.iter_mut().enumerate() {
                if cost.is_finite() && !dive.fits(member, machine) {
                    *cost = f64::INFINITY;
                }
            }
            if member < self.running {
                row[self.homes[member] as usize] = f64::INFINITY; // it moves
            }
            row.push(if member < self.running {
                f64::INFINITY
            } else {
                problem.waiting_cost
            });
            dive.work = dive
                .work
                .saturating_sub(machines * (1 + self.links[member].len()));
            dive.rows.push(row);
        }
        dive.send();
        (cost, dive)
    }

    /// Return a lower bound of the cost if every move costs `toll` more, whichever tasks move, and the work of it.
    fn tolled(
        &self,
        problem: &Problem<'_>,
        sizes: Sizes,
        room: &[i64],
        own: &[f64],
        stay: &[f64],
        toll: f64,
    ) -> (f64, usize) {
        let machines = sizes.machines;
        let members: Vec<usize> = (0..self.tasks.len()).collect();
        let mut dive = self.begin(problem, sizes, room, self.order(&members, None), usize::MAX);
        for member in dive.order.clone() {
            let mut row = own[member * machines..][..machines].to_vec();
            let running = member < self.running;
            if running {
                row.iter_mut().for_each(|cost| *cost += toll);
                row[self.homes[member] as usize] = stay[member];
            }
            row.push(if running {
                f64::INFINITY
            } else {
                problem.waiting_cost
            });
            dive.rows.push(row);
        }
        dive.send();
        (
            self.fixed + dive.least.iter().sum::<f64>(),
            usize::MAX - dive.work,
        )
    }

    fn begin<'s>(
        &'s self,
        problem: &'s Problem<'s>,
        sizes: Sizes,
        room: &[i64],
        order: Vec<usize>,
        work: usize,
    ) -> Dive<'s> {
        Dive {
            problem,
            sizes,
            graph: self,
            order,
            rows: Vec::new(),
            messages: Vec::new(),
            least: Vec::new(),
            at: self.homes.clone(),
            room: room.to_vec(),
            left: self.left.clone(),
            bar: f64::INFINITY,
            best: None,
            work,
        }
    }

    /// Return members so that each has many links to those before it, from `first` on.
    fn order(&self, members: &[usize], first: Option<usize>) -> Vec<usize> {
        let mut open = members.to_vec();
        let mut order: Vec<usize> = Vec::new();
        if let Some(first) = first {
            open.retain(|member| *member != first);
            order.push(first);
        }
        while !open.is_empty() {
            let tied = |member: usize| -> (usize, usize) {
                let links = &self.links[member];
                let before = links
                    .iter()
                    .filter(|link| order.contains(&link.peer))
                    .count();
                (
                    before,
                    links
                        .iter()
                        .filter(|link| members.contains(&link.peer))
                        .count(),
                )
            };
            let place = (0..open.len())
                .max_by_key(|place| (tied(open[*place]), self.tasks.len() - *place))
                .unwrap_or(0);
            order.push(open.remove(place));
        }
        order
    }

    fn steps<'p>(&self, problem: &Problem<'p>, machines: usize, machine: i64) -> &'p [i32] {
        &problem.steps[machine as usize * machines..][..machines]
    }
}

impl Dive<'_> {
    /// Send messages from the last task to the first: each shares its cost among those before it that it is linked with.
    fn send(&mut self) {
        let (machines, graph, problem) = (self.sizes.machines, self.graph, self.problem);
        self.least = vec![0.0; self.order.len()];
        self.messages.resize_with(self.order.len(), Vec::new);
        for place in (0..self.order.len()).rev() {
            let member = self.order[place];
            let before: Vec<(usize, f64)> = graph.links[member]
                .iter()
                .filter_map(|link| {
                    let to = self.order[..place]
                        .iter()
                        .position(|other| *other == link.peer);
                    to.map(|to| (to, link.weight))
                })
                .collect();
            if before.is_empty() {
                self.least[place] = self.rows[place]
                    .iter()
                    .copied()
                    .fold(f64::INFINITY, f64::min);
                continue;
            }
            let share = before.len() as f64;
            let mut cheap: Vec<(f64, usize)> = self.rows[place]
                .iter()
                .enumerate()
                .filter(|(_, cost)| cost.is_finite())
                .map(|(machine, cost)| (cost / share, machine))
                .collect();
            cheap.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (to, weight) in before {
                let peer = self.order[to];
                let homes = (graph.homes[member], graph.homes[peer]);
                let at_home = |machine: usize| homes == (machine as i64, machine as i64);
                let mut cost = vec![f64::INFINITY; machines + 1];
                for (there, cost) in cost.iter_mut().enumerate() {
                    if !self.rows[to][there].is_finite() {
                        continue;
                    }
                    let steps =
                        (there < machines).then(|| graph.steps(problem, machines, there as i64));
                    for (own, here) in &cheap {
                        self.work = self.work.saturating_sub(1);
                        if *own >= *cost {
                            break;
                        }
                        let link = match steps {
                            Some(_)
                                if *here == there
                                    && !self.together(member, peer, there)
                                    && !at_home(there) =>
                            {
                                continue;
                            }
                            Some(steps) if *here < machines => {
                                weight * problem.table[graph.row + steps[*here] as usize]
                            }
                            _ => 0.0,
                        };
                        *cost = cost.min(own + link);
                    }
                }
                for (row, cost) in self.rows[to].iter_mut().zip(&cost) {
                    *row += cost;
                }
                self.messages[place].push(Message { to, weight, cost });
            }
        }
    }

    /// Return whether two tasks fit on a machine.
    fn together(&self, member: usize, peer: usize, machine: usize) -> bool {
        let resources = self.sizes.resources;
        let need =
            |member: usize| &self.problem.need[self.graph.tasks[member] * resources..][..resources];
        let room = &self.room[machine * resources..][..resources];
        let counted = self.graph.counted[member] && self.graph.counted[peer];
        (!counted || self.left[self.domain(0, machine)] >= 2)
            && need(member)
                .iter()
                .zip(need(peer))
                .zip(room)
                .all(|((a, b), room)| a + b == 0 || a + b <= *room)
    }

    fn occupy(&mut self, member: usize, machine: usize, count: i64) {
        let resources = self.sizes.resources;
        let task = self.graph.tasks[member];
        for resource in 0..resources {
            self.room[machine * resources + resource] -=
                count * self.problem.need[task * resources + resource];
        }
        if self.graph.counted[member] {
            for level in 0..self.sizes.levels {
                let domain = self.domain(level, machine);
                self.left[domain] -= count;
            }
        }
    }

    /// Return the place of a machine's failure domain in `left`.
    fn domain(&self, level: usize, machine: usize) -> usize {
        let domain = self.problem.domain[level * self.sizes.machines + machine] as usize;
        level * self.sizes.domains + domain
    }

    fn fits(&self, member: usize, machine: usize) -> bool {
        let resources = self.sizes.resources;
        let task = self.graph.tasks[member];
        let roomy = (0..resources).all(|resource| {
            let need = self.problem.need[task * resources + resource];
            need == 0 || need <= self.room[machine * resources + resource]
        });
        roomy
            && (!self.graph.counted[member]
                || (0..self.sizes.levels).all(|level| self.left[self.domain(level, machine)] > 0))
    }

    /// Place the tasks from a place of the order on; `bound` is the least cost of that.
    fn place(&mut self, place: usize, bound: f64) {
        let Some(member) = self.order.get(place).copied() else {
            if bound < self.bar - 1e-9 {
                self.bar = bound;
                self.best = Some(self.at.clone());
            }
            return;
        };
        let (machines, graph, problem) = (self.sizes.machines, self.graph, self.problem);
        let label = |at: &[i64], to: usize| {
            let machine = at[self.order[to]];
            if machine < 0 {
                machines
            } else {
                machine as usize
            }
        };
        let messages = &self.messages[place];
        let counted: f64 = messages
            .iter()
            .map(|message| message.cost[label(&self.at, message.to)])
            .sum();
        let before = bound
            - counted
            - if messages.is_empty() {
                self.least[place]
            } else {
                0.0
            };
        let mut options: Vec<(f64, i64)> = Vec::new();
        for (machine, own) in self.rows[place].iter().enumerate() {
            let mut cost = before + own;
            if cost >= self.bar - 1e-9 {
                continue;
            }
            if machine == machines {
                options.push((cost, -1));
                continue;
            }
            for message in messages {
                let there = label(&self.at, message.to);
                if there < machines {
                    let step = problem.steps[machine * machines + there];
                    cost += message.weight * problem.table[graph.row + step as usize];
                }
            }
            if cost < self.bar - 1e-9 && self.fits(member, machine) {
                options.push((cost, machine as i64));
            }
        }
        self.work = self.work.saturating_sub(machines);
        options.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (cost, machine) in options {
            if self.work == 0 || cost >= self.bar - 1e-9 {
                break;
            }
            self.at[member] = machine;
            if machine >= 0 {
                self.occupy(member, machine as usize, 1);
            }
            self.place(place + 1, cost);
            if machine >= 0 {
                self.occupy(member, machine as usize, -1);
            }
        }
        self.at[member] = graph.homes[member];
    }
}

/// Call `take` with sets of `size` numbers below `end`, in ascending order, until it returns `None`.
///
/// Numbers come best first: after a set of no use (false), those with a later number in its place are left out.
fn combinations(end: usize, size: usize, take: &mut impl FnMut(&[usize]) -> Option<bool>) {
    if size > end {
        return;
    }
    let mut set: Vec<usize> = (0..size).collect();
    let mut raised = 0;
    while let Some(useful) = take(&set) {
        let mut place = if useful { size } else { raised };
        while place > 0 && set[place - 1] >= end - (size - place) - 1 {
            place -= 1;
        }
        let Some(last) = place.checked_sub(1) else {
            return;
        };
        set[last] += 1;
        for next in last + 1..size {
            set[next] = set[next - 1] + 1;
        }
        raised = last;
    }
}

#[cfg(test)]
mod tests {
    use super::combinations;

    #[test]
    fn sets_that_cannot_be_of_use_are_left_out() {
        let mut all = Vec::new();
        combinations(4, 2, &mut |set| {
            all.push(set.to_vec());
            Some(true)
        });
        assert_eq!(all.len(), 6);
        let gains = [9, 5, 4, 1];
        let mut useful = Vec::new();
        let mut asked = 0;
        combinations(4, 2, &mut |set| {
            asked += 1;
            let gain: i32 = set.iter().map(|place| gains[*place]).sum();
            if gain >= 9 {
                useful.push(set.to_vec());
            }
            Some(gain >= 9)
        });
        assert_eq!(useful, [[0, 1], [0, 2], [0, 3], [1, 2]]);
        assert_eq!(asked, 6);
        combinations(30, 15, &mut |_| None);
    }
}
