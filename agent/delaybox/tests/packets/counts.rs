use crate::boxed::{Boxed, LEFT, RIGHT, drain, send, with_namespaces};

#[test]
fn counters_are_exact_in_each_direction() {
    with_namespaces(|| {
        let boxed = Boxed::between_new("delay=uniform:0,2ms loss=10%", "delay=1ms loss=25%");
        let (left, right) = (boxed.socket(0, LEFT), boxed.socket(1, RIGHT));
        for socket in [&left, &right] {
            let patience = Some(std::time::Duration::from_secs(2));
            socket.set_read_timeout(patience).unwrap();
        }
        let (at_right, at_left) = std::thread::scope(|scope| {
            let receivers = [scope.spawn(|| drain(&right)), scope.spawn(|| drain(&left))];
            for sequence in 0..1_000u32 {
                send(&left, &right, sequence);
                send(&right, &left, sequence);
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
            let [at_right, at_left] = receivers.map(|receiver| receiver.join().unwrap());
            (at_right, at_left)
        });
        let crowded = [0, 1].map(|side| boxed.crowded_out(side));
        let report = boxed.stop();
        for (name, of, arrived, crowded, share) in [
            ("outbound", &report.outbound, at_right, crowded[1], 0.1),
            ("inbound", &report.inbound, at_left, crowded[0], 0.25),
        ] {
            let counted = &of.counters;
            assert_eq!(counted.received_packets, 1_000, "{name}");
            let arrivals = arrived.len() as u64 + crowded;
            assert_eq!(counted.sent_packets, arrivals, "{name}");
            assert_eq!(counted.lost_packets + counted.sent_packets, 1_000, "{name}");
            let deviations = (counted.lost_packets as f64 - 1_000.0 * share)
                / (1_000.0 * share * (1.0 - share)).sqrt();
            assert!(deviations.abs() < 4.5, "{name}: {}", counted.lost_packets);
            assert!(arrived.is_sorted(), "{name}: out of order");
        }
    });
}

#[test]
fn a_full_box_drops_and_counts_packets() {
    with_namespaces(|| {
        let boxed = Boxed::start(&delaybox::config::RawConfig {
            outbound: Some("delay=300ms".to_owned()),
            capacity: Some(10),
            ..Default::default()
        });
        let (left, right) = (boxed.socket(0, LEFT), boxed.socket(1, RIGHT));
        (0..25).for_each(|sequence| send(&left, &right, sequence));
        assert_eq!(drain(&right), (0..10).collect::<Vec<_>>());
        let counted = boxed.stop().outbound.counters;
        assert_eq!(counted.received_packets, 25);
        assert_eq!(counted.overflowed_packets, 15);
        assert_eq!(counted.sent_packets, 10);
    });
}
