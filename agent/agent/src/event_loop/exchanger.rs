//! Both roles on the two ports: who is asked, who is answered, and what is counted.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use sinemora_wire::MeshWindow;

use super::client::{Client, Request};
use super::conversation::Heard;
use super::notices::{self, Notices};
use super::pace::Pace;
use super::ports::{Departure, Port, Ports, Received};
use super::restraint::{Restraint, Usage};
use super::serving::Serving;
use super::standing::Standing;
use super::stock_client::Asked;
use super::{Listen, LoopError, Means};
use crate::clock::{Change, RawTime};
use crate::counters::{Counters, TimestampSource};
use crate::plan::{Caps, Plan, Role};
use crate::ptp::{
    Answer, Body, Budget, Correction, Message, PortIdentity, Refusal, Responder, Service, Tlv,
    Tlvs, Verdict,
};
use crate::timestamp::{Disruption, Disruptions, Ready, Socket, raw_now};

/// Packets that leave for one answered request, at most.
const ANSWER_PACKETS: u32 = 3;

pub(super) struct Exchanger {
    ports: Ports,
    disruptions: Disruptions,
    client: Client,
    responder: Responder,
    serving: Serving,
    /// Ours as a responder.
    identity: PortIdentity,
    standing: Standing,
    caps: Caps,
    restraint: Restraint,
    budget: Budget,
    counters: Arc<Counters>,
    notices: Notices,
}

impl Exchanger {
    /// Opens the two ports; nothing is asked or answered until there is a plan.
    pub fn open(listen: Listen, means: Means, counters: Arc<Counters>) -> Result<Self, LoopError> {
        let ports = Ports::open(listen)?;
        let clock = random_identity();
        let identity = PortIdentity { clock, port: 1 };
        let exchanger = Self {
            disruptions: Disruptions::watch(),
            client: Client::new(clock, ports.on_the_wire(RawTime(0))),
            responder: Responder::default(),
            serving: Serving::new(means.guests, identity),
            identity,
            standing: Standing::on(means.hardware),
            caps: Caps::default(),
            restraint: Restraint::default(),
            budget: Budget::new(0, 0, ports.now()),
            notices: Notices::new(counters.clone()),
            counters,
            ports,
        };
        exchanger.tell_stamps();
        let told = exchanger.disruptions.told_of_moves();
        tracing::debug!(told, "a hypervisor that moves this VM tells it");
        Ok(exchanger)
    }

    pub fn sockets(&self) -> impl Iterator<Item = &Socket> {
        self.ports.sockets()
    }

    /// The driver of the hardware clock that this agent stands on.
    pub fn hardware(&self) -> Option<&str> {
        self.standing.name()
    }

    /// When the next request is due.
    pub fn next_due(&self) -> Option<RawTime> {
        let grants = self.serving.grants.next();
        self.client.next_due().into_iter().chain(grants).min()
    }

    /// The pace that served clients need within that of the plan.
    pub fn pace(&self, of_plan: Pace) -> Pace {
        if self.serving.grants.is_empty() {
            of_plan
        } else {
            of_plan.serving(self.serving.grants.messages_hz())
        }
    }

    /// Follows a new plan, as far as it keeps to its own caps.
    pub fn follow(&mut self, plan: &Plan, now: RawTime) {
        let plan = &within_caps(plan);
        let flows = self.provide_flows(plan);
        self.client.follow(plan, flows, now);
        // Whoever is in the plan may ask: while roles change hands, both ends may be clients for a moment.
        let peers = plan.meshes.iter().flat_map(|mesh| &mesh.peers);
        let addresses = peers
            .clone()
            .map(|peer| (peer.event_address(), peer.general_port));
        self.responder.admit(addresses, now);
        self.serving.follow(&self.responder);
        self.caps = plan.caps;
        let set_or_0 = |gauge, cap: Option<u32>| set(gauge, cap.unwrap_or(0).into());
        set(
            &self.counters.packets_per_s_cap,
            plan.caps.packets_per_s.into(),
        );
        set_or_0(&self.counters.cpu_percent_cap, plan.caps.cpu_percent);
        set_or_0(&self.counters.memory_mib_cap, plan.caps.memory_mib);
        self.limit();
        set(&self.counters.peers, self.responder.peers() as u64);
        notices::tell_plan(
            plan,
            peers
                .filter(|peer| !self.ports.reaches(peer.address))
                .count(),
        );
    }

    /// Opens the source ports that a plan asks for; how many it can have.
    fn provide_flows(&mut self, plan: &Plan) -> u8 {
        let peers = plan.meshes.iter().flat_map(|mesh| &mesh.peers);
        let asking = peers.filter(|peer| peer.role == Role::Client);
        let most = asking.map(|peer| peer.flows).max().unwrap_or(1);
        let most = u8::try_from(most).unwrap_or(u8::MAX);
        if let Err(error) = self.ports.provide(most) {
            self.notices.fewer_flows(most, self.ports.flows(), &error);
        }
        self.ports.flows()
    }

    /// Reads what has come, answers it, and sends the requests that are due. `backend_ns` tells the backend's time
    /// at a raw time. Afterwards everything that had arrived when `ready` was found has been heard.
    pub fn turn(&mut self, ready: &[Ready], backend_ns: impl Fn(RawTime) -> i64) -> io::Result<()> {
        if let Some(by_ns) = self.ports.look() {
            let at_ns = backend_ns(self.ports.now());
            self.notices.wall_clock_stepped(by_ns, at_ns);
        }
        let received = self.ports.read(ready)?;
        add(&self.counters.packets_received, received.len() as u64);
        for received in received {
            if received.after_overflow && received.by != Port::General {
                // What this machine dropped did arrive; nobody may take it for lost on the way.
                self.responder.forget();
                self.client.disregard_unanswered(received.arrival.at);
            }
            match received.message {
                Some(message)
                    if received.by == Port::Event
                        && matches!(message.body, Body::DelayReq | Body::LeanReq) =>
                {
                    self.consider(&message, &received);
                }
                Some(Message {
                    source,
                    body: Body::Signaling { tlvs, .. },
                    ..
                }) if self.serving.allows(received.from.ip(), &self.responder) => {
                    let now = self.ports.now();
                    let asks = |tlv| matches!(tlv, Tlv::Request { .. });
                    if !self.client.signaled(received.from, &tlvs, now) || tlvs.iter().any(asks) {
                        self.negotiate((source, &tlvs), &received);
                    }
                }
                Some(message) => {
                    let heard = self.client.hear(received.from, &message, received.arrival);
                    if matches!(heard.verdict, Some(Verdict::Taken | Verdict::Complete(..))) {
                        self.compare(&message, &received);
                    }
                    self.note(heard, received.from, backend_ns(received.arrival.at));
                }
                None => add(&self.counters.packets_rejected, 1),
            }
        }
        self.ask(&backend_ns);
        self.serve();
        self.send(&backend_ns)?;
        set(
            &self.counters.receive_queue_overflows,
            self.ports.overflows(),
        );
        set(
            &self.counters.transmit_stamps_missing,
            self.ports.stamps_missing(),
        );
        Ok(())
    }

    /// Settles the exchanges whose deadline has passed at `heard_until`, before which everything that arrived must
    /// have been heard, and returns the windows that are over.
    pub fn settle(
        &mut self,
        heard_until: RawTime,
        backend_ns: impl Fn(RawTime) -> i64,
    ) -> Vec<MeshWindow> {
        let now = self.ports.now();
        let at_ns = backend_ns(now);
        if let Some(disruption) = self.disruptions.look() {
            self.client.disrupted(disruption == Disruption::Moved, now);
            self.responder.forget();
            self.standing.forget();
            self.notices.disrupted(disruption, at_ns);
        }
        self.standing.look(now);
        let error_ns = self.standing.error_ns(now).unwrap_or(0);
        set(&self.counters.hardware_error_ns, error_ns);
        self.restrain(now);
        let (packets_per_s, excess) = self.restraint.packets_per_s(&self.caps);
        self.notices.tell_shed(packets_per_s, excess, at_ns);
        self.tell_stamps();
        if let Some(at) = self.client.stocks.refusing() {
            self.notices.refuses(at, at_ns);
        }
        self.serving.grants.expire(heard_until);
        let settlement = self.client.settle(heard_until, now, at_ns);
        add(&self.counters.exchanges_lost, settlement.lost);
        settlement.windows
    }

    /// Ends all exchanges and returns every window as it stands.
    pub fn finish(&mut self) -> Vec<MeshWindow> {
        for signal in self.client.farewells() {
            self.ports.queue_general(&signal.message, signal.to, None);
        }
        self.ports.send_generals();
        self.client.finish(self.ports.now())
    }

    /// Compares the hardware clocks of both ends, if both have one.
    fn compare(&mut self, message: &Message, received: &Received) {
        let Body::DelayResp {
            receive_ns,
            claim: Some(claim),
            ..
        } = message.body
        else {
            return;
        };
        let about = received.arrival.at;
        if let Some((at, error_ns)) = self.standing.moment_of(&claim, receive_ns, about) {
            self.client
                .anchored(received.from, at, receive_ns, error_ns);
        }
    }

    /// Looks now and again at what this process takes of the machine, and sends less if that is too much.
    fn restrain(&mut self, now: RawTime) {
        if !self.restraint.due(now) {
            return;
        }
        let usage = Usage::of_this_process(now, self.counters.packets_sent.load(Relaxed));
        set(&self.counters.memory_bytes, usage.memory_bytes);
        if let Some(percent) = self.restraint.judge(usage, &self.caps) {
            let millis = (1_000.0 * percent).round() as u64;
            set(&self.counters.cpu_millipercent, millis);
        }
        self.limit();
    }

    /// Puts in force how many packets may leave.
    fn limit(&mut self) {
        let (packets_per_s, _) = self.restraint.packets_per_s(&self.caps);
        let burst = (packets_per_s / 10).max(ANSWER_PACKETS);
        self.budget.limit(packets_per_s, burst);
        set(&self.counters.packets_per_s_allowed, packets_per_s.into());
    }

    /// Answers a request, or not.
    fn consider(&mut self, message: &Message, received: &Received) {
        let now = self.ports.now();
        let id = (received.from.ip(), message.source);
        if self.serving.grants.knows(id) {
            return self.respond(message, received);
        }
        match self.responder.request(message, received.from, now) {
            Ok(answer) if self.budget.take(ANSWER_PACKETS, now) => {
                let answer = Answer {
                    local: received.to,
                    received: received.arrival.stamp,
                    ..answer
                };
                let origin_ns = self.ports.on_the_wire(now);
                let sync = self.reply(
                    &answer,
                    Body::Sync {
                        two_step: true,
                        origin_ns,
                    },
                );
                let (to, from) = (answer.client, answer.local);
                self.ports
                    .queue_event(&sync, to, from, Departure::Sync(answer), 0);
            }
            Ok(_) => self.notices.shed(),
            Err(Refusal::Duplicate) => add(&self.counters.duplicates, 1),
            Err(Refusal::Stranger | Refusal::TooMany) => add(&self.counters.packets_rejected, 1),
        }
    }

    /// Answers the Delay_Req of a client of the standard, which gets its Sync at other times.
    fn respond(&mut self, message: &Message, received: &Received) {
        let now = self.ports.now();
        let id = (received.from.ip(), message.source);
        let (Some(way), Some(stamp)) = (
            self.serving.grants.delay_resp(id, now),
            received.arrival.stamp,
        ) else {
            return add(&self.counters.packets_rejected, 1);
        };
        if !self.budget.take(1, now) {
            return self.notices.shed();
        }
        let response = Message {
            source: self.identity,
            body: Body::DelayResp {
                receive_ns: self.ports.on_the_wire(stamp),
                requester: message.source,
                tally: None,
                sync_left_ns: None,
                claim: None,
            },
            ..*message
        };
        self.ports.queue_general(&response, way.general, way.local);
    }

    /// Grants what a client asks for.
    fn negotiate(&mut self, asked: (PortIdentity, &Tlvs), received: &Received) {
        let now = self.ports.now();
        if !self.budget.take(1, now) {
            return self.notices.shed();
        }
        let known = self.responder.event_port_of(received.from);
        let (from, local) = (received.from, received.to);
        if let Some(answer) = self.serving.negotiate(asked, from, local, known, now) {
            self.ports.queue_general(&answer, from, local);
        }
    }

    /// Queues what has been granted and is due.
    fn serve(&mut self) {
        let now = raw_now();
        while let Some(due) = self.serving.grants.next_due(now) {
            let packets = 1 + u32::from(due.service == Service::Sync);
            if !self.budget.take(packets, now) {
                self.notices.shed();
                continue;
            }
            let message = self.serving.message(&due, self.ports.on_the_wire(now));
            let way = due.way;
            if due.service == Service::Sync {
                let departure = Departure::Granted(due.sequence_id, way);
                self.ports
                    .queue_event(&message, way.event, way.local, departure, 0);
            } else {
                self.ports.queue_general(&message, way.general, way.local);
            }
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
                queue_request(&mut self.ports, &request);
            }
        }
        let stocks = self.client.ask_stocks(now, at_ns, || {
            let allowed = self.budget.take(1, now);
            if !allowed {
                self.notices.shed();
            }
            allowed
        });
        for asked in stocks {
            match asked {
                Asked::Request(request) => queue_request(&mut self.ports, &request),
                Asked::Signal(signal) => {
                    self.ports.queue_general(&signal.message, signal.to, None);
                }
                Asked::Heard(from, heard) => self.note(heard, from, at_ns),
            }
        }
    }

    /// Sends all that is queued: event messages first, then what their departure stamps are needed for.
    fn send(&mut self, backend_ns: &impl Fn(RawTime) -> i64) -> io::Result<()> {
        let (client, responder) = (&mut self.client, &mut self.responder);
        let (mut sent, mut answers) = (0, Vec::<(Answer, Option<RawTime>)>::new());
        let mut refused = None;
        let departed = self.ports.send_events(|packet, left| {
            sent += u64::from(left.is_ok());
            if let Err(error) = left {
                refused = Some((packet.to, error.to_string()));
            }
            match packet.token {
                Departure::Request(id) if left.is_err() => client.refused(&id),
                Departure::Request(_) | Departure::Granted(..) => {}
                Departure::Sync(answer) => {
                    if left.is_ok() {
                        responder.synced(&answer);
                    }
                    answers.push((answer, None));
                }
            }
        })?;
        if let Some((to, why)) = refused {
            self.notices.refused(to, &why, backend_ns(self.ports.now()));
        }
        let mut next = 0;
        for departed in departed {
            match (departed.token, departed.at) {
                (Departure::Request(id), Some(t3)) => {
                    let heard = self.client.departed(&id, t3);
                    self.note(heard, id.to, backend_ns(t3));
                }
                (Departure::Sync(answer), Some(t1)) => {
                    // Stamps come in the order of sending, so the search ends where it begins.
                    let rest = answers.get(next..).unwrap_or_default();
                    let joint = answer.joint && answer.received.is_some();
                    let place = rest.iter().position(|(of, _)| joint && *of == answer);
                    if let Some(place) = place {
                        answers[next + place].1 = Some(t1);
                        next += place + 1;
                        continue;
                    }
                    let origin_ns = self.ports.on_the_wire(t1);
                    let message = self.reply(&answer, Body::FollowUp { origin_ns });
                    self.ports
                        .queue_general(&message, answer.general, answer.local);
                }
                (Departure::Granted(sequence_id, way), Some(t1)) => {
                    let message = Message {
                        source: self.identity,
                        sequence_id,
                        correction: Correction(0),
                        body: Body::FollowUp {
                            origin_ns: self.ports.on_the_wire(t1),
                        },
                    };
                    self.ports.queue_general(&message, way.general, way.local);
                }
                (_, None) => {}
            }
        }
        // After all Syncs of the batch, so that the counts they carry are of one moment.
        for (answer, left) in answers {
            let Some(received) = answer.received else {
                continue;
            };
            let receive_ns = self.ports.on_the_wire(received);
            let left_ns = left.map(|t1| self.ports.on_the_wire(t1));
            let claim = self.standing.claim(received, receive_ns);
            if let Some(message) = self.responder.delay_resp(
                &answer,
                self.identity,
                receive_ns,
                left_ns,
                claim.filter(|_| answer.joint),
            ) {
                self.ports
                    .queue_general(&message, answer.general, answer.local);
            }
        }
        sent += self.ports.send_generals();
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
        match heard.change {
            Some(Change::Stepped) => self.notices.peer_clock_stepped(peer.ip(), at_ns),
            Some(Change::Route(change)) => self.notices.route_changed(peer.ip(), change, at_ns),
            None => {}
        }
        let counter = match heard.verdict {
            None | Some(Verdict::Foreign | Verdict::Absurd) => &self.counters.packets_rejected,
            Some(Verdict::Complete(..)) => &self.counters.exchanges_completed,
            Some(Verdict::Duplicate) => &self.counters.duplicates,
            Some(Verdict::Late) => &self.counters.responses_late,
            Some(Verdict::Taken) => return,
        };
        add(counter, 1);
    }

    fn tell_stamps(&self) {
        let source = if self.ports.kernel_stamps() {
            TimestampSource::Kernel
        } else {
            TimestampSource::User
        };
        self.counters.set_timestamp_source(source);
    }
}

fn queue_request(ports: &mut Ports, request: &Request) {
    let departure = Departure::Request(request.id());
    ports.queue_event(&request.message, request.to, None, departure, request.flow);
}

/// Another one for each process, so that peers notice a restart. Locally administered, as no hardware vouches for it.
fn random_identity() -> u64 {
    let random = RandomState::new().build_hasher().finish();
    random & !(0x03 << 56) | 0x02 << 56
}

/// The plan without the peers beyond its cap.
fn within_caps(plan: &Plan) -> Cow<'_, Plan> {
    let count: usize = plan.meshes.iter().map(|mesh| mesh.peers.len()).sum();
    let mut left = plan.caps.peers as usize;
    if count <= left {
        return Cow::Borrowed(plan);
    }
    tracing::warn!(
        peers = count,
        cap = left,
        "the plan has more peers than it allows; the rest is left out"
    );
    let mut plan = plan.clone();
    for mesh in &mut plan.meshes {
        mesh.peers.truncate(left);
        left -= mesh.peers.len();
    }
    Cow::Owned(plan)
}

fn add(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Relaxed);
}

fn set(gauge: &AtomicU64, to: u64) {
    gauge.store(to, Relaxed);
}
