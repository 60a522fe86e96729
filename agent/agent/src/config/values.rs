//! Parsers of values; each error names what would be right.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use ureq::http::Uri;

use super::{ConfigError, Layers};
use crate::cloud::METADATA_URL;
use crate::hardware_clock::ClockChoice;
use crate::hardware_timestamps::CardChoice;
use crate::network::Network;

/// Zone of a VM, in the provider's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zone {
    pub provider: String,
    pub region: String,
    pub name: String,
    /// Physical id of the zone, if the provider has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

/// The network interface whose bytes and packets are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrafficChoice {
    /// That of the address that probes leave from.
    Auto,
    None,
    Interface(String),
}

/// URL of the backend without a trailing slash; plain HTTP only to this machine, unless allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendUrl {
    text: String,
    host: String,
    port: u16,
}

impl BackendUrl {
    /// Parse `https://host[:port][/path]`; `http://` only to this machine or when `insecure_http` is set.
    pub fn parse(text: &str, insecure_http: bool) -> Result<Self, String> {
        const SHAPE: &str = "must look like https://sinemora.example";
        let uri: Uri = text.trim().parse().map_err(|e| format!("{SHAPE} ({e})"))?;
        let (Some(scheme), Some(host)) = (uri.scheme_str(), uri.host()) else {
            return Err(SHAPE.to_owned());
        };
        if uri.query().is_some() || uri.authority().is_some_and(|a| a.as_str().contains('@')) {
            return Err(format!(
                "{SHAPE}, without user name and without anything behind a question mark"
            ));
        }
        let default_port = match scheme {
            "https" => 443,
            "http" if insecure_http || is_loopback(host) => 80,
            "http" => {
                return Err(
                    "must start with https://: http:// would send the credential in the clear \
                            (--insecure-http allows it)"
                        .to_owned(),
                );
            }
            _ => return Err(SHAPE.to_owned()),
        };
        Ok(Self {
            text: text.trim().trim_end_matches('/').to_owned(),
            host: host.to_owned(),
            port: uri.port_u16().unwrap_or(default_port),
        })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Return host (a v6 address in brackets) and port; the default port is the scheme's.
    pub fn host_and_port(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    /// Return whether it is this machine, which is reached without a proxy.
    pub fn is_loopback(&self) -> bool {
        is_loopback(&self.host)
    }
}

impl std::fmt::Display for BackendUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost"
        || host
            .trim_matches(['[', ']'])
            .parse::<IpAddr>()
            .is_ok_and(|a| a.is_loopback())
}

/// Parse a setting, if it is set; an error names the setting as in its source, and the value.
pub fn get<T>(
    layers: &Layers,
    key: &str,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, ConfigError> {
    let Some(raw) = layers.get(key) else {
        return Ok(None);
    };
    parse(&raw.text).map(Some).map_err(|should_be| {
        // A mistyped secret is still most of the secret: keep it out of logs.
        let shown = if key == "token" {
            String::new()
        } else {
            format!(" (given: {:?})", raw.text)
        };
        ConfigError::new(raw.name(key), format!("{should_be}{shown}"))
    })
}

pub fn port(text: &str) -> Result<u16, String> {
    text.parse()
        .ok()
        .filter(|p| *p != 0)
        .ok_or_else(|| "must be a port from 1 to 65535".to_owned())
}

/// Parse the first of up to 15 ports in a row, or 0 for any.
pub fn port_or_any(text: &str) -> Result<u16, String> {
    const LAST: u16 = u16::MAX - 14;
    text.parse()
        .ok()
        .filter(|port| *port <= LAST)
        .ok_or_else(|| format!("must be a port from 1 to {LAST}, or 0 for any"))
}

/// Parse ports and ranges of ports, comma separated.
pub fn port_ranges(text: &str) -> Result<Vec<RangeInclusive<u16>>, String> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (port(first.trim()).ok()?, port(last.trim()).ok()?);
        (first <= last).then_some(first..=last)
    };
    text.split(',')
        .map(range)
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| {
            "must be ports and ranges of them, for example 319-320,1024-65535".to_owned()
        })
}

/// Parse a minor version of PTP.
pub fn minor_version(text: &str) -> Result<u8, String> {
    match text {
        "0" => Ok(0),
        "1" => Ok(1),
        _ => Err("must be 0 or 1".to_owned()),
    }
}

pub fn ip(text: &str) -> Result<IpAddr, String> {
    let address: IpAddr = text
        .parse()
        .map_err(|_| "must be an IP address, for example 10.0.0.7".to_owned())?;
    if address.is_multicast() {
        Err("must be the address of one machine".to_owned())
    } else {
        Ok(address)
    }
}

/// Parse `none`, or addresses and networks separated by commas.
pub fn networks(text: &str) -> Result<Vec<Network>, String> {
    let parts = text
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let read = |part: &str| {
        part.parse()
            .map_err(|why| format!("must be networks: {why}"))
    };
    match text {
        "none" => Ok(Vec::new()),
        _ => parts.map(read).collect(),
    }
}

/// Parse `auto`, `off`, or the path of a device.
pub fn hardware_clock(text: &str) -> Result<ClockChoice, String> {
    match text {
        "auto" => Ok(ClockChoice::Any),
        "off" => Ok(ClockChoice::None),
        _ if text.starts_with('/') => Ok(ClockChoice::Device(text.into())),
        _ => Err("must be auto, off, or a device such as /dev/ptp0".to_owned()),
    }
}

/// Parse `auto`, `set` or `off`.
pub fn hardware_timestamps(text: &str) -> Result<CardChoice, String> {
    match text {
        "auto" => Ok(CardChoice::Auto),
        "set" => Ok(CardChoice::Set),
        "off" => Ok(CardChoice::Off),
        _ => Err("must be auto, set or off".to_owned()),
    }
}

/// Parse a whole number of a range.
pub fn within(text: &str, least: u32, most: u32) -> Result<u32, String> {
    let number = text.parse().ok();
    number
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| format!("must be a whole number from {least} to {most}"))
}

/// Parse `auto`, `off`, or the name of an interface: at most 15 characters, as the kernel's.
pub fn traffic_counters(text: &str) -> Result<TrafficChoice, String> {
    let is_name = |c: char| c.is_ascii_graphic() && c != '/' && c != ':';
    match text {
        "auto" => Ok(TrafficChoice::Auto),
        "off" => Ok(TrafficChoice::None),
        _ if (1..=15).contains(&text.len()) && text.chars().all(is_name) => {
            Ok(TrafficChoice::Interface(text.to_owned()))
        }
        _ => Err("must be auto, off, or the name of a network interface such as eth0".to_owned()),
    }
}

/// Parse a time in ns, us or ms, at most a second; or `as its driver says`.
pub fn clock_error(text: &str) -> Result<Option<u64>, String> {
    if text == "as its driver says" {
        return Ok(None);
    }
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let scale = match text[digits.len()..].trim() {
        "ns" => Some(1),
        "us" | "µs" => Some(1_000),
        "ms" => Some(1_000_000),
        _ => None,
    };
    let ns = digits.parse::<u64>().ok().zip(scale);
    let ns = ns.and_then(|(number, scale)| number.checked_mul(scale));
    ns.filter(|ns| (1..=1_000_000_000).contains(ns))
        .map(Some)
        .ok_or_else(|| "must be a time of 1ns to 1000ms, for example 20us".to_owned())
}

pub fn truth(text: &str) -> Result<bool, String> {
    match text {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err("must be true or false".to_owned()),
    }
}

pub fn name(text: &str) -> Result<String, String> {
    let text = text.trim();
    let right =
        !text.is_empty() && text.chars().count() <= 100 && !text.chars().any(char::is_control);
    if right {
        Ok(text.to_owned())
    } else {
        Err("must be 1 to 100 printable characters".to_owned())
    }
}

pub fn token(text: &str) -> Result<String, String> {
    let text = text.trim();
    if !text.starts_with("sme_") {
        Err("must be an enrolment token, which starts with sme_".to_owned())
    } else if text.len() <= 8 || !text.chars().all(|c| c.is_ascii_graphic()) {
        Err("is not complete: copy all of the enrolment token".to_owned())
    } else {
        Ok(text.to_owned())
    }
}

pub fn path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_absolute() {
        Ok(path)
    } else {
        Err("must be an absolute path".to_owned())
    }
}

/// Parse bytes, KiB, MiB or GiB; at least 1 MiB, so that a few reports always fit.
pub fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let shift = match text[digits.len()..].trim() {
        "" | "B" => Some(0),
        "KiB" | "K" | "k" => Some(10),
        "MiB" | "M" => Some(20),
        "GiB" | "G" => Some(30),
        _ => None,
    };
    let bytes = digits
        .parse::<u64>()
        .ok()
        .zip(shift)
        .and_then(|(n, shift)| n.checked_mul(1 << shift));
    bytes
        .filter(|b| *b >= 1 << 20)
        .ok_or_else(|| "must be a size of at least 1MiB, for example 256MiB".to_owned())
}

pub fn listen_or_off(text: &str) -> Result<Option<SocketAddr>, String> {
    if matches!(text, "off" | "0" | "false") {
        return Ok(None);
    }
    text.parse()
        .map(Some)
        .map_err(|_| "must be IP:PORT, for example 127.0.0.1:9319, or off".to_owned())
}

pub fn metadata_or_off(text: &str) -> Result<Option<String>, String> {
    match text {
        "auto" => Ok(Some(METADATA_URL.to_owned())),
        "off" | "0" | "false" => Ok(None),
        url if url.starts_with("http://") && url.parse::<Uri>().is_ok() => Ok(Some(url.to_owned())),
        _ => Err("must be auto, off or an address like http://169.254.169.254".to_owned()),
    }
}

pub fn level(text: &str) -> Result<tracing::Level, String> {
    text.parse()
        .map_err(|_| "must be error, warn, info, debug or trace".to_owned())
}

pub fn format(text: &str) -> Result<LogFormat, String> {
    match text {
        "text" | "console" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err("must be text or json".to_owned()),
    }
}
