//! Packets that enter and leave through the sockets, with their addresses and timestamps.

use std::net::{IpAddr, SocketAddr};

use crate::clock::TimestampSource;
use crate::paths::request::RequestId;
use crate::ptp::{Arrival, ClientAddress, Correction, MAX_LEN, Malformed, Message, Response};
use crate::timestamp::{Datagram, Outgoing, StampClock, StampClocks};

/// Consecutive packets without a receive timestamp after which the kernel is assumed to give none.
pub(crate) const UNSTAMPED_LIMIT: u32 = 64;

/// The identity of an event message that leaves.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Departure {
    Request(RequestId),
    Sync(Response),
    /// A request that belongs to no exchange: it proves the address of a client, or that a server answers.
    Challenge,
    /// A granted Sync: its sequence id, and the address of its Follow_Up.
    Granted(u16, ClientAddress),
    /// The Sync of an SPTP exchange: its sequence id, the correction of its request, and the address of its Announce.
    Sptp(u16, Correction, ClientAddress),
}

impl Departure {
    /// Return true if another message waits for its departure timestamp.
    pub fn is_awaited(&self) -> bool {
        match self {
            Self::Request(_) | Self::Challenge => false,
            Self::Sync(response) => response.form.has_delay_resp(),
            Self::Granted(..) | Self::Sptp(..) => true,
        }
    }
}

/// The port that a message arrived at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Port {
    Event,
    General,
    /// The source port of a flow beyond the first.
    Flow,
}

/// A message that has arrived.
pub(crate) struct ReceivedMessage {
    pub from: SocketAddr,
    /// The local address that it was sent to, if this agent listens on all of them.
    pub to: Option<IpAddr>,
    pub by: Port,
    pub arrival: Arrival,
    /// The hop limit that it arrived with, if known.
    pub hop_limit: Option<u8>,
    /// True if packets were dropped before it because they were not read in time.
    pub after_overflow: bool,
    pub message: Result<Message, Malformed>,
}

/// Return the arrival of a packet, by its most precise timestamp if there is one.
pub(crate) fn arrival(
    datagram: &Datagram<'_>,
    clocks: &StampClocks,
    unstamped_in_a_row: &mut u32,
) -> Arrival {
    let read_at = clocks.latest().raw;
    *unstamped_in_a_row = if datagram.stamps.is_empty() {
        unstamped_in_a_row.saturating_add(1)
    } else {
        0
    };
    let stamp = clocks.stamp(datagram.stamps);
    let at = stamp.map_or(read_at, |stamp| stamp.at);
    let is_own = stamp.is_none() && *unstamped_in_a_row > UNSTAMPED_LIMIT;
    Arrival {
        at,
        stamp: (stamp.is_some() || is_own).then_some(at),
        source: stamp.map_or(TimestampSource::User, |stamp| stamp.source),
        ecn: datagram.ecn,
    }
}

/// Return the packet of a message to `to`, identified by `token`.
pub(crate) fn outgoing<T>(
    message: &Message,
    to: SocketAddr,
    from: Option<IpAddr>,
    token: T,
) -> Outgoing<T> {
    let mut bytes = [0; MAX_LEN];
    let len = message.write(&mut bytes);
    Outgoing {
        to,
        from,
        bytes,
        len,
        ecn: message.leaves_with(),
        asks_schedule: false,
        token,
    }
}
