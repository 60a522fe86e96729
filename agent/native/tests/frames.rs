//! Blocks of frames: any values survive a round trip, and damaged blocks are refused.

#[path = "support/stats.rs"]
mod stats;

use sinemora_native::Sketch;
use sinemora_native::columns::{COUNT, MAX, MIN};
use sinemora_native::frame::{self, SketchesRef};
use stats::Stats;

/// A generator of pseudorandom numbers (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Return fewer than `most` values below a limit.
    fn values(&mut self, most: u64, limit: u64) -> Vec<i64> {
        let count = self.below(most);
        (0..count).map(|_| self.below(limit) as i64).collect()
    }
}

/// Return stats with random values, of widths that differ from column to column.
fn random_stats(targets: usize, numbers: &mut Numbers) -> Stats {
    let mut stats = Stats::zeros(targets);
    for row in stats.columns.chunks_exact_mut(targets) {
        let shift = numbers.below(32);
        row.fill_with(|| numbers.next() as i32 >> shift);
    }
    stats.quantiles.fill_with(|| numbers.next() as u16);
    stats.flows.fill_with(|| numbers.below(4) as u16);
    stats.sources.fill_with(|| numbers.below(3) as u8);
    let flows: usize = stats.flows.iter().map(|f| frame::widths_of(*f)).sum();
    stats.by_flow.resize(6 * flows, 0);
    stats.by_flow.fill_with(|| numbers.next() as i32);
    stats
}

#[test]
fn stats_survive_a_round_trip() {
    let mut numbers = Numbers(1);
    for n in [1, 2, 7, 40, 256] {
        let stats = random_stats(n, &mut numbers);
        let block = frame::encode_stats(&stats.as_ref()).unwrap();
        assert_eq!(Stats::read(&[&block]).unwrap(), stats, "{n} targets");
    }
}

fn check_sketches(lengths: Vec<i64>, words: Vec<u16>, stats: &Stats) {
    let sketches = SketchesRef::new(&lengths, &words).expect("as many words as counted");
    let block = frame::encode_sketches(&sketches, &stats.columns).expect("encoded");
    let decoded = frame::sketches_of(&[&block], &stats.columns, [true; 3], &[]);
    assert_eq!(decoded, Ok((lengths, words)));
}

#[test]
fn sketches_survive_a_round_trip_in_every_mode() {
    let mut numbers = Numbers(3);
    // Few values a bin, many, and words that no writer should write.
    for (spread, many, canonical) in [(1 << 20, 20, true), (60, 900, true), (2048, 30, false)] {
        let mut lengths = Vec::new();
        let mut words = Vec::new();
        for _ in 0..3 * 9 {
            let values = numbers.values(many, spread);
            let any = values.iter().map(|value| (*value as u16).wrapping_mul(37));
            let sketch = match canonical {
                true => Sketch::of(values).to_words(),
                false => any.collect(),
            };
            lengths.push(sketch.len() as i64);
            words.extend(sketch);
        }
        let stats = Stats::zeros(9);
        check_sketches(lengths, words, &stats);
    }
}

#[test]
fn sketches_survive_a_round_trip_with_their_ends_in_the_stats() {
    let mut numbers = Numbers(6);
    // One value a sketch, several of a bin, and mostly one of each.
    for (spread, most) in [(1 << 20, 2), (40, 12), (1 << 20, 12)] {
        let mut stats = Stats::zeros(9);
        let (mut lengths, mut words) = (Vec::new(), Vec::new());
        for path in 0..3 * 9 {
            let values = numbers.values(most, spread).into_iter();
            let values: Vec<_> = values.map(|value| 5_000 + value).collect();
            let row = |column: usize| column * 3 * 9 + path;
            stats.columns[row(COUNT)] = values.len() as i32;
            stats.columns[row(MIN)] = values.iter().min().map_or(0, |least| *least as i32);
            stats.columns[row(MAX)] = values.iter().max().map_or(0, |most| *most as i32);
            let sketch = Sketch::of(values).to_words();
            lengths.push(sketch.len() as i64);
            words.extend(sketch);
        }
        check_sketches(lengths, words, &stats);
    }
}
