use std::sync::{Arc, Mutex};

use super::*;
use crate::clock::{PhcReading, RawTime};

const RAW: u32 = libc::SOF_TIMESTAMPING_RAW_HARDWARE;
const SENT: u32 = libc::SOF_TIMESTAMPING_TX_HARDWARE;
const RECEIVED: u32 = libc::SOF_TIMESTAMPING_RX_HARDWARE;
const OFF: CardSetting = CardSetting {
    flags: 0,
    tx_type: 0,
    rx_filter: 0,
};

/// A card that keeps its setting as a driver does.
#[derive(Clone)]
struct Double {
    abilities: CardAbilities,
    setting: Arc<Mutex<CardSetting>>,
    refuses: Option<i32>,
    clock_fails: bool,
}

struct DoubleClock(bool);

impl CardClock for DoubleClock {
    fn read(&mut self) -> io::Result<PhcReading> {
        if self.0 {
            return Err(io::Error::from_raw_os_error(libc::EACCES));
        }
        Ok(PhcReading {
            at: RawTime(1),
            shows_ns: 2,
            error_ns: 3,
        })
    }
}

impl Card for Double {
    fn name(&self) -> &'static str {
        "double0"
    }

    fn abilities(&self) -> io::Result<CardAbilities> {
        Ok(self.abilities)
    }

    fn setting(&self) -> io::Result<CardSetting> {
        Ok(*self.setting.lock().unwrap())
    }

    fn set(&self, setting: CardSetting) -> io::Result<CardSetting> {
        if let Some(code) = self.refuses {
            return Err(io::Error::from_raw_os_error(code));
        }
        *self.setting.lock().unwrap() = setting;
        Ok(setting)
    }

    fn clock(&self, _: u32) -> io::Result<Box<dyn CardClock>> {
        Ok(Box::new(DoubleClock(self.clock_fails)))
    }
}

fn all() -> CardAbilities {
    CardAbilities {
        timestamping: RAW | SENT | RECEIVED,
        clock: Some(3),
        tx_types: 0b11,
        rx_filters: 1 | 1 << FILTER_ALL | 1 << FILTER_PTP,
    }
}

fn double(abilities: CardAbilities, tx_type: i32, rx_filter: i32) -> Double {
    Double {
        abilities,
        setting: Arc::new(Mutex::new(CardSetting {
            flags: 0,
            tx_type,
            rx_filter,
        })),
        refuses: None,
        clock_fails: false,
    }
}

fn why(card: &Double, choice: CardChoice, port: u16) -> String {
    match choose(Box::new(card.clone()), choice, port) {
        Ok(_) => String::new(),
        Err(why) => why.to_string(),
    }
}

#[test]
fn a_card_that_is_switched_on_is_used_and_left_as_it_is() {
    let all_ports = [(FILTER_ALL, 319), (FILTER_ALL, 10319)];
    let one_port = [(FILTER_PTP_UDP, 319), (FILTER_PTP, 319)];
    for (rx_filter, port) in all_ports.into_iter().chain(one_port) {
        for choice in [CardChoice::Auto, CardChoice::Set] {
            let card = double(all(), TX_ON, rx_filter);
            let (in_use, _) = choose(Box::new(card.clone()), choice, port).unwrap();
            assert!(!in_use.is_changed());
            drop(in_use);
            assert_eq!(card.setting().unwrap().rx_filter, rx_filter);
        }
    }
}

#[test]
fn a_card_is_set_only_when_asked_and_restored() {
    let card = double(all(), 0, 0);
    let reason = why(&card, CardChoice::Auto, 319);
    assert!(reason.contains("hardware_timestamps = \"set\""), "{reason}");
    assert_eq!(card.setting().unwrap(), OFF);
    let (in_use, _) = choose(Box::new(card.clone()), CardChoice::Set, 319).unwrap();
    assert!(in_use.is_changed());
    let set = card.setting().unwrap();
    assert_eq!((set.tx_type, set.rx_filter), (TX_ON, FILTER_ALL));
    drop(in_use);
    assert_eq!(card.setting().unwrap(), OFF);
}

#[test]
fn what_another_program_has_set_since_is_not_undone() {
    let card = double(all(), 0, 0);
    let (in_use, _) = choose(Box::new(card.clone()), CardChoice::Set, 319).unwrap();
    let theirs = CardSetting {
        rx_filter: FILTER_PTP,
        ..card.setting().unwrap()
    };
    card.set(theirs).unwrap();
    drop(in_use);
    assert_eq!(card.setting().unwrap(), theirs);
}

#[test]
fn every_other_card_is_refused_with_its_reason() {
    let but = |change: fn(&mut CardAbilities)| {
        let mut abilities = all();
        change(&mut abilities);
        abilities
    };
    let ptp_only = but(|one| one.rx_filters = 1 << FILTER_PTP_UDP);
    let set = CardChoice::Set;
    let (no_sent, no_received) = ("received packets only", "sent packets only");
    let cases = [
        (
            but(|one| one.timestamping &= !RAW),
            set,
            319,
            "in software only",
        ),
        (but(|one| one.timestamping &= !SENT), set, 319, no_sent),
        (
            but(|one| one.timestamping &= !RECEIVED),
            set,
            319,
            no_received,
        ),
        (but(|one| one.clock = None), set, 319, "no clock"),
        (but(|one| one.tx_types = 1), set, 319, no_sent),
        (but(|one| one.rx_filters = 1), set, 319, no_received),
        (ptp_only, set, 10319, "event_port is 10319"),
        (ptp_only, CardChoice::Auto, 10319, "event_port is 10319"),
        (all(), CardChoice::Off, 319, "hardware_timestamps is off"),
    ];
    for (abilities, choice, port, expected) in cases {
        let card = double(abilities, 0, 0);
        let reason = why(&card, choice, port);
        assert!(reason.contains(expected), "{reason} instead of {expected}");
        assert_eq!(card.setting().unwrap(), OFF, "{expected}");
    }
    assert_eq!(why(&double(ptp_only, 0, 0), set, 319), "");
}

#[test]
fn a_refusal_of_the_driver_is_told_with_what_it_needs() {
    let mut card = double(all(), 0, 0);
    card.refuses = Some(libc::EPERM);
    let reason = why(&card, CardChoice::Set, 319);
    assert!(reason.contains("CAP_NET_ADMIN"), "{reason}");
    card.refuses = Some(libc::ERANGE);
    let reason = why(&card, CardChoice::Set, 319);
    assert!(reason.contains("cannot be changed"), "{reason}");
}

#[test]
fn a_card_whose_clock_cannot_be_read_is_not_set() {
    let mut card = double(all(), 0, 0);
    card.clock_fails = true;
    let reason = why(&card, CardChoice::Set, 319);
    assert!(reason.contains("/dev/ptp3 cannot be read"), "{reason}");
    assert_eq!(card.setting().unwrap(), OFF);
}

#[test]
fn in_one_step_mode_the_card_is_not_used_as_it_is() {
    let reason = why(&double(all(), 2, FILTER_ALL), CardChoice::Auto, 319);
    assert!(reason.contains("tx_type 2"), "{reason}");
}
