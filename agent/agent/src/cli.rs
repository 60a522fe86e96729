//! Command line: commands, and every setting as a flag.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use crate::config::{
    ConfigError, DEFAULT_CONFIG_FILE, ENV_PREFIX, Layers, Program, SETTINGS, Setting, Source,
};

/// Command of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Measure until stopped; enrol first if needed.
    Run,
    /// Enrol with the backend, then end. `force`: replace an existing identity.
    Enrol { force: bool },
    /// Take this VM out of its meshes and forget its identity.
    Retire,
    /// Report whether this machine is ready to run.
    Check,
    /// Report the clocks and timestamps of this machine.
    Clocks,
    /// Write the settings of the command line to the file.
    Set,
}

const ABOUT: &str =
    "Measures the network delay between this VM and the others of its mesh, in each direction";

const EXAMPLES: &str = "\
Examples:
  sinemora-agent run --backend https://sinemora.example --token sme_…
      Enrols this VM and measures. Afterwards `sinemora-agent run` is enough.
  sinemora-agent check
      Shows the settings in force and tests everything the agent needs.

Set a setting in the file, in the environment or on the command line; the latter wins.
  event_port = 10319                 in /etc/sinemora/agent.toml
  SINEMORA_AGENT_EVENT_PORT=10319    in the environment
  --event-port 10319                 on the command line";

const EXIT_CODES: &str = "\
Exit codes: 0 stopped as asked, 1 failed, 2 a setting is wrong, 3 the backend refused the enrolment";

/// Build the command line, for parsing and for `--help`.
pub fn command() -> Command {
    let with_settings = |command: Command| command.args(flags(Program::Agent));
    let force = Arg::new("force")
        .long("force")
        .action(ArgAction::SetTrue)
        .help("Replace an identity this agent already has, for example after it was revoked");
    Command::new("sinemora-agent")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .after_help(EXAMPLES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(110)
        .subcommand(with_settings(
            Command::new("run").about("Measure until stopped; enrols first if a token is given").after_help(EXIT_CODES),
        ))
        .subcommand(with_settings(
            Command::new("enrol")
                .visible_alias("enroll")
                .about("Enrol this VM with the backend, then end")
                .arg(force)
                .after_help(EXIT_CODES),
        ))
        .subcommand(with_settings(
            Command::new("retire")
                .about("Take this VM out of its meshes for good and delete its identity, before the VM is removed")
                .after_help("Exit codes: 0 the VM is in no mesh any more, 1 failed, 2 a setting is wrong"),
        ))
        .subcommand(with_settings(
            Command::new("check")
                .about("Show the settings in force and test the backend, the ports and the state folder")
                .after_help("Exit codes: 0 ready, 1 not ready, 2 a setting is wrong"),
        ))
        .subcommand(with_settings(
            Command::new("clocks")
                .about("Show the clocks and timestamps of this machine, and why a better one is not used; changes nothing")
                .after_help("Exit codes: 0 shown, 2 a setting is wrong"),
        ))
        .subcommand(with_settings(
            Command::new("set")
                .about("Write the settings of the command line to the file and keep everything else in it")
                .after_help("Exit codes: 0 written, 2 a setting is wrong or the file cannot be written"),
        ))
}

/// Return the command, and the settings of flags, environment and file.
pub fn task_and_settings(
    matches: &ArgMatches,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> Result<(Task, Layers), ConfigError> {
    let Some((name, matches)) = matches.subcommand() else {
        return Err(ConfigError::new(
            "the command",
            "must be run, enrol, retire, check, clocks or set",
        ));
    };
    let task = match name {
        "enrol" => Task::Enrol {
            force: matches.get_flag("force"),
        },
        "retire" => Task::Retire,
        "check" => Task::Check,
        "clocks" => Task::Clocks,
        "set" => Task::Set,
        _ => Task::Run,
    };
    Ok((task, settings(matches, environment, task == Task::Set)?))
}

/// Return the settings of the flags of a command, the environment and the file; `may_lack_file`: it may be missing.
pub fn settings(
    matches: &ArgMatches,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
    may_lack_file: bool,
) -> Result<Layers, ConfigError> {
    let mut layers = Layers::default();
    for setting in SETTINGS {
        // A program has no flags for the settings of others.
        if let Ok(Some(text)) = matches.try_get_one::<String>(setting.key) {
            layers.add(setting, text, Source::Flag);
        }
    }
    let environment: Vec<(OsString, OsString)> = environment.into_iter().collect();
    let named = environment
        .iter()
        .find(|(name, _)| *name == *format!("{ENV_PREFIX}CONFIG"));
    let from_env = named
        .filter(|(_, value)| !value.is_empty())
        .map(|(_, value)| PathBuf::from(value));
    let file = matches.get_one::<PathBuf>("config").cloned().or(from_env);
    layers.add_environment(environment)?;
    layers.add_file(
        file.as_deref()
            .filter(|path| !may_lack_file || path.exists()),
    )?;
    Ok(layers)
}

/// Return the command line without its token, and the token: every user of a VM can read the former (proc(5)).
///
/// `None` when it has no token.
pub fn without_token(
    line: impl IntoIterator<Item = OsString>,
    matches: &ArgMatches,
) -> Option<(Vec<OsString>, String)> {
    let (_, matches) = matches.subcommand()?;
    let token = matches.try_get_one::<String>("token").ok()??.clone();
    let mut line = line.into_iter();
    let mut kept = Vec::new();
    while let Some(argument) = line.next() {
        if argument == "--token" {
            line.next();
        } else if !argument.as_encoded_bytes().starts_with(b"--token=") {
            kept.push(argument);
        }
    }
    Some((kept, token))
}

/// Return where a command or a flag of a former version has gone.
pub fn moved(line: impl IntoIterator<Item = OsString>) -> Option<String> {
    let words: Vec<String> = line
        .into_iter()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    match words.first().map(String::as_str) {
        Some("egress-guard") => {
            return Some("the egress guard is a separate program now: sinemora-guard".to_owned());
        }
        Some("read") => {
            return Some(
                "artifacts are read by sinemora-transfer now: sinemora-transfer read".to_owned(),
            );
        }
        _ => {}
    }
    let is_moved = |flag: &str| {
        let setting = SETTINGS.iter().find(|setting| setting.flag() == flag)?;
        (!setting.is_of(Program::Agent)).then_some(flag.to_owned())
    };
    let flags = words.iter().filter_map(|word| word.strip_prefix("--"));
    let flag = flags
        .map(|flag| flag.split('=').next().unwrap_or(flag))
        .find_map(is_moved)?;
    Some(format!(
        "--{flag} is a setting of sinemora-transfer now, which runs next to the agent"
    ))
}

/// Return the file of settings that the command line names.
pub fn config_file(matches: &ArgMatches) -> Option<PathBuf> {
    let (_, matches) = matches.subcommand()?;
    matches.get_one::<PathBuf>("config").cloned()
}

/// Return the flags of a program: its settings, and the file of them.
pub fn flags(program: Program) -> impl Iterator<Item = Arg> {
    let settings = SETTINGS
        .iter()
        .filter(move |setting| setting.is_of(program));
    settings.map(flag).chain([config_flag()])
}

fn flag(setting: &'static Setting) -> Arg {
    let default = setting
        .default
        .map_or(String::new(), |default| format!(" [default: {default}]"));
    let arg = Arg::new(setting.key)
        .long(setting.flag())
        .value_name(setting.value_name)
        .help(format!(
            "{}{default} [env: {}]",
            setting.help,
            setting.env()
        ));
    if setting.is_switch {
        arg.num_args(0..=1).default_missing_value("true")
    } else {
        arg
    }
}

/// Return the flag that names the file of settings.
pub fn config_flag() -> Arg {
    let help = format!(
        "File of settings (TOML) [default: {DEFAULT_CONFIG_FILE}, if it exists] [env: {ENV_PREFIX}CONFIG]"
    );
    Arg::new("config")
        .long("config")
        .value_name("FILE")
        .value_parser(value_parser!(PathBuf))
        .help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str], env: &[(&str, &str)]) -> Result<(Task, Layers), ConfigError> {
        let matches = command()
            .try_get_matches_from([&["sinemora-agent"], args].concat())
            .unwrap();
        task_and_settings(&matches, env.iter().map(|(k, v)| (k.into(), v.into())))
    }

    #[test]
    fn takes_the_token_off_the_command_line() {
        for given in [
            ["--token", "sme_0123456789"].as_slice(),
            &["--token=sme_0123456789"],
        ] {
            let line = [&["sinemora-agent", "run"], given, &["--name", "db-1"]].concat();
            let matches = command().try_get_matches_from(&line).unwrap();
            let (kept, token) = without_token(line.iter().map(Into::into), &matches).unwrap();
            assert_eq!(kept, ["sinemora-agent", "run", "--name", "db-1"]);
            assert_eq!(token, "sme_0123456789");
        }
        let line = ["sinemora-agent", "run", "--name", "token"];
        let matches = command().try_get_matches_from(line).unwrap();
        assert_eq!(without_token(line.map(Into::into), &matches), None);
    }

    #[test]
    fn tasks() {
        let task = |args: &[&str]| parse(args, &[]).unwrap().0;
        assert_eq!(task(&["run"]), Task::Run);
        assert_eq!(task(&["enrol"]), Task::Enrol { force: false });
        assert_eq!(task(&["enroll", "--force"]), Task::Enrol { force: true });
        assert_eq!(task(&["check"]), Task::Check);
        assert_eq!(task(&["clocks"]), Task::Clocks);
        assert_eq!(task(&["set"]), Task::Set);
    }

    #[test]
    fn what_has_moved_is_named() {
        let artifacts = "--artifacts is a setting of sinemora-transfer";
        let bulk = "--bulk-max-s is a setting of sinemora-transfer";
        for (line, program) in [
            ("egress-guard on --interface eth0", "sinemora-guard"),
            ("read plug-in.tar", "sinemora-transfer read"),
            ("run --artifacts", artifacts),
            ("run --name a --bulk-max-s=9", bulk),
        ] {
            let words = ["sinemora-agent"].into_iter().chain(line.split(' '));
            let sentence = moved(words.map(Into::into)).unwrap();
            assert!(sentence.contains(program), "{sentence}");
        }
        let line = ["sinemora-agent", "run", "--name", "read"];
        assert_eq!(moved(line.map(Into::into)), None);
    }

    #[test]
    fn a_switch_takes_a_value_or_none() {
        for (args, expected) in [
            (&["run", "--insecure-http"][..], "true"),
            (&["run", "--insecure-http=false"], "false"),
        ] {
            let (_, layers) = parse(args, &[]).unwrap();
            assert_eq!(layers.get("insecure_http").unwrap().text, expected);
        }
    }

    #[test]
    fn help_names_every_setting_its_default_and_its_variable() {
        let mut command = command();
        let run = command.find_subcommand_mut("run").unwrap();
        let help = run.render_long_help().to_string();
        for setting in SETTINGS {
            let is_shown = help.contains(&format!("--{} ", setting.flag()))
                || help.contains(&format!("--{}[", setting.flag()));
            assert_eq!(is_shown, setting.is_of(Program::Agent), "{}", setting.key);
            let has_variable = help.contains(&format!("{}]", setting.env()));
            assert_eq!(has_variable, is_shown, "{}", setting.key);
        }
    }
}
