//! Prints `vectors.json`: `cargo run -p sinemora-native --example vectors > native/vectors.json`.
//!
//! Every value is an integer, so that no language needs to agree on the printing of fractions.

#![allow(clippy::print_stdout, reason = "its output is the file")]

use std::fmt::Write as _;

use sinemora_native::{Sketch, bin_of, lower_of, value_of};

/// Quantiles in parts per thousand.
const QUANTILES: [u32; 7] = [0, 1, 500, 900, 990, 999, 1000];

fn main() {
    print!("{}", document());
}

fn document() -> String {
    let bins: Vec<String> = bin_cases().map(bin_line).collect();
    let sketches: Vec<String> = sketch_cases().iter().map(sketch_line).collect();
    let merges: Vec<String> = merge_cases()
        .iter()
        .map(|joined| merge_line(joined))
        .collect();
    format!(
        "{{\n\"bins\": [\n{}\n],\n\"sketches\": [\n{}\n],\n\"merges\": [\n{}\n]\n}}\n",
        bins.join(",\n"),
        sketches.join(",\n"),
        merges.join(",\n"),
    )
}

/// Edges of octaves and of bins, the ends of the range and beyond it.
fn bin_cases() -> impl Iterator<Item = i64> {
    let octaves = (7..41).flat_map(|bit| {
        let edge = 1i64 << bit;
        [
            edge - 1,
            edge,
            edge + 1,
            edge + (edge >> 6),
            edge + (edge >> 1),
        ]
    });
    [
        i64::MIN,
        -1,
        0,
        1,
        45_000,
        1_000_000,
        1_000_000_000,
        i64::MAX,
    ]
    .into_iter()
    .chain(octaves)
}

fn bin_line(value_ns: i64) -> String {
    let bin = bin_of(value_ns);
    format!(
        "  {{\"value_ns\": {value_ns}, \"bin\": {bin}, \"lower_ns\": {}, \"stands_for_ns\": {}}}",
        lower_of(bin),
        value_of(bin)
    )
}

/// A named multiset: each value and how often it occurs.
struct Case {
    name: String,
    runs: Vec<(i64, usize)>,
}

impl Case {
    fn sketch(&self) -> Sketch {
        Sketch::of(
            self.runs
                .iter()
                .flat_map(|&(value, times)| std::iter::repeat_n(value, times)),
        )
    }
}

fn sketch_cases() -> Vec<Case> {
    let mut cases: Vec<Case> = [
        ("empty", vec![]),
        ("one", vec![(45_000, 1)]),
        ("two bins", vec![(45_000, 2), (1_000_000, 1)]),
        (
            "out of order",
            vec![(1_000_000, 1), (45_000, 1), (0, 1), (45_000, 1)],
        ),
        ("clamped", vec![(-5, 3), (1 << 40, 2)]),
        (
            "thousand and one second",
            vec![(45_000, 1000), (1_000_000_000, 1)],
        ),
        ("three million", vec![(5, 3_000_000)]),
    ]
    .map(|(name, runs)| Case {
        name: name.into(),
        runs,
    })
    .into();
    let counts = [
        15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 65, 1023, 1024, 1040, 1041, 2_097_151, 2_097_152,
    ];
    cases.extend(counts.map(|times| Case {
        name: format!("{times} zeros"),
        runs: vec![(0, times)],
    }));
    let mut random = Random(0x51_4e_45_4d_4f_52_41);
    for (name, values) in [("window", 10), ("minute", 100), ("busy window", 1280)] {
        cases.push(Case {
            name: format!("{name} of {values} delays with a heavy tail"),
            runs: (0..values).map(|_| (random.delay_ns(), 1)).collect(),
        });
    }
    cases.push(Case {
        name: "every octave".into(),
        runs: (0..300)
            .map(|_| {
                (
                    random.next() >> (27 + random.next() % 37),
                    1 + (random.next() % 3000) as usize,
                )
            })
            .map(|(value, times)| (i64::try_from(value).unwrap_or(i64::MAX), times))
            .collect(),
    });
    cases
}

fn sketch_line(case: &Case) -> String {
    let sketch = case.sketch();
    let runs: Vec<String> = case
        .runs
        .iter()
        .map(|(value, times)| format!("[{value},{times}]"))
        .collect();
    format!(
        "  {{\"name\": \"{}\", \"total\": {}, \"hex\": \"{}\",\n   \"quantiles\": [{}],\n   \"runs\": [{}]}}",
        case.name,
        sketch.total(),
        hex(&sketch.to_bytes()),
        quantiles(&sketch),
        runs.join(",")
    )
}

/// Bytes in any order and repetition, and the canonical bytes of the same content.
fn merge_cases() -> Vec<Vec<u8>> {
    let mut random = Random(0x4d_45_52_47_45);
    let any_words = (0..200).flat_map(|_| ((random.next() % 65_536) as u16).to_le_bytes());
    let mut cases = vec![any_words.collect()];
    let parts: Vec<Vec<u8>> = (0..6)
        .map(|_| Sketch::of((0..80).map(|_| random.delay_ns())).to_bytes())
        .collect();
    cases.push(parts.concat());
    cases.push([0xe0, 0x52].repeat(40));
    cases
}

fn merge_line(joined: &[u8]) -> String {
    let canonical = Sketch::from_bytes(joined).map(|sketch| sketch.to_bytes());
    format!(
        "  {{\"joined\": \"{}\",\n   \"canonical\": \"{}\"}}",
        hex(joined),
        hex(&canonical.unwrap_or_default())
    )
}

fn quantiles(sketch: &Sketch) -> String {
    let read = QUANTILES.iter().filter_map(|&permille| {
        let value = sketch.quantile(f64::from(permille) / 1000.0)?;
        Some(format!("[{permille},{value}]"))
    });
    read.collect::<Vec<_>>().join(",")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 180 us and some jitter; one in fifty is delayed by up to 130 ms.
    fn delay_ns(&mut self) -> i64 {
        let jitter = self.next() % 40_000;
        let spike = if self.next() % 50 == 0 {
            self.next() % (1 << 27)
        } else {
            0
        };
        i64::try_from(180_000 + jitter + spike).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_vectors_are_these() {
        assert_eq!(include_str!("../../vectors.json"), super::document());
    }
}
