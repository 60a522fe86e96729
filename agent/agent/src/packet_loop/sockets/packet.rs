//! What goes through the ports: messages with where they came from or go to, and when.

use std::net::{IpAddr, SocketAddr};

use crate::packet_loop::client::RequestId;
use crate::ptp::{Arrival, ClientAddress, MAX_LEN, Message, Response, ResponseForm};
use crate::timestamp::{ClockMap, Datagram, Outgoing};

/// So many packets in a row without a receive stamp, and the kernel is taken not to give any.
pub(crate) const GIVE_UP: u32 = 64;

/// What leaves through a door.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Departure {
    Request(RequestId),
    Sync(Response),
    /// A Sync that was granted: its sequence id, and where its Follow_Up goes.
    Granted(u16, ClientAddress),
}

impl Departure {
    /// Whether something is to be sent as soon as it is known when it left.
    pub fn is_awaited(&self) -> bool {
        match self {
            Self::Request(_) => false,
            Self::Sync(response) => response.form != ResponseForm::Compact,
            Self::Granted(..) => true,
        }
    }
}

/// Where a message came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Port {
    Event,
    General,
    /// The source port of a flow beyond the first.
    Flow,
}

/// A message that came in.
pub(crate) struct Received {
    pub from: SocketAddr,
    /// Our address that it was sent to, where this agent listens on all of them.
    pub to: Option<IpAddr>,
    pub by: Port,
    pub arrival: Arrival,
    /// Packets were dropped before it because they were not read in time.
    pub after_overflow: bool,
    /// `None` when it is not to be read.
    pub message: Option<Message>,
}

/// When a packet arrived, by the kernel's stamp if there is one.
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
    let own = (*unstamped_in_a_row > GIVE_UP).then_some(read_at);
    Arrival {
        at: stamp.unwrap_or(read_at),
        stamp: stamp.or(own),
    }
}

/// A message on its way to `to`; what it is known by.
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
