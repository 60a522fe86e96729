//! The event and general sockets and those of further flows: timestamped reception, and transmission in batches.

mod event_socket;
mod general_queue;
pub(super) mod packet;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::LoopError;
use super::time_scale::TimeScale;
use super::wakeup::POLICY;
use crate::clock::{RawTime, TimestampSource};
use crate::hardware_timestamps::CardInUse;
use crate::network::Listen;
use crate::ptp::Message;
use crate::timestamp::{
    BATCH, BindError, CardClock, DepartureTimestamp, Inbox, Outgoing, Ready, Socket, StampClocks,
    Stamps, cross_timestamp, raw_now, wait,
};
use event_socket::EventSocket;
use general_queue::GeneralQueue;
use packet::{Departure, Port, ReceivedMessage, UNSTAMPED_LIMIT, arrival, outgoing};

/// The result of [`Sockets::poll`].
pub(super) struct PollResult {
    /// True if everything that had arrived before was read.
    pub all: bool,
    /// Step of the wall clock meanwhile, ns.
    pub stepped_ns: Option<i64>,
}

pub(super) struct Sockets {
    listen: Listen,
    ptp_minor_version: u8,
    /// By flow; the first is the event port.
    event_sockets: Vec<EventSocket<Departure>>,
    event_out: Vec<Outgoing<Departure>>,
    /// The flow that each of them leaves by.
    event_flows: Vec<u8>,
    general: Socket,
    general_overflows: u32,
    /// Time of its last read.
    general_at: RawTime,
    general_out: GeneralQueue,
    clocks: StampClocks,
    /// The network card whose timestamps are used.
    card: Option<CardInUse>,
    /// Least precise origin of a timestamp since it was last taken.
    least_source: Option<TimestampSource>,
    time_scale: TimeScale,
    unstamped_in_a_row: u32,
    /// Time of the latest message that asked for its time at the packet scheduler.
    schedule_asked_at: RawTime,
    /// True if a measurement compares ECN fields.
    asks_ecn: bool,
    inbox: Inbox,
}

impl Sockets {
    /// Return the address and ports that this agent listens at.
    pub fn listen(&self) -> Listen {
        self.listen
    }

    /// Open the ports. Timestamps are those of `card`, if there is one, and the kernel's.
    pub fn open(
        listen: Listen,
        card: Option<(CardInUse, Box<dyn CardClock>)>,
        ptp_minor_version: u8,
    ) -> Result<Self, LoopError> {
        let at = |port| SocketAddr::new(listen.address, port);
        let (card, card_clock) = card.unzip();
        let mut event = EventSocket::open(at(listen.event_port)).map_err(LoopError::Bind)?;
        if card.is_some() {
            event.ask_card(true)?;
        }
        let general =
            Socket::bind(at(listen.general_port), Stamps::Received).map_err(LoopError::Bind)?;
        let now = cross_timestamp();
        Ok(Self {
            listen,
            ptp_minor_version,
            event_sockets: vec![event],
            event_out: Vec::new(),
            event_flows: Vec::new(),
            general,
            general_overflows: 0,
            general_at: RawTime(0),
            general_out: GeneralQueue::default(),
            clocks: StampClocks::new(now, card_clock),
            card,
            least_source: None,
            time_scale: TimeScale::starting(now.real.0 - now.raw.0),
            unstamped_in_a_row: 0,
            schedule_asked_at: RawTime(0),
            asks_ecn: false,
            inbox: Inbox::new(),
        })
    }

    /// Open source ports until there are `flows` of them, including the event port.
    pub fn open_flows(&mut self, flows: u8) -> Result<(), BindError> {
        while self.event_sockets.len() < usize::from(flows) {
            let nth = self.event_sockets.len() as u16 - 1;
            let port = match self.listen.flow_port {
                0 => 0,
                first => first.saturating_add(nth),
            };
            let at = SocketAddr::new(self.listen.address, port);
            let mut flow = EventSocket::open(at)?;
            if self.card.is_some() {
                flow.ask_card(true)
                    .map_err(|source| BindError { at, source })?;
            }
            if self.asks_ecn {
                let _ = flow.socket.ask_ecn(true);
            }
            self.event_sockets.push(flow);
        }
        Ok(())
    }

    /// Ask for the ECN field of event messages, or no longer.
    pub fn ask_ecn(&mut self, asks: bool) {
        if std::mem::replace(&mut self.asks_ecn, asks) == asks {
            return;
        }
        for event_socket in &self.event_sockets {
            // A sandbox may refuse it: the field is then unknown.
            let _ = event_socket.socket.ask_ecn(asks);
        }
    }

    /// Close the source ports beyond the first `flows`, to which no response is on its way.
    pub fn close_flows(&mut self, flows: u8) {
        self.event_sockets.truncate(usize::from(flows).max(1));
    }

    /// Return the number of source ports.
    pub fn flows(&self) -> u8 {
        self.event_sockets.len() as u8
    }

    /// Return the source ports of the first `flows` flows.
    pub fn ports(&self, flows: u8) -> Vec<u16> {
        let used = self.event_sockets.iter().take(flows.into());
        used.map(|event_socket| event_socket.socket.local().port())
            .collect()
    }

    /// Return the general socket, then those of the flows.
    fn sockets(&self) -> impl Iterator<Item = &Socket> {
        std::iter::once(&self.general).chain(
            self.event_sockets
                .iter()
                .map(|event_socket| &event_socket.socket),
        )
    }

    /// Read the arrived packets into `received`, and wait for them up to `timeout` if there are none. General messages may
    /// be left for later unless `all` is set.
    pub fn poll(
        &mut self,
        timeout: Duration,
        all: bool,
        received: &mut Vec<ReceivedMessage>,
    ) -> io::Result<PollResult> {
        let mut stepped_ns = None;
        // A read that finds nothing costs less than a poll of the sockets.
        if self.event_sockets.len() == 1 {
            stepped_ns = self.read_clocks();
            let all = all || self.now().since(self.general_at) >= POLICY.general_read_ns;
            let unpolled = |packets| Ready {
                packets,
                departures: false,
            };
            self.read(&[unpolled(all), unpolled(true)], received)?;
            if !received.is_empty() || timeout.is_zero() {
                return Ok(PollResult { all, stepped_ns });
            }
        }
        let ready = wait(self.sockets(), timeout)?;
        stepped_ns = self.read_clocks().or(stepped_ns);
        self.read(&ready, received)?;
        Ok(PollResult {
            all: true,
            stepped_ns,
        })
    }

    /// Read the clocks. Return the step of the wall clock since the last time, ns, if there was one.
    fn read_clocks(&mut self) -> Option<i64> {
        self.clocks.update(cross_timestamp())
    }

    /// Stop the use of the network card's timestamps if they cannot be trusted any more.
    pub fn check_card(&mut self) -> io::Result<()> {
        let (Some(card), Some(why)) = (&self.card, self.clocks.card_fault(self.now())) else {
            return Ok(());
        };
        let card = card.name();
        tracing::warn!(
            "the timestamps of the network card {card} are not used any more, because {why}; those of the kernel are"
        );
        self.clocks.leave_card();
        self.card = None;
        let mut event_sockets = self.event_sockets.iter_mut();
        event_sockets.try_for_each(|event_socket| event_socket.ask_card(false))
    }

    /// Discard the readings of the card's clock, because this machine was disrupted.
    pub fn reset_card(&mut self) {
        self.clocks.reset_card();
    }

    /// Return the error bound of the card's timestamps, ns; `None` if none are used.
    pub fn card_error_ns(&self) -> Option<u64> {
        self.clocks.card_error_ns(self.now())
    }

    /// Remove and return the least precise origin of the timestamps since the last call; `None` without any.
    pub fn take_least_source(&mut self) -> Option<TimestampSource> {
        self.least_source.take()
    }

    /// Return the time of the last read of the clocks.
    pub fn now(&self) -> RawTime {
        self.clocks.latest().raw
    }

    /// Convert a raw time to the time scale of messages, ns.
    pub fn wire_ns(&self, at: RawTime) -> i64 {
        self.time_scale.of(at)
    }

    /// Return true if the kernel timestamps packets in both directions.
    pub fn kernel_stamps(&self) -> bool {
        let stamped =
            |event_socket: &EventSocket<Departure>| event_socket.transmitter.kernel_stamps();
        self.event_sockets.iter().all(stamped) && self.unstamped_in_a_row <= UNSTAMPED_LIMIT
    }

    /// Return the number of departures without a timestamp.
    pub fn stamps_missing(&self) -> u64 {
        let event_sockets = self.event_sockets.iter();
        event_sockets
            .map(|event_socket| event_socket.transmitter.missing())
            .sum()
    }

    /// Return the number of packets dropped because they were not read in time.
    pub fn overflows(&self) -> u64 {
        let event_sockets = self
            .event_sockets
            .iter()
            .map(|event_socket| event_socket.overflows);
        event_sockets
            .chain([self.general_overflows])
            .map(u64::from)
            .sum()
    }

    /// Return true if this agent's sockets reach the address family of `address`: those of `::` reach both.
    pub fn reaches(&self, address: IpAddr) -> bool {
        let own = self.listen.address;
        own.is_ipv4() == address.is_ipv4() || own == IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED)
    }

    /// Read the packets and departure timestamps that are `ready`, in the order of [`Self::sockets`].
    fn read(&mut self, ready: &[Ready], received: &mut Vec<ReceivedMessage>) -> io::Result<()> {
        if ready.first().is_some_and(|general| general.packets) {
            self.general_at = self.now();
        }
        let now = self.clocks.latest().raw;
        for (event_socket, ready) in self.event_sockets.iter_mut().zip(ready.iter().skip(1)) {
            if ready.departures || event_socket.transmitter.is_due(now) {
                event_socket.collect(&self.clocks, now)?;
            }
        }
        let general = (&self.general, Port::General, &mut self.general_overflows);
        let event_sockets =
            self.event_sockets
                .iter_mut()
                .enumerate()
                .map(|(flow, event_socket)| {
                    let port = if flow == 0 { Port::Event } else { Port::Flow };
                    (&event_socket.socket, port, &mut event_socket.overflows)
                });
        for ((socket, by, overflows), ready) in
            std::iter::once(general).chain(event_sockets).zip(ready)
        {
            let mut more = ready.packets;
            while more {
                let count = socket.receive(&mut self.inbox)?;
                for datagram in self.inbox.datagrams(count) {
                    let arrival = arrival(&datagram, &self.clocks, &mut self.unstamped_in_a_row);
                    if by != Port::General {
                        record_source(&mut self.least_source, arrival.source);
                    }
                    let before = std::mem::replace(overflows, datagram.overflows);
                    received.push(ReceivedMessage {
                        from: datagram.from,
                        to: datagram.to,
                        by,
                        after_overflow: before != datagram.overflows,
                        arrival,
                        hop_limit: datagram.hop_limit,
                        message: Message::read(datagram.bytes),
                    });
                }
                more = count == BATCH;
            }
        }
        Ok(())
    }

    /// Return the packet of a message, with the minor version that is set.
    fn outgoing<T>(
        &self,
        message: &Message,
        to: SocketAddr,
        from: Option<IpAddr>,
        token: T,
    ) -> Outgoing<T> {
        let mut packet = outgoing(message, to, from, token);
        packet.bytes[1] = self.ptp_minor_version << 4 | 2;
        packet
    }

    /// Queue a message to leave by the source port of `flow`.
    pub fn queue_event(
        &mut self,
        message: &Message,
        to: SocketAddr,
        from: Option<IpAddr>,
        departure: Departure,
        flow: u8,
    ) {
        let packet = self.outgoing(message, to, from, departure);
        self.event_out.push(packet);
        self.event_flows.push(flow);
    }

    /// Queue a general message.
    pub fn queue_general(&mut self, message: &Message, to: SocketAddr, from: Option<IpAddr>) {
        let packet = self.outgoing(message, to, from, ());
        self.general_out.queue(packet);
    }

    /// Queue a general message that may wait for another one to the same client.
    pub fn queue_follow_up(&mut self, message: &Message, to: SocketAddr, from: Option<IpAddr>) {
        let packet = self.outgoing(message, to, from, ());
        self.general_out.queue_follow_up(packet, self.now());
    }

    /// Send the queued event messages. Call `each` with the result of every message.
    pub fn send_events(
        &mut self,
        mut each: impl FnMut(&Outgoing<Departure>, Result<(), &io::Error>),
    ) -> io::Result<()> {
        let now = self.clocks.latest().raw;
        if now.since(self.schedule_asked_at) >= POLICY.schedule_stamps_ns
            && let Some(last) = self.event_out.last_mut()
        {
            last.asks_schedule = true;
            self.schedule_asked_at = now;
        }
        let mut rest = &self.event_out[..];
        // In the order they were queued, whatever their flows: a responder takes the first sequence id that it receives
        // for the first that was sent.
        for together in self.event_flows.chunk_by(|flow, next| flow == next) {
            let (messages, after) = rest.split_at(together.len());
            if let Some(event_socket) = self.event_sockets.get_mut(usize::from(together[0])) {
                event_socket.send(messages, &self.clocks, &mut each)?;
                // Other timestamps are collected with the next reception.
                if messages.iter().any(|packet| packet.token.is_awaited()) {
                    event_socket.collect(&self.clocks, raw_now())?;
                }
            }
            rest = after;
        }
        self.event_out.clear();
        self.event_flows.clear();
        Ok(())
    }

    /// Move the known departures to `known`.
    pub fn take_departures(&mut self, known: &mut Vec<DepartureTimestamp<Departure>>) {
        for event_socket in &mut self.event_sockets {
            event_socket.take_departures(known);
        }
        let sources = known.iter().filter_map(|departure| departure.stamp);
        if let Some(least) = sources.map(|stamp| stamp.source).min() {
            record_source(&mut self.least_source, least);
        }
    }

    /// Send the queued general messages. Follow_Ups may wait for the next turn if it comes `soon`. Return how many left.
    pub fn send_generals(&mut self, soon: bool) -> u64 {
        let now = self.now();
        self.general_out.send(&self.general, soon, now)
    }
}

/// Keep the less precise of two origins.
fn record_source(least: &mut Option<TimestampSource>, source: TimestampSource) {
    *least = Some(least.map_or(source, |known| known.min(source)));
}
