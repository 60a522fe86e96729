//! Packets at one link and in a leaf-spine network, for the arrays of `sinemora.labs.tail_lab`.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sinemora_tail::fabric::{
    Fabric, FabricOutcome, FlowOrder, Settings, Topology, Traffic, Transport,
    simulate_fabric as run_fabric,
};
use sinemora_tail::{Flows, Knowledge, Policy, Stopped};

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

/// The fields of `sinemora.labs.tail_lab.core.fabric.Fabric` that the simulation reads.
#[derive(FromPyObject)]
pub(crate) struct Network {
    leaves: u32,
    hosts_per_leaf: u32,
    spines: u32,
    edge_byte_ps: u64,
    core_byte_ps: u64,
    edge_delay_ps: u64,
    core_delay_ps: u64,
    packet_bytes: u32,
    header_bytes: u32,
}

/// The fields of `sinemora.labs.tail_lab.core.fabric.FabricChosen` that the simulation reads.
#[derive(FromPyObject)]
pub(crate) struct FabricChosen {
    transport: String,
    order: String,
    by_age: bool,
    alpha: f64,
    boundaries: Vec<f64>,
    scheduled_classes: usize,
    cutoffs: Vec<u64>,
}

impl FabricChosen {
    fn fabric(self, network: &Network, seed: u64) -> PyResult<Fabric> {
        let transport = match self.transport.as_str() {
            "tcp" => Transport::Tcp,
            "dctcp" => Transport::Dctcp,
            "pfabric" => Transport::Pfabric,
            "homa" => Transport::Homa,
            other => return Err(PyValueError::new_err(format!("no transport {other}"))),
        };
        let knows = match self.order.as_str() {
            "turn" | "sent" => Knowledge::Sent,
            "remaining" => Knowledge::Remaining,
            other => return Err(PyValueError::new_err(format!("no order {other}"))),
        };
        let order = match (self.by_age, self.order.as_str()) {
            (true, _) => FlowOrder::Age {
                alpha: self.alpha,
                knows,
                boundaries: self.boundaries,
            },
            (false, "sent") => FlowOrder::Sent,
            (false, "remaining") => FlowOrder::Remaining,
            (false, _) => FlowOrder::Turn,
        };
        let mut settings: Settings = transport.settings();
        if transport == Transport::Homa {
            settings.scheduled_classes = self.scheduled_classes;
            settings.cutoffs = self.cutoffs;
        }
        Ok(Fabric {
            topology: Topology {
                leaves: network.leaves,
                hosts_per_leaf: network.hosts_per_leaf,
                spines: network.spines,
                edge_byte_ps: network.edge_byte_ps,
                core_byte_ps: network.core_byte_ps,
                edge_delay_ps: network.edge_delay_ps,
                core_delay_ps: network.core_delay_ps,
            },
            packet_bytes: network.packet_bytes,
            header_bytes: network.header_bytes,
            transport,
            settings,
            order,
            seed,
        })
    }
}

/// Counts of packets of a leaf-spine network.
#[pyclass(frozen, get_all)]
pub(crate) struct FabricCounts {
    sent: u64,
    delivered: u64,
    duplicates: u64,
    dropped: u64,
    marked: u64,
    hops: u64,
}

impl From<&FabricOutcome> for FabricCounts {
    fn from(outcome: &FabricOutcome) -> Self {
        Self {
            sent: outcome.sent,
            delivered: outcome.delivered,
            duplicates: outcome.duplicates,
            dropped: outcome.dropped,
            marked: outcome.marked,
            hops: outcome.hops,
        }
    }
}

/// Finish times (ps), counts, bytes of each class, recorded priorities and their bytes.
type FabricSimulated<'py> = (Array<'py>, FabricCounts, Vec<i64>, Array<'py>, Array<'py>);

/// Send all flows through a leaf-spine network; call `watch` with the number of finished flows a few times per second.
///
/// An exception of `watch` ends the simulation.
#[pyfunction]
#[allow(clippy::too_many_arguments)]
pub(crate) fn simulate_fabric<'py>(
    py: Python<'py>,
    arrivals_ps: Input<i64>,
    sizes: Input<i64>,
    from: Input<i64>,
    to: Input<i64>,
    network: Network,
    chosen: FabricChosen,
    seed: u64,
    record: bool,
    watch: Option<Py<PyAny>>,
) -> PyResult<FabricSimulated<'py>> {
    let fabric = chosen.fabric(&network, seed)?;
    let traffic = Traffic::new(
        &fabric,
        arrivals_ps.slice(),
        sizes.slice(),
        from.slice(),
        to.slice(),
    )
    .map_err(|_| unfit())?;
    let outcome = watched(py, watch, |watch| {
        run_fabric(&fabric, &traffic, record, watch)
    })?;
    Ok((
        one_dimensional(py, &outcome.finish_ps)?,
        FabricCounts::from(&outcome),
        outcome.class_bytes,
        one_dimensional(py, &outcome.recorded)?,
        one_dimensional(py, &outcome.recorded_bytes)?,
    ))
}

/// Run a simulation without the interpreter's lock; raise what `watch` raises.
fn watched<T: Send>(
    py: Python<'_>,
    watch: Option<Py<PyAny>>,
    run: impl FnOnce(&mut dyn FnMut(usize) -> bool) -> Result<T, Stopped> + Send,
) -> PyResult<T> {
    let mut raised = None;
    let outcome = py.detach(|| {
        run(&mut |finished| {
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
    match (raised, outcome) {
        (Some(error), _) => Err(error),
        (None, Ok(outcome)) => Ok(outcome),
        (None, Err(_)) => Err(unfit()),
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
    let outcome = watched(py, watch, |watch| {
        sinemora_tail::simulate(&flows, &policy, record, watch)
    })?;
    Ok((
        one_dimensional(py, &outcome.finish_ps)?,
        outcome.packets,
        outcome.class_bytes,
        one_dimensional(py, &outcome.recorded)?,
        one_dimensional(py, &outcome.recorded_bytes)?,
    ))
}

/// Return log2 of age / bytes^α.
#[pyfunction]
pub(crate) fn log2_priority(age_ns: f64, bytes: f64, alpha: f64) -> f64 {
    sinemora_tail::log2_priority(age_ns, bytes, alpha)
}
