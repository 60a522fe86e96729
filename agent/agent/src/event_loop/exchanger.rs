//! Packets in and out: both roles on the two ports.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::client::{Client, Heard, RequestId};
use super::notices::Notices;
use super::{Listen, LoopError};
use sinemora_wire::MeshWindow;

use crate::clock::RawTime;
use crate::counters::{Counters, TimestampSource};
use crate::plan::Plan;
use crate::ptp::{
    Answer, Arrival, Body, Budget, Correction, MAX_LEN, Message, PortIdentity, Refusal, Responder,
    Verdict,
};
use crate::timestamp::{
    BATCH, ClockMap, Datagram, Inbox, Outgoing, Ready, Socket, Stamps, Transmitter, raw_now, sight,
};

/// Packets that leave for one answered request.
const ANSWER_PACKETS: u32 = 3;

/// So many packets in a row without a receive stamp, and the kernel is taken not to give any.
const GIVE_UP: u32 = 64;

/// What has left through the event port.
#[derive(Debug, Clone, Copy)]
enum Departure {
    Request(RequestId),
    Sync(Answer),
}

/// The two ports and everything that is said through them.
pub(super) struct Exchanger {
    pub client: Client,
    responder: Responder,
    budget: Budget,
    counters: Arc<Counters>,
    event: Socket,
    general: Socket,
    transmitter: Transmitter<Departure>,
    map: ClockMap,
    /// Added to the raw clock it gives the time scale of our stamps: near UTC at the start, then never steered.
    time_scale_ns: i64,
    identity: PortIdentity,
    unstamped_in_a_row: u32,
    inbox: Inbox,
    events_out: Vec<Outgoing<Departure>>,
    generals_out: Vec<Outgoing<()>>,
    answers: Vec<Answer>,
    packets_per_s: u32,
    notices: Notices,
}

impl Exchanger {
    /// Opens the two ports.
    pub fn open(listen: Listen, counters: Arc<Counters>) -> Result<Self, LoopError> {
        let at = |port| SocketAddr::new(listen.address, port);
        let event = Socket::bind(at(listen.event_port), Stamps::SentAndReceived)
            .map_err(LoopError::Bind)?;
        let general =
            Socket::bind(at(listen.general_port), Stamps::Received).map_err(LoopError::Bind)?;
        let now = sight();
        let clock_identity = random_identity();
        counters.set_timestamp_source(TimestampSource::Kernel);
        Ok(Self {
            client: Client::new(clock_identity),
            responder: Responder::default(),
            budget: Budget::new(0, 0, now.raw),
            notices: Notices::new(counters.clone()),
            counters,
            transmitter: Transmitter::new(&event),
            event,
            general,
            map: ClockMap::new(now),
            time_scale_ns: now.real.0 - now.raw.0,
            identity: PortIdentity {
                clock: clock_identity,
                port: 0,
            },
            unstamped_in_a_row: 0,
            inbox: Inbox::new(),
            events_out: Vec::new(),
            generals_out: Vec::new(),
            answers: Vec::new(),
            packets_per_s: 0,
        })
    }

    pub fn sockets(&self) -> (&Socket, &Socket) {
        (&self.event, &self.general)
    }

    /// Follows a new plan.
    pub fn follow(&mut self, plan: &Plan, now: RawTime) {
        self.client.follow(plan, now);
        // Whoever is in the plan may ask: while roles change hands, both ends may be clients for a moment.
        let peers = plan.meshes.iter().flat_map(|mesh| &mesh.peers);
        self.responder.admit(
            peers.map(|peer| (peer.event_address(), peer.general_port)),
            now,
        );
        self.packets_per_s = plan.caps.packets_per_s;
        self.budget.limit(
            self.packets_per_s,
            (self.packets_per_s / 10).max(ANSWER_PACKETS),
        );
        tell(plan);
        self.counters
            .peers
            .store(self.responder.peers() as u64, Relaxed);
    }

    /// Settles the exchanges whose deadline has passed at `heard_until`, before which everything that arrived must
    /// have been heard, and returns the windows that are over.
    pub fn settle(
        &mut self,
        heard_until: RawTime,
        backend_ns: impl Fn(RawTime) -> i64,
    ) -> Vec<MeshWindow> {
        let at_ns = backend_ns(self.map.latest().raw);
        self.notices.tell_shed(self.packets_per_s, at_ns);
        let kernel = self.transmitter.kernel_stamps() && self.unstamped_in_a_row <= GIVE_UP;
        self.counters.set_timestamp_source(if kernel {
            TimestampSource::Kernel
        } else {
            TimestampSource::User
        });
        let settlement = self.client.settle(heard_until, at_ns);
        add(&self.counters.exchanges_lost, settlement.lost);
        settlement.windows
    }

    /// Reads what has come, answers it, and sends the requests that are due. `backend_ns` tells the backend's time
    /// at a raw time. Afterwards everything that arrived before the call has been heard.
    pub fn turn(
        &mut self,
        ready: [Ready; 2],
        backend_ns: impl Fn(RawTime) -> i64,
    ) -> io::Result<()> {
        let [event, general] = ready;
        if let Some(by_ns) = self.map.update(sight()) {
            let at_ns = backend_ns(self.map.latest().raw);
            self.notices.wall_clock_stepped(by_ns, at_ns);
        }
        if event.departures {
            self.transmitter.collect(&self.event, &self.map)?;
        }
        if event.packets {
            self.read(true, &backend_ns)?;
        }
        if general.packets {
            self.read(false, &backend_ns)?;
        }
        self.ask(&backend_ns);
        self.send(&backend_ns)
    }

    fn read(&mut self, event_port: bool, backend_ns: &impl Fn(RawTime) -> i64) -> io::Result<()> {
        let mut inbox = std::mem::take(&mut self.inbox);
        loop {
            let socket = if event_port {
                &mut self.event
            } else {
                &mut self.general
            };
            let count = socket.receive(&mut inbox)?;
            for datagram in inbox.datagrams(count) {
                self.hear(&datagram, event_port, backend_ns);
            }
            add(&self.counters.packets_received, count as u64);
            if count < BATCH {
                break;
            }
        }
        self.inbox = inbox;
        let overflows = u64::from(self.event.overflows()) + u64::from(self.general.overflows());
        self.counters
            .receive_queue_overflows
            .store(overflows, Relaxed);
        Ok(())
    }

    fn hear(
        &mut self,
        datagram: &Datagram<'_>,
        event_port: bool,
        backend_ns: &impl Fn(RawTime) -> i64,
    ) {
        let Ok(message) = Message::read(datagram.bytes) else {
            return add(&self.counters.packets_rejected, 1);
        };
        let arrival = self.arrival(datagram);
        if event_port && message.body == Body::DelayReq {
            return self.consider(&message, datagram, arrival);
        }
        let heard = self.client.hear(datagram.from, &message, arrival);
        self.note(heard, datagram.from, backend_ns(arrival.at));
    }

    /// When a packet arrived, by the kernel's stamp if there is one.
    fn arrival(&mut self, datagram: &Datagram<'_>) -> Arrival {
        let stamp = datagram.stamp.and_then(|stamp| self.map.raw(stamp));
        let read_at = self.map.latest().raw;
        if datagram.stamp.is_some() {
            self.unstamped_in_a_row = 0;
        } else {
            self.unstamped_in_a_row = self.unstamped_in_a_row.saturating_add(1);
        }
        let own = (self.unstamped_in_a_row > GIVE_UP).then_some(read_at);
        Arrival {
            at: stamp.unwrap_or(read_at),
            stamp: stamp.or(own),
        }
    }

    /// Answers a request, or not.
    fn consider(&mut self, message: &Message, datagram: &Datagram<'_>, arrival: Arrival) {
        let now = self.map.latest().raw;
        match self.responder.request(message, datagram.from, now) {
            Ok(answer) if self.budget.take(ANSWER_PACKETS, now) => {
                let answer = Answer {
                    local: datagram.to,
                    received: arrival.stamp,
                    ..answer
                };
                let origin_ns = self.time_scale_ns + now.0;
                let sync = self.reply(
                    &answer,
                    Body::Sync {
                        two_step: true,
                        origin_ns,
                    },
                );
                self.events_out.push(outgoing(
                    &sync,
                    answer.client,
                    answer.local,
                    Departure::Sync(answer),
                ));
            }
            Ok(_) => self.notices.shed(),
            Err(Refusal::Duplicate) => add(&self.counters.duplicates, 1),
            Err(Refusal::Stranger | Refusal::TooMany) => add(&self.counters.packets_rejected, 1),
        }
    }

    /// Queues the requests that are due.
    fn ask(&mut self, backend_ns: &impl Fn(RawTime) -> i64) {
        let now = raw_now();
        let at_ns = backend_ns(now);
        while let Some(slot) = self.client.next_slot(now, at_ns, || {
            let allowed = self.budget.take(1, now);
            if !allowed {
                self.notices.shed();
            }
            allowed
        }) {
            add(&self.counters.requests_left_out, slot.left_out);
            if let Some(request) = slot.request {
                let departure = Departure::Request(request.id());
                self.events_out
                    .push(outgoing(&request.message, request.to, None, departure));
            }
        }
    }

    /// Sends all that is queued: event messages first, then what their departure stamps are needed for.
    fn send(&mut self, backend_ns: &impl Fn(RawTime) -> i64) -> io::Result<()> {
        let Self {
            client,
            responder,
            answers,
            counters,
            ..
        } = self;
        let mut sent = 0;
        self.transmitter
            .send(&self.event, &self.events_out, &self.map, |packet, left| {
                sent += u64::from(left);
                match packet.token {
                    Departure::Request(id) if !left => client.refused(&id),
                    Departure::Request(_) => {}
                    Departure::Sync(answer) => {
                        if left {
                            responder.synced(&answer);
                        }
                        answers.push(answer);
                    }
                }
            })?;
        self.events_out.clear();
        self.transmitter.expire(raw_now());
        counters
            .transmit_stamps_missing
            .store(self.transmitter.missing(), Relaxed);

        let departed: Vec<_> = self.transmitter.departed().collect();
        for departed in departed {
            match (departed.token, departed.at) {
                (Departure::Request(id), Some(t3)) => {
                    let heard = self.client.departed(&id, t3);
                    self.note(heard, id.to, backend_ns(t3));
                }
                (Departure::Sync(answer), Some(t1)) => {
                    let origin_ns = self.time_scale_ns + t1.0;
                    let message = self.reply(&answer, Body::FollowUp { origin_ns });
                    self.generals_out
                        .push(outgoing(&message, answer.general, answer.local, ()));
                }
                (_, None) => {}
            }
        }
        for answer in std::mem::take(&mut self.answers) {
            let Some(received) = answer.received else {
                continue;
            };
            let receive_ns = self.time_scale_ns + received.0;
            if let Some(message) = self
                .responder
                .delay_resp(&answer, self.identity, receive_ns)
            {
                self.generals_out
                    .push(outgoing(&message, answer.general, answer.local, ()));
            }
        }
        if !self.generals_out.is_empty() {
            self.general
                .send(&self.generals_out, |_, left| sent += u64::from(left));
            self.generals_out.clear();
        }
        add(&self.counters.packets_sent, sent);
        Ok(())
    }

    fn reply(&self, answer: &Answer, body: Body) -> Message {
        Message {
            source: self.identity,
            sequence_id: answer.sequence_id,
            correction: Correction(0),
            body,
        }
    }

    fn note(&mut self, heard: Heard, peer: SocketAddr, at_ns: i64) {
        if heard.clock_stepped {
            self.notices.peer_clock_stepped(peer.ip(), at_ns);
        }
        match heard.verdict {
            None | Some(Verdict::Foreign | Verdict::Absurd) => {
                add(&self.counters.packets_rejected, 1);
            }
            Some(Verdict::Complete(..)) => add(&self.counters.exchanges_completed, 1),
            Some(Verdict::Duplicate) => add(&self.counters.duplicates, 1),
            Some(Verdict::Late) => add(&self.counters.responses_late, 1),
            Some(Verdict::Taken) => {}
        }
    }
}

fn outgoing<T>(message: &Message, to: SocketAddr, from: Option<IpAddr>, token: T) -> Outgoing<T> {
    let mut bytes = [0; MAX_LEN];
    let len = message.write(&mut bytes);
    Outgoing {
        to,
        from,
        bytes,
        len,
        token,
    }
}

/// Another one for each process, so that peers notice a restart. Locally administered, as no hardware vouches for it.
fn random_identity() -> u64 {
    let random = RandomState::new().build_hasher().finish();
    random & !(0x03 << 56) | 0x02 << 56
}

fn tell(plan: &Plan) {
    let peers: usize = plan.meshes.iter().map(|mesh| mesh.peers.len()).sum();
    tracing::info!(
        revision = plan.revision,
        meshes = plan.meshes.len(),
        peers,
        "measuring by a new plan"
    );
    if plan
        .meshes
        .iter()
        .flat_map(|mesh| &mesh.peers)
        .any(|peer| peer.flows > 1)
    {
        tracing::warn!("the plan asks for several source ports per path; this version uses one");
    }
}

fn add(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Relaxed);
}
