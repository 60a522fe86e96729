//! Annealing of tasks on machines: the proposals of a search, every limit held at each step.

use super::problem::Problem;
use super::random::Random;
use super::relaxation::neighbours;
use super::state::State;
use super::waiting::{any_waits, place_waiting};
use super::watch::Watch;

/// Proposals from one look at whether to stop to the next: some milliseconds.
const WATCHED_EVERY: usize = 8192;

/// Return the best placement seen in `proposals` proposals: a task moves to a free slot or swaps with another.
///
/// `None` where arrays do not fit one another, or nothing may move.
///
/// The state begins at the placement `begin`, which keeps all limits. Tasks that wait there are placed first. Without
/// links, the search ends when no task waits.
pub fn anneal(
    problem: &Problem<'_>,
    begin: &[i64],
    proposals: usize,
    seed: u32,
    watch: Watch<'_>,
) -> Option<Vec<i64>> {
    let mut state = State::of(problem, begin)?;
    let movers: Vec<usize> = (0..problem.at.len())
        .filter(|task| problem.movable[*task] != 0)
        .collect();
    if movers.is_empty() {
        return None;
    }
    let first = (state.at.clone(), state.total());
    let machines = state.sizes.machines;
    let near = if problem.other.is_empty() {
        Vec::new()
    } else {
        neighbours(problem, machines)
    };
    place_waiting(&mut state, &near);
    let only_starts = problem.other.is_empty();
    if only_starts && !any_waits(&state) && state.pays() {
        return Some(state.at);
    }
    let mut random = Random::new(seed);
    let begun = state.total();
    let (mut now, mut best) = (0.0, 0.0);
    let mut chosen = state.at.clone();
    if !state.pays() {
        (chosen, best) = (first.0, first.1 - begun);
    }
    // The cheapest of all, even if a job loses by it.
    let (mut least, mut cheapest) = (best.min(0.0), state.at.clone());
    // The temperature starts near what a proposal changes and ends where nothing worse is accepted.
    let (mut scale, mut seen) = (0.0, 0_u32);
    for step in 0..proposals {
        if step % WATCHED_EVERY == 0 && !watch(begun + best, f64::NAN) {
            break;
        }
        let mut a = movers[random.below(movers.len())];
        // Under a budget that is used up only tasks that have moved can go anywhere.
        let moved = state.away.len();
        if moved >= problem.most_moves && moved > 0 && random.unit() < 0.5 {
            a = state.away[random.below(moved)];
        }
        let (source, home) = (state.at[a], problem.at[a]);
        let mut target = random.below(machines) as i64;
        // Every other proposal leads near a task at the other end of a link.
        let links = problem.links(a);
        if !links.is_empty() && random.unit() < 0.5 {
            let link = links.start + random.below(links.len());
            let peer = state.at[problem.other[link] as usize];
            if peer >= 0 {
                let rank = (random.unit().powi(3) * machines as f64) as usize;
                target = i64::from(near[peer as usize * machines + rank]);
            }
        }
        if home >= 0 && source != home && random.unit() < 0.1 {
            target = home;
        }
        if target == source {
            continue;
        }
        // A move beyond the budget takes the place of another, which is undone.
        let mut undone = None;
        if home >= 0 && source == home && state.is_spent(a) {
            let Some(r) = state.other_away(a, random.below(moved.max(1))) else {
                continue;
            };
            let (from, before) = (state.at[r], state.cost(r));
            state.take(r);
            if !state.fits(r, problem.at[r]) {
                state.put(r, from);
                continue;
            }
            state.put(r, problem.at[r]);
            undone = Some((r, from, state.cost(r) - before));
        }
        let mut old = state.cost(a);
        state.take(a);
        let swapped = propose(&mut state, a, source, target, &mut random);
        let r = undone.map(|(r, ..)| r);
        let mut taken = false;
        let mut changed = Changed::default();
        if let Some(swapped) = swapped {
            let b = swapped.map(|(b, _)| b);
            changed = Changed::of(a, b, r);
            let mut new = state.cost(a);
            if let Some((b, cost)) = swapped {
                old += cost;
                new += state.cost(b) - state.link(a, b);
            }
            let change: f64 = new - old + undone.map_or(0.0, |(.., change)| change);
            // Swaps of tasks that are alike change nothing and say nothing of what others cost.
            if change != 0.0 && change.abs() < problem.waiting_cost / 2.0 {
                seen += 1;
                scale += (change.abs() - scale) / f64::from(seen.min(1000));
            }
            let temperature = 0.3 * scale * 1e-4_f64.powf(step as f64 / proposals as f64);
            taken = change <= 0.0 || random.unit() < (-change / temperature.max(1e-30)).exp();
            taken &= b.is_none_or(|b| Some(b) != r) && state.within_budgets(changed.tasks());
            if taken {
                now += change;
            } else {
                state.take(a);
                if let Some(b) = b {
                    state.take(b);
                    state.put(b, target);
                }
                state.put(a, source);
            }
        }
        if taken {
            for task in changed.tasks() {
                state.note(*task);
            }
            if now < least - 1e-9 {
                least = now;
                cheapest.copy_from_slice(&state.at);
            }
            if now < best - 1e-9 && state.pays() {
                best = now;
                chosen.copy_from_slice(&state.at);
                if only_starts && !any_waits(&state) {
                    break;
                }
            }
        } else if let Some((r, from, _)) = undone {
            state.take(r);
            state.put(r, from);
        }
    }
    if least < best - 1e-9 {
        let mut settled = State::of(problem, &cheapest)?;
        if settled.settle() && settled.total() < begun + best - 1e-9 {
            chosen = settled.at;
        }
    }
    Some(chosen)
}

/// The tasks that a proposal puts elsewhere: at most three.
#[derive(Default)]
struct Changed {
    tasks: [usize; 3],
    count: usize,
}

impl Changed {
    fn of(a: usize, b: Option<usize>, r: Option<usize>) -> Self {
        let mut changed = Self::default();
        for task in [Some(a), b, r].into_iter().flatten() {
            changed.tasks[changed.count] = task;
            changed.count += 1;
        }
        changed
    }

    fn tasks(&self) -> &[usize] {
        &self.tasks[..self.count]
    }
}

/// Move a task that runs nowhere to a machine, or swap it with one there from `source`; `None` if neither fits.
///
/// Return the task that made room, and what its links cost before.
fn propose(
    state: &mut State<'_>,
    a: usize,
    source: i64,
    target: i64,
    random: &mut Random,
) -> Option<Option<(usize, f64)>> {
    if state.fits(a, target) {
        state.put(a, target);
        return Some(None);
    }
    // A task there has to make room: one of the first few.
    let mut b = state.first[target as usize];
    for _ in 0..random.below(4) {
        if b >= 0 && state.after[b as usize] >= 0 {
            b = state.after[b as usize];
        }
    }
    if b < 0 || state.problem.movable[b as usize] == 0 || source < 0 {
        state.put(a, source);
        return None;
    }
    let b = b as usize;
    state.at[a] = source; // for the links between the two, which neither loses
    let cost = state.cost(b) - state.link(a, b);
    state.at[a] = -1;
    state.take(b);
    if state.fits(a, target) {
        state.put(a, target);
        if state.fits(b, source) {
            state.put(b, source);
            return Some(Some((b, cost)));
        }
        state.take(a);
    }
    state.put(b, target);
    state.put(a, source);
    None
}
