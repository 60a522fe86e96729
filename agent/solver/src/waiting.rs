//! Places for tasks that wait: a machine with room, or one where another task makes room by moving.

use super::state::State;

/// Place waiting tasks, those with the largest demand first, where every limit and budget allows it.
///
/// A task goes where its links cost least. If no machine has room, the first machine is taken from which one task can
/// move elsewhere.
pub(super) fn place_waiting(state: &mut State<'_>) {
    let (problem, resources) = (state.problem, state.sizes.resources);
    let mut waiting: Vec<usize> = (0..state.at.len())
        .filter(|task| problem.movable[*task] != 0 && state.at[*task] < 0)
        .collect();
    let need = |task: usize| &problem.need[task * resources..][..resources];
    waiting.sort_by(|a, b| need(*b).cmp(need(*a)));
    for task in waiting {
        match cheapest_place(state, task) {
            Some(machine) => state.put(task, machine),
            None => make_room(state, task),
        }
    }
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
