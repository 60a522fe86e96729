//! A machine that its hypervisor pauses: no clock of its own counts the pause. Every exchange is in the window of its time.

use std::collections::BTreeMap;

use super::tests::{EPOCH, MS, S, peer, plan, respond};
use super::*;
use crate::clock::TimestampSource;
use crate::paths::dating::ShownBy;
use crate::plan::{BackendLead, TimedAnswer};

const TICK: i64 = 10 * MS;
/// One way to a peer, and there and back to the backend.
const ONE_WAY: i64 = 50_000;
const ROUND_TRIP: i64 = 6 * MS;

/// A client, its peers and a backend in true time; the local clock shows true time minus the time it stood still.
struct World {
    client: Client,
    lead: BackendLead,
    confirmed: i64,
    /// Local time.
    now: i64,
    stood_still: i64,
    /// Local times at which questions to the backend left.
    questions: Vec<i64>,
    next_poll: i64,
    backend_answers: bool,
    peers_answer: bool,
    windows: Vec<MeshWindow>,
    /// Requests by the second in which they truly left, since EPOCH.
    requests: BTreeMap<i64, i32>,
    found: Vec<Found>,
    shown_later: Vec<Found>,
    unknown: usize,
}

impl World {
    fn new(peers: u32, rate_hz: u32) -> Self {
        let mut client = Client::new(7, 0);
        client.table.schedule.first = 0;
        let peers = (0..peers).map(|n| peer(n + 2, 319 + 10 * n as u16));
        client.follow(&plan(peers.collect(), rate_hz, 1), 16, RawTime(0));
        let mut world = Self {
            client,
            lead: BackendLead::default(),
            confirmed: i64::MIN,
            now: 0,
            stood_still: 0,
            questions: Vec::new(),
            next_poll: 0,
            backend_answers: true,
            peers_answer: true,
            windows: Vec::new(),
            requests: BTreeMap::new(),
            found: Vec::new(),
            shown_later: Vec::new(),
            unknown: 0,
        };
        world.ask();
        world.now += ROUND_TRIP;
        world.answer();
        world
    }

    /// Return a world after 20 s.
    fn settled(peers: u32, rate_hz: u32) -> Self {
        let mut world = Self::new(peers, rate_hz);
        world.run(20);
        world
    }

    fn truth(&self) -> i64 {
        self.now + self.stood_still
    }

    fn pause(&mut self, for_ns: i64) {
        self.stood_still += for_ns;
    }

    fn ask(&mut self) {
        self.questions.push(self.now);
    }

    /// Let the backend answer the questions that are old enough: it read its clock half a round trip ago.
    fn answer(&mut self) {
        let questions = std::mem::take(&mut self.questions).into_iter();
        let (due, later): (Vec<_>, _) = questions.partition(|sent| self.now - sent >= ROUND_TRIP);
        self.questions = later;
        let answers = self.backend_answers;
        for sent_ns in due.into_iter().filter(|_| answers) {
            self.observe(sent_ns, EPOCH + self.truth() - ROUND_TRIP / 2);
        }
    }

    fn observe(&mut self, sent_ns: i64, backend_ns: i64) {
        self.lead.observe(&TimedAnswer {
            sent_ns,
            received_ns: self.now,
            held_ns: 0,
            backend_ns,
        });
        if !self.lead.is_doubted() {
            self.confirmed = self.confirmed.max(sent_ns);
        }
    }

    fn run(&mut self, seconds: i64) {
        let until = self.now + seconds * S;
        while self.now < until {
            if self.now >= self.next_poll {
                self.ask();
                self.next_poll = self.now + 10 * S;
            }
            self.answer();
            self.ticks(1);
        }
    }

    fn ticks(&mut self, count: u32) {
        for _ in 0..count {
            self.turn();
            self.now += TICK;
        }
    }

    fn turn(&mut self) {
        let now = RawTime(self.now);
        let time = BackendTime {
            ahead_ns: self.lead.ns().unwrap(),
            error_ns: self.lead.error_ns(self.now).map_or(0, |ns| ns as i64),
            suspended_ns: 0,
            is_known: true,
            confirmed: RawTime(self.confirmed),
            is_doubted: self.lead.is_doubted(),
        };
        self.found.extend(self.client.follow_time(time, now));
        let backend_ns = self.now + time.ahead_ns;
        while let Some(slot) = self.client.next_slot(now, backend_ns, || true) {
            let Some(request) = slot.request else {
                continue;
            };
            *self.requests.entry(self.truth() / S).or_default() += 1;
            self.client
                .record_departure(&request.id(), now, TimestampSource::Kernel);
            if self.peers_answer {
                self.response(&request);
            }
        }
        let settlement = self.client.settle(now, now, backend_ns);
        self.windows.extend(settlement.closed.meshes);
        self.found.extend(settlement.stood_still);
        self.shown_later.extend(settlement.confirmed);
        for wish in self.client.take_clock_wishes() {
            match wish {
                ClockWish::Doubt => {
                    self.lead.doubt(self.now);
                    self.ask();
                }
                ClockWish::Ask => self.ask(),
                ClockWish::Advance(by_ns) => self.lead.advance(by_ns),
                ClockWish::ReportUnknown => self.unknown += 1,
            }
        }
    }

    /// Answer a request by a clock that shows true time.
    fn response(&mut self, request: &Request) {
        let there = self.truth() + ONE_WAY;
        let arrived = RawTime(self.now + 2 * ONE_WAY);
        respond(&mut self.client, request, there, arrived);
    }

    /// Return the requests of each window, by seconds since EPOCH.
    fn counts(&self) -> BTreeMap<i64, i32> {
        let mut counts = BTreeMap::new();
        for window in &self.windows {
            let sent = &window.round_trip.as_ref().unwrap().sent;
            let start_s = window.started_at_s - EPOCH / S;
            assert_eq!(counts.insert(start_s, sent.iter().sum()), None, "{start_s}");
        }
        counts
    }

    /// Check that every window before the end holds the requests that left in its time, all of them answered.
    fn assert_dated(&self, case: &str) {
        let end_s = self.truth() / S - 2;
        let until = |counts: &BTreeMap<i64, i32>| -> BTreeMap<i64, i32> {
            counts.range(..end_s).map(|(at, n)| (*at, *n)).collect()
        };
        assert_eq!(until(&self.counts()), until(&self.requests), "{case}");
        let lost =
            |window: &MeshWindow| window.round_trip.as_ref().unwrap().lost.iter().sum::<i32>();
        assert_eq!(self.windows.iter().map(lost).sum::<i32>(), 0, "{case}");
    }
}

#[test]
fn every_window_is_of_its_time_through_pauses_of_any_length_at_any_moment() {
    for (peers, rate_hz) in [(1, 1), (1, 8), (3, 8)] {
        for pause in [60 * MS, 700 * MS, 6 * S + 300 * MS, 3_600 * S] {
            for phase in 0..7 {
                let mut world = World::settled(peers, rate_hz);
                world.ticks(phase * 15);
                world.pause(pause);
                world.run(15);
                let case = format!("{peers} peers at {rate_hz}/s, {pause} ns, phase {phase}");
                world.assert_dated(&case);
                assert_eq!(world.found.len(), 1, "{case}");
                let error_ns = world.found[0].for_ns - pause;
                assert!(error_ns.abs() <= 2 * ROUND_TRIP, "{case}: {error_ns}");
                assert!(world.found[0].is_certain(), "{case}");
                // It is reported once, also if the backend has corrected the clock before an exchange showed it.
                let by_correction = world.found[0].shown_by == ShownBy::Correction;
                let later = world.shown_later.len();
                assert_eq!(later, usize::from(by_correction), "{case}");
                assert_eq!(world.unknown, 0, "{case}");
            }
        }
    }
}

#[test]
fn windows_wait_for_a_backend_that_answers_late() {
    let mut world = World::settled(2, 8);
    world.pause(6 * S);
    world.backend_answers = false;
    world.run(8);
    let closed = world.windows.len();
    assert!(closed <= 20, "{closed}");
    world.backend_answers = true;
    world.ask();
    world.run(15);
    world.assert_dated("late");
    assert_eq!(world.unknown, 0);
}

#[test]
fn an_answer_that_arrived_during_the_pause_confirms_nothing() {
    let mut world = World::settled(1, 8);
    // It left the backend just before the pause, and is read just after it: it agrees with the time before.
    let (sent_ns, backend_ns) = (world.now - ROUND_TRIP, EPOCH + world.truth());
    world.pause(6 * S);
    world.observe(sent_ns, backend_ns);
    world.run(5);
    world.assert_dated("read after the pause");
    let mut world = World::settled(1, 1);
    // The first request after the pause has shown it, and then the answer is read.
    let (sent_ns, backend_ns) = (world.now - ROUND_TRIP, EPOCH + world.truth());
    world.pause(6 * S);
    world.lead.doubt(world.now);
    world.observe(sent_ns, backend_ns);
    assert!(world.lead.is_doubted());
}

#[test]
fn two_peers_are_followed_and_the_error_is_unknown_while_the_backend_is_silent() {
    for (peers, is_followed) in [(1, false), (2, true), (5, true)] {
        let mut world = World::settled(peers, 8);
        world.pause(6 * S);
        world.backend_answers = false;
        world.run(40);
        assert!(world.unknown > 0, "{peers}");
        assert!(world.lead.is_doubted());
        assert_eq!(world.lead.error_ns(world.now), None);
        assert_eq!(world.found.len(), usize::from(is_followed), "{peers}");
        if is_followed {
            world.assert_dated("by the peers");
            assert_eq!(world.found[0].shown_by, ShownBy::Peers);
        }
        // The windows continue.
        assert!(world.windows.len() > 40, "{}", world.windows.len());
        world.backend_answers = true;
        world.ask();
        world.run(5);
        assert!(!world.lead.is_doubted());
        let shown = world.now + world.lead.ns().unwrap();
        assert!((shown - EPOCH - world.truth()).abs() <= ROUND_TRIP);
    }
}

#[test]
fn requests_that_no_one_answers_wait_for_the_backend_to_date_them() {
    let mut world = World::settled(2, 8);
    world.peers_answer = false;
    world.run(5);
    world.pause(6 * S);
    world.run(15);
    // Windows before the pause and after it are of their time; those around it lack what may have left on either side.
    let (counts, requests) = (world.counts(), world.requests.clone());
    for (at_s, sent) in &counts {
        assert!(requests.get(at_s) >= Some(sent), "{at_s}: {requests:?}");
    }
    let all = requests.range(..world.truth() / S - 2);
    let missing = all.filter(|(at_s, sent)| counts.get(*at_s) != Some(*sent));
    assert!(missing.count() <= 6, "{counts:?} of {requests:?}");
    assert_eq!(world.unknown, 0);
}

#[test]
fn requests_that_no_one_answers_are_reported_without_backend_and_their_error_is_unknown() {
    let mut world = World::settled(1, 8);
    (world.peers_answer, world.backend_answers) = (false, false);
    world.run(60);
    assert!(world.unknown > 0);
    assert!(world.windows.len() > 55, "{}", world.windows.len());
}

#[test]
fn a_peer_whose_clock_is_stepped_ahead_moves_no_window() {
    let mut world = World::settled(1, 8);
    // The response is by a clock that is 5 s ahead from now on, as if ours had stood still.
    world.stood_still += 5 * S;
    let mut other = std::mem::take(&mut world.requests);
    world.turn();
    assert!(world.lead.is_doubted());
    // The backend's clock shows that ours ran.
    world.stood_still -= 5 * S;
    let moved = world.requests.values().sum::<i32>();
    *other.entry(world.truth() / S).or_default() += moved;
    world.requests = other;
    world.now += TICK;
    world.run(10);
    assert_eq!(world.found, []);
    world.assert_dated("the peer's step");
}

#[test]
fn a_pause_is_claimed_only_if_the_whole_interval_of_its_length_says_so() {
    let mut world = World::settled(1, 8);
    // A peer is stepped ahead, and the answer of the backend takes 55 ms: our clock stood still for 0 to 55 ms.
    world.stood_still += S / 5;
    world.turn();
    assert!(world.lead.is_doubted());
    world.stood_still -= S / 5;
    let sent_ns = world.now;
    world.now += 55_000_000;
    world.observe(sent_ns, EPOCH + world.truth());
    world.turn();
    assert!(!world.lead.is_doubted());
    assert!(world.found.iter().all(|found| !found.is_certain()));
}

#[test]
fn a_step_of_the_backend_alone_is_no_standstill() {
    let mut world = World::settled(2, 8);
    // Its answer says 6 s more; the peers' clocks show that ours ran.
    let (sent_ns, backend_ns) = (world.now - ROUND_TRIP, EPOCH + world.truth() + 6 * S);
    world.observe(sent_ns, backend_ns);
    world.ticks(300);
    assert_eq!(world.found.len(), 1);
    assert_eq!(world.found[0].shown_by, ShownBy::Correction);
    assert_eq!(world.shown_later, []);
}
