//! Matrices of paths: the newest windows, and the values of cells.

use pyo3::prelude::*;
use sinemora_native::columns::COLUMNS;
use sinemora_native::matrix::{self, Cells, Described, Measured, Statistic, Table};

use crate::arrays::{Input, Output};
use crate::{Array, unfit};

/// Find the newest window of each path of an axis of `size`, outbound windows first; -1 for none.
#[pyfunction]
pub(crate) fn newest_windows<'py>(
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
pub(crate) fn describe_cells<'py>(
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
pub(crate) fn measure_cells<'py>(
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
pub(crate) fn bin_codes<'py>(
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
