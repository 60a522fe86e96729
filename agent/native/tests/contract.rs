//! LLQ16 against its definition: the published vectors, and what must hold for any values.

use sinemora_native::{
    BINS, Histogram, MAX_VALUE_NS, OddLength, Sketch, bin_of, is_ordered, lower_of, summarise,
    value_of, width_of,
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
    (0..n)
        .map(|_| (next() >> (27 + next() % 37)) as i64)
        .collect()
}

#[test]
fn bins_are_the_published_ones() {
    let published = [
        (0, 0),
        (127, 127),
        (128, 128),
        (129, 128),
        (130, 129),
        (255, 191),
        (256, 192),
        (1000, 317),
        (45_000, 663),
        (1_000_000, 954),
        (1_000_000_000, 1591),
        (1 << 40, 2047),
        (-1, 0),
    ];
    for (value, bin) in published {
        assert_eq!(bin_of(value), bin, "bin({value})");
    }
}

#[test]
fn bytes_are_the_published_ones() {
    let repeat = |value: i64, times: usize| std::iter::repeat_n(value, times);
    assert_eq!(hex(&Sketch::of([45_000]).to_bytes()), "e052");
    assert_eq!(
        hex(&Sketch::of([45_000, 45_000, 1_000_000]).to_bytes()),
        "e1524077"
    );
    assert_eq!(hex(&Sketch::of(repeat(45_000, 17)).to_bytes()), "ef52e052");
    let thousand = repeat(45_000, 1000).chain([1_000_000_000]);
    assert_eq!(
        hex(&Sketch::of(thousand).to_bytes()),
        "f452f352f252f152f052e752e0c6"
    );
    assert_eq!(hex(&Sketch::of(repeat(0, 33)).to_bytes()), "10000000");
    assert_eq!(
        hex(&Sketch::of(repeat(5, 3_000_000)).to_bytes()),
        "bf00bf00be00bd00bb00ba00b900b500b400b200b100"
    );
    assert_eq!(hex(&Sketch::of([]).to_bytes()), "");
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
            assert_eq!(
                sketch.quantile(q),
                Some(value_of(bin_of(sorted[rank - 1]))),
                "q {q} of {n}"
            );
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
    let words = values(7, 4000);
    let joined: Vec<u8> = words
        .iter()
        .flat_map(|&word| (word as u16).to_le_bytes())
        .collect();
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

#[test]
fn sketches_in_one_array_are_read_as_each_alone() {
    let mut numbers = values(11, 20_000).into_iter();
    let mut below = |limit: i64| numbers.next().unwrap() % limit;
    for turn in 0..500 {
        let sketches: Vec<Vec<u16>> = (0..below(8))
            .map(|_| {
                let mut words: Vec<u16> = (0..below(5))
                    .map(|_| (below(30) << 5 | below(32)) as u16)
                    .collect();
                if turn % 2 == 0 {
                    words.sort_by_key(|word| word >> 5);
                }
                words
            })
            .collect();
        let words = sketches.concat();
        let lengths: Vec<i64> = sketches.iter().map(|words| words.len() as i64).collect();
        let ordered = sketches
            .iter()
            .all(|words| words.is_sorted_by_key(|word| word >> 5));
        assert_eq!(is_ordered(&words, &lengths), Some(ordered));
        if !ordered {
            continue;
        }
        let at = [0.0, 0.5, 0.9, 0.999, 1.0];
        let found = summarise(&words, &lengths, &at).unwrap();
        for (group, words) in sketches.iter().enumerate() {
            let mut alone = Histogram::default();
            alone.add_words(words);
            let mut bins = [-1; 5];
            alone.quantiles(&at, |q, bin| bins[q] = i64::from(bin));
            assert_eq!(found.totals[group], alone.total() as i64);
            for (q, bin) in bins.into_iter().enumerate() {
                assert_eq!(found.bins[q * sketches.len() + group], bin);
            }
        }
    }
}
