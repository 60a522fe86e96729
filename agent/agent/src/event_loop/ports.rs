//! The two ports: messages in with their stamps, messages out in batches.

use std::io;
use std::net::{IpAddr, SocketAddr};

use super::client::RequestId;
use super::{Listen, LoopError};
use crate::clock::RawTime;
use crate::ptp::{Answer, Arrival, MAX_LEN, Message};
use crate::timestamp::{
    BATCH, ClockMap, Datagram, Departed, Inbox, Outgoing, Ready, Socket, Stamps, Transmitter,
    raw_now, sight,
};

/// So many packets in a row without a receive stamp, and the kernel is taken not to give any.
const GIVE_UP: u32 = 64;

/// What leaves through the event port.
#[derive(Debug, Clone, Copy)]
pub(super) enum Departure {
    Request(RequestId),
    Sync(Answer),
}

/// A message that came in.
pub(super) struct Received {
    pub from: SocketAddr,
    /// Our address that it was sent to.
    pub to: Option<IpAddr>,
    pub by_event_port: bool,
    pub arrival: Arrival,
    /// Packets were dropped before it because they were not read in time.
    pub after_overflow: bool,
    /// `None` when it is not to be read.
    pub message: Option<Message>,
}

pub(super) struct Ports {
    event: Socket,
    general: Socket,
    transmitter: Transmitter<Departure>,
    map: ClockMap,
    /// Added to the raw clock it gives the time scale of our stamps: near UTC at the start, then never steered.
    time_scale_ns: i64,
    unstamped_in_a_row: u32,
    /// Of the event and the general port.
    overflows: [u32; 2],
    inbox: Inbox,
    events_out: Vec<Outgoing<Departure>>,
    generals_out: Vec<Outgoing<()>>,
}

impl Ports {
    pub fn open(listen: Listen) -> Result<Self, LoopError> {
        let open = |port, stamps| {
            let at = SocketAddr::new(listen.address, port);
            Socket::bind(at, stamps).map_err(LoopError::Bind)
        };
        let event = open(listen.event_port, Stamps::SentAndReceived)?;
        let general = open(listen.general_port, Stamps::Received)?;
        let now = sight();
        Ok(Self {
            transmitter: Transmitter::new(&event),
            event,
            general,
            map: ClockMap::new(now),
            time_scale_ns: now.real.0 - now.raw.0,
            unstamped_in_a_row: 0,
            overflows: [0; 2],
            inbox: Inbox::new(),
            events_out: Vec::new(),
            generals_out: Vec::new(),
        })
    }

    /// The event and the general socket.
    pub fn sockets(&self) -> (&Socket, &Socket) {
        (&self.event, &self.general)
    }

    /// Reads the clocks, once per turn. By how many ns the wall clock was stepped since the last turn, if it was.
    pub fn look(&mut self) -> Option<i64> {
        self.map.update(sight())
    }

    /// When the clocks were last read.
    pub fn now(&self) -> RawTime {
        self.map.latest().raw
    }

    /// A time as messages carry it, ns.
    pub fn on_the_wire(&self, at: RawTime) -> i64 {
        self.time_scale_ns.saturating_add(at.0)
    }

    /// Whether stamps are the kernel's in both ways.
    pub fn kernel_stamps(&self) -> bool {
        self.transmitter.kernel_stamps() && self.unstamped_in_a_row <= GIVE_UP
    }

    /// Departures whose stamp never came.
    pub fn stamps_missing(&self) -> u64 {
        self.transmitter.missing()
    }

    /// Packets that came in and were dropped because they were not read in time.
    pub fn overflows(&self) -> u64 {
        self.overflows.iter().copied().map(u64::from).sum()
    }

    /// Whether this agent's addresses are of the family of `address`; others cannot be reached.
    pub fn reaches(&self, address: IpAddr) -> bool {
        self.event.local().is_ipv4() == address.is_ipv4()
    }

    /// Everything that has come in.
    pub fn read(&mut self, [event, general]: [Ready; 2]) -> io::Result<Vec<Received>> {
        let mut received = Vec::new();
        if event.departures {
            self.transmitter.collect(&self.event, &self.map)?;
        }
        let ports = [(&self.event, event, true), (&self.general, general, false)];
        for ((socket, ready, by_event_port), overflows) in
            ports.into_iter().zip(&mut self.overflows)
        {
            let mut more = ready.packets;
            while more {
                let count = socket.receive(&mut self.inbox)?;
                for datagram in self.inbox.datagrams(count) {
                    let before = std::mem::replace(overflows, datagram.overflows);
                    received.push(Received {
                        from: datagram.from,
                        to: datagram.to,
                        by_event_port,
                        after_overflow: before != datagram.overflows,
                        arrival: arrival(&datagram, &self.map, &mut self.unstamped_in_a_row),
                        message: Message::read(datagram.bytes).ok(),
                    });
                }
                more = count == BATCH;
            }
        }
        Ok(received)
    }

    pub fn queue_event(
        &mut self,
        message: &Message,
        to: SocketAddr,
        from: Option<IpAddr>,
        departure: Departure,
    ) {
        self.events_out.push(outgoing(message, to, from, departure));
    }

    pub fn queue_general(&mut self, message: &Message, to: SocketAddr, from: Option<IpAddr>) {
        self.generals_out.push(outgoing(message, to, from, ()));
    }

    /// Sends the queued event messages; `each` hears of every one whether it left, or why not. Then returns all departures that
    /// have become known, of these and of earlier ones.
    pub fn send_events(
        &mut self,
        each: impl FnMut(&Outgoing<Departure>, Result<(), &io::Error>),
    ) -> io::Result<Vec<Departed<Departure>>> {
        self.transmitter
            .send(&self.event, &self.events_out, &self.map, each)?;
        self.events_out.clear();
        self.transmitter.expire(raw_now());
        Ok(self.transmitter.departed().collect())
    }

    /// Sends the queued general messages; how many left.
    pub fn send_generals(&mut self) -> u64 {
        let mut sent = 0;
        if !self.generals_out.is_empty() {
            self.general.send(&self.generals_out, |_, left| {
                sent += u64::from(left.is_ok());
            });
            self.generals_out.clear();
        }
        sent
    }
}

/// When a packet arrived, by the kernel's stamp if there is one.
fn arrival(datagram: &Datagram<'_>, map: &ClockMap, unstamped_in_a_row: &mut u32) -> Arrival {
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

fn outgoing<T>(message: &Message, to: SocketAddr, from: Option<IpAddr>, token: T) -> Outgoing<T> {
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
