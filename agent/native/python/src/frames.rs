//! Frames: blocks of statistics and sketches, encoded, decoded and merged.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use sinemora_native::columns::{COLUMNS, DIRECTIONS, QUANTILES};
use sinemora_native::frame::{self, Context, Corrections, SketchesRef, StatsMut, StatsRef, Window};

use crate::arrays::{Input, Output, one_dimensional};
use crate::{Array, refused, unfit};

/// Blocks of stats and sketches of clients, which have `sizes` targets each: 256 after the other.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn encode<'py>(
    py: Python<'py>,
    columns: Input<i32>,
    quantiles: Input<u16>,
    flows: Input<u16>,
    sources: Input<u8>,
    by_flow: Input<i32>,
    lengths: Input<i64>,
    words: Input<u16>,
    sizes: Vec<usize>,
) -> PyResult<Vec<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)>> {
    let stats = StatsRef {
        columns: columns.slice(),
        quantiles: quantiles.slice(),
        flows: flows.slice(),
        sources: sources.slice(),
        by_flow: by_flow.slice(),
    };
    let sketches = SketchesRef::new(lengths.slice(), words.slice()).map_err(refused)?;
    let blocks = py
        .detach(|| frame::encode_clients(&stats, &sketches, &sizes))
        .map_err(refused)?;
    Ok(blocks
        .iter()
        .map(|(stats, sketches)| (PyBytes::new(py, stats), PyBytes::new(py, sketches)))
        .collect())
}

/// Encode the stats of at most 256 targets as a block.
#[pyfunction]
pub(crate) fn encode_stats<'py>(
    py: Python<'py>,
    columns: Input<i32>,
    quantiles: Input<u16>,
    flows: Input<u16>,
    sources: Input<u8>,
    by_flow: Input<i32>,
) -> PyResult<Bound<'py, PyBytes>> {
    let stats = StatsRef {
        columns: columns.slice(),
        quantiles: quantiles.slice(),
        flows: flows.slice(),
        sources: sources.slice(),
        by_flow: by_flow.slice(),
    };
    let block = frame::encode_stats(&stats).map_err(refused)?;
    Ok(PyBytes::new(py, &block))
}

/// Encode the sketches of at most 256 targets as a block, to be read with the columns of the same stats only.
#[pyfunction]
pub(crate) fn encode_sketches<'py>(
    py: Python<'py>,
    lengths: Input<i64>,
    words: Input<u16>,
    columns: Input<i32>,
) -> PyResult<Bound<'py, PyBytes>> {
    let sketches = SketchesRef::new(lengths.slice(), words.slice()).map_err(refused)?;
    let block = frame::encode_sketches(&sketches, columns.slice()).map_err(refused)?;
    Ok(PyBytes::new(py, &block))
}

/// Stats of all targets of all blocks: columns, quantiles, flows, origins, flows one by one.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub(crate) fn decode_stats<'py>(
    py: Python<'py>,
    blobs: Vec<PyBackedBytes>,
) -> PyResult<(Array<'py>, Array<'py>, Array<'py>, Array<'py>, Array<'py>)> {
    let blobs = slices(&blobs);
    let mut n = 0;
    for blob in &blobs {
        n += frame::targets_in(frame::Kind::Stats, blob).map_err(refused)?;
    }
    let mut room = Room::new(py, n)?;
    let out = room.stats()?;
    let flows = py
        .detach(|| frame::stats_of(&blobs, out))
        .map_err(refused)?;
    let by_flow = Output::with(py, &[3, 2, flows.len() / 6], &flows)?;
    let (columns, quantiles, flows, sources) = room.arrays();
    Ok((columns, quantiles, flows, sources, by_flow))
}

/// Stats of one target of each block, that at its place; `None` when one of the blocks stores flows.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub(crate) fn decode_stats_at<'py>(
    py: Python<'py>,
    blobs: Vec<PyBackedBytes>,
    places: Input<i64>,
) -> PyResult<Option<(Array<'py>, Array<'py>, Array<'py>, Array<'py>)>> {
    let blobs = slices(&blobs);
    let mut room = Room::new(py, blobs.len())?;
    let mut out = room.stats()?;
    let places = places.slice();
    let read = py
        .detach(|| {
            let places: Option<Vec<usize>> = places
                .iter()
                .map(|place| usize::try_from(*place).ok())
                .collect();
            let places = places.ok_or(frame::FrameError::Arrays)?;
            frame::stats_at(&blobs, &places, &mut out)
        })
        .map_err(refused)?;
    Ok(read.then(|| room.arrays()))
}

/// Read a quantile, by its place, of the round trips of all targets of all blocks: ns, -1 for no value.
#[pyfunction]
pub(crate) fn round_trip_values<'py>(
    py: Python<'py>,
    blobs: Vec<PyBackedBytes>,
    quantile: usize,
) -> PyResult<Array<'py>> {
    let blobs = slices(&blobs);
    let values = py
        .detach(|| frame::round_trip_values(&blobs, quantile))
        .map_err(refused)?;
    one_dimensional(py, &values)
}

/// Lengths and words of the sketches of all targets of all blocks; those of unwanted directions are empty.
#[pyfunction]
pub(crate) fn decode_sketches<'py>(
    py: Python<'py>,
    blobs: Vec<PyBackedBytes>,
    columns: Input<i32>,
    wanted: [bool; DIRECTIONS],
    shifts_ns: Input<i64>,
) -> PyResult<(Array<'py>, Array<'py>)> {
    let blobs = slices(&blobs);
    let (columns, shifts) = (columns.slice(), shifts_ns.slice());
    let (lengths, words) = py
        .detach(|| frame::sketches_of(&blobs, columns, wanted, shifts))
        .map_err(refused)?;
    Ok((
        Output::with(py, &[DIRECTIONS, lengths.len() / DIRECTIONS], &lengths)?,
        one_dimensional(py, &words)?,
    ))
}

/// A block of a window: client, roster, corrections (-1 for none), bytes of stats, bytes of sketches.
type WindowBlocks = (i64, usize, i64, PyBackedBytes, PyBackedBytes);

/// Merge the windows of clients, in ascending order: each pair of a client and a target once.
///
/// Rosters hold the keys of targets; corrections have rows of client, target, shift, bound and deviation. Return
/// clients, targets, columns, quantiles, flows, origins, lengths and words; `None` when a block stores its flows.
#[pyfunction]
pub(crate) fn merge_windows<'py>(
    py: Python<'py>,
    windows: Vec<WindowBlocks>,
    rosters: Vec<Input<i64>>,
    corrections: Vec<Input<i32>>,
    directions: [bool; DIRECTIONS],
    words_too: bool,
) -> PyResult<Option<Vec<Array<'py>>>> {
    let windows: Vec<Window<'_>> = windows
        .iter()
        .map(|(client, roster, corrections, stats, sketches)| Window {
            client: *client,
            roster: *roster,
            corrections: usize::try_from(*corrections).ok(),
            stats,
            sketches,
        })
        .collect();
    let rosters: Vec<&[i64]> = rosters.iter().map(Input::slice).collect();
    let corrections: Vec<Corrections<'_>> = corrections
        .iter()
        .map(|rows| Corrections(rows.slice()))
        .collect();
    let context = Context {
        rosters: &rosters,
        corrections: &corrections,
        directions,
        words_too,
    };
    let merged = py.detach(|| frame::merge_windows(&windows, &context));
    let Some(pairs) = merged.map_err(refused)? else {
        return Ok(None);
    };
    let n = pairs.targets.len();
    Ok(Some(vec![
        one_dimensional(py, &pairs.clients)?,
        one_dimensional(py, &pairs.targets)?,
        Output::with(py, &[COLUMNS, DIRECTIONS, n], &pairs.columns)?,
        Output::with(py, &[QUANTILES.len(), DIRECTIONS, n], &pairs.quantiles)?,
        one_dimensional(py, &pairs.flows)?,
        one_dimensional(py, &pairs.sources)?,
        Output::with(py, &[DIRECTIONS, n], &pairs.lengths)?,
        one_dimensional(py, &pairs.words)?,
    ]))
}

pub(crate) fn slices(blobs: &[PyBackedBytes]) -> Vec<&[u8]> {
    blobs.iter().map(|blob| &**blob).collect()
}

/// New arrays of stats.
struct Room<'py> {
    columns: Output<'py, i32>,
    quantiles: Output<'py, u16>,
    flows: Output<'py, u16>,
    sources: Output<'py, u8>,
}

impl<'py> Room<'py> {
    fn new(py: Python<'py>, n: usize) -> PyResult<Self> {
        Ok(Self {
            columns: Output::new(py, &[COLUMNS, DIRECTIONS, n])?,
            quantiles: Output::new(py, &[QUANTILES.len(), DIRECTIONS, n])?,
            flows: Output::new(py, &[n])?,
            sources: Output::new(py, &[n])?,
        })
    }

    fn stats(&mut self) -> PyResult<StatsMut<'_>> {
        StatsMut::new(
            self.columns.slice(),
            self.quantiles.slice(),
            self.flows.slice(),
            self.sources.slice(),
        )
        .map_err(refused)
    }

    fn arrays(self) -> (Array<'py>, Array<'py>, Array<'py>, Array<'py>) {
        (
            self.columns.array(),
            self.quantiles.array(),
            self.flows.array(),
            self.sources.array(),
        )
    }
}

/// Columns (8, m) merged by the group of each into columns (8, groups).
#[pyfunction]
pub(crate) fn merge_columns<'py>(
    py: Python<'py>,
    columns: Input<i32>,
    owners: Input<i64>,
    groups: usize,
) -> PyResult<Array<'py>> {
    let mut merged = Output::new(py, &[COLUMNS, groups])?;
    let room = merged.slice();
    let (columns, owners) = (columns.slice(), owners.slice());
    if !py.detach(|| sinemora_native::merge::merge_columns(columns, owners, room)) {
        return Err(unfit());
    }
    Ok(merged.array())
}
