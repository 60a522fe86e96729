//! Loops over all pairs of job and machine: cost matrix, first candidates, and the pairs that violate the prices.

use super::vectorized;
use sinemora_native::threads;

/// Fewer pairs are read sooner than another thread starts.
const PAIRS_BOTH: usize = 1 << 18;

/// Price of a machine without slots: nothing goes there.
pub const CLOSED: i32 = -(1 << 29);

/// A cost in a matrix: 16 bits where every cost fits, else 32.
pub trait Cost: Copy + Send + Sync {
    /// The cost in points.
    fn points(self) -> i32;
    /// The low bits of a cost in points.
    fn of(points: i32) -> Self;
}

impl Cost for u16 {
    #[inline(always)]
    fn points(self) -> i32 {
        i32::from(self)
    }
    #[inline(always)]
    fn of(points: i32) -> Self {
        points as Self
    }
}

impl Cost for i32 {
    #[inline(always)]
    fn points(self) -> i32 {
        self
    }
    #[inline(always)]
    fn of(points: i32) -> Self {
        points
    }
}

/// Write costs from latency (rows, machines): each row's own row of `tables` (rows, steps) at the nearest step.
pub fn fill<C: Cost>(
    latency_ns: &[i32],
    machines: usize,
    step_ns: i64,
    tables: &[i32],
    steps: usize,
    out: &mut [C],
) {
    if out.len() < PAIRS_BOTH {
        return fill_rows(latency_ns, machines, step_ns, tables, steps, out);
    }
    let half = tables.len() / steps / 2;
    let (latency, more_latency) = latency_ns.split_at(half * machines);
    let (rows, more_rows) = tables.split_at(half * steps);
    let (costs, more_costs) = out.split_at_mut(half * machines);
    threads::both(
        || {
            fill_rows(latency, machines, step_ns, rows, steps, costs);
        },
        || {
            fill_rows(
                more_latency,
                machines,
                step_ns,
                more_rows,
                steps,
                more_costs,
            );
        },
    );
}

vectorized! {
    fn fill_rows<C: Cost>(latency_ns: &[i32], machines: usize, step_ns: i64, tables: &[i32], steps: usize, out: &mut [C]) {
        let last = (steps - 1) as f64;
        // Half a nanosecond keeps whole numbers clear of the edge of a step by more than a product is rounded by.
        let half = step_ns.div_euclid(2) as f64 + 0.5;
        let scale = 1.0 / step_ns as f64;
        let rows = latency_ns.chunks_exact(machines).zip(tables.chunks_exact(steps));
        for ((own, table), costs) in rows.zip(out.chunks_exact_mut(machines)) {
            for (cost, latency) in costs.iter_mut().zip(own) {
                let step = ((f64::from(*latency) + half) * scale).min(last);
                *cost = C::of(table[step as i32 as usize]);
            }
        }
    }
}

#[inline(always)]
fn lowest<C: Cost>(row: &[C], price: &[i32]) -> i32 {
    let pairs = row.iter().zip(price);
    pairs.fold(1 << 30, |low, (cost, price)| {
        low.min(cost.points().wrapping_sub(*price))
    })
}

#[inline(always)]
fn at_most<C: Cost>(row: &[C], price: &[i32], level: i64) -> usize {
    let most = level as i32;
    let pairs = row.iter().zip(price);
    let count: i32 = pairs
        .map(|(cost, price)| i32::from(cost.points().wrapping_sub(*price) <= most))
        .sum();
    count as usize
}

vectorized! {
    /// Write the machines to `out` that are cheapest after their price, at most `wanted`; return their number.
    ///
    /// Machines whose price is `CLOSED` are left out. Of those that cost as much as the dearest taken, machines from
    /// `offset` on come first, so that jobs with equal costs start with different machines.
    pub fn cheapest<C: Cost>(row: &[C], price: &[i32], wanted: usize, offset: usize, out: &mut [i32]) -> usize {
        let machines = row.len();
        let wanted = wanted.min(at_most(row, price, i64::from(-CLOSED - 1)));
        if wanted == 0 {
            return 0;
        }
        // Find the level that this number of machines reach: by growing steps, then by bisection. Counting is much
        // faster than sorting.
        let (mut level, mut leap) = (i64::from(lowest(row, price)), 1);
        let mut below = level - 1;
        while at_most(row, price, level) < wanted {
            (below, level, leap) = (level, level + leap, 2 * leap);
        }
        while level - below > 1 {
            let middle = (level + below).div_euclid(2);
            if at_most(row, price, middle) < wanted {
                below = middle;
            } else {
                level = middle;
            }
        }
        let mut ties = wanted - at_most(row, price, level - 1);
        let mut taken = 0;
        for machine in (offset..machines).chain(0..offset) {
            let cost = i64::from(row[machine].points().wrapping_sub(price[machine]));
            if cost < level || (cost == level && ties > 0) {
                if cost == level {
                    ties -= 1;
                }
                out[taken] = machine as i32;
                taken += 1;
            }
        }
        taken
    }
}

vectorized! {
    /// Write the pairs whose reduced cost (cost + potential of the job − price of the machine) is negative.
    ///
    /// At most `most` of a job, then its worst. The outputs have room for the sum of `most`. Return the number of pairs.
    pub fn violators<C: Cost>(
        costs: &[C],
        job_potential: &[i64],
        price: &[i32],
        most: &[i64],
        out_job: &mut [i32],
        out_machine: &mut [i32],
    ) -> usize {
        let machines = price.len();
        let mut found = 0;
        let (mut reduced, mut at) = (vec![0_i32; machines], vec![0_i32; machines]);
        for (job, row) in costs.chunks_exact(machines).enumerate() {
            if most[job] <= 0 {
                continue;
            }
            let own = job_potential[job] as i32;
            let pairs = row.iter().zip(price);
            let low = pairs.fold(0, |low: i32, (cost, price)| {
                low.min(cost.points().wrapping_add(own).wrapping_sub(*price))
            });
            if low >= 0 {
                continue;
            }
            let mut count = 0;
            for (machine, (cost, price)) in row.iter().zip(price).enumerate() {
                let value = cost.points().wrapping_add(own).wrapping_sub(*price);
                if value < 0 {
                    (reduced[count], at[count]) = (value, machine as i32);
                    count += 1;
                }
            }
            if count > most[job] as usize {
                let order = ascending(&reduced[..count]);
                count = most[job] as usize;
                for (machine, place) in out_machine[found..found + count].iter_mut().zip(order) {
                    *machine = at[place as usize];
                }
            } else {
                out_machine[found..found + count].copy_from_slice(&at[..count]);
            }
            out_job[found..found + count].fill(job as i32);
            found += count;
        }
        found
    }
}

/// Write the `wanted` machines of every job that are cheapest after their price, but none that costs `barred`.
///
/// The outputs have room for the sum of `wanted`. Return the number of pairs.
pub fn candidates<C: Cost>(
    costs: &[C],
    price: &[i32],
    wanted: &[i64],
    barred: i64,
    out_job: &mut [i32],
    out_machine: &mut [i32],
) -> usize {
    if costs.len() < PAIRS_BOTH {
        return candidates_from(0, costs, price, wanted, barred, out_job, out_machine);
    }
    let half = wanted.len() / 2;
    let room: i64 = wanted[..half].iter().map(|n| (*n).max(0)).sum();
    let room = room as usize;
    let (rows, more_rows) = costs.split_at(half * price.len());
    let (wants, more_wants) = wanted.split_at(half);
    let (first, second) = {
        let (jobs, more_jobs) = out_job.split_at_mut(room);
        let (at, more_at) = out_machine.split_at_mut(room);
        threads::both(
            || candidates_from(0, rows, price, wants, barred, jobs, at),
            || {
                candidates_from(
                    half, more_rows, price, more_wants, barred, more_jobs, more_at,
                )
            },
        )
    };
    for out in [out_job, out_machine] {
        out.copy_within(room..room + second, first);
    }
    first + second
}

vectorized! {
    /// Write the pairs of the jobs from number `begin` on.
    fn candidates_from<C: Cost>(
        begin: usize,
        costs: &[C],
        price: &[i32],
        wanted: &[i64],
        barred: i64,
        out_job: &mut [i32],
        out_machine: &mut [i32],
    ) -> usize {
        let machines = price.len();
        let mut found = 0;
        for (job, row) in costs.chunks_exact(machines).enumerate() {
            if wanted[job] <= 0 {
                continue;
            }
            let number = begin + job;
            let wanted = (wanted[job] as usize).min(machines);
            let count = cheapest(row, price, wanted, (number * 7919) % machines, &mut out_machine[found..]);
            let mut kept = 0;
            for k in 0..count {
                let machine = out_machine[found + k];
                if i64::from(row[machine as usize].points()) < barred {
                    out_machine[found + kept] = machine;
                    out_job[found + kept] = number as i32;
                    kept += 1;
                }
            }
            found += kept;
        }
        found
    }
}

/// Ranges up to this length are sorted by insertion.
const SMALL: usize = 15;

/// Return the places of values in ascending order.
///
/// Quicksort around the median of first, middle and last. The order of equal values is part of the result: it decides
/// which of several optimal plans is found.
#[allow(clippy::many_single_char_names)]
fn ascending(values: &[i32]) -> Vec<u32> {
    let mut places: Vec<u32> = (0..values.len() as u32).collect();
    let value = |place: u32| values[place as usize];
    let mut waiting = vec![(0, values.len() as isize - 1)];
    while let Some((mut low, mut high)) = waiting.pop() {
        while high - low >= SMALL as isize {
            let at = partition(&mut places, low as usize, high as usize, &value) as isize;
            if high - at > at - low {
                if high > at {
                    waiting.push((at + 1, high));
                }
                high = at - 1;
            } else {
                if at > low {
                    waiting.push((low, at - 1));
                }
                low = at + 1;
            }
        }
        for end in low + 1..=high {
            let place = places[end as usize];
            let mut at = end as usize;
            while at as isize > low && value(place) < value(places[at - 1]) {
                places[at] = places[at - 1];
                at -= 1;
            }
            places[at] = place;
        }
    }
    places
}

/// Divide `places[low..=high]` around a pivot; return its place.
fn partition(places: &mut [u32], low: usize, high: usize, value: &impl Fn(u32) -> i32) -> usize {
    let middle = (low + high) >> 1;
    for (a, b) in [(low, middle), (middle, high), (low, middle)] {
        if value(places[b]) < value(places[a]) {
            places.swap(a, b);
        }
    }
    let pivot = value(places[middle]);
    places.swap(high, middle);
    let (mut i, mut j) = (low, high as isize - 1);
    loop {
        while i < high && value(places[i]) < pivot {
            i += 1;
        }
        while j >= low as isize && pivot < value(places[j as usize]) {
            j -= 1;
        }
        if i as isize >= j {
            break;
        }
        places.swap(i, j as usize);
        i += 1;
        j -= 1;
    }
    places.swap(i, high);
    i
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cheapest_takes_equal_machines_from_the_offset_on() {
        let mut out = [0; 4];
        assert_eq!(cheapest(&[5_u16, 3, 5, 5], &[0; 4], 2, 2, &mut out), 2);
        assert_eq!(out[..2], [2, 1]);
        assert_eq!(
            cheapest(&[5_u16, 3, 5, 5], &[0, CLOSED, 0, 0], 4, 0, &mut out),
            3
        );
        assert_eq!(out[..3], [0, 2, 3]);
    }

    #[test]
    fn violators_are_a_jobs_worst() {
        let (mut jobs, mut machines) = ([0; 3], [0; 3]);
        let found = violators(
            &[9_i32, 1, 4, 9, 9, 9],
            &[-5, -5],
            &[0; 3],
            &[1, 2],
            &mut jobs,
            &mut machines,
        );
        assert_eq!((found, jobs[0], machines[0]), (1, 0, 1));
    }

    #[test]
    fn values_are_sorted() {
        let values: Vec<i32> = (0..500).map(|n| (n * 7919) % 101).collect();
        let places = ascending(&values);
        assert!(
            places
                .windows(2)
                .all(|pair| values[pair[0] as usize] <= values[pair[1] as usize])
        );
        assert!(ascending(&[]).is_empty());
    }
}
