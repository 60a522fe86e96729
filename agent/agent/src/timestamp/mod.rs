//! Sockets with kernel timestamps, and the clocks of those timestamps.
//!
//! The kernel stamps a packet when it passes the driver, so it does not matter for precision when this process
//! wakes (`Documentation/networking/timestamping.rst`). Stamps are of `CLOCK_REALTIME`; [`ClockMap`] carries them
//! over to `CLOCK_MONOTONIC_RAW`, which no time daemon touches.
//!
//! All unsafe code of the agent is in this module, each use beside the contract of the kernel it relies on.
//! Structures are those of 64-bit Linux.

#![expect(unsafe_code, reason = "system calls that the standard library lacks")]

mod address;
mod bind;
mod clock;
mod clock_map;
mod control;
mod disruption;
mod hardware;
mod receive;
mod socket;
mod transmit;
mod transmitter;

use std::mem::MaybeUninit;

pub use bind::BindError;
pub use clock::{RealTime, Sighting, clock_source, cpu_time_ns, raw_now, sight};
pub use clock_map::ClockMap;
pub use disruption::{Disruption, Disruptions};
pub use hardware::{PtpClock, PtpDevice, ptp_devices};
pub use receive::{Datagram, Inbox};
pub use socket::{Ready, Socket, Stamps, wait};
pub use transmit::Outgoing;
pub use transmitter::{Departed, Transmitter};

/// Packets per system call.
pub const BATCH: usize = 64;

/// Room for what a call is given for each packet of a batch. Clearing all of it for a few packets would cost more than the
/// call.
fn unwritten<T>() -> [MaybeUninit<T>; BATCH] {
    [const { MaybeUninit::uninit() }; BATCH]
}
