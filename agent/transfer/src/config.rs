//! Settings of transfers, in the file of the agent.

use sinemora_agent::config::values::{get, port, size, truth, within};
use sinemora_agent::config::{Config, ConfigError, Layers, host_name};

use crate::bulk;

/// Validated settings.
#[derive(Debug, Clone)]
pub struct TransferConfig {
    /// Backend, addresses, state folder and log, as the agent has them.
    pub agent: Config,
    /// TCP port at which blocks are served; `None` if artifacts are off.
    pub artifacts_port: Option<u16>,
    /// `None` if the bulk sender is off.
    pub bulk: Option<bulk::Limits>,
}

impl TransferConfig {
    /// Validate the settings.
    pub fn resolve(layers: &Layers) -> Result<Self, ConfigError> {
        let is_on = |key| Ok(get(layers, key, truth)?.unwrap_or(false));
        let artifacts_port = get(layers, "artifacts_port", port)?.unwrap_or(8421);
        let mbit = get(layers, "bulk_max_mbit", |text| within(text, 1, 100_000))?.unwrap_or(1000);
        let limits = bulk::Limits {
            port: get(layers, "bulk_port", port)?.unwrap_or(8422),
            bytes: get(layers, "bulk_max_size", size)?.unwrap_or(1 << 30),
            bytes_per_s: u64::from(mbit) * 125_000,
            seconds: get(layers, "bulk_max_s", |text| within(text, 1, 600))?
                .unwrap_or(120)
                .into(),
        };
        Ok(Self {
            agent: Config::resolve(layers, &host_name())?,
            artifacts_port: is_on("artifacts")?.then_some(artifacts_port),
            bulk: is_on("bulk_sender")?.then_some(limits),
        })
    }
}

#[cfg(test)]
mod tests {
    use sinemora_agent::config::{Source, find};

    use super::*;

    fn config(settings: &[(&str, &str)]) -> Result<TransferConfig, ConfigError> {
        let mut layers = Layers::default();
        for (key, text) in settings {
            layers.add(find(key).unwrap(), *text, Source::Flag);
        }
        TransferConfig::resolve(&layers)
    }

    #[test]
    fn defaults_are_those_of_the_settings_table() {
        let none = config(&[]).unwrap();
        assert_eq!((none.artifacts_port, none.bulk), (None, None));
        let shown = |key: &str| find(key).unwrap().default.unwrap();
        assert_eq!(shown("artifacts"), "false");
        assert_eq!(shown("bulk_sender"), "false");
        let all = config(&[("artifacts", "true"), ("bulk_sender", "true")]).unwrap();
        let bulk = all.bulk.unwrap();
        let port = all.artifacts_port.unwrap();
        assert_eq!(port.to_string(), shown("artifacts_port"));
        assert_eq!(bulk.port.to_string(), shown("bulk_port"));
        assert_eq!(Ok(bulk.bytes), size(shown("bulk_max_size")));
        let mbit: u64 = shown("bulk_max_mbit").parse().unwrap();
        assert_eq!(bulk.bytes_per_s, mbit * 125_000);
        assert_eq!(bulk.seconds.to_string(), shown("bulk_max_s"));
    }

    #[test]
    fn a_wrong_value_names_its_setting() {
        for (key, text, expected) in [
            ("artifacts_port", "0", "artifacts-port must be a port"),
            ("bulk_max_mbit", "0", "a whole number from 1 to 100000"),
            ("bulk_max_s", "601", "a whole number from 1 to 600"),
        ] {
            let error = config(&[(key, text)]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
            assert!(error.contains(&find(key).unwrap().flag()), "{error}");
        }
    }
}
