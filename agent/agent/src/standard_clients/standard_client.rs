//! The asking side towards stock IEEE 1588 responders.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use super::standard_peer::Stock;
use crate::clock::RawTime;
use crate::packet_loop::client::{Client, Request};
use crate::paths::peer_session::{Heard, Tag};
use crate::paths::schedule::FlowKey;
use crate::plan::{Plan, Protocol, Role};
use crate::ptp::{
    Arrival, Body, Correction, Message, PendingRequest, PortIdentity, Tlv, Tlvs, Verdict,
};

/// Stock responders by their event address, and what waits for the next turn to ask.
#[derive(Default)]
pub(crate) struct Stocks {
    all: HashMap<SocketAddr, Stock>,
    /// Syncs and Follow_Ups that have come in.
    heard: Vec<(SocketAddr, Message, Arrival)>,
    signals: Vec<Signal>,
}

/// A Signaling message that is about to leave.
pub(crate) struct Signal {
    pub to: SocketAddr,
    pub message: Message,
}

/// What comes of a turn to ask.
pub(crate) enum Asked {
    Request(Request),
    Signal(Signal),
    Heard(SocketAddr, Heard),
}

impl Signal {
    fn new(source: PortIdentity, to: SocketAddr, tlvs: Tlvs) -> Self {
        Self {
            to,
            message: Message {
                source,
                sequence_id: 0,
                correction: Correction(0),
                body: Body::Signaling {
                    target: PortIdentity::ANY,
                    tlvs,
                },
            },
        }
    }
}

impl Stocks {
    pub fn has(&self, address: &SocketAddr) -> bool {
        self.all.contains_key(address)
    }

    /// Whether there is none, nor anything left to say.
    fn is_idle(&self) -> bool {
        self.all.is_empty() && self.signals.is_empty() && self.heard.is_empty()
    }

    /// The stock responder at an IP address, whatever port it sends from: ptp4u's are of the moment. `None` when there
    /// are several.
    fn at(&self, ip: IpAddr) -> Option<SocketAddr> {
        let mut here = self.all.keys().filter(|address| address.ip() == ip);
        here.next().filter(|_| here.next().is_none()).copied()
    }

    /// When there is something to ask.
    pub fn next_due(&self) -> Option<RawTime> {
        self.all.values().map(Stock::due).min()
    }

    /// A stock responder that refuses to be measured.
    pub fn refusing(&self) -> Option<SocketAddr> {
        let mut refusing = self.all.iter().filter(|all| all.1.unicast.refused());
        refusing.next().map(|(address, _)| *address)
    }
}

impl Client {
    /// Follows a new plan; the conversations with its peers must be there. Of several meshes with one responder the
    /// first measures it: its Syncs do not say which request they are for.
    pub(crate) fn follow_stocks(&mut self, plan: &Plan, now: RawTime) {
        let mut before = std::mem::take(&mut self.stocks.all);
        for mesh in &plan.meshes {
            for peer in &mesh.peers {
                let (key, address) = ((mesh.key, peer.vm_key), peer.event_address());
                if peer.role != Role::Client || peer.protocol != Protocol::Ieee1588 {
                    continue;
                }
                let Some(conversation) = self.conversations.get(&address) else {
                    continue;
                };
                let deadline_ns = i64::from(mesh.loss_deadline_ms) * 1_000_000;
                let requester = conversation.exchanges.requester();
                let kept = before
                    .remove(&address)
                    .filter(|stock| stock.path == key && stock.requester == requester);
                let mut stock = kept.unwrap_or_else(|| {
                    Stock::new(key, requester, peer.general_address(), mesh.rate_hz, now)
                });
                stock.follow(deadline_ns, mesh.rate_hz, now);
                self.stocks.all.entry(address).or_insert(stock);
            }
        }
        self.stocks
            .signals
            .extend(before.values().filter_map(farewell));
    }

    /// Event address of the peer that a message from `from` is of.
    pub(crate) fn sender(&self, from: SocketAddr) -> Option<SocketAddr> {
        let known = self.senders.get(&from).copied();
        known.or_else(|| self.stocks.at(from.ip()))
    }

    /// Takes a message of a stock responder.
    pub(crate) fn hear_stock(
        &mut self,
        address: SocketAddr,
        message: &Message,
        arrival: Arrival,
    ) -> Heard {
        let stock = self.stocks.all.get_mut(&address);
        let (Some(stock), Some(conversation)) = (stock, self.conversations.get_mut(&address))
        else {
            return Heard::default();
        };
        match message.body {
            Body::Announce { utc_offset_s } => stock.unicast.receive_announce(utc_offset_s),
            Body::Sync { .. } | Body::FollowUp { .. } => {
                self.stocks.heard.push((address, *message, arrival));
            }
            _ => return conversation.hear(&stock.in_utc(message), arrival),
        }
        Heard {
            verdict: Some(Verdict::Taken),
            ..Heard::default()
        }
    }

    /// Takes what is said about grants. Whether it is said by a responder that we ask.
    pub fn signaled(&mut self, from: SocketAddr, tlvs: &Tlvs, now: RawTime) -> bool {
        let address = self.sender(from);
        let stocks = &mut self.stocks;
        let Some(stock) = address.and_then(|address| stocks.all.get_mut(&address)) else {
            return false;
        };
        let cancelled = tlvs.iter().filter(|tlv| stock.unicast.receive(*tlv, now));
        let acknowledged: Tlvs = cancelled
            .filter_map(|tlv| match tlv {
                Tlv::Cancel { service } => Some(Tlv::Acknowledge { service }),
                _ => None,
            })
            .collect();
        if !acknowledged.is_empty() {
            let signal = Signal::new(stock.requester, stock.general, acknowledged);
            stocks.signals.push(signal);
        }
        true
    }

    /// Asks stock responders for what is due at `now`, `backend_ns` in the backend's time. `allowed` is asked whether a
    /// packet may leave.
    pub fn ask_stocks(
        &mut self,
        now: RawTime,
        backend_ns: i64,
        mut allowed: impl FnMut() -> bool,
    ) -> Vec<Asked> {
        if self.stocks.is_idle() {
            return Vec::new();
        }
        let mut asked: Vec<_> = self.stocks.signals.drain(..).map(Asked::Signal).collect();
        let heard = std::mem::take(&mut self.stocks.heard);
        let (syncs, follow_ups): (Vec<_>, Vec<_>) = heard
            .into_iter()
            .partition(|(_, message, _)| matches!(message.body, Body::Sync { .. }));
        for (address, sync, arrival) in syncs {
            let sync = Some((sync, arrival));
            self.start(address, sync, (now, backend_ns), &mut allowed, &mut asked);
        }
        for (address, message, arrival) in follow_ups {
            if let Some(stock) = self.stocks.all.get_mut(&address) {
                match stock.exchange(message.sequence_id) {
                    Some(exchange) => {
                        self.file(address, exchange, &message, arrival, &mut asked);
                    }
                    None => stock.keep_early(message, arrival),
                }
            }
        }
        let all = self.stocks.all.iter();
        let due: Vec<_> = all
            .filter(|all| all.1.due() <= now)
            .map(|all| *all.0)
            .collect();
        for address in due {
            let Some(stock) = self.stocks.all.get_mut(&address) else {
                continue;
            };
            let tlvs = stock.unicast.due_requests(now);
            if !tlvs.is_empty() && allowed() {
                let signal = Signal::new(stock.requester, stock.general, tlvs);
                asked.push(Asked::Signal(signal));
            }
            if stock.next <= now {
                self.start(address, None, (now, backend_ns), &mut allowed, &mut asked);
            }
        }
        asked
    }

    /// What to say to every stock responder before leaving.
    pub fn farewells(&self) -> Vec<Signal> {
        self.stocks.all.values().filter_map(farewell).collect()
    }

    /// Starts an exchange, with the Sync that calls for it or without.
    fn start(
        &mut self,
        address: SocketAddr,
        sync: Option<(Message, Arrival)>,
        (now, backend_ns): (RawTime, i64),
        allowed: &mut impl FnMut() -> bool,
        asked: &mut Vec<Asked>,
    ) -> Option<()> {
        let stock = self.stocks.all.get_mut(&address)?;
        let mut missed = 0;
        if let Some((sync, arrival)) = &sync {
            let Some(count) = stock.count(sync.sequence_id, arrival.at) else {
                let heard = Heard {
                    verdict: Some(Verdict::Duplicate),
                    ..Heard::default()
                };
                asked.push(Asked::Heard(address, heard));
                return None;
            };
            missed = count;
        }
        stock.asked(now, sync.is_some());
        let aggregator = self.aggregators.0.get_mut(&stock.path.0)?;
        let slot = aggregator.take_slot(backend_ns)?;
        let deadline = now.plus(stock.deadline_ns);
        let pending = PendingRequest {
            at: now,
            deadline,
            // Nobody will tell later whether the request arrived.
            hold_until: deadline,
            t1_deadline: deadline,
            tag: Tag {
                key: FlowKey {
                    path: stock.path,
                    flow: 0,
                },
                flows: 1,
                slot,
            },
        };
        let exchanges = &mut self.conversations.get_mut(&address)?.exchanges;
        let open = || exchanges.open_standard(pending, missed);
        let Some(exchange) = allowed().then(open).flatten() else {
            aggregator.release_slot(&slot);
            return None;
        };
        asked.push(Asked::Request(Request {
            to: address,
            flow: 0,
            message: Message {
                source: stock.requester,
                sequence_id: exchange,
                correction: Correction(0),
                body: Body::DelayReq,
            },
        }));
        if let Some((sync, arrival)) = sync {
            let early = stock.started(sync.sequence_id, exchange);
            self.file(address, exchange, &sync, arrival, asked);
            if let Some((follow_up, arrival)) = early {
                self.file(address, exchange, &follow_up, arrival, asked);
            }
        }
        Some(())
    }

    /// Files a Sync or Follow_Up under the exchange it belongs to.
    fn file(
        &mut self,
        address: SocketAddr,
        exchange: u16,
        message: &Message,
        arrival: Arrival,
        asked: &mut Vec<Asked>,
    ) {
        let stock = self.stocks.all.get(&address);
        if let (Some(stock), Some(conversation)) = (stock, self.conversations.get_mut(&address)) {
            let message = Message {
                sequence_id: exchange,
                ..stock.in_utc(message)
            };
            let heard = conversation.hear(&message, arrival);
            asked.push(Asked::Heard(address, heard));
        }
    }
}

fn farewell(stock: &Stock) -> Option<Signal> {
    let tlvs = stock.unicast.cancellations();
    (!tlvs.is_empty()).then(|| Signal::new(stock.requester, stock.general, tlvs))
}
