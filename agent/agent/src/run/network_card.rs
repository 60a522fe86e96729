//! The network card whose timestamps are used while the agent runs.

use std::net::IpAddr;

use crate::config::Config;
use crate::hardware_timestamps::{CardChoice, CardInUse, choose, open_card};
use crate::timestamp::CardClock;

/// Return the network card whose timestamps are used, and its clock; `None` with the reason in the log.
pub fn find(config: &Config, address: IpAddr) -> Option<(CardInUse, Box<dyn CardClock>)> {
    let chosen = open_card(config.hardware_timestamps, address)
        .and_then(|card| choose(card, config.hardware_timestamps, config.event_port));
    match chosen {
        Ok((card, clock)) => {
            let is_set_by_agent = card.is_changed();
            tracing::info!(
                card = card.name(),
                is_set_by_agent,
                "packets are timestamped by the network card"
            );
            Some((card, clock))
        }
        Err(why) if config.hardware_timestamps == CardChoice::Set => {
            tracing::warn!("the timestamps of the network card are not used, because {why}");
            None
        }
        Err(why) => {
            tracing::info!("the timestamps of the network card are not used, because {why}");
            None
        }
    }
}
