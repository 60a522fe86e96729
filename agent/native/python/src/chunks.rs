//! Content-defined blocks of a file (FastCDC, W. Xia et al., USENIX ATC 2016, with the improvements of 2020).

use std::fs::File;

use fastcdc::v2020::{Error, StreamCDC};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// Return the lengths of the blocks of a file, cut where its content says: `least` to `most` bytes, `mean` on average.
///
/// OSError if the file cannot be read; ValueError for sizes that the method does not have.
#[pyfunction]
pub fn chunk_lengths(
    py: Python<'_>,
    path: String,
    least: u32,
    mean: u32,
    most: u32,
) -> PyResult<Vec<usize>> {
    // The limits of the method; outside them the library panics.
    let valid = (64..=1 << 20).contains(&least)
        && (256..=1 << 22).contains(&mean)
        && (1024..=1 << 24).contains(&most)
        && least <= mean
        && mean <= most;
    if !valid {
        return Err(PyValueError::new_err(
            "sizes must be 64 <= least <= mean <= most <= 16 MiB, and mean at least 256",
        ));
    }
    py.detach(|| {
        let file = File::open(&path).map_err(|e| PyOSError::new_err(format!("{path}: {e}")))?;
        StreamCDC::new(file, least, mean, most)
            .map(|chunk| chunk.map(|chunk| chunk.length))
            .collect::<Result<Vec<usize>, Error>>()
            .map_err(|e| PyOSError::new_err(format!("{path}: {e}")))
    })
}
