//! Command line of the egress guard.

use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use sinemora_agent::cli::config_flag;

use super::error::GuardError;
use super::policy::{Order, Policy, code_points};
use super::shaping::{Shaping, parse_rate};

const ABOUT: &str =
    "Send the packets of short flows first, in the order that `sinemora tail-lab` found";

const EXAMPLES: &str = "\
Examples:
  sinemora-guard plan --interface eth0 --rate 1gbit --mode log-priority --alpha 1.5 --boundaries=-9.7,-5.2,0.4
      Prints the commands and changes nothing.
  sudo sinemora-guard on --interface eth0 --rate 1gbit --mode strict-priority --boundaries 20000,300000
      Flows that sent less than 20 kB go first, then those below 300 kB, then all others.
  sinemora-guard status
  sudo sinemora-guard off

The guard needs root, tc, and a kernel with HTB and eBPF. It ends with the machine; the unit sinemora-guard keeps it.

Exit codes: 0 done, 1 failed, 2 an argument is wrong";

/// Action of the command.
#[derive(Debug, PartialEq)]
pub enum Action {
    /// Print what `On` would do.
    Plan(Box<Settings>),
    On(Box<Settings>),
    /// Remove the guard from one interface, or from all that have it.
    Off(Option<String>),
    Status(Option<String>),
}

/// Settings of the guard.
#[derive(Debug, PartialEq)]
pub struct Settings {
    pub interface: String,
    pub policy: Policy,
    pub(super) shaping: Shaping,
}

/// Build the command line.
pub fn command() -> Command {
    let interface = || {
        Arg::new("interface")
            .long("interface")
            .value_name("NAME")
            .help("Network interface that packets leave by")
    };
    let one = |name: &'static str, about: &'static str| {
        Command::new(name)
            .about(about)
            .arg(interface().required(true))
            .args(settings())
            .after_help(EXAMPLES)
    };
    let all = |name: &'static str, about: &'static str| {
        Command::new(name)
            .about(about)
            .arg(interface().help("Network interface [default: all that have the guard]"))
    };
    Command::new("sinemora-guard")
        .version(env!("CARGO_PKG_VERSION"))
        .max_term_width(110)
        .about(ABOUT)
        .after_help(EXAMPLES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(one("plan", "Print what `on` would do, and change nothing"))
        .subcommand(one("on", "Start, or replace a guard that is on"))
        .subcommand(all("off", "Remove the guard and everything it made"))
        .subcommand(all("status", "Show the guard and what each class has sent"))
        // Of the settings it uses the ports of measurements, from the file and the environment.
        .arg(config_flag().global(true))
}

fn settings() -> [Arg; 7] {
    let arg = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    [
        arg(
            "rate",
            "RATE",
            "Rate of the bottleneck, for example 950mbit; the guard sends at 95 % of it, so that the queue is here",
        )
        .required(true),
        arg("mode", "MODE", "strict-priority: by the bytes that a flow sent. log-priority: by log2 of age / bytes^α")
            .value_parser(["strict-priority", "log-priority"])
            .required(true),
        arg("boundaries", "LIST", "Boundaries of the classes, ascending: bytes for strict-priority, log2 of priorities for log-priority")
            .allow_hyphen_values(true)
            .required(true),
        arg("alpha", "ALPHA", "α of log-priority, 0 to 1e15 (infinity)")
            .value_parser(value_parser!(f64))
            .allow_hyphen_values(true),
        arg("floor", "PERCENT", "Share of the link that each class but the highest has for itself, so that none starves")
            .value_parser(value_parser!(u64).range(1..=10))
            .default_value("2"),
        arg("flow-gap", "MS", "Pause after which a connection counts as a new flow")
            .value_parser(value_parser!(u64).range(1..=3_600_000))
            .default_value("1000"),
        arg("dscp", "LIST", "Marks of the classes, highest class first; auto, or keep to leave packets as they are")
            .default_value("auto"),
    ]
}

/// Return what the command line asks for.
pub fn action(matches: &ArgMatches) -> Result<Action, GuardError> {
    let usage = |text: &str| GuardError::Usage(text.to_owned());
    let (name, matches) = matches
        .subcommand()
        .ok_or_else(|| usage("say plan, on, off or status"))?;
    let interface = matches.get_one::<String>("interface").cloned();
    match name {
        "off" => return Ok(Action::Off(interface)),
        "status" => return Ok(Action::Status(interface)),
        _ => {}
    }
    let text = |name: &str| {
        matches
            .get_one::<String>(name)
            .map(String::as_str)
            .ok_or_else(|| GuardError::Usage(format!("--{name} is missing")))
    };
    let number = |name: &str| matches.get_one::<u64>(name).copied().unwrap_or_default();
    let order = Order::parse(
        text("mode")?,
        matches.get_one::<f64>("alpha").copied(),
        text("boundaries")?,
    )
    .map_err(GuardError::Usage)?;
    let classes = order.classes();
    let settings = Box::new(Settings {
        interface: interface.ok_or_else(|| usage("--interface is missing"))?,
        shaping: Shaping {
            rate_bit: parse_rate(text("rate")?).map_err(GuardError::Usage)?,
            classes,
            floor_percent: number("floor"),
        },
        policy: Policy {
            order,
            code_points: code_points(text("dscp")?, classes).map_err(GuardError::Usage)?,
            flow_gap: Duration::from_millis(number("flow-gap")),
        },
    });
    Ok(match name {
        "plan" => Action::Plan(settings),
        _ => Action::On(settings),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &str) -> Result<Action, GuardError> {
        let words = ["sinemora-guard"].into_iter().chain(arguments.split(' '));
        action(&command().try_get_matches_from(words).unwrap())
    }

    #[test]
    fn settings_of_both_modes() {
        let given = "--mode log-priority --alpha 1.5 --boundaries -9.5,-2,4 --floor 3";
        let Ok(Action::On(log)) = parse(&format!("on --interface eth0 --rate 1gbit {given}"))
        else {
            panic!("not on");
        };
        let order = Order::LogPriority {
            alpha: 1.5,
            boundaries: vec![-9.5, -2.0, 4.0],
        };
        assert_eq!(log.policy.order, order);
        assert_eq!(log.policy.code_points, Some(vec![24, 16, 10, 0]));
        assert_eq!(log.policy.flow_gap, Duration::from_secs(1));
        let expected = Shaping {
            rate_bit: 1_000_000_000,
            classes: 4,
            floor_percent: 3,
        };
        assert_eq!(log.shaping, expected);
        let given = "--rate 40mbit --mode strict-priority --boundaries 20000 --dscp keep";
        let Ok(Action::Plan(strict)) = parse(&format!("plan --interface eth0 {given}")) else {
            panic!("not a plan");
        };
        assert_eq!(strict.policy.code_points, None);
        let bytes = vec![20_000];
        assert_eq!(strict.policy.order, Order::StrictPriority { bytes });
    }

    #[test]
    fn a_wrong_argument_is_named() {
        for (named, arguments) in [
            ("--rate", "fast --mode strict-priority --boundaries 1"),
            (
                "--boundaries",
                "1gbit --mode strict-priority --boundaries 5,1",
            ),
            ("--alpha", "1gbit --mode log-priority --boundaries 5"),
            (
                "--dscp",
                "1gbit --mode strict-priority --boundaries 5 --dscp 1",
            ),
        ] {
            let error = parse(&format!("on --interface eth0 --rate {arguments}")).unwrap_err();
            assert!(error.to_string().contains(named), "{error}");
            assert_eq!(error.exit_code(), 2);
        }
    }

    #[test]
    fn off_and_status_take_an_interface_or_none() {
        assert_eq!(parse("off"), Ok(Action::Off(None)));
        let of_one = Action::Status(Some("e0".to_owned()));
        assert_eq!(parse("status --interface e0"), Ok(of_one));
    }
}
