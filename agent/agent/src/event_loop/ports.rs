//! The two ports and the source ports of further flows: messages in with their stamps, messages out in batches.

use std::io;
use std::net::{IpAddr, SocketAddr};

use super::client::RequestId;
use super::door::Door;
use super::time_scale::TimeScale;
use super::{Listen, LoopError};
use crate::clock::RawTime;
use crate::ptp::{Answer, Arrival, MAX_LEN, Message, Way};
use crate::timestamp::{
    BATCH, BindError, ClockMap, Datagram, Departed, Inbox, Outgoing, Ready, Socket, Stamps,
    raw_now, sight,
};

/// So many packets in a row without a receive stamp, and the kernel is taken not to give any.
const GIVE_UP: u32 = 64;

/// What leaves through a door.
#[derive(Debug, Clone, Copy)]
pub(super) enum Departure {
    Request(RequestId),
    Sync(Answer),
    /// A Sync that was granted: its sequence id, and where its Follow_Up goes.
    Granted(u16, Way),
}

/// Where a message came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Port {
    Event,
    General,
    /// The source port of a flow beyond the first.
    Flow,
}

/// A message that came in.
pub(super) struct Received {
    pub from: SocketAddr,
    /// Our address that it was sent to.
    pub to: Option<IpAddr>,
    pub by: Port,
    pub arrival: Arrival,
    /// Packets were dropped before it because they were not read in time.
    pub after_overflow: bool,
    /// `None` when it is not to be read.
    pub message: Option<Message>,
}

pub(super) struct Ports {
    listen: Listen,
    /// By flow; the first is the event port.
    doors: Vec<Door<Departure>>,
    events_out: Vec<Outgoing<Departure>>,
    /// Which door each of them leaves by.
    flows_out: Vec<u8>,
    general: Socket,
    general_overflows: u32,
    generals_out: Vec<Outgoing<()>>,
    map: ClockMap,
    time_scale: TimeScale,
    unstamped_in_a_row: u32,
    inbox: Inbox,
}

impl Ports {
    pub fn open(listen: Listen) -> Result<Self, LoopError> {
        let at = |port| SocketAddr::new(listen.address, port);
        let event = Door::open(at(listen.event_port)).map_err(LoopError::Bind)?;
        let general =
            Socket::bind(at(listen.general_port), Stamps::Received).map_err(LoopError::Bind)?;
        let now = sight();
        Ok(Self {
            listen,
            doors: vec![event],
            events_out: Vec::new(),
            flows_out: Vec::new(),
            general,
            general_overflows: 0,
            generals_out: Vec::new(),
            map: ClockMap::new(now),
            time_scale: TimeScale::starting(now.real.0 - now.raw.0),
            unstamped_in_a_row: 0,
            inbox: Inbox::new(),
        })
    }

    /// Opens source ports until there are `flows` of them, the event port counted. They stay open: an answer may
    /// still be on its way to one that a plan no longer uses.
    pub fn provide(&mut self, flows: u8) -> Result<(), BindError> {
        while self.doors.len() < usize::from(flows) {
            let nth = self.doors.len() as u16 - 1;
            let port = match self.listen.flow_port {
                0 => 0,
                first => first.saturating_add(nth),
            };
            let at = SocketAddr::new(self.listen.address, port);
            self.doors.push(Door::open(at)?);
        }
        Ok(())
    }

    /// How many source ports there are.
    pub fn flows(&self) -> u8 {
        self.doors.len() as u8
    }

    /// The general socket, then those of the flows.
    pub fn sockets(&self) -> impl Iterator<Item = &Socket> {
        std::iter::once(&self.general).chain(self.doors.iter().map(|door| &door.socket))
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
        self.time_scale.of(at)
    }

    /// Whether stamps are the kernel's in both ways.
    pub fn kernel_stamps(&self) -> bool {
        let stamped = |door: &Door<Departure>| door.transmitter.kernel_stamps();
        self.doors.iter().all(stamped) && self.unstamped_in_a_row <= GIVE_UP
    }

    /// Departures whose stamp never came.
    pub fn stamps_missing(&self) -> u64 {
        let doors = self.doors.iter();
        doors.map(|door| door.transmitter.missing()).sum()
    }

    /// Packets that came in and were dropped because they were not read in time.
    pub fn overflows(&self) -> u64 {
        let doors = self.doors.iter().map(|door| door.overflows);
        doors.chain([self.general_overflows]).map(u64::from).sum()
    }

    /// Whether this agent's addresses are of the family of `address`; others cannot be reached.
    pub fn reaches(&self, address: IpAddr) -> bool {
        self.listen.address.is_ipv4() == address.is_ipv4()
    }

    /// Everything that has come in; `ready` in the order of [`Self::sockets`].
    pub fn read(&mut self, ready: &[Ready]) -> io::Result<Vec<Received>> {
        let mut received = Vec::new();
        for (door, ready) in self.doors.iter_mut().zip(ready.iter().skip(1)) {
            if ready.departures || door.transmitter.awaits() {
                door.transmitter.collect(&door.socket, &self.map)?;
            }
        }
        let general = (&self.general, Port::General, &mut self.general_overflows);
        let doors = self.doors.iter_mut().enumerate().map(|(flow, door)| {
            let port = if flow == 0 { Port::Event } else { Port::Flow };
            (&door.socket, port, &mut door.overflows)
        });
        for ((socket, by, overflows), ready) in std::iter::once(general).chain(doors).zip(ready) {
            let mut more = ready.packets;
            while more {
                let count = socket.receive(&mut self.inbox)?;
                for datagram in self.inbox.datagrams(count) {
                    let before = std::mem::replace(overflows, datagram.overflows);
                    received.push(Received {
                        from: datagram.from,
                        to: datagram.to,
                        by,
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

    /// Queues a message to leave by the source port of `flow`.
    pub fn queue_event(
        &mut self,
        message: &Message,
        to: SocketAddr,
        from: Option<IpAddr>,
        departure: Departure,
        flow: u8,
    ) {
        self.events_out.push(outgoing(message, to, from, departure));
        self.flows_out.push(flow);
    }

    pub fn queue_general(&mut self, message: &Message, to: SocketAddr, from: Option<IpAddr>) {
        self.generals_out.push(outgoing(message, to, from, ()));
    }

    /// Sends the queued event messages; `each` hears of every one whether it left, or why not. Then returns all departures that
    /// have become known, of these and of earlier ones.
    pub fn send_events(
        &mut self,
        mut each: impl FnMut(&Outgoing<Departure>, Result<(), &io::Error>),
    ) -> io::Result<Vec<Departed<Departure>>> {
        let mut rest = &self.events_out[..];
        // In the order they were queued, whatever their doors: a responder takes the first sequence id that it sees
        // for the first there was.
        for together in self.flows_out.chunk_by(|one, next| one == next) {
            let (messages, after) = rest.split_at(together.len());
            if let Some(door) = self.doors.get_mut(usize::from(together[0])) {
                door.send(messages, &self.map, &mut each)?;
            }
            rest = after;
        }
        self.events_out.clear();
        self.flows_out.clear();
        let mut known = Vec::new();
        for door in &mut self.doors {
            door.departures(raw_now(), &mut known);
        }
        Ok(known)
    }

    /// Sends the queued general messages; how many left.
    pub fn send_generals(&mut self) -> u64 {
        let mut sent = 0;
        if !self.generals_out.is_empty() {
            // What one machine gets wakes it once; the order of packets to it stays.
            self.generals_out.sort_by_key(|packet| packet.to);
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
