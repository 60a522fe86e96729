//! The Python module `sinemora_native`: the crates `sinemora-native`, `sinemora-solver` and `sinemora-tail` for numpy
//! arrays.
//!
//! Every call lets go of the interpreter's lock while it works on much. Arrays have the types and shapes that
//! `sinemora_native.pyi` in the backend names; flags are arrays of bytes.

// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

mod arrays;
mod chunks;
mod frames;
mod matrix;
mod placement;
mod reports;
mod sketches;
mod tail;

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    sinemora_native,
    FrameError,
    PyValueError,
    "Bytes that are no block of a frame, or arrays that fit none."
);

/// Arrays whose sizes or contents do not fit one another.
fn unfit() -> PyErr {
    PyValueError::new_err("arrays of sizes that do not fit one another")
}

fn refused(error: sinemora_native::frame::FrameError) -> PyErr {
    FrameError::new_err(error.to_string())
}

type Array<'py> = Bound<'py, PyAny>;

#[pymodule]
#[pyo3(name = "sinemora_native")]
mod module {
    #[pymodule_export]
    use super::FrameError;
    #[pymodule_export]
    use super::chunks::chunk_lengths;
    #[pymodule_export]
    use super::frames::{
        decode_sketches, decode_stats, decode_stats_at, encode, encode_sketches, encode_stats,
        merge_columns, merge_windows, round_trip_values,
    };
    #[pymodule_export]
    use super::matrix::{bin_codes, describe_cells, measure_cells, newest_windows};
    #[pymodule_export]
    use super::placement::{
        anneal, branch, cluster_latency, place_by_job, placement_bound, traced_latency,
    };
    #[pymodule_export]
    use super::reports::{WindowColumns, read_reports};
    #[pymodule_export]
    use super::sketches::{
        bins_of, canonical_words, counts_of_codes, is_ordered, merge_sketches, summarise,
        values_of_bins,
    };
    #[pymodule_export]
    use super::tail::simulate_link;
}
