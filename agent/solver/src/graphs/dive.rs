//! Depth-first search for the cheapest placement of one set of moving tasks.

use super::super::problem::{Problem, Sizes};
use super::Graph;

/// Least cost that a task placed later adds to the cost of an earlier one, by the machine of that, the last for waiting.
pub(super) struct Message {
    /// Place of the earlier task in the order.
    pub(super) to: usize,
    pub(super) weight: f64,
    pub(super) cost: Vec<f64>,
}

/// A search for the cheapest placement of one set of moving tasks.
pub(super) struct Dive<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) sizes: Sizes,
    pub(super) graph: &'a Graph,
    /// Tasks to place, in order.
    pub(super) order: Vec<usize>,
    /// Cost of each on each machine, with the messages of those after it; the last is for waiting.
    pub(super) rows: Vec<Vec<f64>>,
    /// Messages of each to those before it.
    pub(super) messages: Vec<Vec<Message>>,
    /// Least cost of each that has no link to one before it.
    pub(super) least: Vec<f64>,
    pub(super) at: Vec<i64>,
    /// Room next to the tasks that stay and are placed, shape (machines, resources).
    pub(super) room: Vec<i64>,
    pub(super) left: Vec<i64>,
    pub(super) bar: f64,
    pub(super) best: Option<Vec<i64>>,
    pub(super) work: usize,
}

impl Dive<'_> {
    /// Send messages from the last task to the first: each shares its cost among those before it that it is linked with.
    pub(super) fn send(&mut self) {
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

    pub(super) fn occupy(&mut self, member: usize, machine: usize, count: i64) {
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

    pub(super) fn fits(&self, member: usize, machine: usize) -> bool {
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
    pub(super) fn place(&mut self, place: usize, bound: f64) {
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
