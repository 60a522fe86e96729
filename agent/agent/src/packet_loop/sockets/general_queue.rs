//! The queue of general messages: those to one machine are sent as segments of one packet and wake it once.

use std::cmp::Reverse;
use std::net::SocketAddr;

use crate::clock::RawTime;
use crate::packet_loop::wakeup::POLICY;
use crate::timestamp::{Outgoing, Socket};

/// The messages queued since they were last sent, and Follow_Ups that may wait for another message to their client.
#[derive(Default)]
pub(super) struct GeneralQueue {
    out: Vec<Outgoing<()>>,
    /// Each with the time when it was queued.
    follow_ups: Vec<(RawTime, Outgoing<()>)>,
}

impl GeneralQueue {
    /// Queue a message.
    pub fn queue(&mut self, packet: Outgoing<()>) {
        self.out.push(packet);
    }

    /// Queue a message that may wait for another one to the same client.
    pub fn queue_follow_up(&mut self, packet: Outgoing<()>, now: RawTime) {
        self.follow_ups.push((now, packet));
    }

    /// Send the queued messages. If the next turn comes `soon`, Follow_Ups to clients that get no other message now wait
    /// for it. Return how many messages left.
    pub fn send(&mut self, socket: &Socket, soon: bool, now: RawTime) -> u64 {
        self.release_follow_ups(soon, now);
        let mut sent = 0;
        if !self.out.is_empty() {
            let mut ordered: Vec<_> = self.out.iter().collect();
            // Only the last segment may be shorter.
            ordered.sort_by_key(|packet| sort_key(packet.to, packet.len));
            socket.send(&ordered, |_, left| sent += u64::from(left.is_ok()));
            self.out.clear();
        }
        sent
    }

    /// Move the Follow_Ups that wait no longer to the messages.
    fn release_follow_ups(&mut self, soon: bool, now: RawTime) {
        let responses = self.out.len();
        self.follow_ups.retain(|(queued_at, packet)| {
            let waits = soon && now.since(*queued_at) < POLICY.follow_up_wait_ns && {
                let mut others = self.out[..responses].iter();
                others.all(|other| other.to != packet.to)
            };
            if !waits {
                self.out.push(*packet);
            }
            waits
        });
    }
}

/// Return the sort key that groups packets by receiver, the longest first. Receivers with equal keys are separated when
/// their packets leave.
fn sort_key(to: SocketAddr, len: usize) -> (u64, u16, Reverse<usize>) {
    let ip = match to.ip() {
        std::net::IpAddr::V4(ip) => u64::from(u32::from(ip)),
        std::net::IpAddr::V6(ip) => (u128::from(ip) ^ u128::from(ip) >> 64) as u64,
    };
    (ip, to.port(), Reverse(len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptp::{EcnField, MAX_LEN};

    const MS: i64 = 1_000_000;

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn packet(to: SocketAddr, len: usize) -> Outgoing<()> {
        Outgoing {
            to,
            from: None,
            bytes: [0; MAX_LEN],
            len,
            ecn: EcnField::NOT_ECT,
            asks_schedule: false,
            token: (),
        }
    }

    /// Return the lengths of the packets that leave when they are sent at `ms`.
    fn send(queue: &mut GeneralQueue, soon: bool, ms: i64) -> Vec<usize> {
        queue.release_follow_ups(soon, RawTime(ms * MS));
        queue.out.drain(..).map(|packet| packet.len).collect()
    }

    #[test]
    fn packets_are_grouped_by_receiver_longest_first() {
        let (one, other) = (at("10.0.0.1:320"), at("10.0.0.1:321"));
        let (far, near) = (at("[2001:db8::1]:320"), at("[fe80::1]:320"));
        let mut all = vec![(one, 44), (other, 44), (far, 54), (near, 44), (one, 54)];
        all.extend([(far, 44), (one, 44), (near, 54), (other, 54)]);
        all.sort_by_cached_key(|(to, len)| sort_key(*to, *len));
        let groups: Vec<_> = all.chunk_by(|a, b| a.0 == b.0).collect();
        assert_eq!(groups.len(), 4, "{all:?}");
        assert!(
            groups
                .iter()
                .all(|group| group.is_sorted_by(|a, b| a.1 >= b.1))
        );
    }

    #[test]
    fn a_follow_up_waits_a_while_for_a_response_to_its_client() {
        let (one, other) = (at("10.0.0.1:320"), at("10.0.0.2:320"));
        let mut queue = GeneralQueue::default();
        queue.queue(packet(one, 54));
        queue.queue_follow_up(packet(one, 44), RawTime(0));
        queue.queue_follow_up(packet(other, 45), RawTime(0));
        assert_eq!(send(&mut queue, true, 0), [54, 44], "an answer is there");
        queue.queue_follow_up(packet(one, 46), RawTime(MS));
        queue.queue(packet(other, 54));
        assert_eq!(send(&mut queue, true, 1), [54, 45], "an answer came");
        assert!(send(&mut queue, true, 4).is_empty(), "one may still come");
        assert_eq!(send(&mut queue, true, 7), [46], "no answer came");
        assert!(send(&mut queue, true, 8).is_empty());
    }

    #[test]
    fn no_follow_up_waits_where_the_next_turn_is_far() {
        let mut queue = GeneralQueue::default();
        queue.queue_follow_up(packet(at("10.0.0.1:320"), 44), RawTime(0));
        assert_eq!(send(&mut queue, false, 0), [44]);
    }
}
