//! Annealing of tasks on machines: the proposals of a search, every limit held at each step.

use super::problem::Problem;
use super::random::Random;
use super::state::State;

/// Return the best placement seen in `proposals` proposals: a task moves to a free slot or swaps with another.
///
/// `None` where arrays do not fit one another, or nothing may move.
///
/// The state begins at the placement `begin`, which keeps all limits.
pub fn anneal(
    problem: &Problem<'_>,
    begin: &[i64],
    proposals: usize,
    seed: u32,
) -> Option<Vec<i64>> {
    let mut state = State::new(problem)?;
    state.go_to(begin)?;
    let movers: Vec<usize> = (0..problem.at.len())
        .filter(|task| problem.movable[*task] != 0)
        .collect();
    if movers.is_empty() {
        return None;
    }
    let mut random = Random::new(seed);
    let machines = state.sizes.machines;
    let (mut now, mut best) = (0.0, 0.0);
    let mut chosen = state.at.clone();
    // The temperature starts near what a proposal changes and ends where nothing worse is accepted.
    let (mut scale, mut seen) = (0.0, 0_u32);
    for step in 0..proposals {
        let mut a = movers[random.below(movers.len())];
        // Under a budget that is used up only tasks that have moved can go anywhere.
        let moved = state.away.len();
        if moved >= problem.most_moves && moved > 0 && random.unit() < 0.5 {
            a = state.away[random.below(moved)];
        }
        let (source, home) = (state.at[a], problem.at[a]);
        let mut target = random.below(machines) as i64;
        if home >= 0 && source != home && random.unit() < 0.1 {
            target = home;
        }
        if target == source {
            continue;
        }
        let mut old = state.cost(a);
        state.take(a);
        let Some(swapped) = propose(&mut state, a, source, target, &mut random) else {
            continue;
        };
        let b = swapped.map(|(b, _)| b);
        let mut new = state.cost(a);
        if let Some((b, cost)) = swapped {
            old += cost;
            new += state.cost(b) - state.link(a, b);
        }
        let change: f64 = new - old;
        // Swaps of tasks that are alike change nothing and say nothing of what others cost.
        if change != 0.0 && change.abs() < problem.waiting_cost / 2.0 {
            seen += 1;
            scale += (change.abs() - scale) / f64::from(seen.min(1000));
        }
        let temperature = 0.3 * scale * 1e-4_f64.powf(step as f64 / proposals as f64);
        let mut taken = change <= 0.0 || random.unit() < (-change / temperature.max(1e-30)).exp();
        taken &= match b {
            Some(b) => state.within_budgets(&[a, b]),
            None => state.within_budgets(&[a]),
        };
        if taken {
            state.note(a);
            if let Some(b) = b {
                state.note(b);
            }
            now += change;
            if now < best - 1e-9 {
                best = now;
                chosen.copy_from_slice(&state.at);
            }
            continue;
        }
        state.take(a);
        if let Some(b) = b {
            state.take(b);
            state.put(b, target);
        }
        state.put(a, source);
    }
    Some(chosen)
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
