//! Search for better prices along the subgradient: what the cheapest placement takes, less what there is.

use super::super::watch::Watch;
use super::graph::Graph;
use super::moves::share_moves;
use super::star::Options;
use super::{Job, Relaxation, Shape};

/// Capacity from which on a resource is not limited.
const UNLIMITED: i64 = 1 << 39;
/// Most places of tasks that are looked at for better prices: about two seconds.
const WORK: usize = 40_000_000;
/// Rounds from one in which graphs are placed exactly to the next.
const EXACT_EVERY: usize = 10;
/// Rounds without a better bound after which prices change in smaller steps.
const PATIENCE: u32 = 8;

impl Relaxation<'_> {
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
                        let gain = place.map_or(0.0, |(cost, _)| {
                            stay - cost - problem.move_price(class.task)
                        });
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
    pub(crate) fn improve(&mut self, upper: f64, rounds: usize, watch: Watch<'_>) -> f64 {
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
