//! The settings of the guard in words.

use super::arguments::Settings;
use super::policy::Order;

/// Longest name of a classifier.
const NAME_BYTES: usize = 255;
/// Above, one lock for all queues limits what a machine sends.
const ONE_LOCK_BIT: u64 = 10_000_000_000;

/// Return the settings on one line; the classifier has it as its name, so that `status` can show it.
pub(super) fn describe(settings: &Settings) -> String {
    let order = match &settings.policy.order {
        Order::StrictPriority { bytes } => format!("strict-priority boundaries={}", commas(bytes)),
        Order::LogPriority { alpha, boundaries } => {
            format!(
                "log-priority alpha={alpha} boundaries={}",
                commas(boundaries)
            )
        }
    };
    let dscp = match &settings.policy.code_points {
        Some(points) => commas(points),
        None => "keep".to_owned(),
    };
    let mut text = format!(
        "sinemora egress guard, {order} rate={}bit floor={}% flow-gap={}ms dscp={dscp}",
        settings.shaping.rate_bit,
        settings.shaping.floor_percent,
        settings.policy.flow_gap.as_millis()
    );
    text.truncate(NAME_BYTES);
    text
}

fn commas<T: ToString>(values: &[T]) -> String {
    values
        .iter()
        .map(T::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

/// Return which flows are in a class.
pub(super) fn members(order: &Order, class: usize) -> String {
    let last = order.classes() - 1;
    match order {
        Order::StrictPriority { bytes } if class == last => {
            format!("sent {} bytes or more", bytes[last - 1])
        }
        Order::StrictPriority { bytes } => format!("sent less than {} bytes", bytes[class]),
        Order::LogPriority { boundaries, .. } if class == last => {
            format!("log2 priority below {}", boundaries[0])
        }
        Order::LogPriority { boundaries, .. } => {
            format!("log2 priority {} or more", boundaries[last - 1 - class])
        }
    }
}

/// Return a rate in Mbit/s.
pub(super) fn rate(bit: u64) -> String {
    format!("{} Mbit/s", bit as f64 / 1e6)
}

/// Return what limits the effect of the guard on this interface.
pub(super) fn notes(settings: &Settings, gso_bytes: u64) -> Vec<String> {
    let mut notes = Vec::new();
    let longest_ms = gso_bytes as f64 * 8e3 / settings.shaping.used_bit() as f64;
    if longest_ms > 1.0 {
        notes.push(format!(
            "a packet of {gso_bytes} bytes, which the interface segments later, holds the link for {longest_ms:.1} ms. If \
             that is too long: ethtool -K {} tso off gso off",
            settings.interface
        ));
    }
    if settings.shaping.rate_bit > ONE_LOCK_BIT {
        notes.push("above 10 Gbit/s one lock for all queues may limit the rate".to_owned());
    }
    notes
}
