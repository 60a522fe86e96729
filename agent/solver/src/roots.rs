//! The best root of a job whose tasks take the free slots nearest to it.

/// Cost points of a task that finds no slot: more than any place.
const UNPLACED: i64 = 1001 * 1000;

/// Return the least cost and the row of its root when tasks fill the free slots nearest to each root.
///
/// `latency_ns` has a row for each root. `None` where arrays do not fit one another.
pub fn cheapest_root(
    latency_ns: &[i32],
    roots: &[i64],
    free: &[i64],
    tasks: i64,
    table: &[i32],
    step_ns: i64,
) -> Option<(i64, usize)> {
    let machines = free.len();
    if machines == 0
        || table.is_empty()
        || step_ns < 1
        || latency_ns.len() != roots.len() * machines
    {
        return None;
    }
    let (mut best, mut choice) = (1 << 60, 0);
    let last = table.len() - 1;
    let mut slots = vec![0; table.len()];
    let half = step_ns / 2;
    for (row, (latency, root)) in latency_ns.chunks_exact(machines).zip(roots).enumerate() {
        let step_of = |latency: i32| (((i64::from(latency) + half) / step_ns) as usize).min(last);
        slots.fill(0);
        for (latency, free) in latency.iter().zip(free) {
            if *free > 0 {
                slots[step_of(*latency)] += free;
            }
        }
        slots[step_of(*latency.get(usize::try_from(*root).ok()?)?)] -= 1;
        let (mut left, mut cost) = (tasks, 0);
        // Costs rise with the step: curves fall.
        for (slots, points) in slots.iter().zip(table) {
            let taken = left.min(*slots);
            cost += taken * i64::from(*points);
            left -= taken;
            if left == 0 {
                break;
            }
        }
        cost += left * UNPLACED;
        if cost < best {
            (best, choice) = (cost, row);
        }
    }
    Some((best, choice))
}
