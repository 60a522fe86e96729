//! Packets at one link, for the arrays of `sinemora.labs.tail_lab`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sinemora_tail::{Flows, Knowledge, Policy};

use crate::arrays::{Input, one_dimensional};
use crate::{Array, unfit};

/// The fields of `sinemora.labs.tail_lab.core.link.Chosen` that the simulation reads.
#[derive(FromPyObject)]
pub(crate) struct Chosen {
    order: String,
    alpha: f64,
    first_packet_rule: bool,
    boundaries: Vec<f64>,
}

impl Chosen {
    fn policy(self) -> PyResult<Policy> {
        let Self {
            alpha,
            first_packet_rule,
            boundaries,
            ..
        } = self;
        let knows = if self.order == "remaining" {
            Knowledge::Remaining
        } else {
            Knowledge::Sent
        };
        if alpha.is_nan() || alpha < 0.0 || !boundaries.is_sorted() {
            return Err(unfit());
        }
        Ok(match self.order.as_str() {
            "fcfs" => Policy::Fcfs,
            "ps" => Policy::Ps,
            "las" => Policy::Las,
            "srpt" => Policy::Srpt,
            "sent" | "remaining" if boundaries.is_empty() => Policy::Age {
                alpha,
                knows,
                first_packet_rule,
            },
            "sent" | "remaining" => Policy::Classes {
                alpha,
                knows,
                boundaries,
            },
            other => return Err(PyValueError::new_err(format!("no order {other}"))),
        })
    }
}

/// Finish times (ps), packets, bytes of each class, recorded priorities and their bytes.
type Simulated<'py> = (Array<'py>, u64, Vec<i64>, Array<'py>, Array<'py>);

/// Send all packets of flows over a link; call `watch` with the number of finished flows a few times per second.
///
/// An exception of `watch` ends the simulation.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn simulate_link<'py>(
    py: Python<'py>,
    arrivals_ps: Input<i64>,
    sizes: Input<i64>,
    byte_ps: i64,
    packet_bytes: i64,
    policy: Chosen,
    record: bool,
    watch: Option<Py<PyAny>>,
) -> PyResult<Simulated<'py>> {
    let policy = policy.policy()?;
    let flows = Flows::new(arrivals_ps.slice(), sizes.slice(), byte_ps, packet_bytes)
        .map_err(|_| unfit())?;
    let mut raised = None;
    let outcome = py.detach(|| {
        sinemora_tail::simulate(&flows, &policy, record, |finished| {
            let called = Python::attach(|py| {
                py.check_signals()?;
                watch
                    .as_ref()
                    .map_or(Ok(()), |watch| watch.call1(py, (finished,)).map(|_| ()))
            });
            raised = called.err();
            raised.is_none()
        })
    });
    if let Some(error) = raised {
        return Err(error);
    }
    let outcome = outcome.map_err(|_| unfit())?;
    Ok((
        one_dimensional(py, &outcome.finish_ps)?,
        outcome.packets,
        outcome.class_bytes,
        one_dimensional(py, &outcome.recorded)?,
        one_dimensional(py, &outcome.recorded_bytes)?,
    ))
}
