//! The answering side: who may ask, and what has been received from each.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use super::field::{Correction, PortIdentity};
use super::hardware_clock_tlv::Claim;
use super::messages::{Body, Message};
use super::response_tlv::{Reply, Untold};
use super::rx_report_tlv::{MAP_LEN, Tally};
use super::token_bucket::Budget;
use crate::clock::RawTime;

/// The most a mesh can ask of one peer, 16 flows at 128 per second. Three packets leave for one that comes, so
/// whoever forges a peer's address must not be able to turn this agent against it.
const REQUESTS_HZ: u32 = 2048;

/// Senders behind one peer address that are told apart: processes, and within each what it asks this agent as.
const SESSIONS: usize = 128;

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
    pub general_port: u16,
    /// The address the request was sent to, and the answer comes from.
    pub local: Option<IpAddr>,
    pub requester: PortIdentity,
    pub sequence_id: u16,
    /// How it may be told when the Sync left.
    pub form: Form,
    pub correction: Correction,
    /// t4; `None` when the request could not be stamped.
    pub received: Option<RawTime>,
}

impl Answer {
    /// Where its general messages go to.
    pub fn general(&self) -> SocketAddr {
        SocketAddr::new(self.client.ip(), self.general_port)
    }
}

/// Ways to tell a client when its Sync left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// In a Follow_Up, as the standard has it.
    Standard,
    /// In the Delay_Resp.
    Joint,
    /// In the answers to its next requests, and no Delay_Resp at all.
    Later,
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
    budget: Budget,
    /// Oldest first.
    sessions: Vec<Receipts>,
}

impl Responder {
    /// Takes the peers of a new plan as (event address, general port); what those that stay have asked is kept.
    pub fn admit(&mut self, peers: impl Iterator<Item = (SocketAddr, u16)>, now: RawTime) {
        let mut before = std::mem::take(&mut self.peers);
        for (event, general_port) in peers {
            let here = self.peers.entry(event.ip()).or_default();
            if here.iter().any(|known| known.event_port == event.port()) {
                continue;
            }
            let there = before.get_mut(&event.ip());
            let place = there.and_then(|all| {
                let index = all
                    .iter()
                    .position(|known| known.event_port == event.port())?;
                Some(all.swap_remove(index))
            });
            here.push(match place {
                Some(known) => Known {
                    general_port,
                    ..known
                },
                None => Known {
                    event_port: event.port(),
                    general_port,
                    budget: Budget::new(REQUESTS_HZ, REQUESTS_HZ, now),
                    sessions: Vec::new(),
                },
            });
        }
    }

    /// How many may ask.
    pub fn peers(&self) -> usize {
        self.peers.values().map(Vec::len).sum()
    }

    /// Whether a peer of the plan has that address.
    pub fn has_peer(&self, address: IpAddr) -> bool {
        self.peers.contains_key(&address)
    }

    /// The event port of the peer whose general address this is.
    pub fn event_port_of(&self, general: SocketAddr) -> Option<u16> {
        let mut here = self.peers.get(&general.ip())?.iter();
        let known = here.find(|known| known.general_port == general.port())?;
        Some(known.event_port)
    }

    /// Forgets what has been received, so that nothing is said about packets that this machine may have dropped.
    pub fn forget(&mut self) {
        let all = self.peers.values_mut().flatten();
        all.for_each(|known| known.sessions.clear());
    }

    /// Takes a Delay_Req. The answer is still to be sent; [`Self::synced`] is called when its Sync is about to leave.
    pub fn request(
        &mut self,
        message: &Message,
        client: SocketAddr,
        now: RawTime,
    ) -> Result<Answer, Refusal> {
        let known = self
            .known(client, message.source)
            .ok_or(Refusal::Stranger)?;
        let general_port = known.general_port;
        // Noted also when it will not be answered: it did arrive, and the client must not take it for lost.
        known.session(message).note(message.sequence_id)?;
        if !known.budget.take(1, now) {
            return Err(Refusal::TooMany);
        }
        Ok(Answer {
            client,
            general_port,
            local: None,
            requester: message.source,
            sequence_id: message.sequence_id,
            form: match message.body {
                Body::LeanReq { soon: true } => Form::Later,
                Body::LeanReq { soon: false } => Form::Joint,
                _ => Form::Standard,
            },
            correction: message.correction,
            received: None,
        })
    }

    /// Counts a Sync that is about to leave.
    pub fn synced(&mut self, answer: &Answer) {
        if let Some(receipts) = self.find(answer) {
            receipts.tally.syncs = receipts.tally.syncs.wrapping_add(1);
        }
    }

    /// A Sync did not leave after all.
    pub fn withdraw(&mut self, answer: &Answer) {
        if let Some(receipts) = self.find(answer) {
            receipts.tally.syncs = receipts.tally.syncs.wrapping_sub(1);
        }
    }

    /// A Sync left at `left_ns`, which the next answers tell.
    pub fn left(&mut self, answer: &Answer, left_ns: i64) {
        if let Some(receipts) = self.find(answer) {
            receipts.untold.add(answer.sequence_id, left_ns);
        }
    }

    /// The Sync that is the whole of an answer, with the counts as they stand; `None` when the peer has gone from the plan.
    pub fn answer(
        &mut self,
        answer: &Answer,
        source: PortIdentity,
        (origin_ns, receive_ns): (i64, i64),
        claim: Option<Claim>,
    ) -> Option<Message> {
        let receipts = self.find(answer)?;
        let mut reply = Reply::new(receive_ns, answer.requester);
        receipts.untold.tell(&mut reply);
        Some(Message {
            source,
            sequence_id: answer.sequence_id,
            correction: Correction(0),
            body: Body::Answer {
                origin_ns,
                reply,
                tally: receipts.tally,
                claim,
            },
        })
    }

    /// The Delay_Resp of an answer with the counts as they stand; `None` when the peer has gone from the plan.
    pub fn delay_resp(
        &mut self,
        answer: &Answer,
        source: PortIdentity,
        receive_ns: i64,
        sync_left_ns: Option<i64>,
        claim: Option<Claim>,
    ) -> Option<Message> {
        let tally = self.find(answer)?.tally;
        Some(Message {
            source,
            sequence_id: answer.sequence_id,
            correction: answer.correction,
            body: Body::DelayResp {
                receive_ns,
                requester: answer.requester,
                tally: Some(tally),
                sync_left_ns,
                claim,
            },
        })
    }

    /// The peer behind an address: the one of that port, or the one that asks from another port, another flow of its
    /// path: the only one there, or the one that is known to ask by this name.
    fn known(&mut self, client: SocketAddr, requester: PortIdentity) -> Option<&mut Known> {
        let here = self.peers.get_mut(&client.ip())?;
        let index = match here
            .iter()
            .position(|known| known.event_port == client.port())
        {
            Some(index) => index,
            None if here.len() == 1 => 0,
            None => here.iter().position(|known| {
                let mut sessions = known.sessions.iter();
                sessions.any(|receipts| receipts.requester == requester)
            })?,
        };
        here.get_mut(index)
    }

    fn find(&mut self, answer: &Answer) -> Option<&mut Receipts> {
        let sessions = &mut self.known(answer.client, answer.requester)?.sessions;
        sessions
            .iter_mut()
            .rev()
            .find(|receipts| receipts.requester == answer.requester)
    }
}

impl Known {
    /// What has been received from the sender of a message; the oldest gives way to a new one.
    fn session(&mut self, message: &Message) -> &mut Receipts {
        let mut sessions = self.sessions.iter();
        let index = sessions.rposition(|receipts| receipts.requester == message.source);
        let index = index.unwrap_or_else(|| {
            if self.sessions.len() == SESSIONS {
                self.sessions.remove(0);
            }
            self.sessions.push(Receipts::start(message));
            self.sessions.len() - 1
        });
        &mut self.sessions[index]
    }
}

/// What has been received from one process of a client, from all its source ports: they share its sequence ids.
#[derive(Debug)]
struct Receipts {
    requester: PortIdentity,
    tally: Tally,
    untold: Untold,
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
            untold: Untold::default(),
        }
    }

    fn note(&mut self, sequence_id: u16) -> Result<(), Refusal> {
        let tally = &mut self.tally;
        let ahead = sequence_id.wrapping_sub(tally.newest);
        let back = tally.newest.wrapping_sub(sequence_id);
        let bit = if ahead != 0 && ahead <= u16::MAX / 2 {
            tally.newest = sequence_id;
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
