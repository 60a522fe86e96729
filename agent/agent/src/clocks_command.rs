//! `sinemora-agent clocks`: the clocks and timestamps of this machine, and why a better one is not used.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};

use crate::config::{BackendUrl, Config, default_address};
use crate::hardware_clock;
use crate::hardware_timestamps::{CardChoice, NotUsed, choose, open_card};
use crate::identity::Identity;
use crate::timestamp::{Socket, Stamps, clock_source};

/// Write the clocks of this machine to `out`. Change nothing.
pub fn clocks(config: &Config, out: &mut impl Write) -> io::Result<()> {
    let system = clock_source();
    writeln!(out, "System clock\n  source   {}", or_unknown(&system))?;
    writeln!(out, "\nTimestamps of packets")?;
    match probe_address(config) {
        Some(address) => {
            writeln!(out, "  kernel   {}", kernel_timestamps(address))?;
            writeln!(out, "  card     {}", card_timestamps(config, address))?;
        }
        None => writeln!(out, "  this VM has no route yet: set listen_address")?,
    }
    writeln!(out, "\nHardware clocks")?;
    let found = hardware_clock::survey(&config.hardware_clock, config.hardware_clock_error_ns);
    if found.is_empty() {
        writeln!(out, "  none in /sys/class/ptp")?;
    }
    for (device, state) in found {
        writeln!(
            out,
            "  {:<10} {} {state}",
            device.path.display(),
            device.name
        )?;
    }
    Ok(())
}

/// Return what timestamps packets of `address`, in words.
pub fn timestamps(config: &Config, address: IpAddr) -> String {
    format!(
        "{}; network card: {}",
        kernel_timestamps(address),
        card_timestamps(config, address)
    )
}

fn probe_address(config: &Config) -> Option<IpAddr> {
    let set = config.listen_address.filter(|a| !a.is_unspecified());
    let by_backend = || {
        let enrolled_with = Identity::load(&config.state_dir).ok().flatten();
        let remembered =
            enrolled_with.and_then(|known| BackendUrl::parse(&known.backend, true).ok());
        let backend = config.backend.clone().or(remembered)?;
        Some(config.listen(&backend).ok()?.1)
    };
    let found = set.or(config.probe_address).or_else(by_backend);
    found.or_else(default_address)
}

fn kernel_timestamps(address: IpAddr) -> &'static str {
    match Socket::bind(SocketAddr::new(address, 0), Stamps::SentAndReceived) {
        Ok(socket) if socket.stamps_departures() => {
            "the kernel timestamps packets when they pass the driver"
        }
        Ok(_) => "the kernel gives no timestamps: the agent takes them itself, late by scheduling",
        Err(_) => "no network interface has the address of probes",
    }
}

fn card_timestamps(config: &Config, address: IpAddr) -> String {
    let choice = config.hardware_timestamps;
    let card = match open_card(choice, address) {
        Ok(card) => card,
        Err(why) => return format!("not used, because {why}"),
    };
    let name = card.name().to_owned();
    // Only `run` may change its setting.
    match choose(card, CardChoice::Auto, config.event_port) {
        Ok(_) => format!("{name}: used"),
        Err(NotUsed::SwitchedOff(..)) if choice == CardChoice::Set => {
            format!("{name}: off; the agent switches its timestamps on while it runs")
        }
        Err(why) => format!("{name}: not used, because {why}"),
    }
}

fn or_unknown(name: &str) -> &str {
    if name.is_empty() { "unknown" } else { name }
}
