//! Command line.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::config::{Config, RawConfig};
use crate::error::Error;
use crate::relay::{RawRelay, Relay};
use crate::units;
use crate::verify::Request;

const ABOUT: &str = "A latency appliance in user space: chosen delay, loss and rate between two network namespaces \
                     or interfaces, each direction on its own, packets never out of order";

const EXAMPLES: &str = "\
Examples:
  delaybox run --both delay=100us
      Two new namespaces, 100 µs each way. Says where they are: nsenter --net=PATH ping 10.77.0.2
  delaybox run --left netns:a --right netns:b --outbound 'delay=normal:200us,20us loss=1%' --change '30s outbound add=100us'
      Between two namespaces that exist, and from 30 s on slower in one direction
  delaybox run --left if:veth1 --right if:veth3 --inbound 'rate=100mbit burst=5kB queue=250kB'
      Between two interfaces that exist
  unshare -Urn delaybox verify --outbound delay=200us --inbound delay=pareto:300us,50us
      Injected against achieved, without root
  delaybox relay hosts.toml
      Between addresses of this machine, without root: every pair of hosts has its own delay

Words of a direction (outbound is left to right, inbound is right to left):
  delay=   constant:100us (or 100us), uniform:50us,150us, normal:MEAN,SD, pareto:MEAN,SD[,SHAPE],
           pareto-normal:MEAN,SD, table:FILE.csv (column delay_us: samples; with column cumulative: shares)
  add=     added to the delay, may be negative
  loss=    share of packets lost, independently: 1%
  rate=    100mbit, with burst=5kB and queue=250kB; none
Draws below zero count as zero.";

const RUN_OUTPUT: &str = "\
Standard output: one JSON object when it is ready (where the namespaces are), one with the statistics at the end.
SIGTERM or SIGINT stop it. With --control, lines on standard input change it while it runs. It answers each with a
JSON object: `outbound add=100us`, `statistics`, `reset` (clears the durations), `stop`. The end of the input stops it.
Exit codes: 0 stopped as asked, 1 failed, 2 a setting is wrong";

const RELAY_FILE: &str = "\
Example of a file:
  ports = [319, 320]
  hosts = [
    { name = \"a-1\", group = \"a\", inner = \"127.0.1.1\", outer = \"127.0.2.1\" },
    { name = \"b-1\", group = \"b\", inner = \"127.0.1.2\", outer = \"127.0.2.2\" },
  ]
  links = [{ from = \"a\", to = \"b\", words = \"delay=normal:200us,10us\" }]
  changes = [\"30s a b add=400us\"]
Programs of a host use its inner address; all others send to its outer one. Links and changes name hosts, groups or *.
Also: seed, spin, capacity, realtime. With --control, lines on standard input change it: `a b add=400us`, `statistics`,
`reset`, `stop`.
Exit codes: 0 stopped as requested, 1 failed, 2 a setting is wrong";

/// Command of delaybox.
#[derive(Debug)]
pub enum Task {
    /// Pass packets on until stopped.
    Run { config: Config, control: bool },
    /// Compare injected with achieved.
    Verify { request: Request, json: bool },
    /// Pass on the packets between addresses of this machine until stopped.
    Relay { relay: Relay, control: bool },
}

/// Build the command line, for parsing and for `--help`.
pub fn command() -> Command {
    Command::new("delaybox")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .after_help(EXAMPLES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(110)
        .subcommand(
            Command::new("run")
                .about("Pass packets on until stopped")
                .args(settings())
                .arg(text("left", "PLACE", "Left side: new, netns:NAME or netns:/path (a TAP interface is made there), if:INTERFACE[@NAMESPACE] [default: new]"))
                .arg(text("right", "PLACE", "Right side, alike [default: new]"))
                .arg(Arg::new("change").long("change").value_name("WHEN WHERE WHAT").action(ArgAction::Append)
                    .help("Change while it runs: '30s outbound add=100us'; may be given more than once"))
                .arg(control())
                .after_help(RUN_OUTPUT),
        )
        .subcommand(
            Command::new("verify")
                .about("Compare injected with achieved delay: the box's own times and probes through it")
                .args(settings())
                .arg(Arg::new("probes").long("probes").value_name("COUNT").default_value("5000")
                    .value_parser(value_parser!(u32).range(100..=1_000_000)).help("Probes in each direction"))
                .arg(text("interval", "TIME", "Mean time between probes [default: 500us]"))
                .arg(Arg::new("json").long("json").action(ArgAction::SetTrue)
                    .help("Print one JSON object instead of a table")),
        )
        .subcommand(
            Command::new("relay")
                .about("Pass on UDP packets between addresses of this machine, each pair with its own delay")
                .arg(Arg::new("file").value_name("FILE").required(true).value_parser(value_parser!(PathBuf))
                    .help("Hosts, ports and links as TOML"))
                .arg(control())
                .after_help(RELAY_FILE),
        )
}

fn control() -> Arg {
    Arg::new("control")
        .long("control")
        .action(ArgAction::SetTrue)
        .help("Follow lines on standard input")
}

fn settings() -> Vec<Arg> {
    vec![
        Arg::new("config")
            .long("config")
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .help("Settings as TOML, with the names of the flags: both, outbound, inbound, changes, seed, …"),
        text("both", "WORDS", "What both directions do, for example 'delay=100us loss=1%'"),
        text("outbound", "WORDS", "What the direction left to right does, on top of --both"),
        text("inbound", "WORDS", "What the direction right to left does, on top of --both"),
        text("left-address", "ADDRESS/LENGTH", "Address of a made interface [default: 10.77.0.1/24]"),
        text("right-address", "ADDRESS/LENGTH", "Address of a made interface [default: 10.77.0.2/24]"),
        Arg::new("mtu").long("mtu").value_name("BYTES").value_parser(value_parser!(u32))
            .help("Largest packet of a made interface [default: 1500]"),
        Arg::new("seed").long("seed").value_name("NUMBER").value_parser(value_parser!(u64))
            .help("The same seed draws the same delays and losses [default: 1]"),
        text("spin", "TIME", "Spin so long before a packet is due, for precision; always: never sleep [default: 60us]"),
        Arg::new("capacity").long("capacity").value_name("PACKETS").value_parser(value_parser!(usize))
            .help("Packets a direction may hold; more are dropped and counted [default: 100000]"),
        Arg::new("realtime").long("realtime").value_name("BOOL").value_parser(value_parser!(bool))
            .help("Ask for real-time scheduling; without the right to it the box runs as normal [default: true]"),
    ]
}

fn text(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name(value)
        .help(help)
        .allow_hyphen_values(true)
}

/// Return the command of a parsed command line.
pub fn task(matches: &ArgMatches) -> Result<Task, Error> {
    let (name, matches) = matches
        .subcommand()
        .ok_or_else(|| Error::setting("the command", "must be run, verify or relay"))?;
    if let ("relay", Some(path)) = (name, matches.try_get_one::<PathBuf>("file").ok().flatten()) {
        return Ok(Task::Relay {
            relay: RawRelay::read(path)?.resolve()?,
            control: matches.get_flag("control"),
        });
    }
    let file = match matches.get_one::<PathBuf>("config") {
        Some(path) => RawConfig::read(path)?,
        None => RawConfig::default(),
    };
    let config = raw_config(matches).over(file).resolve()?;
    if name == "run" {
        let control = matches.get_flag("control");
        return Ok(Task::Run { config, control });
    }
    let interval = matches
        .get_one::<String>("interval")
        .map_or("500us", String::as_str);
    let interval_ns =
        units::positive_ns(interval).map_err(|why| Error::setting("--interval", why))?;
    Ok(Task::Verify {
        request: Request {
            config,
            probes: matches.get_one("probes").copied().unwrap_or(5_000),
            interval_ns,
        },
        json: matches.get_flag("json"),
    })
}

fn raw_config(matches: &ArgMatches) -> RawConfig {
    let text = |name: &str| matches.try_get_one::<String>(name).ok().flatten().cloned();
    RawConfig {
        left: text("left"),
        right: text("right"),
        left_address: text("left-address"),
        right_address: text("right-address"),
        mtu: matches.get_one("mtu").copied(),
        outbound: text("outbound"),
        inbound: text("inbound"),
        both: text("both"),
        changes: matches
            .try_get_many::<String>("change")
            .ok()
            .flatten()
            .map(|changes| changes.cloned().collect())
            .unwrap_or_default(),
        seed: matches.get_one("seed").copied(),
        spin: text("spin"),
        capacity: matches.get_one("capacity").copied(),
        realtime: matches.get_one("realtime").copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Task, Error> {
        task(
            &command()
                .try_get_matches_from([&["delaybox"], args].concat())
                .unwrap(),
        )
    }

    #[test]
    fn the_examples_of_the_help_can_be_run() {
        let lines = EXAMPLES.lines();
        let commands = lines.filter_map(|line| line.split_once("delaybox "));
        let examples: Vec<&str> = commands.map(|(_, args)| args).collect();
        assert_eq!(examples.len(), 5);
        // The last one, `relay`, reads a file.
        for example in &examples[..4] {
            let mut args = Vec::new();
            for (at, part) in example.split('\'').enumerate() {
                if at % 2 == 1 {
                    args.push(part); // Between quotation marks.
                } else {
                    args.extend(part.split_whitespace());
                }
            }
            parse(&args).unwrap();
        }
    }

    #[test]
    fn a_wrong_word_is_told_with_its_place() {
        let error = parse(&["run", "--outbound", "delay=soon"]).unwrap_err();
        assert!(error.to_string().starts_with("outbound: "), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
}
