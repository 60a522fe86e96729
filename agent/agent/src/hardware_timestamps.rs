//! Timestamps of the network card: use them, or give the reason why not.
//!
//! They are used only where every event message gets one in both directions and the card's clock can be read: otherwise
//! some timestamps would be of the wire and others of the driver. The card's setting is changed only if the operator says
//! so, and restored.

use std::io;
use std::net::IpAddr;

use crate::interface::interface_of;
use crate::timestamp::{Card, CardAbilities, CardClock, CardSetting, NetworkCard};

/// The event port of the standard (annex C.2): the only one whose messages the filters of PTP select.
const EVENT_PORT: u16 = 319;

const TX_ON: i32 = 1;
const FILTER_ALL: i32 = 1;
/// Event messages of PTP version 2 over UDP, and over UDP or Ethernet.
const FILTER_PTP_UDP: i32 = 6;
const FILTER_PTP: i32 = 12;

/// The setting `hardware_timestamps`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardChoice {
    /// Use the card's timestamps where it takes them already.
    Auto,
    /// Switch them on, and restore the card's setting at the end.
    Set,
    Off,
}

/// The reason why the card's timestamps are not used.
#[derive(Debug)]
pub enum NotUsed {
    Off,
    /// No interface has the address of probes.
    NoInterface,
    /// Packets do not leave the machine.
    Loopback,
    /// The driver does not say what it can do.
    Unknown(io::Error),
    /// The driver timestamps in software only.
    SoftwareOnly,
    /// The card timestamps packets in one direction only.
    OneDirection(&'static str),
    NoClock,
    SettingUnreadable(io::Error),
    /// The card does not timestamp every event message at the moment.
    SwitchedOff(CardSetting, u16),
    /// The card can select no setting that timestamps messages to another port than 319.
    OtherPort(u16),
    SetRefused(io::Error),
    ClockUnreadable(u32, io::Error),
}

impl std::fmt::Display for NotUsed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Off => f.write_str("the setting hardware_timestamps is off"),
            Self::NoInterface => f.write_str("no network interface has the address of probes"),
            Self::Loopback => f.write_str("loopback passes no network card"),
            Self::Unknown(error) => {
                write!(f, "its driver does not report what it can do ({error})")
            }
            Self::SoftwareOnly => f.write_str("its driver takes timestamps in software only"),
            Self::OneDirection(which) => write!(f, "the card timestamps {which} packets only"),
            Self::NoClock => f.write_str("the card has no clock that can be read"),
            Self::SettingUnreadable(error) => {
                write!(f, "its driver does not report the card's setting ({error})")
            }
            Self::SwitchedOff(setting, event_port) => write!(
                f,
                "the card can, but its setting (tx_type {}, rx_filter {}) does not cover all event messages of port \
                 {event_port}; hardware_timestamps = \"set\" lets the agent change it while it runs",
                setting.tx_type, setting.rx_filter
            ),
            Self::OtherPort(event_port) => write!(
                f,
                "the card timestamps messages of port 319 only, and event_port is {event_port}"
            ),
            Self::SetRefused(error) if error.kind() == io::ErrorKind::PermissionDenied => write!(
                f,
                "the card's setting cannot be changed ({error}): this needs CAP_NET_ADMIN \
                 (AmbientCapabilities= and CapabilityBoundingSet= in the systemd unit)"
            ),
            Self::SetRefused(error) => write!(f, "the card's setting cannot be changed ({error})"),
            Self::ClockUnreadable(number, error) => {
                write!(
                    f,
                    "the card's clock /dev/ptp{number} cannot be read ({error})"
                )
            }
        }
    }
}

/// A card whose timestamps are used. Restores the card's setting when dropped, if it was changed.
pub struct CardInUse {
    card: Box<dyn Card>,
    /// The setting before, and the one that this agent made of it.
    changed: Option<(CardSetting, CardSetting)>,
}

impl CardInUse {
    /// Return the name of its interface.
    pub fn name(&self) -> &str {
        self.card.name()
    }

    /// Return true if this agent has changed its setting.
    pub fn is_changed(&self) -> bool {
        self.changed.is_some()
    }
}

impl Drop for CardInUse {
    fn drop(&mut self) {
        let Some((before, ours)) = self.changed else {
            return;
        };
        // Another program may have changed it since: that is not ours to undo.
        let restored = match self.card.setting() {
            Ok(now) if now != ours => return,
            _ => self.card.set(before),
        };
        if let Err(error) = restored {
            let card = self.card.name();
            tracing::warn!(%error, "the timestamp setting of the network card {card} could not be restored");
        }
    }
}

/// Open the network card that probes of `address` pass, unless its timestamps are not wanted.
pub fn open_card(choice: CardChoice, address: IpAddr) -> Result<Box<dyn Card>, NotUsed> {
    if choice == CardChoice::Off {
        return Err(NotUsed::Off);
    }
    if address.is_loopback() {
        return Err(NotUsed::Loopback);
    }
    let name = interface_of(address).map_err(NotUsed::Unknown)?;
    let name = name.ok_or(NotUsed::NoInterface)?;
    let card = NetworkCard::open(&name).map_err(NotUsed::Unknown)?;
    Ok(Box::new(card))
}

/// Decide whether the timestamps of `card` are used for messages of `event_port`. Return the card and its clock.
pub fn choose(
    card: Box<dyn Card>,
    choice: CardChoice,
    event_port: u16,
) -> Result<(CardInUse, Box<dyn CardClock>), NotUsed> {
    if choice == CardChoice::Off {
        return Err(NotUsed::Off);
    }
    let abilities = card.abilities().map_err(NotUsed::Unknown)?;
    let number = clock_of(abilities)?;
    let before = card.setting().map_err(NotUsed::SettingUnreadable)?;
    // Before the setting: a card whose clock is of no use stays as it is.
    let clock = card
        .clock(number)
        .and_then(|mut clock| clock.read().map(|_| clock))
        .map_err(|error| NotUsed::ClockUnreadable(number, error))?;
    let mut in_use = CardInUse {
        card,
        changed: None,
    };
    if covers(before, event_port) {
        return Ok((in_use, clock));
    }
    let wanted = wanted(abilities, event_port)?;
    if choice == CardChoice::Auto {
        return Err(NotUsed::SwitchedOff(before, event_port));
    }
    let ours = in_use.card.set(wanted).map_err(NotUsed::SetRefused)?;
    in_use.changed = Some((before, ours));
    if covers(ours, event_port) {
        Ok((in_use, clock))
    } else {
        Err(NotUsed::SwitchedOff(ours, event_port))
    }
}

/// Return the number of the clock of a card that timestamps in both directions.
fn clock_of(abilities: CardAbilities) -> Result<u32, NotUsed> {
    let has = |bit| abilities.timestamping & bit != 0;
    let sent = has(libc::SOF_TIMESTAMPING_TX_HARDWARE);
    let received = has(libc::SOF_TIMESTAMPING_RX_HARDWARE);
    match (has(libc::SOF_TIMESTAMPING_RAW_HARDWARE), sent, received) {
        (true, true, true) => abilities.clock.ok_or(NotUsed::NoClock),
        (true, true, false) => Err(NotUsed::OneDirection("sent")),
        (true, false, true) => Err(NotUsed::OneDirection("received")),
        _ => Err(NotUsed::SoftwareOnly),
    }
}

/// Return true if a setting timestamps every event message. In one-step mode the card writes into messages itself.
fn covers(setting: CardSetting, event_port: u16) -> bool {
    let received = match setting.rx_filter {
        FILTER_ALL => true,
        FILTER_PTP_UDP | FILTER_PTP => event_port == EVENT_PORT,
        _ => false,
    };
    setting.tx_type == TX_ON && received
}

/// Return the setting that the card is to have. All packets rather than those of PTP: responses to the source ports of
/// further flows go to other ports.
fn wanted(abilities: CardAbilities, event_port: u16) -> Result<CardSetting, NotUsed> {
    let filters = [FILTER_ALL, FILTER_PTP_UDP, FILTER_PTP];
    let can = |filter: &i32| abilities.rx_filters & 1 << filter != 0;
    let setting = |rx_filter| CardSetting {
        flags: 0,
        tx_type: TX_ON,
        rx_filter,
    };
    let able: Vec<CardSetting> = filters.into_iter().filter(can).map(setting).collect();
    let fit = able.iter().find(|setting| covers(**setting, event_port));
    match fit {
        _ if abilities.tx_types & 1 << TX_ON == 0 => Err(NotUsed::OneDirection("received")),
        Some(setting) => Ok(*setting),
        None if able.is_empty() => Err(NotUsed::OneDirection("sent")),
        None => Err(NotUsed::OtherPort(event_port)),
    }
}

#[cfg(test)]
#[path = "hardware_timestamps_tests.rs"]
mod tests;
