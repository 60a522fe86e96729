//! Reports of agents, read without the interpreter's objects.

use std::borrow::Cow;
use std::cell::RefCell;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use sinemora_native::columns::{COLUMNS, DIRECTIONS, QUANTILES};
use sinemora_native::frame;
use sinemora_native::report::{self, NotSplit};
use sinemora_native::threads;
use zstd::bulk::Decompressor;
use zstd::zstd_safe;

use crate::Array;
use crate::arrays::{Input, Output, one_dimensional};

/// The columns of a window towards n peers, as they are stored.
#[pyclass(frozen)]
pub(crate) struct WindowColumns {
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
pub(crate) fn read_reports<'py>(
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
                let columns = table.map(|read| read.map(|table| columns_of(table, window.plain)));
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
pub(crate) fn columns_of(table: report::Table, plain: bool) -> WindowColumns {
    let blocks = if plain { table.encode().ok() } else { None };
    WindowColumns { table, blocks }
}

thread_local! {
    /// Creating a context costs more than a short body.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> =
        RefCell::new(Decompressor::new().ok());
}

/// Decompress one zstd frame that declares its size, at most `bytes_max`.
pub(crate) fn decompress(body: &[u8], bytes_max: usize) -> Option<Vec<u8>> {
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
pub(crate) type WindowParts<'py> = (
    Bound<'py, PyBytes>,
    Option<WindowColumns>,
    Option<(String, String)>,
);

/// A window without its columns, and these: `None` without peers.
pub(crate) type ReadWindow = (Vec<u8>, Option<Result<WindowColumns, report::Fault>>);

pub(crate) fn window_in(py: Python<'_>, (rest, columns): ReadWindow) -> WindowParts<'_> {
    let (columns, fault) = match columns {
        None => (None, None),
        Some(Ok(columns)) => (Some(columns), None),
        Some(Err(fault)) => (None, Some((fault.field, fault.complaint))),
    };
    (PyBytes::new(py, &rest), columns, fault)
}

/// Stats and sketches of a block.
pub(crate) type EncodedBlock<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);
