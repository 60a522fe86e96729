//! The Python module `sinemora_native`: the crate of the same name for numpy arrays.
//!
//! Every call lets go of the interpreter's lock while it works on much. Arrays have the types and shapes that
//! `sinemora_native.pyi` in the backend names; flags are arrays of bytes.

// PyO3 hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

mod arrays;
mod chunks;
mod placement;
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

#[pymodule]
#[pyo3(name = "sinemora_native")]
mod module {
    use std::borrow::Cow;
    use std::cell::RefCell;

    use pyo3::IntoPyObjectExt;
    use pyo3::exceptions::PyOverflowError;
    use pyo3::prelude::*;
    use pyo3::pybacked::PyBackedBytes;
    use pyo3::types::PyBytes;
    use sinemora_native::columns::{COLUMNS, DIRECTIONS, QUANTILES};
    use sinemora_native::frame::{
        self, Context, Corrections, SketchesRef, StatsMut, StatsRef, Window,
    };
    use sinemora_native::matrix::{self, Cells, Described, Measured, Statistic, Table};
    use sinemora_native::report::{self, NotSplit};
    use sinemora_native::threads;
    use zstd::bulk::Decompressor;
    use zstd::zstd_safe;

    #[pymodule_export]
    use super::FrameError;
    use super::arrays::{Input, Output, one_dimensional};
    #[pymodule_export]
    use super::chunks::chunk_lengths;
    #[pymodule_export]
    use super::placement::{
        anneal, branch, candidate_pairs, cheapest_machines, cheapest_root, cluster_latency,
        fill_cheapest, fill_costs, hang_all, pivot, place_by_job, placement_bound, traced_latency,
        violating_pairs, walk_tree,
    };
    #[pymodule_export]
    use super::tail::{FabricCounts, log2_priority, simulate_fabric, simulate_link};
    use super::{refused, unfit};

    type Array<'py> = Bound<'py, PyAny>;

    /// Return the bins of values, ns.
    #[pyfunction]
    fn bins_of<'py>(py: Python<'py>, values_ns: Input<i64>) -> PyResult<Array<'py>> {
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
    fn values_of_bins() -> Vec<u64> {
        (0..sinemora_native::BINS)
            .map(sinemora_native::value_of)
            .collect()
    }

    /// Number of values a word represents, by its low five bits.
    #[pyfunction]
    fn counts_of_codes() -> Vec<u32> {
        (0..32).map(sinemora_native::count_of).collect()
    }

    /// Canonical words of bins with their counts, and how many words each pair takes.
    #[pyfunction]
    fn canonical_words<'py>(
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
    fn is_ordered(py: Python<'_>, words: Input<u16>, lengths: Input<i64>) -> PyResult<bool> {
        py.detach(|| sinemora_native::is_ordered(words.slice(), lengths.slice()))
            .ok_or_else(unfit)
    }

    /// Totals of sketches whose words are ordered, and their bins at quantiles.
    #[pyfunction]
    fn summarise<'py>(
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
    fn merge_sketches<'py>(
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

    /// Blocks of stats and sketches of clients, which have `sizes` targets each: 256 after the other.
    #[pyfunction]
    #[allow(clippy::too_many_arguments)]
    fn encode<'py>(
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
    fn encode_stats<'py>(
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
    fn encode_sketches<'py>(
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
    fn decode_stats<'py>(
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
    fn decode_stats_at<'py>(
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
    fn round_trip_values<'py>(
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
    fn decode_sketches<'py>(
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
    /// Rosters hold the keys of targets; corrections have rows of client, target, shift, bound and deviation. Returns
    /// clients, targets, columns, quantiles, flows, origins, lengths and words; `None` when a block stores its flows.
    #[pyfunction]
    fn merge_windows<'py>(
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

    fn slices(blobs: &[PyBackedBytes]) -> Vec<&[u8]> {
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
    fn merge_columns<'py>(
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

    /// Find the newest window of each path of an axis of `size`, outbound windows first; -1 for none.
    #[pyfunction]
    fn newest_windows<'py>(
        py: Python<'py>,
        sources: Input<i64>,
        targets: Input<i64>,
        ended_at_s: Input<i64>,
        size: usize,
    ) -> PyResult<Array<'py>> {
        let mut at = Output::new(py, &[size, size])?;
        let room = at.slice();
        let (sources, targets) = (sources.slice(), targets.slice());
        let ended = ended_at_s.slice();
        let fits = py.detach(|| {
            room.fill(-1);
            matrix::newest(sources, targets, ended, size, room)
        });
        if !fits {
            return Err(unfit());
        }
        Ok(at.array())
    }

    /// Pairs of cells, flags of those whose pair is old, and the origin of their one-way delays; -1 for no window.
    #[pyfunction]
    fn describe_cells<'py>(
        py: Python<'py>,
        at: Input<i64>,
        old: Input<u8>,
        origins: Input<u8>,
    ) -> PyResult<(Array<'py>, Array<'py>, Array<'py>)> {
        let at = at.slice();
        let mut round_at = Output::new(py, &[at.len()])?;
        let mut stale = Output::new(py, &[at.len()])?;
        let mut sources = Output::new(py, &[at.len()])?;
        let mut out = Described {
            round_at: round_at.slice(),
            stale: stale.slice(),
            sources: sources.slice(),
        };
        let (old, origins) = (old.slice(), origins.slice());
        if !py.detach(|| matrix::describe(at, old, origins, &mut out)) {
            return Err(unfit());
        }
        Ok((round_at.array(), stale.array(), sources.array()))
    }

    /// Values, clock errors, states and flags of the values that count.
    ///
    /// The statistic is a quantile by its place, or a column; -1 for the standard deviation.
    #[pyfunction]
    #[allow(clippy::too_many_arguments)]
    fn measure_cells<'py>(
        py: Python<'py>,
        columns: Input<i32>,
        codes: Input<u16>,
        at: Input<i64>,
        one_way: Input<i32>,
        one_way_at: Input<i64>,
        exchanges: Input<i32>,
        round_at: Input<i64>,
        planned: Input<u8>,
        stale: Input<u8>,
        quantile: Option<usize>,
        column: i64,
        above_min: bool,
    ) -> PyResult<(Array<'py>, Array<'py>, Array<'py>, Array<'py>)> {
        let table = Table {
            columns: columns.slice(),
            codes: codes.slice(),
            size: columns.slice().len() / COLUMNS,
        };
        let cells = Cells {
            at: at.slice(),
            one_way_at: one_way_at.slice(),
            one_way: one_way.slice(),
            round_at: round_at.slice(),
            exchanges: exchanges.slice(),
            planned: planned.slice(),
            stale: stale.slice(),
        };
        let statistic = match (quantile, usize::try_from(column)) {
            (Some(quantile), _) => Statistic::Quantile(quantile),
            (None, Ok(column)) => Statistic::Column(column),
            (None, Err(_)) => Statistic::StandardDeviation,
        };
        let n = cells.at.len();
        let (mut values, mut errors) = (Output::new(py, &[n])?, Output::new(py, &[n])?);
        let (mut states, mut valued) = (Output::new(py, &[n])?, Output::new(py, &[n])?);
        let mut out = Measured {
            values: values.slice(),
            clock_errors: errors.slice(),
            states: states.slice(),
            valued: valued.slice(),
        };
        if !py.detach(|| matrix::measure(&table, &cells, statistic, above_min, &mut out)) {
            return Err(unfit());
        }
        Ok((
            values.array(),
            errors.array(),
            states.array(),
            valued.array(),
        ))
    }

    /// Bin + 1 of each value that counts, 0 of the others.
    #[pyfunction]
    fn bin_codes<'py>(
        py: Python<'py>,
        values: Input<i64>,
        valued: Input<u8>,
    ) -> PyResult<Array<'py>> {
        let (values, valued) = (values.slice(), valued.slice());
        let mut codes = Output::new(py, &[values.len()])?;
        let room = codes.slice();
        if !py.detach(|| matrix::bin_codes(values, valued, room)) {
            return Err(unfit());
        }
        Ok(codes.array())
    }

    /// The columns of a window towards n peers, as they are stored.
    #[pyclass(frozen)]
    struct WindowColumns {
        table: report::Table,
        /// Of a plain window: encoded where it was read, on the thread that read it.
        blocks: Option<Vec<frame::Blocks>>,
    }

    #[pymethods]
    impl WindowColumns {
        /// Keys of the peers, ascending.
        fn targets<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
            one_dimensional(py, &self.table.targets)
        }

        /// Shape (8, 3, n).
        fn columns<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
            let shape = [COLUMNS, DIRECTIONS, self.table.targets.len()];
            Output::with(py, &shape, &self.table.columns)
        }

        /// Shape (4, 3, n): LLQ16 bin + 1, 0 for no value.
        fn quantiles<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
            let shape = [QUANTILES.len(), DIRECTIONS, self.table.targets.len()];
            Output::with(py, &shape, &self.table.quantiles)
        }

        /// Number of source ports towards each peer.
        fn flows<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
            one_dimensional(py, &self.table.flows)
        }

        /// Number of words of each sketch, shape (3, n).
        fn lengths<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
            let shape = [DIRECTIONS, self.table.targets.len()];
            Output::with(py, &shape, &self.table.lengths)
        }

        /// Words of all sketches, in the order of `lengths`.
        fn words<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
            one_dimensional(py, &self.table.words)
        }

        /// Stats and sketches of each block of a plain window; `None` for another one.
        fn blocks<'py>(&self, py: Python<'py>) -> Option<Vec<EncodedBlock<'py>>> {
            let encode = |(stats, sketches): &frame::Blocks| {
                (PyBytes::new(py, stats), PyBytes::new(py, sketches))
            };
            Some(self.blocks.as_ref()?.iter().map(encode).collect())
        }

        /// Report whether all peers are among `keys`, which ascend.
        fn are_among(&self, keys: Input<i64>) -> bool {
            report::are_among(&self.table.targets, keys.slice())
        }

        /// Number of values that did not fit 32 bits.
        #[getter]
        fn clamped(&self) -> usize {
            self.table.clamped
        }
    }

    /// Read reports: the body of each, whether it is compressed with zstd, and the key of the VM that sent it.
    ///
    /// All of them release the interpreter's lock once. The result of a report is its message without windows, and a tuple
    /// for each window: the message without columns, the columns (`None` without peers), and the field and rule they break.
    /// A report of more than `fields_max` fields results in an OverflowError. `None` stands for more than `bytes_max` bytes,
    /// for a body that is not zstd, and for a message that the protobuf library has to write again first.
    #[pyfunction]
    fn read_reports<'py>(
        py: Python<'py>,
        reports: Vec<(PyBackedBytes, bool, i64)>,
        bytes_max: usize,
        fields_max: usize,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let read = py.detach(|| {
            threads::map(&reports, |(body, compressed, own_key)| {
                let body = if *compressed {
                    Cow::Owned(decompress(body, bytes_max).ok_or(NotSplit::Otherwise)?)
                } else {
                    Cow::Borrowed(&**body)
                };
                let contents = report::read(&body, *own_key, fields_max)?;
                let windows = contents.windows.into_iter().map(|window| {
                    let table = window.table;
                    let columns =
                        table.map(|read| read.map(|table| columns_of(table, window.plain)));
                    (window.rest, columns)
                });
                Ok((contents.rest, windows.collect::<Vec<ReadWindow>>()))
            })
        });
        read.into_iter()
            .map(|contents| match contents {
                Ok((rest, windows)) => {
                    let windows = windows.into_iter();
                    let windows: Vec<_> = windows.map(|window| window_in(py, window)).collect();
                    (PyBytes::new(py, &rest), windows).into_bound_py_any(py)
                }
                Err(NotSplit::Otherwise) => Ok(py.None().into_bound(py)),
                Err(NotSplit::TooMany) => Ok(PyOverflowError::new_err(fields_max)
                    .into_value(py)
                    .into_bound(py)
                    .into_any()),
            })
            .collect()
    }

    /// The columns of a window, with the blocks of a plain one.
    fn columns_of(table: report::Table, plain: bool) -> WindowColumns {
        let blocks = if plain { table.encode().ok() } else { None };
        WindowColumns { table, blocks }
    }

    thread_local! {
        /// Creating a context costs more than a short body.
        static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> =
            RefCell::new(Decompressor::new().ok());
    }

    /// Decompress one zstd frame that declares its size, at most `bytes_max`.
    fn decompress(body: &[u8], bytes_max: usize) -> Option<Vec<u8>> {
        let size = zstd_safe::get_frame_content_size(body).ok()??;
        let size = usize::try_from(size)
            .ok()
            .filter(|size| *size <= bytes_max)?;
        if zstd_safe::find_frame_compressed_size(body) != Ok(body.len()) {
            return None;
        }
        DECOMPRESSOR.with_borrow_mut(|kept| kept.as_mut()?.decompress(body, size).ok())
    }

    /// A window without its columns, and these, or the field and the rule that they break.
    type WindowParts<'py> = (
        Bound<'py, PyBytes>,
        Option<WindowColumns>,
        Option<(String, String)>,
    );

    /// A window without its columns, and these: `None` without peers.
    type ReadWindow = (Vec<u8>, Option<Result<WindowColumns, report::Fault>>);

    fn window_in(py: Python<'_>, (rest, columns): ReadWindow) -> WindowParts<'_> {
        let (columns, fault) = match columns {
            None => (None, None),
            Some(Ok(columns)) => (Some(columns), None),
            Some(Err(fault)) => (None, Some((fault.field, fault.complaint))),
        };
        (PyBytes::new(py, &rest), columns, fault)
    }

    /// Stats and sketches of a block.
    type EncodedBlock<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);
}
