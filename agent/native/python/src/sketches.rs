//! Sketches of delays: bins of values, words of sketches, sums and merges.

use pyo3::prelude::*;

use crate::arrays::{Input, Output, one_dimensional};
use crate::{Array, unfit};

/// Return the bins of values, ns.
#[pyfunction]
pub(crate) fn bins_of<'py>(py: Python<'py>, values_ns: Input<i64>) -> PyResult<Array<'py>> {
    let values = values_ns.slice();
    let mut bins = Output::<i64>::new(py, &[values.len()])?;
    let room = bins.slice();
    py.detach(|| {
        for (bin, value) in room.iter_mut().zip(values) {
            *bin = i64::from(sinemora_native::bin_of(*value));
        }
    });
    Ok(bins.array())
}

/// Return the value that each bin stands for, ns.
#[pyfunction]
pub(crate) fn values_of_bins() -> Vec<u64> {
    (0..sinemora_native::BINS)
        .map(sinemora_native::value_of)
        .collect()
}

/// Number of values a word represents, by its low five bits.
#[pyfunction]
pub(crate) fn counts_of_codes() -> Vec<u32> {
    (0..32).map(sinemora_native::count_of).collect()
}

/// Canonical words of bins with their counts, and how many words each pair takes.
#[pyfunction]
pub(crate) fn canonical_words<'py>(
    py: Python<'py>,
    bins: Input<i64>,
    counts: Input<i64>,
) -> PyResult<(Array<'py>, Array<'py>)> {
    let (words, sizes) =
        py.detach(|| sinemora_native::canonical_words(bins.slice(), counts.slice()));
    Ok((one_dimensional(py, &words)?, one_dimensional(py, &sizes)?))
}

/// Report whether bins ascend within every sketch.
#[pyfunction]
pub(crate) fn is_ordered(py: Python<'_>, words: Input<u16>, lengths: Input<i64>) -> PyResult<bool> {
    py.detach(|| sinemora_native::is_ordered(words.slice(), lengths.slice()))
        .ok_or_else(unfit)
}

/// Totals of sketches whose words are ordered, and their bins at quantiles.
#[pyfunction]
pub(crate) fn summarise<'py>(
    py: Python<'py>,
    words: Input<u16>,
    lengths: Input<i64>,
    at: Vec<f64>,
) -> PyResult<(Array<'py>, Array<'py>)> {
    let found = py.detach(|| sinemora_native::summarise(words.slice(), lengths.slice(), &at));
    let found = found.ok_or_else(unfit)?;
    let groups = found.totals.len();
    Ok((
        one_dimensional(py, &found.totals)?,
        Output::with(py, &[at.len(), groups], &found.bins)?,
    ))
}

/// Merge sketches by the group of each, -1 for none: totals, bins at quantiles, canonical words, their lengths.
#[pyfunction]
pub(crate) fn merge_sketches<'py>(
    py: Python<'py>,
    words: Input<u16>,
    lengths: Input<i64>,
    owners: Input<i64>,
    groups: usize,
    at: Vec<f64>,
    words_too: bool,
) -> PyResult<(Array<'py>, Array<'py>, Array<'py>, Array<'py>)> {
    let (words, lengths, owners) = (words.slice(), lengths.slice(), owners.slice());
    let found =
        py.detach(|| sinemora_native::merge(words, lengths, owners, groups, &at, words_too));
    let found = found.ok_or_else(unfit)?;
    Ok((
        one_dimensional(py, &found.totals)?,
        Output::with(py, &[at.len(), groups], &found.bins)?,
        one_dimensional(py, &found.words)?,
        one_dimensional(py, &found.lengths)?,
    ))
}
