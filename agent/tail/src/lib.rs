//! The tail lab: packets of many flows at one link, one policy after another.
//!
//! A link sends one packet at a time. After each, the policy chooses the flow whose next packet follows; a packet that
//! has begun is never interrupted. Time is in picoseconds, so that a byte takes a whole number of them at usual rates.
//!
//! Source of the priorities: K. Mahajan, "Next Generation Cloud Computing Architectures: Performance and Pricing",
//! Columbia University, 2021, chapter 2.

mod age;
mod classes;
mod link;
mod priority;
mod ranked;
mod record;
mod sharing;
mod tournament;

use age::AgeOrder;
use classes::Classes;
use ranked::{Key, Ranked};
use sharing::Sharing;

pub use link::{Flows, Outcome, Stopped, TooLong};

/// Size of a flow that a policy uses: the bytes that it sent, or those that remain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    Sent,
    Remaining,
}

/// Scheduling policy of the link: it chooses the next packet.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    /// First come, first served: the oldest flow.
    Fcfs,
    /// Processor sharing: a packet of each flow in turn.
    Ps,
    /// Least attained service: the flow that sent the fewest bytes, the older of equals.
    Las,
    /// Shortest remaining processing time: the flow with the fewest bytes left, the older of equals.
    Srpt,
    /// The largest age / bytes^α. With `first_packet_rule` the first packet of a flow goes before all others, and age
    /// counts from its start; otherwise age counts from the arrival.
    Age {
        alpha: f64,
        knows: Knowledge,
        first_packet_rule: bool,
    },
    /// Strict priority between classes, first in first out inside one. A packet gets its class from age / bytes^α when
    /// it becomes the next of its flow, and keeps it. `boundaries` ascend: log2 of the priority at which the next
    /// higher class begins.
    Classes {
        alpha: f64,
        knows: Knowledge,
        boundaries: Vec<f64>,
    },
}

/// Send all packets of the flows and return when each flow was finished.
///
/// `watch` is called now and then with the number of finished flows; the simulation stops when it returns false. With
/// `record`, the outcome has the priorities of packets under [`Policy::Age`].
pub fn simulate(
    flows: &Flows<'_>,
    policy: &Policy,
    record: bool,
    watch: impl FnMut(usize) -> bool,
) -> Result<Outcome, Stopped> {
    match policy {
        Policy::Fcfs => link::run(flows, &mut Ranked::new(Key::Arrival), watch),
        Policy::Las => link::run(flows, &mut Ranked::new(Key::Sent), watch),
        Policy::Srpt => link::run(flows, &mut Ranked::new(Key::Remaining), watch),
        Policy::Ps => link::run(flows, &mut Sharing::default(), watch),
        Policy::Age {
            alpha,
            knows,
            first_packet_rule,
        } => {
            let mut order = AgeOrder::new(*alpha, *knows, *first_packet_rule, record);
            let outcome = link::run(flows, &mut order, watch)?;
            Ok(order.recorded(outcome))
        }
        Policy::Classes {
            alpha,
            knows,
            boundaries,
        } => {
            let mut classes = Classes::new(*alpha, *knows, boundaries, flows.len());
            let outcome = link::run(flows, &mut classes, watch)?;
            Ok(classes.counted(outcome))
        }
    }
}

#[cfg(test)]
mod tests;
