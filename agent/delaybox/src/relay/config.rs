//! Configuration of a relay: a TOML file with hosts, ports and the links between hosts.

use std::collections::HashSet;
use std::net::Ipv4Addr;
use std::path::Path;

use serde::Deserialize;

use crate::appliance::Options;
use crate::config::{read_toml, spin_of};
use crate::error::Error;
use crate::line::settings::{Change, Order, Scheduled, Settings};

/// A host name that stands for all.
const ANY: &str = "*";

/// Host of a relay. Links name hosts by `name` or by `group`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    pub name: String,
    #[serde(default)]
    pub group: String,
    /// The address that programs of the host use.
    pub inner: Ipv4Addr,
    /// The address that other hosts send to.
    pub outer: Ipv4Addr,
}

/// Settings of the lines from some hosts to others; of several links for one line, each adds to those before.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub from: String,
    pub to: String,
    pub words: String,
}

/// File as it is written; absent is not set.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RawRelay {
    pub hosts: Vec<Host>,
    pub ports: Vec<u16>,
    pub links: Vec<Link>,
    /// `30s FROM TO WORDS`.
    pub changes: Vec<String>,
    pub seed: Option<u64>,
    pub spin: Option<String>,
    pub capacity: Option<usize>,
    pub realtime: Option<bool>,
}

/// Complete configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Relay {
    pub hosts: Hosts,
    pub ports: Vec<u16>,
    pub options: Options,
}

/// Hosts of a relay, and the numbers of the lines between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts(Vec<Host>);

impl Hosts {
    /// Return all hosts, in the order of the file.
    pub fn all(&self) -> &[Host] {
        &self.0
    }

    /// Return the number of lines; those of a host to itself carry nothing.
    pub fn lines(&self) -> usize {
        self.0.len() * self.0.len()
    }

    /// Return the number of the line between two hosts, given by their places.
    pub fn line(&self, from: usize, to: usize) -> usize {
        from * self.0.len() + to
    }

    /// Return the places of both ends of a line.
    pub fn places_of(&self, line: usize) -> (usize, usize) {
        (line / self.0.len(), line % self.0.len())
    }

    /// Return both ends of a line; `None` for a line of a host to itself.
    pub fn ends_of(&self, line: usize) -> Option<(&Host, &Host)> {
        let (from, to) = self.places_of(line);
        (from != to).then(|| (&self.0[from], &self.0[to]))
    }

    /// Parse `FROM TO WORDS`: both are names of hosts or groups, or `*`.
    pub fn order(&self, text: &str) -> Result<Order, String> {
        let mut words = text.trim().splitn(3, char::is_whitespace);
        match (words.next(), words.next(), words.next()) {
            (Some(from), Some(to), Some(change)) => {
                let change = Change::parse(change)?;
                if change.mark.or(change.clear).is_some() {
                    return Err(format!(
                        "{text:?}: a relay passes on data without IP headers; mark= and clear= need a box (delaybox run)"
                    ));
                }
                Ok(Order {
                    lines: self.lines_between(from, to)?,
                    change,
                })
            }
            _ => Err(format!(
                "{text:?} is no change; write: FROM TO add=100us, with names of hosts or groups, or {ANY}"
            )),
        }
    }

    fn lines_between(&self, from: &str, to: &str) -> Result<Vec<usize>, String> {
        let (from, to) = (self.places_named(from)?, self.places_named(to)?);
        let pairs = from.iter().flat_map(|a| to.iter().map(move |b| (*a, *b)));
        Ok(pairs
            .filter(|(from, to)| from != to)
            .map(|(from, to)| self.line(from, to))
            .collect())
    }

    fn places_named(&self, name: &str) -> Result<Vec<usize>, String> {
        let named = |host: &Host| name == ANY || host.name == name || host.group == name;
        let places: Vec<usize> = (0..self.0.len())
            .filter(|place| named(&self.0[*place]))
            .collect();
        if places.is_empty() {
            return Err(format!("{name:?} is no host and no group"));
        }
        Ok(places)
    }
}

impl RawRelay {
    /// Read a TOML file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        read_toml(path)
    }

    /// Validate the settings; errors name the setting.
    pub fn resolve(self) -> Result<Relay, Error> {
        let wrong = |key: &'static str| move |why: String| Error::setting(key, why);
        self.check_addresses().map_err(wrong("hosts"))?;
        if self.ports.is_empty() || self.ports.contains(&0) {
            let why = "write the UDP ports to relay, for example ports = [319, 320]";
            return Err(Error::setting("ports", why));
        }
        let hosts = Hosts(self.hosts);
        let mut settings = vec![Settings::default(); hosts.lines()];
        for link in &self.links {
            let text = format!("{} {} {}", link.from, link.to, link.words);
            let order = hosts.order(&text).map_err(wrong("links"))?;
            for line in order.lines {
                settings[line] = order.change.applied_to(&settings[line]);
            }
        }
        let schedule = self.changes.iter().map(|text| {
            Scheduled::parse(text, |order| hosts.order(order)).map_err(wrong("changes"))
        });
        Ok(Relay {
            ports: self.ports,
            options: Options {
                settings,
                schedule: schedule.collect::<Result<_, _>>()?,
                seed: self.seed.unwrap_or(1),
                spin_ns: spin_of(self.spin.as_deref())?,
                capacity: self.capacity.unwrap_or(10_000).max(1),
                fifo: self.realtime.unwrap_or(true),
            },
            hosts,
        })
    }

    fn check_addresses(&self) -> Result<(), String> {
        if self.hosts.len() < 2 {
            return Err("a relay needs two hosts or more".to_owned());
        }
        let mut names = HashSet::new();
        let mut addresses = HashSet::new();
        for host in &self.hosts {
            if !names.insert(&host.name) {
                return Err(format!("{:?} stands twice", host.name));
            }
            for address in [host.inner, host.outer] {
                if !addresses.insert(address) {
                    return Err(format!(
                        "{address} stands twice; each host needs two addresses"
                    ));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        ports = [20319]
        hosts = [
            { name = "a-1", group = "a", inner = "127.0.1.1", outer = "127.0.2.1" },
            { name = "a-2", group = "a", inner = "127.0.1.2", outer = "127.0.2.2" },
            { name = "b-1", group = "b", inner = "127.0.1.3", outer = "127.0.2.3" },
        ]
        links = [
            { from = "*", to = "*", words = "delay=40us" },
            { from = "a", to = "b", words = "delay=200us" },
            { from = "a-1", to = "b-1", words = "loss=1%" },
        ]
        changes = ["30s b a add=100us"]
    "#;

    fn resolve(text: &str) -> Result<Relay, Error> {
        let raw: RawRelay =
            toml::from_str(text).map_err(|error| Error::setting("file", error.to_string()))?;
        raw.resolve()
    }

    #[test]
    fn later_links_add_to_earlier_ones() {
        let relay = resolve(FILE).unwrap();
        let settings = |from, to| &relay.options.settings[relay.hosts.line(from, to)];
        assert_eq!(
            settings(0, 1).delay.to_string(),
            settings(2, 0).delay.to_string()
        );
        assert_ne!(settings(0, 2).delay, settings(0, 1).delay);
        assert_eq!(settings(0, 2).delay, settings(1, 2).delay);
        assert_eq!((settings(0, 2).loss, settings(1, 2).loss), (0.01, 0.0));
        assert_eq!(relay.options.schedule[0].order.lines, [6, 7]);
    }

    #[test]
    fn a_wrong_setting_is_named() {
        for (from, to, expected) in [
            ("ports = [20319]", "ports = []", "ports"),
            ("\"a-2\"", "\"a-1\"", "stands twice"),
            ("127.0.2.2", "127.0.1.1", "127.0.1.1 stands twice"),
            ("from = \"a\"", "from = \"c\"", "no host and no group"),
            ("delay=200us", "delay=soon", "links"),
            ("30s b a", "soon b a", "changes"),
            ("delay=200us", "mark=1%", "need a box"),
            ("changes", "chances", "chances"),
        ] {
            let error = resolve(&FILE.replacen(from, to, 1)).unwrap_err();
            assert!(error.to_string().contains(expected), "{to}: {error}");
            assert_eq!(error.exit_code(), 2);
        }
    }
}
