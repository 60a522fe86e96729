//! A port that timed messages leave and enter by: the event port, or the source port of a further flow.

use std::io;
use std::net::SocketAddr;

use crate::clock::RawTime;
use crate::timestamp::{BindError, ClockMap, Departed, Outgoing, Socket, Stamps, Transmitter};

/// A socket and the stamps of what it sent. `T` tells messages apart.
pub(super) struct Door<T> {
    pub socket: Socket,
    pub transmitter: Transmitter<T>,
    /// How many packets it had dropped unread when last seen.
    pub overflows: u32,
}

impl<T: Copy> Door<T> {
    pub fn open(at: SocketAddr) -> Result<Self, BindError> {
        let socket = Socket::bind(at, Stamps::SentAndReceived)?;
        Ok(Self {
            transmitter: Transmitter::new(&socket),
            socket,
            overflows: 0,
        })
    }

    /// Sends messages; `each` hears of every one whether it left, or why not.
    pub fn send(
        &mut self,
        messages: &[Outgoing<T>],
        map: &ClockMap,
        each: impl FnMut(&Outgoing<T>, Result<(), &io::Error>),
    ) -> io::Result<()> {
        self.transmitter.send(&self.socket, messages, map, each)
    }

    /// Collects the stamps of departures that are there at `now`, and gives up on those that should be.
    pub fn collect(&mut self, map: &ClockMap, now: RawTime) -> io::Result<()> {
        self.transmitter.collect(&self.socket, map)?;
        self.transmitter.expire(now);
        Ok(())
    }

    /// Moves the departures that have become known to `known`.
    pub fn departures(&mut self, known: &mut Vec<Departed<T>>) {
        known.extend(self.transmitter.departed());
    }
}
