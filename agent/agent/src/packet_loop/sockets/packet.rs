//! Packets that enter and leave through the sockets, with their addresses and timestamps.

use std::net::{IpAddr, SocketAddr};

use crate::paths::request::RequestId;
use crate::ptp::{Arrival, ClientAddress, Correction, MAX_LEN, Malformed, Message, Response};
use crate::timestamp::{ClockMap, Datagram, Outgoing};

/// Consecutive packets without a receive timestamp after which the kernel is assumed to give none.
pub(crate) const UNSTAMPED_LIMIT: u32 = 64;

/// The identity of an event message that leaves.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Departure {
    Request(RequestId),
    Sync(Response),
    /// A request that only proves the address of a client.
    Challenge,
    /// A granted Sync: its sequence id, and the address of its Follow_Up.
    Granted(u16, ClientAddress),
    /// The Sync of an SPTP exchange: its sequence id, the correction of its request, and the address of its Announce.
    Sptp(u16, Correction, ClientAddress),
}

impl Departure {
    /// Returns true if another message waits for its departure timestamp.
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
    /// True if packets were dropped before it because they were not read in time.
    pub after_overflow: bool,
    pub message: Result<Message, Malformed>,
}

/// Returns the arrival of a packet, by the kernel's timestamp if there is one.
pub(crate) fn arrival(
    datagram: &Datagram<'_>,
    map: &ClockMap,
    unstamped_in_a_row: &mut u32,
) -> Arrival {
    let read_at = map.latest().raw;
    *unstamped_in_a_row = match datagram.stamp {
        Some(_) => 0,
        None => unstamped_in_a_row.saturating_add(1),
    };
    let stamp = datagram.stamp.and_then(|stamp| map.raw(stamp));
    let own = (*unstamped_in_a_row > UNSTAMPED_LIMIT).then_some(read_at);
    Arrival {
        at: stamp.unwrap_or(read_at),
        stamp: stamp.or(own),
    }
}

/// Returns the packet of a message to `to`, identified by `token`.
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
        token,
    }
}
