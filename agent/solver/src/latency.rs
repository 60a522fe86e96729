//! Latency between the machines of a simulated cluster: drawn by a hash of each pair, never stored.

use super::vectorized;
use sinemora_native::threads;

/// Fewer pairs are drawn sooner than another thread starts.
const PAIRS_BOTH: usize = 1 << 18;

const SAME_MACHINE_NS: i32 = 5_000;
const UNIT: f64 = 4_294_967_296.0;

/// Machines by rack and pod, and the draw of each pair.
#[derive(Clone, Copy)]
pub struct Cluster<'a> {
    /// Rack of each machine.
    pub rack: &'a [i64],
    /// Pod of each machine.
    pub pod: &'a [i64],
    /// Seed of the pairs' draws.
    pub seed: i64,
    /// Each pair is off by a factor from 1 − noise to 1 + noise …
    pub noise: f64,
    /// … drawn again with this number.
    pub draw: i64,
}

impl Cluster<'_> {
    /// Return rack and pod of a machine.
    #[inline(always)]
    fn place(&self, machine: usize) -> (i64, i64) {
        (self.rack[machine], self.pod[machine])
    }

    /// Return rack and pod of every machine.
    #[inline(always)]
    fn places(&self) -> impl Iterator<Item = (i64, i64)> {
        self.rack.iter().copied().zip(self.pod.iter().copied())
    }

    /// Return a value of a pair as it is measured.
    #[inline(always)]
    fn measured(&self, value: i32, a: usize, b: usize) -> i32 {
        let seed = self.seed ^ self.draw.wrapping_add(1).wrapping_mul(0x5BD1_E995);
        let unit = hash(a, b, seed) as f64 / UNIT;
        (f64::from(value) * (1.0 + self.noise * (2.0 * unit - 1.0))) as i32
    }

    fn is_whole(&self, machines: &[i64]) -> bool {
        let size = self.rack.len();
        self.pod.len() == size
            && machines
                .iter()
                .all(|machine| (0..size as i64).contains(machine))
    }
}

/// Return the class of a pair by racks and pods: 0 for one rack, 1 for one pod, else 2.
#[inline(always)]
fn class(a: (i64, i64), b: (i64, i64)) -> usize {
    if a.0 == b.0 {
        0
    } else if a.1 == b.1 {
        1
    } else {
        2
    }
}

/// Return thirty-two well mixed bits of an unordered pair (the finaliser of splitmix64).
#[inline(always)]
fn hash(a: usize, b: usize, seed: i64) -> i64 {
    let (low, high) = if a < b {
        (a as u64, b as u64)
    } else {
        (b as u64, a as u64)
    };
    let mut x = low.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(high);
    x = x.wrapping_add((seed as u64).wrapping_mul(0xD1B5_4A32_D192_ED03));
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((x ^ (x >> 31)) >> 32) as i64
}

/// Write latency from each source to every machine, ns: one of a few base values (3, values) a class.
///
/// Return whether the arrays fit one another.
pub fn rows(cluster: &Cluster<'_>, sources: &[i64], base_ns: &[i64], out: &mut [i32]) -> bool {
    let machines = cluster.rack.len();
    let values = base_ns.len() / 3;
    let fits = cluster.is_whole(sources)
        && values * 3 == base_ns.len()
        && out.len() == sources.len() * machines;
    if !fits || machines == 0 {
        return fits;
    }
    let draw = |sources: &[i64], out: &mut [i32]| {
        based_rows(cluster, sources, base_ns, values, out);
        if cluster.noise > 0.0 {
            measured_rows(cluster, sources, out);
        }
    };
    if out.len() < PAIRS_BOTH {
        draw(sources, out);
    } else {
        let (some, more) = sources.split_at(sources.len() / 2);
        let (rows, more_rows) = out.split_at_mut(some.len() * machines);
        threads::both(|| draw(some, rows), || draw(more, more_rows));
    }
    true
}

vectorized! {
    fn based_rows(cluster: &Cluster<'_>, sources: &[i64], base_ns: &[i64], values: usize, out: &mut [i32]) {
        for (row, source) in out.chunks_exact_mut(cluster.rack.len()).zip(sources) {
            let source = *source as usize;
            let own = cluster.place(source);
            for (machine, (cell, place)) in row.iter_mut().zip(cluster.places()).enumerate() {
                *cell = if machine == source {
                    SAME_MACHINE_NS
                } else {
                    let drawn = (hash(source, machine, cluster.seed) * values as i64) >> 32;
                    base_ns[class(own, place) * values + drawn as usize] as i32
                };
            }
        }
    }
}

vectorized! {
    /// Replace latency from each source to every machine by its measurement.
    fn measured_rows(cluster: &Cluster<'_>, sources: &[i64], out: &mut [i32]) {
        for (row, source) in out.chunks_exact_mut(cluster.rack.len()).zip(sources) {
            let source = *source as usize;
            for (machine, cell) in row.iter_mut().enumerate() {
                let measured = cluster.measured(*cell, source, machine);
                *cell = if machine == source { *cell } else { measured };
            }
        }
    }
}

/// Round trips of a few paths a class at one instant, with the factors of each class.
#[derive(Clone, Copy)]
pub struct Paths<'a> {
    /// Round trips, ns, shape (3, paths).
    pub round_trip_ns: &'a [i32],
    /// Lowest and highest factor of each class, shape (3, 2).
    pub scales: &'a [f64],
}

impl Paths<'_> {
    fn paths(&self) -> Option<usize> {
        let values = self.round_trip_ns.len();
        let whole = values > 0 && values % 3 == 0;
        (whole && self.scales.len() == 6).then_some(values / 3)
    }

    #[inline(always)]
    fn between(
        &self,
        cluster: &Cluster<'_>,
        paths: usize,
        (a, b): (usize, usize),
        class: usize,
    ) -> i32 {
        if a == b {
            return SAME_MACHINE_NS;
        }
        let bits = hash(a, b, cluster.seed);
        let path = (bits * paths as i64) >> 32;
        // One hash is enough for two draws: multiplied by an odd number its bits mix again.
        let unit = (bits.wrapping_mul(0x9E37_79B1) & 0xFFFF_FFFF) as f64 / UNIT;
        let delay = f64::from(self.round_trip_ns[class * paths + path as usize]);
        let (low, high) = (self.scales[2 * class], self.scales[2 * class + 1]);
        (delay * (low + (high - low) * unit)) as i32
    }
}

/// Write the round trip from each source to every machine, ns, at one instant of traces.
///
/// Return whether the arrays fit one another.
pub fn traced_rows(
    cluster: &Cluster<'_>,
    given: &Paths<'_>,
    sources: &[i64],
    out: &mut [i32],
) -> bool {
    let machines = cluster.rack.len();
    match given.paths() {
        Some(paths) if cluster.is_whole(sources) && out.len() == sources.len() * machines => {
            if machines > 0 {
                every_row(cluster, given, paths, sources, out);
                if cluster.noise > 0.0 {
                    measured_rows(cluster, sources, out);
                }
            }
            true
        }
        _ => false,
    }
}

vectorized! {
    fn every_row(cluster: &Cluster<'_>, given: &Paths<'_>, paths: usize, sources: &[i64], out: &mut [i32]) {
        for (row, source) in out.chunks_exact_mut(cluster.rack.len()).zip(sources) {
            let (source, own) = (*source as usize, cluster.place(*source as usize));
            for (machine, (cell, place)) in row.iter_mut().zip(cluster.places()).enumerate() {
                *cell = given.between(cluster, paths, (source, machine), class(own, place));
            }
        }
    }
}

/// Write the round trip of single pairs, ns, at one instant of traces. Return whether the arrays fit one another.
pub fn traced_pairs(
    cluster: &Cluster<'_>,
    given: &Paths<'_>,
    one: &[i64],
    other: &[i64],
    out: &mut [i32],
) -> bool {
    let Some(paths) = given.paths() else {
        return false;
    };
    if !(cluster.is_whole(one)
        && cluster.is_whole(other)
        && one.len() == other.len()
        && out.len() == one.len())
    {
        return false;
    }
    for ((cell, a), b) in out.iter_mut().zip(one).zip(other) {
        let (a, b) = (*a as usize, *b as usize);
        let class = class(cluster.place(a), cluster.place(b));
        let latency = given.between(cluster, paths, (a, b), class);
        *cell = if a != b && cluster.noise > 0.0 {
            cluster.measured(latency, a, b)
        } else {
            latency
        };
    }
    true
}
