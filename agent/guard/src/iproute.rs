//! The programs `tc` and `ip` of iproute2, and what they say of interfaces and queueing disciplines.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::error::GuardError;
use super::shaping;

/// Folders of system programs, which are not in every user's PATH.
const SYSTEM_FOLDERS: [&str; 3] = ["/usr/sbin", "/sbin", "/usr/local/sbin"];

/// A queueing discipline as `tc -j qdisc show` prints it, with the counters that `-s` adds.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Qdisc {
    pub kind: String,
    pub handle: String,
    #[serde(default)]
    pub dev: String,
    #[serde(default)]
    pub root: bool,
    #[serde(default)]
    pub parent: String,
    #[serde(default)]
    pub bytes: u64,
    #[serde(default)]
    pub packets: u64,
    #[serde(default)]
    pub drops: u64,
    /// Bytes that wait.
    #[serde(default)]
    pub backlog: u64,
}

impl Qdisc {
    /// Return whether the guard made it.
    pub fn is_ours(&self) -> bool {
        self.root && self.kind == "htb" && self.handle == shaping::name(shaping::ROOT)
    }

    /// Return whether the kernel made it, so that it comes back by itself when another root is removed.
    pub fn is_default(&self) -> bool {
        self.handle == "0:"
    }
}

/// An interface as `ip -j -d link show` prints it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Link {
    pub link_type: String,
    #[serde(default)]
    pub gso_max_size: u64,
}

#[derive(Debug, Deserialize)]
struct Filter {
    options: Option<FilterOptions>,
}

#[derive(Debug, Deserialize)]
struct FilterOptions {
    bpf_name: Option<String>,
}

/// `tc` and `ip` of this machine.
#[derive(Debug)]
pub(super) struct Iproute {
    tc: PathBuf,
    ip: PathBuf,
}

impl Iproute {
    pub fn find() -> Result<Self, GuardError> {
        Ok(Self {
            tc: program("tc")?,
            ip: program("ip")?,
        })
    }

    /// Return the queueing disciplines of all interfaces, or of one, with their counters.
    pub fn qdiscs(&self, interface: Option<&str>) -> Result<Vec<Qdisc>, GuardError> {
        let of: Vec<&str> = interface
            .into_iter()
            .flat_map(|name| ["dev", name])
            .collect();
        let text = self.run(
            &self.tc,
            &[&["-s", "-j", "qdisc", "show"][..], &of].concat(),
        )?;
        parse(&text, "tc")
    }

    /// Return an interface; the error names those that there are.
    pub fn link(&self, interface: &str) -> Result<Link, GuardError> {
        let known: Vec<serde_json::Value> =
            parse(&self.run(&self.ip, &["-j", "-d", "link", "show"])?, "ip")?;
        let name =
            |link: &serde_json::Value| link["ifname"].as_str().unwrap_or_default().to_owned();
        match known.iter().find(|link| name(link) == interface) {
            Some(link) => Link::deserialize(link)
                .map_err(|error| GuardError::Failed(format!("ip: {interface}: {error}"))),
            None => Err(GuardError::Usage(format!(
                "there is no network interface {interface:?}; there are: {}",
                known.iter().map(name).collect::<Vec<_>>().join(", ")
            ))),
        }
    }

    /// Return the name of the classifier at the guard's root of an interface; `None` without one.
    pub fn classifier(&self, interface: &str) -> Result<Option<String>, GuardError> {
        let root = shaping::name(shaping::ROOT);
        let of = ["-j", "filter", "show", "dev", interface, "parent", &root];
        let filters: Vec<Filter> = parse(&self.run(&self.tc, &of)?, "tc")?;
        Ok(filters
            .into_iter()
            .filter_map(|filter| filter.options)
            .find_map(|options| options.bpf_name))
    }

    /// Execute commands of `tc`, in order, until one fails.
    pub fn change(&self, commands: &[String]) -> Result<(), GuardError> {
        let failed = |error: io::Error| GuardError::Failed(format!("tc: {error}"));
        let mut child = Command::new(&self.tc)
            .args(["-batch", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        if let Some(mut input) = child.stdin.take() {
            let _ = input.write_all((commands.join("\n") + "\n").as_bytes());
        }
        let done = child.wait_with_output().map_err(failed)?;
        if done.status.success() {
            Ok(())
        } else {
            Err(refused(&String::from_utf8_lossy(&done.stderr)))
        }
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Result<String, GuardError> {
        let done = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| GuardError::Failed(format!("{}: {error}", program.display())))?;
        if done.status.success() {
            Ok(String::from_utf8_lossy(&done.stdout).into_owned())
        } else {
            Err(refused(&String::from_utf8_lossy(&done.stderr)))
        }
    }
}

fn program(name: &str) -> Result<PathBuf, GuardError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(SYSTEM_FOLDERS.map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
        .ok_or_else(|| {
            GuardError::Failed(format!(
                "{name} is not installed; install iproute2 (Debian, Ubuntu) or iproute-tc (Fedora, RHEL, Amazon Linux)"
            ))
        })
}

fn parse<T: for<'a> Deserialize<'a>>(text: &str, program: &str) -> Result<Vec<T>, GuardError> {
    // An empty list is printed as nothing by some versions.
    let text = if text.trim().is_empty() { "[]" } else { text };
    serde_json::from_str(text).map_err(|error| {
        GuardError::Failed(format!("{program}: its output is not readable: {error}"))
    })
}

/// Return the error for what `tc` printed, with what to do where that is known.
fn refused(printed: &str) -> GuardError {
    let printed = printed.trim();
    let advice = if printed.contains("not permitted") {
        "; run it as root (CAP_NET_ADMIN and CAP_BPF)"
    } else if printed.contains("qdisc kind is unknown") {
        "; this kernel has no HTB: load or install the module sch_htb (Debian, Ubuntu: linux-modules-extra)"
    } else {
        ""
    };
    GuardError::Failed(format!("tc: {printed}{advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by iproute2 6.1 for an interface with the guard, and for one of a cloud's VM.
    const SHOWN: &str = r#"[
        {"kind":"htb","handle":"534d:","dev":"eth0","root":true,"refcnt":5,"options":{"r2q":10,"default":"0x10"},
         "bytes":10,"packets":1,"drops":0,"overlimits":0,"requeues":0,"backlog":0,"qlen":0},
        {"kind":"bfifo","handle":"8001:","dev":"eth0","parent":"534d:10","options":{"limit":1187500},
         "bytes":7,"packets":1,"drops":2,"overlimits":0,"requeues":0,"backlog":3,"qlen":0},
        {"kind":"mq","handle":"0:","dev":"eth1","root":true,"options":{}}]"#;

    #[test]
    fn ours_and_the_kernels_own_are_told_from_others() {
        let qdiscs: Vec<Qdisc> = parse(SHOWN, "tc").unwrap();
        let facts: Vec<_> = qdiscs
            .iter()
            .map(|one| (one.is_ours(), one.is_default()))
            .collect();
        assert_eq!(facts, [(true, false), (false, false), (false, true)]);
        assert_eq!((qdiscs[1].drops, qdiscs[1].backlog), (2, 3));
        assert!(parse::<Qdisc>("", "tc").unwrap().is_empty());
    }

    #[test]
    fn what_tc_refuses_comes_with_what_to_do() {
        for (printed, advice) in [
            ("RTNETLINK answers: Operation not permitted\n", "as root"),
            ("Error: Specified qdisc kind is unknown.", "sch_htb"),
        ] {
            assert!(refused(printed).to_string().contains(advice));
        }
        assert_eq!(refused("Error: odd.\n").to_string(), "tc: Error: odd.");
    }
}
