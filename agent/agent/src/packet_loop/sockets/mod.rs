//! The two ports and the source ports of further flows: messages in with their stamps, messages out in batches.

mod event_socket;
mod general_queue;
pub(super) mod packet;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::time_scale::TimeScale;
use super::{Listen, LoopError};
use crate::clock::RawTime;
use crate::ptp::Message;
use crate::timestamp::{
    BATCH, BindError, ClockMap, Departed, Inbox, Outgoing, Ready, Socket, Stamps, raw_now, sight,
    wait,
};
use event_socket::Door;
use general_queue::Generals;
use packet::{Departure, GIVE_UP, Port, Received, arrival, outgoing};

/// How often general messages are looked for while event messages keep coming, ns. Nobody waits for them: they are
/// negotiation and stamps that came late.
const GENERAL_NS: i64 = 20_000_000;

/// What [`Ports::listen`] has done.
pub(super) struct Listened {
    /// Whether all that had arrived before was read.
    pub all: bool,
    /// By how many ns the wall clock was stepped meanwhile.
    pub stepped_ns: Option<i64>,
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
    /// When it was last read.
    general_at: RawTime,
    generals_out: Generals,
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
            general_at: RawTime(0),
            generals_out: Generals::default(),
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
    fn sockets(&self) -> impl Iterator<Item = &Socket> {
        std::iter::once(&self.general).chain(self.doors.iter().map(|door| &door.socket))
    }

    /// Reads everything that has come in to `received`, and waits for it if there is nothing yet, at most `timeout`.
    /// General messages may be left for later, unless `all` are to be heard.
    pub fn listen(
        &mut self,
        timeout: Duration,
        all: bool,
        received: &mut Vec<Received>,
    ) -> io::Result<Listened> {
        let mut stepped_ns = None;
        // A read that finds nothing costs less than asking who has something.
        if self.doors.len() == 1 {
            stepped_ns = self.look();
            let all = all || self.now().since(self.general_at) >= GENERAL_NS;
            let unasked = |packets| Ready {
                packets,
                departures: false,
            };
            self.read(&[unasked(all), unasked(true)], received)?;
            if !received.is_empty() || timeout.is_zero() {
                return Ok(Listened { all, stepped_ns });
            }
        }
        let ready = wait(self.sockets(), timeout)?;
        stepped_ns = self.look().or(stepped_ns);
        self.read(&ready, received)?;
        Ok(Listened {
            all: true,
            stepped_ns,
        })
    }

    /// Reads the clocks. By how many ns the wall clock was stepped since the last time, if it was.
    fn look(&mut self) -> Option<i64> {
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

    /// Reads what has come in; `ready` in the order of [`Self::sockets`].
    fn read(&mut self, ready: &[Ready], received: &mut Vec<Received>) -> io::Result<()> {
        if ready.first().is_some_and(|general| general.packets) {
            self.general_at = self.now();
        }
        let now = self.map.latest().raw;
        for (door, ready) in self.doors.iter_mut().zip(ready.iter().skip(1)) {
            if ready.departures || door.transmitter.is_due(now) {
                door.collect(&self.map, now)?;
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
        Ok(())
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
        self.generals_out.queue(outgoing(message, to, from, ()));
    }

    /// Queues a general message that may wait for another one to the same client.
    pub fn queue_follow_up(&mut self, message: &Message, to: SocketAddr, from: Option<IpAddr>) {
        let packet = outgoing(message, to, from, ());
        self.generals_out.queue_follow_up(packet);
    }

    /// Sends the queued event messages; `each` hears of every one whether it left, or why not.
    pub fn send_events(
        &mut self,
        mut each: impl FnMut(&Outgoing<Departure>, Result<(), &io::Error>),
    ) -> io::Result<()> {
        let mut rest = &self.events_out[..];
        // In the order they were queued, whatever their doors: a responder takes the first sequence id that it sees
        // for the first there was.
        for together in self.flows_out.chunk_by(|one, next| one == next) {
            let (messages, after) = rest.split_at(together.len());
            if let Some(door) = self.doors.get_mut(usize::from(together[0])) {
                door.send(messages, &self.map, &mut each)?;
                // The stamps of others are collected with what comes in next.
                if messages.iter().any(|packet| packet.token.is_awaited()) {
                    door.collect(&self.map, raw_now())?;
                }
            }
            rest = after;
        }
        self.events_out.clear();
        self.flows_out.clear();
        Ok(())
    }

    /// Moves the departures that have become known to `known`.
    pub fn departures(&mut self, known: &mut Vec<Departed<Departure>>) {
        for door in &mut self.doors {
            door.departures(known);
        }
    }

    /// Sends the Follow_Ups that have waited too long for an answer to their clients; how many left.
    pub fn send_late(&mut self) -> u64 {
        if self.generals_out.are_late(self.now()) {
            return self.send_generals(false);
        }
        0
    }

    /// Sends the queued general messages; how many left. Follow_Ups may wait for the next turn if it comes `soon`.
    pub fn send_generals(&mut self, soon: bool) -> u64 {
        let now = self.now();
        self.generals_out.send(&self.general, soon, now)
    }
}
