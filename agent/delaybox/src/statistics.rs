//! Statistics of a run, as JSON.

use serde::Serialize;

use crate::line::settings::Direction;
use crate::summary::{Figures, Summary};

/// Exact counters of a direction. received = lost + dropped + overflowed + sent + refused + in_box.
#[derive(Debug, Clone, Default, Serialize, PartialEq, Eq)]
pub struct Counters {
    pub received_packets: u64,
    pub received_bytes: u64,
    /// Lost at random on request.
    pub lost_packets: u64,
    /// Dropped at the full queue of the rate limit.
    pub dropped_packets: u64,
    /// Sent before the packet in front of them, on request.
    pub reordered_packets: u64,
    /// Sent with another ECN field, on request.
    pub ecn_changed_packets: u64,
    /// Dropped at the box's capacity.
    pub overflowed_packets: u64,
    pub sent_packets: u64,
    pub sent_bytes: u64,
    /// Refused by the kernel at the far side.
    pub refused_packets: u64,
    /// Still in the box.
    pub in_box_packets: u64,
    /// Dropped by the kernel before the box could read them; not among the received.
    pub missed_packets: u64,
    /// Draws below zero, which count as zero.
    pub clamped_draws: u64,
}

/// Durations of a direction, in nanoseconds.
#[derive(Debug, Clone, Default)]
pub struct Delays {
    /// As drawn from the distribution.
    pub drawn: Summary,
    /// From arrival to the time due: the draw, the rate limit, and waiting for the previous packet.
    pub planned: Summary,
    /// From arrival to the system call that sends.
    pub achieved: Summary,
    /// From the time due to the system call that sends.
    pub late: Summary,
}

/// Printed statistics of a direction.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub struct DirectionReport {
    #[serde(flatten)]
    pub counters: Counters,
    pub drawn_ns: Option<Figures>,
    pub planned_ns: Option<Figures>,
    pub achieved_ns: Option<Figures>,
    pub late_ns: Option<Figures>,
}

impl DirectionReport {
    pub fn new(counters: Counters, delays: &Delays) -> Self {
        Self {
            counters,
            drawn_ns: delays.drawn.figures(),
            planned_ns: delays.planned.figures(),
            achieved_ns: delays.achieved.figures(),
            late_ns: delays.late.figures(),
        }
    }
}

/// Printed statistics of the box.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub struct Report {
    pub duration_s: f64,
    pub seed: u64,
    /// `fifo` (real time) or `normal`.
    pub scheduler: &'static str,
    pub outbound: DirectionReport,
    pub inbound: DirectionReport,
}

impl Report {
    pub fn of(&self, direction: Direction) -> &DirectionReport {
        match direction {
            Direction::Outbound => &self.outbound,
            Direction::Inbound => &self.inbound,
        }
    }
}
