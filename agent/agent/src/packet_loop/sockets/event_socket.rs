//! A socket for event messages: that of the event port, or of the source port of a further flow.

use std::io;
use std::net::SocketAddr;

use crate::clock::RawTime;
use crate::timestamp::{
    BindError, DepartureTimestamp, Outgoing, Socket, StampClocks, Stamps, Transmitter,
};

/// A socket and the timestamps of its departures. `T` identifies a message.
pub(super) struct EventSocket<T> {
    pub socket: Socket,
    pub transmitter: Transmitter<T>,
    /// Packets that it had dropped unread at its last read.
    pub overflows: u32,
}

impl<T: Copy> EventSocket<T> {
    pub fn open(at: SocketAddr) -> Result<Self, BindError> {
        let socket = Socket::bind(at, Stamps::SentAndReceived)?;
        Ok(Self {
            transmitter: Transmitter::new(&socket),
            socket,
            overflows: 0,
        })
    }

    /// Ask for timestamps of the network card, or no longer.
    pub fn ask_card(&mut self, asks: bool) -> io::Result<()> {
        self.socket.ask_card(asks);
        if self.transmitter.kernel_stamps() {
            self.transmitter.renumber(&self.socket)?;
        }
        Ok(())
    }

    /// Send messages. Call `each` with the result of every message.
    pub fn send(
        &mut self,
        messages: &[Outgoing<T>],
        clocks: &StampClocks,
        each: impl FnMut(&Outgoing<T>, Result<(), &io::Error>),
    ) -> io::Result<()> {
        self.transmitter.send(&self.socket, messages, clocks, each)
    }

    /// Collect the departure timestamps available at `now`, and give up on overdue ones.
    pub fn collect(&mut self, clocks: &StampClocks, now: RawTime) -> io::Result<()> {
        self.transmitter.collect(&self.socket, clocks)?;
        self.transmitter.expire(now);
        Ok(())
    }

    /// Move the known departures to `known`.
    pub fn take_departures(&mut self, known: &mut Vec<DepartureTimestamp<T>>) {
        known.extend(self.transmitter.take_departures());
    }
}
