//! Records waits of the packet loop and of its packets on this machine.

use super::exchanger::Exchanger;
use super::sockets::packet::{Departure, Port};
use super::wakeup::Sleep;
use crate::clock::{RawTime, TimestampSource};
use crate::timestamp::DepartureTimestamp;

/// A sleep and what followed it.
pub(super) struct Wakeup {
    pub sleep: Sleep,
    /// When the sleep began, and when it ended and the wait for packets began.
    pub slept_from: RawTime,
    pub polled_from: RawTime,
    /// When the wait for packets ended; `None` if there was none.
    pub polled_until: Option<RawTime>,
}

impl Exchanger {
    /// Record the lateness of a wake-up, and the waits of the packets received by it. `ahead_ns` is the backend's time minus
    /// the raw clock.
    pub(super) fn record_wakeup(&self, wakeup: &Wakeup, ahead_ns: i64) {
        let Wakeup {
            sleep, polled_from, ..
        } = *wakeup;
        let mut waits = self.waits.lock();
        let mut woke = |due: RawTime, at: RawTime| {
            waits.woke(due.0.saturating_add(ahead_ns), at.since(due));
        };
        if sleep.sleep_until > wakeup.slept_from {
            woke(sleep.sleep_until, polled_from);
        }
        let read = self.received.iter().filter(|message| {
            message.by != Port::General && message.arrival.source > TimestampSource::User
        });
        if let Some(at) = wakeup
            .polled_until
            .filter(|_| sleep.poll_until > polled_from)
        {
            let first = read.clone().map(|message| message.arrival.at).min();
            let due = first.map_or(sleep.poll_until, |first| {
                first.max(polled_from).min(sleep.poll_until)
            });
            if at >= due {
                woke(due, at);
            }
        }
        // A packet that arrives while this process sleeps by choice waits for nothing until the sleep should end.
        let at = self.sockets.now();
        for message in read {
            let due = message.arrival.at.max(sleep.sleep_until);
            waits.receive.record(at.since(due));
        }
    }

    /// Record how long packets took from this process to the driver, and in the queue of the interface.
    pub(super) fn record_send_waits(&self, departures: &[DepartureTimestamp<Departure>]) {
        if departures.is_empty() {
            return;
        }
        let mut waits = self.waits.lock();
        for departure in departures {
            let Some(stamp) = departure.stamp.filter(|s| s.source > TimestampSource::User) else {
                continue;
            };
            waits.send.record(stamp.at.since(departure.sent_at));
            if let Some(scheduled_at) = departure.scheduled_at {
                waits.queue.record(stamp.at.since(scheduled_at));
            }
        }
    }
}
