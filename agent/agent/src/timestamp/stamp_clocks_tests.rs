use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

use super::*;
use crate::timestamp::RealTime;

const S: i64 = 1_000_000_000;
/// The real-time clock minus the raw clock.
const REAL_NS: i64 = 1_700_000_000 * S;
/// The card's clock minus the raw clock at the start, and its rate.
const AHEAD_NS: i64 = 37 * S;
const FAST_PPM: i64 = 40;
const READ_ERROR_NS: i64 = 150;

/// The state of a clock that a test steers.
#[derive(Default)]
struct State {
    now: AtomicI64,
    readings: AtomicI64,
    step_ns: AtomicI64,
    is_gone: AtomicBool,
}

/// A card's clock that runs fast by a known rate and is read with a known error.
struct Double(Arc<State>);

/// Return what the card's clock shows at a moment of the raw clock.
fn shows(raw_ns: i64) -> CardTime {
    CardTime(raw_ns + AHEAD_NS + raw_ns / 1_000_000 * FAST_PPM)
}

impl CardClock for Double {
    fn read(&mut self) -> io::Result<PhcReading> {
        if self.0.is_gone.load(Relaxed) {
            return Err(io::Error::from_raw_os_error(libc::ENODEV));
        }
        let now = self.0.now.load(Relaxed);
        // To one side and to the other, as far as the error says.
        let sign = 1 - 2 * (self.0.readings.fetch_add(1, Relaxed) % 2);
        Ok(PhcReading {
            at: RawTime(now),
            shows_ns: shows(now).0 + self.0.step_ns.load(Relaxed) + sign * READ_ERROR_NS,
            error_ns: READ_ERROR_NS as u64,
        })
    }
}

fn cross(raw_ns: i64) -> CrossTimestamp {
    CrossTimestamp {
        raw: RawTime(raw_ns),
        real: RealTime(REAL_NS + raw_ns),
    }
}

/// Return clocks whose card has been read for `seconds`.
fn clocks(seconds: i64) -> (StampClocks, Arc<State>) {
    let state = Arc::new(State::default());
    let mut clocks = StampClocks::new(cross(0), Some(Box::new(Double(state.clone()))));
    (1..=seconds).for_each(|second| advance(&mut clocks, &state, second * S));
    (clocks, state)
}

fn advance(clocks: &mut StampClocks, state: &State, raw_ns: i64) {
    state.now.store(raw_ns, Relaxed);
    clocks.update(cross(raw_ns));
}

/// Return the timestamps of a packet that passed the wire at `raw_ns` and the driver `way_ns` later.
fn packet(raw_ns: i64, way_ns: i64) -> PacketStamps {
    PacketStamps {
        kernel: Some(RealTime(REAL_NS + raw_ns + way_ns)),
        card: Some(shows(raw_ns)),
    }
}

#[test]
fn the_cards_timestamp_is_converted_within_the_stated_bound() {
    let (clocks, _) = clocks(20);
    for after_ns in [0, S / 3, S - 1] {
        let passed = 20 * S + after_ns;
        let stamp = clocks.stamp(packet(passed, 7_000)).unwrap();
        assert_eq!(stamp.source, TimestampSource::Hardware);
        let bound_ns = clocks.card_error_ns(RawTime(passed)).unwrap();
        let off_ns = stamp.at.since(RawTime(passed)).unsigned_abs();
        assert!(off_ns <= bound_ns, "{off_ns} of {bound_ns}");
        assert!(bound_ns < 500, "{bound_ns}");
    }
}

#[test]
fn a_packet_that_the_card_did_not_timestamp_has_the_kernels_time() {
    let (clocks, _) = clocks(5);
    let without = PacketStamps {
        card: None,
        ..packet(5 * S, 9_000)
    };
    let expected = Stamp {
        at: RawTime(5 * S + 9_000),
        source: TimestampSource::Kernel,
    };
    assert_eq!(clocks.stamp(without), Some(expected));
    assert_eq!(clocks.stamp(PacketStamps::default()), None);
    let sent = PacketStamps {
        kernel: None,
        ..packet(5 * S, 0)
    };
    let stamp = clocks.stamp(sent).unwrap();
    assert_eq!(stamp.source, TimestampSource::Hardware);
}

#[test]
fn timestamps_that_contradict_the_kernels_are_not_used_and_end_the_use_of_the_card() {
    let (clocks, _) = clocks(5);
    for way_ns in [-10_000, LONGEST_WAY_NS + 1_000_000] {
        for nth in 0..CONTRADICTIONS {
            assert_eq!(clocks.card_fault(RawTime(5 * S)), None, "{nth}");
            let stamp = clocks.stamp(packet(5 * S, way_ns)).unwrap();
            assert_eq!(stamp.source, TimestampSource::Kernel, "{way_ns}");
        }
        let fault = clocks.card_fault(RawTime(5 * S)).unwrap();
        assert!(fault.contains("contradict"), "{fault}");
        let one_that_agrees = clocks.stamp(packet(5 * S, 3_000)).unwrap();
        assert_eq!(one_that_agrees.source, TimestampSource::Hardware);
    }
}

#[test]
fn a_clock_that_was_set_is_followed_from_its_next_reading() {
    let (mut clocks, state) = clocks(10);
    state.step_ns.store(3 * S, Relaxed);
    let after = |raw_ns| PacketStamps {
        card: Some(CardTime(shows(raw_ns).0 + 3 * S)),
        ..packet(raw_ns, 5_000)
    };
    // Before it is read again, the kernel's timestamp shows that the card's is wrong.
    let passed = 10 * S + S / 2;
    let stamp = clocks.stamp(after(passed)).unwrap();
    assert_eq!(stamp.source, TimestampSource::Kernel);
    advance(&mut clocks, &state, 11 * S);
    let stamp = clocks.stamp(after(11 * S + 1_000)).unwrap();
    assert_eq!(stamp.source, TimestampSource::Hardware);
    let off_ns = stamp.at.since(RawTime(11 * S + 1_000));
    assert!(off_ns.abs() < 1_000, "{off_ns}");
}

#[test]
fn a_card_whose_clock_is_gone_is_left_once_its_readings_are_old() {
    let (mut clocks, state) = clocks(10);
    state.is_gone.store(true, Relaxed);
    advance(&mut clocks, &state, 12 * S);
    assert_eq!(clocks.card_fault(RawTime(12 * S)), None);
    advance(&mut clocks, &state, 30 * S);
    let fault = clocks.card_fault(RawTime(30 * S)).unwrap();
    assert!(fault.contains("cannot be read"), "{fault}");
    clocks.leave_card();
    assert_eq!(clocks.card_error_ns(RawTime(30 * S)), None);
    let stamp = clocks.stamp(packet(30 * S, 4_000)).unwrap();
    assert_eq!(stamp.source, TimestampSource::Kernel);
}

#[test]
fn readings_before_a_disruption_are_not_used() {
    let (mut clocks, state) = clocks(10);
    clocks.reset_card();
    assert_eq!(clocks.card_error_ns(RawTime(10 * S)), None);
    advance(&mut clocks, &state, 10 * S + 1);
    assert!(clocks.card_error_ns(RawTime(10 * S)).is_some());
}
