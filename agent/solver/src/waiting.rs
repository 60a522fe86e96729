//! Places for tasks that wait: a machine with room, or one where another task makes room by moving.

use super::state::State;

/// Machines that are tried for a hub, evenly spread: their best is within a percent of the best of ten thousand.
const HUB_PLACES: usize = 256;

/// Place waiting tasks, those with the largest demand first, where every limit and budget allows it.
///
/// A task goes where its links cost least. If no machine has room, the first machine is taken from which one task can
/// move elsewhere. `near`: all machines by their latency to each, nothing without links.
pub(super) fn place_waiting(state: &mut State<'_>, near: &[u32]) {
    let (problem, resources) = (state.problem, state.sizes.resources);
    let waiting = |state: &State<'_>| -> Vec<usize> {
        (0..state.at.len())
            .filter(|task| problem.movable[*task] != 0 && state.at[*task] < 0)
            .collect()
    };
    let need = |task: usize| &problem.need[task * resources..][..resources];
    let mut left = waiting(state);
    if !near.is_empty() && left.windows(2).all(|pair| need(pair[0]) == need(pair[1])) {
        place_stars(state, near, &left);
        left = waiting(state);
    }
    left.sort_by(|a, b| need(*b).cmp(need(*a)));
    for task in left {
        match cheapest_place(state, task) {
            Some(machine) => state.put(task, machine),
            None => make_room(state, task),
        }
    }
}

/// Place the tasks that wait for a task that waits too, with it: the largest star first.
///
/// A hub goes where its tasks would find the cheapest room, each of them to the cheapest machine that is left.
fn place_stars(state: &mut State<'_>, near: &[u32], waiting: &[usize]) {
    let problem = state.problem;
    let leaves = |state: &State<'_>, hub: usize| -> Vec<usize> {
        let links = problem.links(hub);
        let ends = links.map(|link| problem.other[link] as usize);
        ends.filter(|end| state.at[*end] < 0 && problem.movable[*end] != 0)
            .collect()
    };
    let mut hubs: Vec<usize> = waiting
        .iter()
        .copied()
        .filter(|task| !problem.links(*task).is_empty())
        .collect();
    hubs.sort_by_key(|hub| std::cmp::Reverse(problem.links(*hub).len()));
    for hub in hubs {
        let tasks = leaves(state, hub);
        if state.at[hub] >= 0 || tasks.is_empty() {
            continue;
        }
        let Some(machine) = best_hub(state, near, hub, tasks.len() as i64) else {
            continue;
        };
        state.put(hub, machine);
        for task in tasks {
            if let Some(machine) = cheapest_place(state, task) {
                state.put(task, machine);
            }
        }
    }
}

/// Return the machine near which as many tasks as a hub has find the cheapest room; `None` if it fits on none.
fn best_hub(state: &mut State<'_>, near: &[u32], hub: usize, tasks: i64) -> Option<i64> {
    let (problem, sizes) = (state.problem, state.sizes);
    let job = problem.owner[hub] as usize;
    let need = problem.need[hub * sizes.resources].max(1);
    let links = &problem.weight[problem.links(hub)];
    let weight = links.iter().sum::<f64>() / links.len() as f64;
    let places: Vec<i64> = (0..sizes.machines as i64)
        .filter(|machine| state.fits(hub, *machine))
        .collect();
    let tried = places.len().min(HUB_PLACES);
    let mut best = (f64::INFINITY, None);
    for number in 0..tried {
        let machine = places[number * places.len() / tried];
        state.put(hub, machine);
        // Links to tasks that run count as well.
        let (mut cost, mut left) = (state.cost(hub), tasks);
        for place in &near[machine as usize * sizes.machines..][..sizes.machines] {
            let free = state.free[*place as usize * sizes.resources] / need;
            if free <= 0 || problem.allowed[job * sizes.machines + *place as usize] == 0 {
                continue;
            }
            let come = free.min(left);
            cost += come as f64 * weight * state.pair(hub, machine, i64::from(*place));
            left -= come;
            if left == 0 || cost >= best.0 {
                break;
            }
        }
        cost += left as f64 * problem.waiting_cost;
        state.take(hub);
        if cost < best.0 {
            best = (cost, Some(machine));
        }
    }
    best.1
}

/// Return whether a task that may run waits.
pub(super) fn any_waits(state: &State<'_>) -> bool {
    let movable = state.problem.movable.iter();
    let mut tasks = state.at.iter().zip(movable);
    tasks.any(|(machine, movable)| *machine < 0 && *movable != 0)
}

/// Return the machine on which the links of a task that runs nowhere cost least; `None` if it fits on none.
fn cheapest_place(state: &mut State<'_>, task: usize) -> Option<i64> {
    let mut best = (f64::INFINITY, None);
    for machine in 0..state.sizes.machines as i64 {
        if !state.fits(task, machine) {
            continue;
        }
        state.put(task, machine);
        let cost = state.cost(task);
        state.take(task);
        if cost < best.0 {
            best = (cost, Some(machine));
        }
    }
    best.1
}

fn make_room(state: &mut State<'_>, task: usize) {
    for machine in 0..state.sizes.machines as i64 {
        let mut next = state.first[machine as usize];
        while next >= 0 {
            let other = next as usize;
            next = state.after[other];
            if state.problem.movable[other] != 0 && take_place(state, task, other, machine) {
                return;
            }
        }
    }
}

/// Put a task in the place of another on `machine`, which moves elsewhere; change nothing if that cannot be.
fn take_place(state: &mut State<'_>, task: usize, other: usize, machine: i64) -> bool {
    state.take(other);
    if state.fits(task, machine) {
        state.put(task, machine);
        // Its old place, or a place next to the task, counts as any other.
        if let Some(elsewhere) = cheapest_place(state, other).filter(|place| *place != machine) {
            state.put(other, elsewhere);
            if state.within_budgets(&[other]) {
                state.note(other);
                return true;
            }
            state.take(other);
        }
        state.take(task);
    }
    state.put(other, machine);
    false
}
