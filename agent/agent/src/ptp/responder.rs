//! The answering side: who may ask, and what has been received from each.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use super::budget::Budget;
use super::field::{Correction, PortIdentity};
use super::message::{Body, Message};
use super::tally::{MAP_LEN, Tally};
use crate::clock::RawTime;

/// Twice the highest rate of a mesh: what one source port of a peer may ask per second. Three packets leave for
/// one that comes, so whoever forges a peer's address must not be able to turn this agent against it.
const REQUESTS_HZ: u32 = 256;

/// Source ports of one peer address that are told apart.
const SESSIONS: usize = 16;

/// Why a request gets no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// From an address that is in no mesh of the plan.
    Stranger,
    /// Received before, or so late that nothing is known about its sequence id.
    Duplicate,
    /// More requests than any mesh asks for.
    TooMany,
}

/// What is to be sent for one request: Sync, Follow_Up and Delay_Resp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Where the request came from, and the Sync goes to.
    pub client: SocketAddr,
    /// Where Follow_Up and Delay_Resp go to.
    pub general: SocketAddr,
    /// The address the request was sent to, and the answer comes from.
    pub local: Option<IpAddr>,
    pub requester: PortIdentity,
    pub sequence_id: u16,
    pub correction: Correction,
    /// t4; `None` when the request could not be stamped.
    pub received: Option<RawTime>,
}

/// The peers of the plan and what each has asked.
#[derive(Debug, Default)]
pub struct Responder {
    peers: HashMap<IpAddr, Vec<Known>>,
}

#[derive(Debug)]
struct Known {
    event_port: u16,
    general_port: u16,
    sessions: Vec<Session>,
}

#[derive(Debug)]
struct Session {
    port: u16,
    receipts: Receipts,
    budget: Budget,
}

impl Responder {
    /// Takes the peers of a new plan as (event address, general port); sessions of those that stay go on.
    pub fn admit(&mut self, peers: impl Iterator<Item = (SocketAddr, u16)>) {
        let mut before = std::mem::take(&mut self.peers);
        for (event, general_port) in peers {
            let here = self.peers.entry(event.ip()).or_default();
            if here.iter().any(|known| known.event_port == event.port()) {
                continue;
            }
            let sessions = before
                .get_mut(&event.ip())
                .and_then(|all| {
                    all.iter_mut()
                        .find(|known| known.event_port == event.port())
                })
                .map_or_else(Vec::new, |known| std::mem::take(&mut known.sessions));
            here.push(Known {
                event_port: event.port(),
                general_port,
                sessions,
            });
        }
    }

    /// How many may ask.
    pub fn peers(&self) -> usize {
        self.peers.values().map(Vec::len).sum()
    }

    /// Takes a Delay_Req. The answer is still to be sent, and [`Self::synced`] to be called when its Sync has been.
    pub fn request(
        &mut self,
        message: &Message,
        client: SocketAddr,
        now: RawTime,
    ) -> Result<Answer, Refusal> {
        let known = self.known(client).ok_or(Refusal::Stranger)?;
        let general_port = known.general_port;
        let session = known.session(client.port(), message, now);
        if !session.budget.take(1, now) {
            return Err(Refusal::TooMany);
        }
        session.receipts.note(message)?;
        Ok(Answer {
            client,
            general: SocketAddr::new(client.ip(), general_port),
            local: None,
            requester: message.source,
            sequence_id: message.sequence_id,
            correction: message.correction,
            received: None,
        })
    }

    /// Counts a Sync that has left.
    pub fn synced(&mut self, answer: &Answer) {
        if let Some(session) = self.find(answer.client) {
            session.receipts.tally.syncs = session.receipts.tally.syncs.wrapping_add(1);
        }
    }

    /// The Delay_Resp of an answer with the counts as they stand; `None` when there is no t4 or the peer has gone.
    pub fn delay_resp(
        &mut self,
        answer: &Answer,
        source: PortIdentity,
        receive_ns: i64,
    ) -> Option<Message> {
        let tally = self.find(answer.client)?.receipts.tally;
        Some(Message {
            source,
            sequence_id: answer.sequence_id,
            correction: answer.correction,
            body: Body::DelayResp {
                receive_ns,
                requester: answer.requester,
                tally: Some(tally),
            },
        })
    }

    /// The peer behind an address: the one of that port, or the only one there, asking from another port.
    fn known(&mut self, client: SocketAddr) -> Option<&mut Known> {
        let here = self.peers.get_mut(&client.ip())?;
        let index = match here
            .iter()
            .position(|known| known.event_port == client.port())
        {
            Some(index) => index,
            None if here.len() == 1 => 0,
            None => return None,
        };
        here.get_mut(index)
    }

    fn find(&mut self, client: SocketAddr) -> Option<&mut Session> {
        let sessions = &mut self.known(client)?.sessions;
        sessions
            .iter_mut()
            .find(|session| session.port == client.port())
    }
}

impl Known {
    fn session(&mut self, port: u16, message: &Message, now: RawTime) -> &mut Session {
        let index = self
            .sessions
            .iter()
            .position(|session| session.port == port);
        let index = index.unwrap_or_else(|| {
            if self.sessions.len() == SESSIONS {
                self.sessions.remove(0);
            }
            self.sessions.push(Session {
                port,
                receipts: Receipts::start(message),
                budget: Budget::new(REQUESTS_HZ, REQUESTS_HZ, now),
            });
            self.sessions.len() - 1
        });
        &mut self.sessions[index]
    }
}

/// What has been received from one source port of a client.
#[derive(Debug)]
struct Receipts {
    requester: PortIdentity,
    tally: Tally,
}

impl Receipts {
    /// Nothing received yet; `message` will be the first.
    fn start(message: &Message) -> Self {
        Self {
            requester: message.source,
            tally: Tally {
                requests: 0,
                syncs: 0,
                newest: message.sequence_id.wrapping_sub(1),
                watched: 0,
                arrived: 0,
            },
        }
    }

    fn note(&mut self, message: &Message) -> Result<(), Refusal> {
        if message.source != self.requester {
            *self = Self::start(message);
        }
        let tally = &mut self.tally;
        let ahead = message.sequence_id.wrapping_sub(tally.newest);
        let back = tally.newest.wrapping_sub(message.sequence_id);
        let bit = if ahead != 0 && ahead <= u16::MAX / 2 {
            tally.newest = message.sequence_id;
            tally.arrived = tally.arrived.checked_shl(u32::from(ahead)).unwrap_or(0);
            tally.watched = tally.watched.saturating_add(ahead).min(MAP_LEN);
            1
        } else if back < tally.watched {
            1 << back
        } else {
            return Err(Refusal::Duplicate);
        };
        if tally.arrived & bit != 0 {
            return Err(Refusal::Duplicate);
        }
        tally.arrived |= bit;
        tally.requests = tally.requests.wrapping_add(1);
        Ok(())
    }
}

#[cfg(test)]
#[path = "responder_tests.rs"]
mod tests;
