//! General messages on their way out: what one machine gets passes the system in one piece and wakes it once.

use std::cmp::Reverse;
use std::net::SocketAddr;

use crate::clock::RawTime;
use crate::timestamp::{Outgoing, Socket};

/// A Follow_Up that waited this long, ns, leaves before other Syncs do: clients take none for any but their newest Sync,
/// and get those 7.8 ms apart at most often.
const LATE_NS: i64 = 5_000_000;

/// What has been queued since the last turn, and Follow_Ups that may wait for a turn.
#[derive(Default)]
pub(super) struct Generals {
    out: Vec<Outgoing<()>>,
    follow_ups: Vec<Outgoing<()>>,
    /// So many of them have waited for a turn, which began then.
    waited: usize,
    since: RawTime,
}

impl Generals {
    pub fn queue(&mut self, packet: Outgoing<()>) {
        self.out.push(packet);
    }

    /// Queues a message that may wait for another one to the same client.
    pub fn queue_follow_up(&mut self, packet: Outgoing<()>) {
        self.follow_ups.push(packet);
    }

    /// Whether Follow_Ups have waited for so long that more Syncs may overtake them.
    pub fn are_late(&self, now: RawTime) -> bool {
        self.waited > 0 && now.since(self.since) > LATE_NS
    }

    /// Sends what is queued; how many left. If the next turn comes `soon`, Follow_Ups to clients that get nothing else in
    /// this one wait for it.
    pub fn send(&mut self, socket: &Socket, soon: bool, now: RawTime) -> u64 {
        self.join(soon, now);
        let mut sent = 0;
        if !self.out.is_empty() {
            let mut ordered: Vec<_> = self.out.iter().collect();
            // Only the last of those that leave in one piece may be shorter.
            ordered.sort_by_key(|packet| place(packet.to, packet.len));
            socket.send(&ordered, |_, left| sent += u64::from(left.is_ok()));
            self.out.clear();
        }
        sent
    }

    /// Queues the Follow_Ups that do not wait any longer.
    fn join(&mut self, soon: bool, now: RawTime) {
        let (responses, mut nth) = (self.out.len(), 0);
        self.follow_ups.retain(|packet| {
            let waits = soon && nth >= self.waited && {
                let mut others = self.out[..responses].iter();
                others.all(|other| other.to != packet.to)
            };
            nth += 1;
            if !waits {
                self.out.push(*packet);
            }
            waits
        });
        (self.waited, self.since) = (self.follow_ups.len(), now);
    }
}

/// What sorts packets by their receiver and, of each, the longest first. Receivers that share a place are told apart when
/// their packets leave.
fn place(to: SocketAddr, len: usize) -> (u64, u16, Reverse<usize>) {
    let ip = match to.ip() {
        std::net::IpAddr::V4(ip) => u64::from(u32::from(ip)),
        std::net::IpAddr::V6(ip) => (u128::from(ip) ^ u128::from(ip) >> 64) as u64,
    };
    (ip, to.port(), Reverse(len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptp::MAX_LEN;

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
            token: (),
        }
    }

    /// The lengths that leave in a turn that begins at `ms`.
    fn turn(generals: &mut Generals, soon: bool, ms: i64) -> Vec<usize> {
        generals.join(soon, RawTime(ms * MS));
        generals.out.drain(..).map(|packet| packet.len).collect()
    }

    #[test]
    fn what_one_receiver_gets_stands_together_and_the_longest_first() {
        let (one, other) = (at("10.0.0.1:320"), at("10.0.0.1:321"));
        let (far, near) = (at("[2001:db8::1]:320"), at("[fe80::1]:320"));
        let mut all = vec![(one, 44), (other, 44), (far, 54), (near, 44), (one, 54)];
        all.extend([(far, 44), (one, 44), (near, 54), (other, 54)]);
        all.sort_by_cached_key(|(to, len)| place(*to, *len));
        let groups: Vec<_> = all.chunk_by(|a, b| a.0 == b.0).collect();
        assert_eq!(groups.len(), 4, "{all:?}");
        assert!(
            groups
                .iter()
                .all(|group| group.is_sorted_by(|a, b| a.1 >= b.1))
        );
    }

    #[test]
    fn a_follow_up_waits_one_turn_for_an_answer_to_its_client() {
        let (one, other) = (at("10.0.0.1:320"), at("10.0.0.2:320"));
        let mut generals = Generals::default();
        generals.queue(packet(one, 54));
        generals.queue_follow_up(packet(one, 44));
        generals.queue_follow_up(packet(other, 45));
        assert_eq!(turn(&mut generals, true, 0), [54, 44], "an answer is there");
        generals.queue_follow_up(packet(one, 46));
        generals.queue(packet(other, 54));
        assert_eq!(turn(&mut generals, true, 4), [54, 45], "an answer came");
        assert_eq!(turn(&mut generals, true, 8), [46], "no answer came");
        assert!(turn(&mut generals, true, 12).is_empty());
    }

    #[test]
    fn no_follow_up_waits_where_the_next_turn_is_far() {
        let mut generals = Generals::default();
        generals.queue_follow_up(packet(at("10.0.0.1:320"), 44));
        assert_eq!(turn(&mut generals, false, 0), [44]);
    }

    #[test]
    fn a_turn_that_comes_late_is_known_by_the_follow_ups_that_waited_for_it() {
        let mut generals = Generals::default();
        assert!(!generals.are_late(RawTime(100 * MS)));
        generals.queue_follow_up(packet(at("10.0.0.1:320"), 44));
        turn(&mut generals, true, 100);
        assert!(!generals.are_late(RawTime(104 * MS)));
        assert!(generals.are_late(RawTime(107 * MS)));
    }
}
