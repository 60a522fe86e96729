//! Event messages on their way out, and when each of them left.
//!
//! Linux hands the stamp of a departure back on the socket's error queue, normally before `sendmmsg` returns, but
//! a driver may take its time. Departures are numbered in the order of sending; the numbers lead back to the packets.

use std::collections::VecDeque;
use std::io;

use super::BATCH;
use super::clock::raw_now;
use super::clock_map::ClockMap;
use super::receive::Inbox;
use super::socket::Socket;
use super::transmit::Outgoing;
use crate::clock::RawTime;

/// A stamp that has not come after this long, ns, will not come.
const PATIENCE_NS: i64 = 50_000_000;

/// Stamps that nobody waits for are collected several at once, when the oldest is of a packet sent this long ago, ns.
const LATER_NS: i64 = 25_000_000;

/// So many departures in a row without a stamp, and the kernel is taken not to give any.
const GIVE_UP: u64 = 64;

/// A stamp may seem this much earlier than the call that caused it, ns: the clocks are read one after the other.
const SLACK_NS: i64 = 100_000;

/// When a packet left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departed<T> {
    pub token: T,
    /// `None`: the stamp got lost. What depends on it is not measured rather than measured with another ruler.
    pub at: Option<RawTime>,
}

/// Sends through one socket and pairs stamps with packets.
pub struct Transmitter<T> {
    /// Oldest first, numbered one after the other.
    waiting: VecDeque<Waiting<T>>,
    departed: Vec<Departed<T>>,
    /// Number the kernel will give the next departure.
    next_id: u32,
    kernel_stamps: bool,
    missing: u64,
    missing_in_a_row: u64,
    inbox: Inbox,
}

struct Waiting<T> {
    token: T,
    /// When the call that sent it began.
    sent_at: RawTime,
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
            inbox: Inbox::new(),
        }
    }

    /// Whether stamps are the kernel's; else they are this process's own, taken around the sending.
    pub fn kernel_stamps(&self) -> bool {
        self.kernel_stamps
    }

    /// Whether it is time to collect stamps.
    pub fn is_due(&self, now: RawTime) -> bool {
        let oldest = self.waiting.iter().find(|waiting| !waiting.stamped);
        oldest.is_some_and(|oldest| now.since(oldest.sent_at) >= LATER_NS)
    }

    /// Departures whose stamp never came.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// The departures that have become known, and forgets them.
    pub fn departed(&mut self) -> std::vec::Drain<'_, Departed<T>> {
        self.departed.drain(..)
    }

    /// Sends packets; [`Self::collect`] collects their stamps. `each` hears of every packet whether it left, or why not.
    pub fn send(
        &mut self,
        socket: &Socket,
        packets: &[Outgoing<T>],
        map: &ClockMap,
        mut each: impl FnMut(&Outgoing<T>, Result<(), &io::Error>),
    ) -> io::Result<()> {
        for batch in packets.chunks(BATCH) {
            let sent_at = raw_now();
            let first = self.waiting.len();
            let all_left = socket.send(batch, |packet, left| {
                each(packet, left);
                if left.is_ok() {
                    self.next_id = self.next_id.wrapping_add(1);
                    self.waiting.push_back(Waiting {
                        token: packet.token,
                        sent_at,
                        stamped: false,
                    });
                }
            });
            if !self.kernel_stamps {
                let halfway = sent_at.plus(raw_now().since(sent_at) / 2);
                let own = self.waiting.drain(first..).map(|waiting| Departed {
                    token: waiting.token,
                    at: Some(halfway),
                });
                self.departed.extend(own);
            } else if !all_left {
                // Whether a packet that the system refused took a number depends on where it was refused.
                self.collect(socket, map)?;
                self.forget_all();
                socket.renumber_departures()?;
                self.next_id = 0;
            }
        }
        Ok(())
    }

    /// Collects stamps that have come since.
    pub fn collect(&mut self, socket: &Socket, map: &ClockMap) -> io::Result<()> {
        loop {
            // Those without a stamp are the newest.
            let awaited = self.waiting.iter().rev().take_while(|one| !one.stamped);
            let count = socket.receive_departures(&mut self.inbox, awaited.count())?;
            let now = raw_now();
            for (id, stamp) in self.inbox.departures(count) {
                let stamp = map.raw(stamp);
                pair(
                    &mut self.waiting,
                    &mut self.departed,
                    self.next_id,
                    (id, stamp),
                    now,
                );
            }
            if count < BATCH {
                return Ok(());
            }
        }
    }

    /// Gives up on stamps that are overdue at `now`.
    pub fn expire(&mut self, now: RawTime) {
        while let Some(waiting) = self.waiting.front() {
            if waiting.stamped {
                self.missing_in_a_row = 0;
            } else if now.since(waiting.sent_at) > PATIENCE_NS {
                self.departed.push(Departed {
                    token: waiting.token,
                    at: None,
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
            self.forget_all();
        }
    }

    fn forget_all(&mut self) {
        for waiting in self.waiting.drain(..).filter(|waiting| !waiting.stamped) {
            self.missing += 1;
            self.departed.push(Departed {
                token: waiting.token,
                at: None,
            });
        }
    }
}

/// Gives the stamp of departure number `id`, read before `now`, to its packet, if it can be that packet's.
fn pair<T: Copy>(
    waiting: &mut VecDeque<Waiting<T>>,
    departed: &mut Vec<Departed<T>>,
    next_id: u32,
    (id, stamp): (u32, Option<RawTime>),
    now: RawTime,
) {
    let back = next_id.wrapping_sub(id) as usize;
    let Some(packet) = waiting
        .len()
        .checked_sub(back)
        .and_then(|index| waiting.get_mut(index))
    else {
        return;
    };
    // Were the numbering off, the stamp would be of another call.
    let plausible =
        |at: &RawTime| at.since(packet.sent_at) > -SLACK_NS && now.since(*at) > -SLACK_NS;
    if let Some(at) = stamp.filter(plausible).filter(|_| !packet.stamped) {
        packet.stamped = true;
        departed.push(Departed {
            token: packet.token,
            at: Some(at),
        });
    }
}

#[cfg(test)]
#[path = "transmitter_tests.rs"]
mod tests;
