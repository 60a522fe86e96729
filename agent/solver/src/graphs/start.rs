//! State of a search before any task is placed.

use super::super::problem::{Problem, Sizes};
use super::Graph;
use super::dive::Dive;

impl Graph {
    /// Return the tasks of `set` and those that wait before any is placed, with their messages, and the cost of the rest.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn laid_out<'s>(
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

    pub(super) fn begin<'s>(
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
    pub(super) fn order(&self, members: &[usize], first: Option<usize>) -> Vec<usize> {
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

    pub(super) fn steps<'p>(
        &self,
        problem: &Problem<'p>,
        machines: usize,
        machine: i64,
    ) -> &'p [i32] {
        &problem.steps[machine as usize * machines..][..machines]
    }
}
