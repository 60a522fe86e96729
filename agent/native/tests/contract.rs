//! LLQ16 against its definition: the published vectors, and what must hold for any values.

use serde_json::Value;
use sinemora_native::{
    BINS, MAX_VALUE_NS, OddLength, Sketch, bin_of, lower_of, value_of, width_of,
};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Values spread over all octaves, the same on every machine (SplitMix64).
fn values(seed: u64, n: usize) -> Vec<i64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut value = || (next() >> (27 + next() % 37)) as i64;
    (0..n).map(|_| value()).collect()
}

#[test]
fn bins_bytes_quantiles_and_merges_are_those_of_the_vectors() {
    let vectors: Value = serde_json::from_str(include_str!("../vectors.json")).unwrap();
    let cases = |of: &Value, name: &str| of[name].as_array().unwrap().clone();
    for case in cases(&vectors, "bins") {
        let bin = bin_of(case["value_ns"].as_i64().unwrap());
        let found = [u64::from(bin), lower_of(bin), value_of(bin)];
        let expected = ["bin", "lower_ns", "stands_for_ns"].map(|name| case[name].as_u64());
        assert_eq!(found.map(Some), expected, "{case}");
    }
    for case in cases(&vectors, "sketches") {
        let runs = cases(&case, "runs").into_iter().flat_map(|run| {
            let times = run[1].as_u64().unwrap() as usize;
            std::iter::repeat_n(run[0].as_i64().unwrap(), times)
        });
        let sketch = Sketch::of(runs);
        assert_eq!(case["total"], sketch.total(), "{case}");
        assert_eq!(case["hex"], hex(&sketch.to_bytes()), "{case}");
        for read in cases(&case, "quantiles") {
            let found = sketch.quantile(read[0].as_f64().unwrap() / 1000.0);
            assert_eq!(found, read[1].as_u64(), "{case}");
        }
    }
    for case in cases(&vectors, "merges") {
        let joined = case["joined"].as_str().unwrap();
        let byte = |at| u8::from_str_radix(&joined[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..joined.len()).step_by(2).map(byte).collect();
        let canonical = Sketch::from_bytes(&bytes).unwrap().to_bytes();
        assert_eq!(case["canonical"], hex(&canonical), "{case}");
    }
}

#[test]
fn bins_follow_one_another_without_gap_or_overlap() {
    for bin in 0..BINS {
        assert_eq!(bin_of(lower_of(bin) as i64), bin);
        let last = lower_of(bin) + width_of(bin) - 1;
        assert_eq!(bin_of(last as i64), bin);
        if bin + 1 < BINS {
            assert_eq!(lower_of(bin + 1), last + 1);
        } else {
            assert_eq!(last, MAX_VALUE_NS);
        }
    }
}

#[test]
fn a_bin_is_within_one_128th_of_every_value_in_it() {
    let edges = (0..BINS).flat_map(|bin| {
        let lower = lower_of(bin) as i64;
        [lower, lower + width_of(bin) as i64 - 1]
    });
    for value in edges.chain(values(1, 100_000)) {
        let error = value_of(bin_of(value)).abs_diff(value as u64);
        assert!(error * 128 <= value as u64, "{value} is off by {error}");
    }
}

#[test]
fn quantiles_are_those_of_the_sorted_values() {
    for n in [1, 2, 9, 100, 1280] {
        let mut sorted = values(n as u64, n);
        let sketch = Sketch::of(sorted.iter().copied());
        sorted.sort_unstable();
        for q in [0.0, 0.001, 0.5, 0.9, 0.99, 1.0] {
            let rank = ((q * n as f64).ceil() as usize).max(1);
            let expected = value_of(bin_of(sorted[rank - 1]));
            assert_eq!(sketch.quantile(q), Some(expected), "q {q} of {n}");
        }
    }
    assert_eq!(Sketch::default().quantile(0.5), None);
}

#[test]
fn reading_what_was_written_gives_the_same_bytes() {
    for seed in 0..200 {
        let sketch = Sketch::of(values(seed, (seed as usize * 37) % 3000));
        let bytes = sketch.to_bytes();
        let again = Sketch::from_bytes(&bytes).unwrap();
        assert_eq!(again, sketch);
        assert_eq!(again.to_bytes(), bytes);
    }
}

#[test]
fn any_words_become_canonical_and_stay_so() {
    let words = values(7, 4000).into_iter().map(|word| word as u16);
    let joined: Vec<u8> = words.flat_map(u16::to_le_bytes).collect();
    let sketch = Sketch::from_bytes(&joined).unwrap();
    let canonical = sketch.to_words();
    assert!(canonical.is_sorted_by_key(|word| word >> 5));
    let again = Sketch::from_bytes(&sketch.to_bytes()).unwrap();
    assert_eq!(again.to_words(), canonical);
    assert_eq!(again.total(), sketch.total());
}

#[test]
fn merging_is_joining_the_bytes() {
    for seed in 0..50 {
        let (left, right) = (values(seed, 300), values(seed + 1000, 70));
        let (a, b) = (Sketch::of(left.clone()), Sketch::of(right.clone()));
        let joined = [a.to_bytes(), b.to_bytes()].concat();
        let merged = a.merge(&b);
        assert_eq!(Sketch::from_bytes(&joined).unwrap(), merged);
        assert_eq!(merged, Sketch::of([left, right].concat()));
        assert_eq!(merged.total(), 370);
    }
}

#[test]
fn every_count_is_kept_exactly() {
    let around = |edge: u64| edge.saturating_sub(3)..edge + 4;
    let counts = (0..22).flat_map(|bit| around(1 << bit)).chain(0..2000);
    for count in counts {
        let word_pairs: Vec<u8> = [0xe0, 0x52].repeat(count as usize);
        let sketch = Sketch::from_bytes(&word_pairs).unwrap();
        let again = Sketch::from_bytes(&sketch.to_bytes()).unwrap();
        assert_eq!(again.total(), count);
    }
}

#[test]
fn half_a_word_is_refused() {
    assert_eq!(Sketch::from_bytes(&[0, 1, 2]), Err(OddLength(3)));
}
