//! Offsets from the peers' clocks at the end of a window, which the backend compares around loops of VMs.

use sinemora_wire::{MeshWindow, OFFSET_NOT_KNOWN};

use crate::clock::{PeerClock, RawTime};

/// The end of a window on the raw clock, and the offset of the wire's time scale from the raw clock, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowEnd {
    pub at: RawTime,
    pub time_scale_ns: i64,
}

/// Append the offset of the own clock from every peer's, and its skew, on the time scales of both ends' messages.
pub fn append_offsets<'a>(
    window: &mut MeshWindow,
    ended: WindowEnd,
    clock: impl Fn(u32) -> Option<&'a PeerClock>,
) {
    for &peer_key in &window.peer_keys {
        let known = clock(peer_key).and_then(|clock| clock.offset_at(ended.at));
        let (offset_ns, error_ns, skew_ppb) = known.map_or((0, OFFSET_NOT_KNOWN, 0), |offset| {
            (
                offset.offset_ns.saturating_add(ended.time_scale_ns),
                // Three standard deviations, of which one is sent.
                offset.random_ns.div_ceil(3),
                offset.skew_ppb,
            )
        });
        window.offset_from_peer_ns.push(offset_ns);
        window.offset_error_ns.push(error_ns);
        window.skew_from_peer_ppb.push(skew_ppb);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use prost::Message;
    use sinemora_wire::Report;

    use super::*;
    use crate::clock::{Leg, TimestampSource};
    use crate::ptp::{EcnSeen, Outcome};
    use crate::window::{Flow, PeerWindow};

    const TIME_SCALE_NS: i64 = 1_000_000_000;

    /// Append a peer whose clock is `own_minus_peer_ns` behind the own one, after exchanges with these true delays.
    fn append_peer(
        window: &mut MeshWindow,
        peer_key: u32,
        own_minus_peer_ns: i64,
        outbound_ns: i64,
        inbound_ns: i64,
    ) -> PeerClock {
        let (mut clock, mut peer) = (PeerClock::new(), PeerWindow::default());
        let peer_time = |raw_ns: i64| raw_ns + TIME_SCALE_NS - own_minus_peer_ns;
        for i in 0..40 {
            let sent_at = i * 50_000_000;
            let answered_at = sent_at + outbound_ns + 30_000;
            let outbound = Leg {
                local: RawTime(sent_at),
                remote_ns: peer_time(sent_at + outbound_ns),
            };
            let inbound = Leg {
                local: RawTime(answered_at + inbound_ns),
                remote_ns: peer_time(answered_at),
            };
            clock.observe(outbound, inbound);
            let outcome = Outcome {
                tag: (),
                request_arrived: Some(true),
                sync_sent: Some(true),
                sync_arrived: true,
                answered: true,
                syncs_missed: Some(0),
                outbound: Some(outbound),
                inbound: Some(inbound),
                source: Some(TimestampSource::Kernel),
                ecn: EcnSeen::default(),
                residence: crate::ptp::Residence::default(),
                responder: crate::ptp::ResponderNotes::default(),
            };
            peer.record(sent_at.unsigned_abs(), Flow::ONLY, &outcome);
        }
        clock.refresh();
        peer.resolve_delays(&clock);
        peer.append_to(window, peer_key, u64::MAX);
        clock
    }

    /// The backend's tests correct the delays of the golden file by its offsets: a changed sign breaks one of both.
    #[test]
    fn offset_and_delays_have_the_signs_of_the_golden_file() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wire/golden/offset.bin");
        let golden = Report::decode(std::fs::read(path).unwrap().as_slice()).unwrap();
        let golden = &golden.windows[0];

        let mut window = MeshWindow::default();
        // The route to VM 2 is 100 us longer than the one back; half of that goes into the offset.
        let clocks = [
            append_peer(&mut window, 2, 3_000_000, 250_000, 150_000),
            append_peer(&mut window, 3, -5_000_000, 200_000, 200_000),
        ];
        let ended = WindowEnd {
            at: RawTime(2_000_000_000),
            time_scale_ns: TIME_SCALE_NS,
        };
        append_offsets(&mut window, ended, |key| clocks.get(key as usize - 2));

        assert_eq!(window.peer_keys, golden.peer_keys);
        let shortest = |window: &MeshWindow| {
            let directions = [window.outbound.clone(), window.inbound.clone()];
            directions.map(|columns| columns.unwrap().min_ns).concat()
        };
        let near = |ours: &[i64], theirs: &[i64]| {
            let mut pairs = ours.iter().zip(theirs);
            ours.len() == theirs.len() && pairs.all(|(a, b)| (a - b).abs() < 1_000)
        };
        assert!(near(&shortest(&window), &shortest(golden)), "{window:?}");
        let [ours, theirs] = [&window, golden].map(|window| &window.offset_from_peer_ns);
        assert!(near(ours, theirs), "{ours:?}");
        let mut skews = window.skew_from_peer_ppb.iter();
        assert!(skews.all(|skew| skew.abs() < 100));
        assert!(window.offset_error_ns.iter().all(|error| *error < 10_000));
    }

    #[test]
    fn the_offset_of_a_peer_without_a_clock_is_unknown() {
        let mut window = MeshWindow {
            peer_keys: vec![4],
            ..MeshWindow::default()
        };
        let ended = WindowEnd {
            at: RawTime(0),
            time_scale_ns: 0,
        };
        append_offsets(&mut window, ended, |_| None);
        assert_eq!(window.offset_from_peer_ns, [0]);
        assert_eq!(window.offset_error_ns, [OFFSET_NOT_KNOWN]);
    }
}
