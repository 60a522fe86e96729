//! A standard client that is served: its grants, the sequence of its requests, and what it owes for answers.
//!
//! A Delay_Resp is longer than its Delay_Req, which anyone can send in a client's name who guesses the sequence id. The octets
//! beyond those of the request are therefore lent against the messages that the client's grants would still send. A proof that
//! the client receives, such as each renewal, ends the loan. Without one the last messages of the grants are left out, as many
//! as pay it back: requests bring a client that is gone no more octets than its grants alone and the requests themselves.

use std::net::IpAddr;

use super::client_address::{ClientAddress, ClientId};
use super::messages::{ANNOUNCE_LEN, SYNC_LEN, Service};
use super::receipt::octets;
use super::token_bucket::TokenBucket;
use crate::clock::RawTime;

/// Steps by which the sequence id of a client's next request may rise, or fall behind the newest. A forged request would have
/// to name one of them.
const LARGEST_STEP: u16 = 16;
/// Largest step after a pause, in which requests were lost.
const LARGEST_STEP_AFTER_PAUSE: u16 = 1024;
/// Octets of a Delay_Resp beyond those of a Delay_Req.
const LENT: i64 = 10;

#[derive(Debug)]
pub(super) struct Client {
    pub id: ClientId,
    /// Time of its first grant, and true if it has renewed one.
    pub since: RawTime,
    pub renewed: bool,
    /// The client receives at its address: a request of it named the port identity that only a grant contains.
    pub proven: bool,
    pub address: ClientAddress,
    pub granted: [Option<Granted>; 3],
    pub requests: TokenBucket,
    /// Sequence id and time of the newest Delay_Req since the last proof.
    newest: Option<(u16, RawTime)>,
    /// A Delay_Req since the last proof had a sequence id far from the others: some may be forged.
    is_doubted: bool,
    /// Octets lent since the last proof, less those paid back.
    lent: i64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Granted {
    pub interval_ns: i64,
    pub until: RawTime,
    pub next: RawTime,
    pub sequence_id: u16,
}

impl Client {
    /// Return a client without grants.
    pub fn new(id: ClientId, address: ClientAddress, now: RawTime) -> Self {
        Self {
            id,
            since: now,
            renewed: false,
            proven: false,
            address,
            granted: [None; 3],
            requests: TokenBucket::new(0, 0, now),
            newest: None,
            is_doubted: false,
            lent: 0,
        }
    }

    /// Note a proof that the client receives.
    pub fn prove(&mut self) {
        self.proven = true;
        // A client that has restarted counts from another number.
        (self.newest, self.is_doubted) = (None, false);
        self.lent = 0;
    }

    /// Return true if a Delay_Req continues the sequence of the client's requests (7.3.7). Nothing else in it is a secret from
    /// somebody who forges the client's address and identity.
    pub fn is_in_sequence(&mut self, sequence_id: u16, interval_ns: i64, now: RawTime) -> bool {
        if self.is_doubted {
            return false;
        }
        let Some((newest, at)) = self.newest else {
            self.newest = Some((sequence_id, now));
            return true;
        };
        // Clients space their requests at random, with the interval as the mean (9.5.11.2).
        let passed = u16::try_from(2 * now.since(at) / interval_ns).unwrap_or(u16::MAX);
        let largest = LARGEST_STEP
            .saturating_add(passed)
            .min(LARGEST_STEP_AFTER_PAUSE);
        let ahead = sequence_id.wrapping_sub(newest);
        let is_next = (1..=largest).contains(&ahead);
        if is_next {
            self.newest = Some((sequence_id, now));
        }
        self.is_doubted = !is_next && newest.wrapping_sub(sequence_id) > LARGEST_STEP;
        is_next
    }

    /// Return the messages per second granted, without one service and without those of less than one per second.
    pub fn messages_hz(&self, except: Option<Service>) -> i64 {
        let services = Service::ALL.into_iter().filter(|s| Some(*s) != except);
        services
            .filter_map(|service| self.granted[service.place()])
            .map(|granted| 1_000_000_000 / granted.interval_ns)
            .sum()
    }

    /// Return the longest grant of Delay_Resp, s, within limits, whose loans the other services of the client can pay back
    /// from `now` on: a client that renews before its end never meets a loan that is too large.
    pub fn payable_s(&self, interval_ns: i64, (least_s, most_s): (u32, u32), now: RawTime) -> u32 {
        let per_s = |interval_ns: i64, octets: i64| octets as f64 * 1e9 / interval_ns as f64;
        let leaving: f64 = self
            .paying()
            .map(|(granted, octets)| per_s(granted.interval_ns, octets))
            .sum();
        let payable_s = self.left(now) as f64 / (leaving + per_s(interval_ns, LENT));
        (payable_s as u32).max(least_s).min(most_s)
    }

    /// Lend octets. Return false if the messages granted after `now` could not pay them back.
    pub fn lend(&mut self, octets: usize, now: RawTime) -> bool {
        let lent = self.lent + octets as i64;
        let is_payable = lent <= self.left(now);
        if is_payable {
            self.lent = lent;
        }
        is_payable
    }

    /// Return true if a message due at `now` is left out because the later ones could not pay back what is lent. The time of
    /// the next one is already set.
    pub fn pays_with(&mut self, service: Service, now: RawTime) -> bool {
        let pays = self.left(now) < self.lent;
        if pays {
            self.lent = (self.lent - message_octets(self.id.0, service)).max(0);
        }
        pays
    }

    /// Return the octets of the messages that are granted from `now` on.
    fn left(&self, now: RawTime) -> i64 {
        let of = |(granted, octets): (Granted, i64)| {
            let late = now.since(granted.next).max(0) / granted.interval_ns;
            let until_end_ns = granted.until.since(granted.next);
            let slots = (until_end_ns + granted.interval_ns - 1) / granted.interval_ns;
            (slots - late).max(0) * octets
        };
        self.paying().map(of).sum()
    }

    /// Return the granted services that send without a request, with the octets of their messages.
    fn paying(&self) -> impl Iterator<Item = (Granted, i64)> {
        [Service::Announce, Service::Sync]
            .into_iter()
            .filter_map(|service| {
                let granted = self.granted[service.place()]?;
                Some((granted, message_octets(self.id.0, service)))
            })
    }
}

/// Return the octets that leave each interval of a service.
fn message_octets(address: IpAddr, service: Service) -> i64 {
    let lengths: &[usize] = match service {
        Service::Announce => &[ANNOUNCE_LEN],
        // A Follow_Up is as long as its Sync.
        Service::Sync => &[SYNC_LEN, SYNC_LEN],
        Service::DelayResp => &[],
    };
    octets(address, lengths) as i64
}
