//! Unicast grants to standard clients: services, intervals and durations (16.1).

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::IpAddr;

use rustc_hash::FxHashMap;

use super::client_address::{ClientAddress, ClientId};
use super::messages::{Service, Tlv};
use super::served_client::{Client, Granted};
use super::token_bucket::TokenBucket;
use crate::clock::RawTime;

/// Largest number of clients served at a time; others are denied.
const MOST_CLIENTS: usize = 512;
/// Shortest intervals: 1/128 s, and 1/8 s for Announce (log2 s).
const SHORTEST_INTERVAL: i8 = -7;
const SHORTEST_ANNOUNCE: i8 = -3;
/// Longest interval: 16 s (log2 s).
const LONGEST_INTERVAL: i8 = 4;
/// Longest grant, s: the time that a vanished client is served for (16.1.4.2.5), and after which loans to it are paid back.
/// Usual daemons ask for 60 to 300 s, and take less.
const LONGEST_S: u32 = 60;
/// Longest grant of a client that has not proven that it receives, s. It gets no messages meanwhile, and usual daemons renew
/// before the end.
const UNPROVEN_S: u32 = 4;
/// Most clients of one address, and most messages per second granted to them together: what one client may ask for. Forged
/// requests and a client with many identities get no more, and take nothing from other addresses.
const MOST_PER_ADDRESS: usize = 4;
const MOST_HZ_PER_ADDRESS: i64 = 128 + 128 + 8;
/// Messages are due at multiples of this time, ns, which divides every interval: those of many clients leave in one turn,
/// and most turns only answer requests.
const GRID_NS: i64 = 1_000_000_000 / 256;
/// Slots that a late turn catches up on; more are left out.
const CATCH_UP: i64 = 2;

/// A message that is due to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DueMessage {
    pub service: Service,
    pub sequence_id: u16,
    pub address: ClientAddress,
}

/// The reason why a Delay_Req gets no Delay_Resp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoDelayResp {
    /// Its client has no grant: the request may be of another agent.
    NotGranted,
    /// The client sends requests far more often than granted, after the end of the grant, or without a proof that it receives.
    TooOften,
}

/// The due time of a service, with the indices of its client in `Grants::clients` and of the service.
type Entry = Reverse<(RawTime, u32, u8)>;

/// All grants.
#[derive(Debug, Default)]
pub struct Grants {
    /// Indices in `clients`. They are too few for chosen identities to slow the lookup down.
    places: FxHashMap<ClientId, u32>,
    /// Vacant places are reused.
    clients: Vec<Option<Client>>,
    /// Of Announce and Sync. Entries of services that have changed since are skipped.
    due: BinaryHeap<Entry>,
    /// The latest address that was denied more than its share.
    over_share: Option<IpAddr>,
}

impl Grants {
    /// Respond to a request for a service of a client that is allowed to be served. `is_proven` is true if the request proves
    /// that its sender receives. One without a proof changes nothing of a client that is served, since it may be forged. A
    /// duration of 0 denies it.
    pub fn request(
        &mut self,
        (id, is_proven): (ClientId, bool),
        address: ClientAddress,
        (service, interval, duration_s): (Service, i8, u32),
        now: RawTime,
    ) -> Tlv {
        self.expire(now);
        let duration_s = duration_s.min(if is_proven { LONGEST_S } else { UNPROVEN_S });
        let shortest = match service {
            Service::Announce => SHORTEST_ANNOUNCE,
            _ => SHORTEST_INTERVAL,
        };
        let interval = interval.clamp(shortest, LONGEST_INTERVAL);
        if !is_proven && self.of(id).is_some_and(|client| client.proven) {
            return Tlv::Grant {
                service,
                interval,
                duration_s,
            };
        }
        let hz = 1_000_000_000 / interval_ns(interval);
        let may_grant = duration_s > 0 && self.make_room(id, service, hz);
        let room = may_grant && self.make_place(id);
        if !room {
            return Tlv::Grant {
                service,
                interval,
                duration_s: 0,
            };
        }
        let (nth, client) = self.enter(id, address, now);
        client.address = address;
        let interval_ns = interval_ns(interval);
        let duration_s = match service {
            Service::DelayResp => client.payable_s(interval_ns, (UNPROVEN_S, duration_s), now),
            Service::Announce | Service::Sync => duration_s,
        };
        let until = now.plus(i64::from(duration_s) * 1_000_000_000);
        let place = service.place();
        let before = client.granted[place].filter(|before| before.interval_ns == interval_ns);
        // A renewal changes only the end. A new grant starts at a phase that differs between clients.
        let granted = before.unwrap_or_else(|| Granted {
            interval_ns,
            until,
            next: on_grid(now.plus(phase(id, interval_ns))),
            sequence_id: client.granted[place].map_or(0, |before| before.sequence_id),
        });
        if is_proven {
            client.prove();
        }
        client.renewed |= is_proven && client.granted[place].is_some();
        client.granted[place] = Some(Granted { until, ..granted });
        if before.is_none() && service == Service::DelayResp {
            // Twice the rate, since clients space their requests at random (9.5.11.2).
            let hz = u32::try_from(2_000_000_000 / interval_ns)
                .unwrap_or(1)
                .max(2);
            client.requests = TokenBucket::new(hz, hz.max(16), now);
        } else if before.is_none() {
            self.due.push(Reverse((granted.next, nth, place as u8)));
        }
        Tlv::Grant {
            service,
            interval,
            duration_s,
        }
    }

    /// End a service of a client. Return true if it has ended: a client that has proven that it receives must prove it in
    /// the cancellation too.
    pub fn cancel(&mut self, (id, is_proven): (ClientId, bool), service: Service) -> bool {
        let Some(client) = self.of(id) else {
            return true;
        };
        if client.proven && !is_proven {
            return false;
        }
        if is_proven {
            client.prove();
        }
        client.granted[service.place()] = None;
        if client.granted.iter().all(Option::is_none) {
            self.retain_clients(|client| client.id != id);
        }
        true
    }

    /// Return the address for the Delay_Resp to a Delay_Req received at `now`, and true if the request is in the sequence of
    /// its client's requests.
    pub fn delay_resp(
        &mut self,
        id: ClientId,
        sequence_id: u16,
        now: RawTime,
    ) -> Result<(ClientAddress, bool), NoDelayResp> {
        let client = self.of(id).ok_or(NoDelayResp::NotGranted)?;
        let granted = client.granted[Service::DelayResp.place()];
        let granted = granted.ok_or(NoDelayResp::NotGranted)?;
        if now >= granted.until || !client.proven || !client.requests.take(1, now) {
            return Err(NoDelayResp::TooOften);
        }
        let is_in_sequence = client.is_in_sequence(sequence_id, granted.interval_ns, now);
        Ok((client.address, is_in_sequence))
    }

    /// Lend a client `octets`, which its Delay_Resp is longer than the request. Return true if the messages granted to it can
    /// pay them back.
    pub fn lend(&mut self, id: ClientId, octets: usize, now: RawTime) -> bool {
        self.of(id).is_some_and(|client| client.lend(octets, now))
    }

    /// Return the next Announce or Sync that is due at `now`.
    pub fn next_due(&mut self, now: RawTime) -> Option<DueMessage> {
        while let Some(&Reverse((at, nth, service))) = self.due.peek() {
            if at > now {
                return None;
            }
            self.due.pop();
            let place = usize::from(service);
            let client = self.clients.get_mut(nth as usize);
            let Some(client) = client.and_then(Option::as_mut) else {
                continue;
            };
            let Some(granted) = client.granted[place].as_mut().filter(|g| g.next == at) else {
                continue;
            };
            if granted.until <= at {
                client.granted[place] = None;
                continue;
            }
            let behind = now.since(at) / granted.interval_ns;
            let left_out = if behind > CATCH_UP { behind } else { 0 };
            granted.next = at.plus((left_out + 1) * granted.interval_ns);
            self.due.push(Reverse((granted.next, nth, service)));
            let sequence_id = granted.sequence_id;
            let service = Service::ALL[place];
            if !client.proven || client.pays_with(service, now) {
                continue;
            }
            if let Some(granted) = &mut client.granted[place] {
                granted.sequence_id = sequence_id.wrapping_add(1);
            }
            return Some(DueMessage {
                service,
                sequence_id,
                address: client.address,
            });
        }
        None
    }

    /// Return when the next message is due.
    pub fn next(&self) -> Option<RawTime> {
        self.due.peek().map(|Reverse(entry)| entry.0)
    }

    /// Return the messages per second granted, without services of less than one per second.
    pub fn messages_hz(&self) -> i64 {
        let clients = self.clients.iter().flatten();
        clients.map(|client| client.messages_hz(None)).sum()
    }

    /// Return the number of clients.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// End the grants of clients that are no longer allowed.
    pub fn retain(&mut self, allowed: impl Fn(IpAddr) -> bool) {
        self.retain_clients(|client| allowed(client.id.0));
    }

    /// Remove the grants that have ended at `now`.
    pub fn expire(&mut self, now: RawTime) {
        self.retain_clients(|client| {
            for granted in &mut client.granted {
                *granted = granted.filter(|granted| now < granted.until);
            }
            client.granted.iter().any(Option::is_some)
        });
    }

    /// Return the latest address that was denied more than its share since the last call.
    pub fn take_over_share(&mut self) -> Option<IpAddr> {
        self.over_share.take()
    }

    /// Return the address with the most granted messages, and their number per second.
    pub fn largest(&self) -> Option<(IpAddr, i64)> {
        let mut by_address: FxHashMap<IpAddr, i64> = FxHashMap::default();
        for client in self.clients.iter().flatten() {
            *by_address.entry(client.id.0).or_default() += client.messages_hz(None);
        }
        by_address.into_iter().max_by_key(|(_, hz)| *hz)
    }

    /// Return true if the address of a client may have `hz` messages of a service more. Clients of that address that have
    /// never renewed a grant give way, the oldest first: they may have vanished, or never received anything.
    fn make_room(&mut self, id: ClientId, service: Service, hz: i64) -> bool {
        loop {
            let here = || self.clients.iter().flatten().filter(|c| c.id.0 == id.0);
            let others = here().filter(|client| client.id != id);
            let granted_hz: i64 = here()
                .map(|client| client.messages_hz((client.id == id).then_some(service)))
                .sum();
            let fits = granted_hz + hz <= MOST_HZ_PER_ADDRESS;
            if fits && others.clone().count() < MOST_PER_ADDRESS {
                return true;
            }
            let oldest = others
                .filter(|client| !client.renewed)
                .min_by_key(|client| client.since)
                .map(|client| client.id);
            self.over_share = Some(id.0);
            let Some(oldest) = oldest else { return false };
            self.retain_clients(|client| client.id != oldest);
        }
    }

    /// Return true if the table has a place for a client. Of a full one a client without a proof gives way, the oldest first:
    /// forged addresses keep nobody out.
    fn make_place(&mut self, id: ClientId) -> bool {
        if self.places.len() < MOST_CLIENTS || self.places.contains_key(&id) {
            return true;
        }
        let unproven = self.clients.iter().flatten().filter(|c| !c.proven);
        let oldest = unproven
            .min_by_key(|client| client.since)
            .map(|client| client.id);
        let Some(oldest) = oldest else { return false };
        self.retain_clients(|client| client.id != oldest);
        true
    }

    /// Return a client that is served.
    fn of(&mut self, id: ClientId) -> Option<&mut Client> {
        let nth = *self.places.get(&id)?;
        self.clients.get_mut(nth as usize)?.as_mut()
    }

    /// Return a client and its index, after adding it if it is new.
    fn enter(&mut self, id: ClientId, address: ClientAddress, now: RawTime) -> (u32, &mut Client) {
        let clients = &mut self.clients;
        let nth = *self.places.entry(id).or_insert_with(|| {
            let left = clients.iter().position(Option::is_none);
            left.unwrap_or_else(|| {
                clients.push(None);
                clients.len() - 1
            }) as u32
        });
        let client = clients[nth as usize].get_or_insert_with(|| Client::new(id, address, now));
        (nth, client)
    }

    /// Keep the clients for which `holds` returns true.
    fn retain_clients(&mut self, mut holds: impl FnMut(&mut Client) -> bool) {
        for place in &mut self.clients {
            let Some(client) = place else { continue };
            let id = client.id;
            if !holds(client) {
                self.places.remove(&id);
                *place = None;
            }
        }
    }
}

/// Return the nanoseconds of a log2 interval within the limits above.
pub fn interval_ns(log_s: i8) -> i64 {
    if log_s < 0 {
        1_000_000_000 >> -i32::from(log_s)
    } else {
        1_000_000_000 << log_s
    }
}

/// Return the first time at which messages may be due from `at` on.
fn on_grid(at: RawTime) -> RawTime {
    at.plus((-at.0).rem_euclid(GRID_NS))
}

/// Return a phase within the interval that differs between clients, so that their messages do not bunch up.
fn phase((ip, identity): ClientId, interval_ns: i64) -> i64 {
    let tail = match ip {
        IpAddr::V4(ip) => u64::from(u32::from(ip)),
        IpAddr::V6(ip) => u128::from(ip) as u64,
    };
    // Fibonacci hashing: neighbouring addresses land far apart.
    let spread = (tail ^ identity.clock).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((u128::from(spread) * u128::from(interval_ns.unsigned_abs())) >> 64) as i64
}

#[cfg(test)]
#[path = "grants_tests.rs"]
mod tests;
