//! Transmission of event messages, and their departure timestamps.
//!
//! Linux returns a departure timestamp on the socket's error queue, usually before `sendmmsg` returns. Drivers may return it
//! later. Departures are numbered in the order of sending; the numbers identify the packets.

use std::collections::VecDeque;
use std::io;

use super::BATCH;
use super::kernel_clocks::raw_now;
use super::receive::Inbox;
use super::socket::Socket;
use super::stamp::{Stamp, StampClock};
use super::transmit::Outgoing;
use crate::clock::{RawTime, TimestampSource};

/// Time after which a missing timestamp is given up, ns: a packet may wait as long in a queue of this machine.
const PATIENCE_NS: i64 = 1_000_000_000;

/// Age of the oldest packet, ns, at which timestamps that nothing waits for are collected together.
const LATER_NS: i64 = 25_000_000;

/// Consecutive departures without a timestamp after which this process takes them.
const GIVE_UP: u64 = 64;

/// Time between two looks for the kernel's timestamps meanwhile, ns, and consecutive ones after which they are used again.
const WATCH_NS: i64 = 1_000_000_000;
const RECOVERED: u32 = 3;

/// Tolerance of a timestamp before the call that caused it, ns: the clocks are read one after the other.
const SLACK_NS: i64 = 100_000;

/// The departure of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepartureTimestamp<T> {
    pub token: T,
    /// `None` if the timestamp was lost. Its exchange is then not measured.
    pub stamp: Option<Stamp>,
    /// Start of the call that sent it.
    pub sent_at: RawTime,
    /// When it passed the packet scheduler, if it asked for that.
    pub scheduled_at: Option<RawTime>,
}

/// Sends through one socket and matches timestamps with packets.
pub struct Transmitter<T> {
    /// Oldest first, numbered one after the other.
    waiting: VecDeque<Waiting<T>>,
    departed: Vec<DepartureTimestamp<T>>,
    /// Number the kernel will give the next departure.
    next_id: u32,
    kernel_stamps: bool,
    missing: u64,
    missing_in_a_row: u64,
    /// Packets whose time at the packet scheduler has not come yet.
    schedules_awaited: usize,
    /// While this process takes the timestamps: the time of the latest packet, number 0, whose kernel timestamp was looked
    /// for, true until that is decided, and the number of these that came in a row.
    watched: (RawTime, bool),
    watched_in_a_row: u32,
    inbox: Inbox,
}

struct Waiting<T> {
    token: T,
    /// Start of the call that sent it.
    sent_at: RawTime,
    scheduled_at: Option<RawTime>,
    stamped: bool,
}

impl<T: Copy> Transmitter<T> {
    pub fn new(socket: &Socket) -> Self {
        Self {
            waiting: VecDeque::new(),
            departed: Vec::new(),
            next_id: 0,
            kernel_stamps: socket.stamps_departures(),
            missing: 0,
            missing_in_a_row: 0,
            schedules_awaited: 0,
            watched: (RawTime(i64::MIN), false),
            watched_in_a_row: 0,
            inbox: Inbox::new(),
        }
    }

    /// Return true if timestamps are the kernel's; otherwise this process takes them around the system call.
    pub fn kernel_stamps(&self) -> bool {
        self.kernel_stamps
    }

    /// Return true if timestamps are to be collected now.
    pub fn is_due(&self, now: RawTime) -> bool {
        let oldest = self.waiting.iter().find(|waiting| !waiting.stamped);
        let watched = Some(self.watched.0).filter(|_| self.watched.1);
        let sent_at = oldest.map(|oldest| oldest.sent_at).or(watched);
        sent_at.is_some_and(|sent_at| now.since(sent_at) >= LATER_NS)
    }

    /// Return the number of departures without a timestamp.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// Remove and return the known departures.
    pub fn take_departures(&mut self) -> std::vec::Drain<'_, DepartureTimestamp<T>> {
        self.departed.drain(..)
    }

    /// Send packets, whose timestamps [`Self::collect`] collects. Call `each` with the result of every packet.
    pub fn send(
        &mut self,
        socket: &Socket,
        packets: &[Outgoing<T>],
        clock: &impl StampClock,
        mut each: impl FnMut(&Outgoing<T>, Result<(), &io::Error>),
    ) -> io::Result<()> {
        for batch in packets.chunks(BATCH) {
            let sent_at = raw_now();
            let first = self.waiting.len();
            if !self.kernel_stamps {
                self.watch(socket, sent_at)?;
            }
            let all_left = socket.send(batch, |packet, left| {
                each(packet, left);
                if left.is_ok() {
                    self.next_id = self.next_id.wrapping_add(1);
                    self.waiting.push_back(Waiting {
                        token: packet.token,
                        sent_at,
                        scheduled_at: None,
                        stamped: false,
                    });
                    let asks = packet.asks_schedule && socket.stamps_schedule();
                    self.schedules_awaited += usize::from(asks);
                }
            });
            if !self.kernel_stamps {
                let halfway = sent_at.plus(raw_now().since(sent_at) / 2);
                let own = self
                    .waiting
                    .drain(first..)
                    .map(|waiting| DepartureTimestamp {
                        token: waiting.token,
                        stamp: Some(Stamp {
                            at: halfway,
                            source: TimestampSource::User,
                        }),
                        sent_at: waiting.sent_at,
                        scheduled_at: None,
                    });
                self.departed.extend(own);
            } else if !all_left {
                // Whether a packet that the system refused took a number depends on where it was refused.
                self.collect(socket, clock)?;
                self.renumber(socket)?;
            }
        }
        Ok(())
    }

    /// Collect the timestamps that have arrived since.
    pub fn collect(&mut self, socket: &Socket, clock: &impl StampClock) -> io::Result<()> {
        loop {
            // Packets without a timestamp are the newest.
            let awaited = self
                .waiting
                .iter()
                .rev()
                .take_while(|packet| !packet.stamped);
            let mut awaited = awaited.count() + self.schedules_awaited;
            if !self.kernel_stamps {
                // The one that is looked for comes after those of all packets since, however many a queue has held up.
                awaited = BATCH;
            }
            let count = socket.receive_departures(&mut self.inbox, awaited)?;
            let now = raw_now();
            for (id, stamps) in self.inbox.scheduled(count) {
                self.schedules_awaited = self.schedules_awaited.saturating_sub(1);
                if let Some(packet) = numbered(&mut self.waiting, self.next_id, id) {
                    packet.scheduled_at = clock.stamp(stamps).map(|stamp| stamp.at);
                }
            }
            for (id, stamps) in self.inbox.departures(count) {
                let stamp = clock.stamp(stamps);
                let (watched_at, is_watched) = self.watched;
                let is_newer = |stamp: Stamp| stamp.at.since(watched_at) > -SLACK_NS;
                if is_watched && id == 0 && stamp.is_some_and(is_newer) {
                    self.watched.1 = false;
                    self.watched_in_a_row += 1;
                }
                pair(
                    &mut self.waiting,
                    &mut self.departed,
                    self.next_id,
                    (id, stamp),
                    now,
                );
            }
            if count < BATCH {
                break;
            }
        }
        if !self.kernel_stamps && self.watched_in_a_row >= RECOVERED {
            self.kernel_stamps = true;
            (self.missing_in_a_row, self.watched_in_a_row) = (0, 0);
            self.renumber(socket)?;
        }
        Ok(())
    }

    /// Look for the kernel's timestamp of the next packet, if it is time: it gets number 0.
    fn watch(&mut self, socket: &Socket, now: RawTime) -> io::Result<()> {
        if !socket.stamps_departures() || now.since(self.watched.0) < WATCH_NS {
            return Ok(());
        }
        if self.watched.1 {
            self.watched_in_a_row = 0;
        }
        self.watched = (now, true);
        self.renumber(socket)
    }

    /// Give up on timestamps that are overdue at `now`.
    pub fn expire(&mut self, now: RawTime) {
        while let Some(waiting) = self.waiting.front() {
            if waiting.stamped {
                self.missing_in_a_row = 0;
            } else if now.since(waiting.sent_at) > PATIENCE_NS {
                self.departed.push(DepartureTimestamp {
                    token: waiting.token,
                    stamp: None,
                    sent_at: waiting.sent_at,
                    scheduled_at: waiting.scheduled_at,
                });
                self.missing += 1;
                self.missing_in_a_row += 1;
            } else {
                break;
            }
            self.waiting.pop_front();
        }
        if self.missing_in_a_row >= GIVE_UP {
            self.kernel_stamps = false;
            self.abandon_all();
        }
    }

    /// Give up on all timestamps and restart the numbering, also after a change of the timestamps that `socket` asks for.
    pub fn renumber(&mut self, socket: &Socket) -> io::Result<()> {
        self.abandon_all();
        socket.renumber_departures()?;
        self.next_id = 0;
        Ok(())
    }

    fn abandon_all(&mut self) {
        self.schedules_awaited = 0;
        for waiting in self.waiting.drain(..).filter(|waiting| !waiting.stamped) {
            self.missing += 1;
            self.departed.push(DepartureTimestamp {
                token: waiting.token,
                stamp: None,
                sent_at: waiting.sent_at,
                scheduled_at: waiting.scheduled_at,
            });
        }
    }
}

/// Assign the timestamp of departure number `id`, read before `now`, to its packet if it is plausible.
fn pair<T: Copy>(
    waiting: &mut VecDeque<Waiting<T>>,
    departed: &mut Vec<DepartureTimestamp<T>>,
    next_id: u32,
    (id, stamp): (u32, Option<Stamp>),
    now: RawTime,
) {
    let Some(packet) = numbered(waiting, next_id, id) else {
        return;
    };
    // If the numbering were wrong, the timestamp would be of another call.
    let plausible = |stamp: &Stamp| {
        stamp.at.since(packet.sent_at) > -SLACK_NS && now.since(stamp.at) > -SLACK_NS
    };
    if let Some(stamp) = stamp.filter(plausible).filter(|_| !packet.stamped) {
        packet.stamped = true;
        departed.push(DepartureTimestamp {
            token: packet.token,
            stamp: Some(stamp),
            sent_at: packet.sent_at,
            scheduled_at: packet.scheduled_at,
        });
    }
}

/// Return the packet of departure number `id`, if it still waits; `next_id` is the number of the next one.
fn numbered<T>(
    waiting: &mut VecDeque<Waiting<T>>,
    next_id: u32,
    id: u32,
) -> Option<&mut Waiting<T>> {
    let index = waiting
        .len()
        .checked_sub(next_id.wrapping_sub(id) as usize)?;
    waiting.get_mut(index)
}

#[cfg(test)]
#[path = "transmitter_tests.rs"]
mod tests;
