//! Sources of settings, strongest first: flag, environment, file, default.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::settings::{ENV_PREFIX, SETTINGS, Setting, find, nearest};
use super::{ConfigError, DEFAULT_CONFIG_FILE};

/// Settings as text, by key, each with its source.
#[derive(Debug, Default, Clone)]
pub struct Layers(BTreeMap<&'static str, RawValue>);

/// A setting as written, before validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawValue {
    pub text: String,
    pub source: Source,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Flag,
    Environment,
    File(PathBuf),
}

impl Layers {
    /// Add a setting unless it is set already: add the strongest source first.
    pub fn add(&mut self, setting: &'static Setting, text: impl Into<String>, source: Source) {
        self.0.entry(setting.key).or_insert_with(|| RawValue {
            text: text.into(),
            source,
        });
    }

    /// Add every `SINEMORA_AGENT_…` variable; fail on an unknown one, which is usually a typo.
    ///
    /// `SINEMORA_AGENT_CONFIG` names the file and is not a setting. An empty value counts as not set.
    pub fn add_environment(
        &mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Result<(), ConfigError> {
        for (name, value) in variables {
            let Some(name) = name.to_str().filter(|n| n.starts_with(ENV_PREFIX)) else {
                continue;
            };
            let key = name[ENV_PREFIX.len()..].to_lowercase();
            if key == "config" || value.is_empty() {
                continue;
            }
            let setting = find(&key).ok_or_else(|| unknown(name, &key, |s| s.env()))?;
            let text = value
                .into_string()
                .map_err(|_| ConfigError::new(name, "must be text in UTF-8"))?;
            self.add(setting, text, Source::Environment);
        }
        Ok(())
    }

    /// Add the file `chosen`, or the default file if it exists.
    pub fn add_file(&mut self, chosen: Option<&Path>) -> Result<(), ConfigError> {
        let path = chosen.unwrap_or(Path::new(DEFAULT_CONFIG_FILE));
        match std::fs::read_to_string(path) {
            Ok(text) => self.add_toml(&text, path),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound && chosen.is_none() => Ok(()),
            Err(e) => Err(ConfigError::new(
                "config",
                format!("names {}, which cannot be read: {e}", path.display()),
            )),
        }
    }

    fn add_toml(&mut self, text: &str, path: &Path) -> Result<(), ConfigError> {
        let at = path.display().to_string();
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| {
            ConfigError::new(&at, format!("is not TOML: {}", e.to_string().trim()))
        })?;
        for (key, value) in table {
            let setting = find(&key)
                .ok_or_else(|| unknown(&format!("{key} in {at}"), &key, |s| s.key.to_owned()))?;
            let text = match value {
                toml::Value::String(text) => text,
                toml::Value::Integer(number) => number.to_string(),
                toml::Value::Boolean(truth) => truth.to_string(),
                _ => {
                    return Err(ConfigError::new(
                        format!("{key} in {at}"),
                        "must be one value: text, number or bool",
                    ));
                }
            };
            self.add(setting, text, Source::File(path.to_owned()));
        }
        Ok(())
    }

    /// Return every setting that has a value.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &RawValue)> {
        self.0.iter().map(|(key, raw)| (*key, raw))
    }

    pub fn get(&self, key: &str) -> Option<&RawValue> {
        self.0.get(key)
    }
}

impl RawValue {
    /// Return the setting's name in its source: flag, variable, or key and file.
    pub fn name(&self, key: &str) -> String {
        match (&self.source, find(key)) {
            (Source::Flag, Some(setting)) => format!("--{}", setting.flag()),
            (Source::Environment, Some(setting)) => setting.env(),
            (Source::File(path), _) => format!("{key} in {}", path.display()),
            (_, None) => key.to_owned(),
        }
    }
}

fn unknown(name: &str, key: &str, shown: impl Fn(&Setting) -> String) -> ConfigError {
    let hint = match nearest(key).and_then(find) {
        Some(setting) => format!("did you mean {}?", shown(setting)),
        None => format!(
            "the settings are {}",
            SETTINGS.iter().map(shown).collect::<Vec<_>>().join(", ")
        ),
    };
    ConfigError::new(name, format!("is not a setting; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn toml(text: &str) -> Result<Layers, ConfigError> {
        let mut layers = Layers::default();
        layers
            .add_toml(text, Path::new("agent.toml"))
            .map(|()| layers)
    }

    fn variable(name: &str, value: &str) -> Result<Layers, ConfigError> {
        let mut layers = Layers::default();
        layers
            .add_environment([(name.into(), value.into())])
            .map(|()| layers)
    }

    #[test]
    fn an_empty_variable_is_not_set() {
        let layers = variable("SINEMORA_AGENT_TOKEN", "").unwrap();
        assert_eq!(layers.get("token"), None);
    }

    #[test]
    fn typos_get_a_suggestion() {
        let error = variable("SINEMORA_AGENT_BACKED", "x").unwrap_err();
        let expected =
            "SINEMORA_AGENT_BACKED is not a setting; did you mean SINEMORA_AGENT_BACKEND?";
        assert_eq!(error.to_string(), expected);
        let error = toml("event_prot = 1").unwrap_err();
        let expected = "event_prot in agent.toml is not a setting; did you mean event_port?";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn other_unknown_keys_get_all_settings() {
        let error = toml("guests = '192.0.2.0/24'").unwrap_err().to_string();
        let start = "guests in agent.toml is not a setting; the settings are backend, ";
        assert!(error.starts_with(start), "{error}");
        assert!(error.contains(", standard_clients, "), "{error}");
        let error = variable("SINEMORA_AGENT_GUESTS", "192.0.2.0/24")
            .unwrap_err()
            .to_string();
        let named = ", SINEMORA_AGENT_STANDARD_CLIENTS, ";
        assert!(error.contains(named), "{error}");
    }

    #[test]
    fn errors_of_a_file_name_the_cause() {
        let error = toml("name = ").unwrap_err().to_string();
        assert!(error.starts_with("agent.toml is not TOML: "), "{error}");
        let error = toml("[name]\na = 1").unwrap_err().to_string();
        assert!(error.contains("must be one value"), "{error}");
        let path = Path::new("/nonexistent/agent.toml");
        let error = Layers::default()
            .add_file(Some(path))
            .unwrap_err()
            .to_string();
        let start = "config names /nonexistent/agent.toml, which cannot be read";
        assert!(error.starts_with(start), "{error}");
    }
}
