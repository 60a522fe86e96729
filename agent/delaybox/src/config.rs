//! Configuration of `run`: a TOML file, and flags that override it.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::appliance::Options;
use crate::error::Error;
use crate::line::settings::{Change, Order, Scheduled, Settings};
use crate::sides::{Addressing, Place};
use crate::sys::Address;
use crate::units;

/// Settings by name from file or flags; absent is not set.
#[derive(Debug, Clone, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct RawConfig {
    pub left: Option<String>,
    pub right: Option<String>,
    pub left_address: Option<String>,
    pub right_address: Option<String>,
    pub mtu: Option<u32>,
    pub outbound: Option<String>,
    pub inbound: Option<String>,
    /// For both directions; `outbound` and `inbound` add to it.
    pub both: Option<String>,
    pub changes: Vec<String>,
    pub seed: Option<u64>,
    pub spin: Option<String>,
    pub capacity: Option<usize>,
    pub realtime: Option<bool>,
}

/// Complete configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    pub left: Place,
    pub right: Place,
    pub addressing: Addressing,
    pub options: Options,
}

impl RawConfig {
    /// Read a TOML file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        read_toml(path)
    }

    /// Merge with `weaker`, whose settings apply where `self` has none. Changes of both apply.
    pub fn over(self, weaker: Self) -> Self {
        Self {
            left: self.left.or(weaker.left),
            right: self.right.or(weaker.right),
            left_address: self.left_address.or(weaker.left_address),
            right_address: self.right_address.or(weaker.right_address),
            mtu: self.mtu.or(weaker.mtu),
            outbound: self.outbound.or(weaker.outbound),
            inbound: self.inbound.or(weaker.inbound),
            both: self.both.or(weaker.both),
            changes: [weaker.changes, self.changes].concat(),
            seed: self.seed.or(weaker.seed),
            spin: self.spin.or(weaker.spin),
            capacity: self.capacity.or(weaker.capacity),
            realtime: self.realtime.or(weaker.realtime),
        }
    }

    /// Validate the settings; errors name the setting.
    pub fn resolve(&self) -> Result<Config, Error> {
        let wrong = |key: &'static str| move |why: String| Error::setting(key, why);
        let place = |key, text: &Option<String>| {
            Place::parse(text.as_deref().unwrap_or("new")).map_err(wrong(key))
        };
        let address = |key, text: &Option<String>, default| {
            Address::parse(text.as_deref().unwrap_or(default)).map_err(wrong(key))
        };
        let change = |key, text: &Option<String>| {
            Change::parse(text.as_deref().unwrap_or("")).map_err(wrong(key))
        };
        let both = change("both", &self.both)?.applied_to(&Settings::default());
        let outbound = change("outbound", &self.outbound)?.applied_to(&both);
        let inbound = change("inbound", &self.inbound)?.applied_to(&both);
        let schedule: Result<Vec<Scheduled>, Error> = self
            .changes
            .iter()
            .map(|text| Scheduled::parse(text, Order::parse).map_err(wrong("change")))
            .collect();
        let mtu = self.mtu.unwrap_or(1500);
        if !(576..=65_535).contains(&mtu) {
            return Err(Error::setting(
                "mtu",
                format!("{mtu}; it must be 576 to 65535"),
            ));
        }
        let capacity = self.capacity.unwrap_or(100_000);
        if capacity == 0 {
            return Err(Error::setting(
                "capacity",
                "0; a box that holds nothing passes nothing on",
            ));
        }
        Ok(Config {
            left: place("left", &self.left)?,
            right: place("right", &self.right)?,
            addressing: Addressing {
                left: address("left_address", &self.left_address, "10.77.0.1/24")?,
                right: address("right_address", &self.right_address, "10.77.0.2/24")?,
                mtu,
            },
            options: Options {
                settings: vec![outbound, inbound],
                schedule: schedule?,
                seed: self.seed.unwrap_or(1),
                spin_ns: spin_of(self.spin.as_deref())?,
                capacity,
                fifo: self.realtime.unwrap_or(true),
            },
        })
    }
}

/// Read a TOML file; errors name the file.
pub fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let place = path.display().to_string();
    let text =
        std::fs::read_to_string(path).map_err(|error| Error::setting(&place, error.to_string()))?;
    toml::from_str(&text).map_err(|error| Error::setting(place, error.to_string()))
}

/// Parse the time to spin before a packet is due, `always`, or nothing for the default.
pub fn spin_of(text: Option<&str>) -> Result<i64, Error> {
    match text {
        Some("always") => Ok(i64::MAX),
        text => {
            units::positive_ns(text.unwrap_or("60us")).map_err(|why| Error::setting("spin", why))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        seed = 7
        both = "delay=1ms"
        inbound = "loss=1%"
        changes = ["1s outbound add=100us"]
    "#;

    fn read(text: &str) -> Result<RawConfig, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("box.toml");
        std::fs::write(&path, text).unwrap();
        RawConfig::read(&path)
    }

    #[test]
    fn flags_win_over_the_file_and_directions_over_both() {
        let flags = RawConfig {
            seed: Some(8),
            changes: vec!["2s both loss=0".to_owned()],
            ..RawConfig::default()
        };
        let config = flags.over(read(FILE).unwrap()).resolve().unwrap();
        assert_eq!(config.options.seed, 8);
        assert_eq!(config.options.schedule.len(), 2);
        let [outbound, inbound] = &config.options.settings[..] else {
            panic!("two directions");
        };
        assert_eq!((outbound.loss, inbound.loss), (0.0, 0.01));
        assert_eq!(outbound.delay, inbound.delay);
    }

    #[test]
    fn a_wrong_setting_is_named() {
        for (text, expected) in [
            ("sed = 1", "sed"),
            ("outbound = \"delay=1\"", "outbound"),
            ("changes = [\"1s outbound\"]", "change"),
            ("mtu = 10", "mtu"),
            ("spin = \"-1us\"", "spin"),
            ("left = \"veth0\"", "left"),
            ("left_address = \"10.0.0.1\"", "left_address"),
        ] {
            let error = read(text).and_then(|raw| raw.resolve()).unwrap_err();
            assert!(error.to_string().contains(expected), "{text}: {error}");
            assert_eq!(error.exit_code(), 2);
        }
    }
}
