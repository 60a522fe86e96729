//! Sockets with kernel timestamps, and the clocks of those timestamps.
//!
//! The kernel timestamps a packet when it passes the driver, so precision does not depend on the time at which this process
//! wakes (`Documentation/networking/timestamping.rst`). Its timestamps are of `CLOCK_REALTIME`, those of a network card of the
//! card's clock; a [`StampClock`] converts both to `CLOCK_MONOTONIC_RAW`, which no time daemon adjusts.
//!
//! All unsafe code of the agent is in this module, in `traffic::interface` and in `egress_guard::kernel`, each use with the
//! contract of the kernel it relies on.
//! Structures are those of 64-bit Linux.

#![expect(unsafe_code, reason = "system calls that the standard library lacks")]

mod address;
mod bind;
mod card;
mod clock_map;
mod control;
mod disruption;
mod ecn;
mod kernel_clocks;
mod ptp_device;
mod receive;
mod socket;
mod stamp;
mod stamp_clocks;
mod transmit;
mod transmitter;

use std::mem::MaybeUninit;

pub use bind::BindError;
pub use card::{Card, CardAbilities, CardSetting, NetworkCard};
pub use clock_map::ClockMap;
pub use disruption::{Disruption, Disruptions};
pub use kernel_clocks::{
    CrossTimestamp, RealTime, boot_now_ns, clock_source, cpu_time_ns, cross_timestamp, raw_now,
};
pub use ptp_device::{PtpClock, PtpDevice, ptp_devices};
pub use receive::{Datagram, Inbox};
pub use socket::{Ready, Socket, Stamps, pace, return_icmp_errors, wait};
pub use stamp::{CardTime, PacketStamps, Stamp, StampClock};
pub use stamp_clocks::{CardClock, StampClocks};
pub use transmit::Outgoing;
pub use transmitter::{DepartureTimestamp, Transmitter};

/// Packets per system call.
pub const BATCH: usize = 64;

/// Return uninitialised structures for the packets of a batch. Clearing all of them for a few packets would cost more than
/// the system call.
fn unwritten<T>() -> [MaybeUninit<T>; BATCH] {
    [const { MaybeUninit::uninit() }; BATCH]
}
