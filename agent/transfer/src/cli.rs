//! Command line: commands, and the settings that this program follows as flags.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, value_parser};
use sinemora_agent::cli::flags;
use sinemora_agent::config::Program;

const ABOUT: &str = "Brings files of the tenant to this VM, and sends bytes between VMs by order; next to sinemora-agent";

const EXAMPLES: &str = "\
Examples:
  sinemora-transfer run --artifacts
      Fetches artifacts, and serves their blocks to the other VMs of the mesh.
  sinemora-transfer read plug-in.tar > plug-in.tar
      Writes an artifact in order; begins before its last block has arrived.

It reads the settings, the environment and the identity of the agent of this VM, which enrols. Nothing is on unless
`artifacts` or `bulk_sender` is set.

Exit codes: 0 stopped as asked, 1 failed, 2 a setting is wrong";

/// Build the command line, for parsing and for `--help`.
pub fn command() -> Command {
    let with_settings = |command: Command| command.args(flags(Program::Transfer));
    Command::new("sinemora-transfer")
        .version(env!("CARGO_PKG_VERSION"))
        .about(ABOUT)
        .after_help(EXAMPLES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(110)
        .subcommand(with_settings(
            Command::new("run").about("Run what the settings switch on, until stopped"),
        ))
        .subcommand(with_settings(
            Command::new("read")
                .about("Write an artifact to standard output in order; begins before its last block has arrived")
                .args(artifact_arguments())
                .after_help("Exit codes: 0 written, 1 unknown, or a block does not arrive in time"),
        ))
        .subcommand(with_settings(
            Command::new("set")
                .about("Write the settings of the command line to the file and keep everything else in it")
                .after_help("Exit codes: 0 written, 2 a setting is wrong or the file cannot be written"),
        ))
}

/// An artifact to read, as the command line names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactArguments {
    pub name: String,
    /// `None`: the newest.
    pub release: Option<String>,
    /// Longest wait for a block.
    pub patience: Duration,
}

/// Return the artifact that `read` names.
pub fn artifact(matches: &ArgMatches) -> Option<ArtifactArguments> {
    Some(ArtifactArguments {
        name: matches.get_one::<String>("artifact")?.clone(),
        release: matches.get_one::<String>("release").cloned(),
        patience: Duration::from_secs(*matches.get_one::<u64>("wait")?),
    })
}

/// Return the file of settings that the command line names.
pub fn config_file(matches: &ArgMatches) -> Option<PathBuf> {
    matches.get_one::<PathBuf>("config").cloned()
}

fn artifact_arguments() -> [Arg; 3] {
    [
        Arg::new("artifact")
            .value_name("NAME")
            .required(true)
            .help("Name of the artifact"),
        Arg::new("release")
            .long("release")
            .value_name("RELEASE")
            .help("Release [default: the newest]"),
        Arg::new("wait")
            .long("wait")
            .value_name("SECONDS")
            .value_parser(value_parser!(u64))
            .default_value("60")
            .help("Longest wait for the next block"),
    ]
}

#[cfg(test)]
mod tests {
    use sinemora_agent::config::SETTINGS;

    use super::*;

    #[test]
    fn takes_its_settings_and_no_others() {
        let run = command().find_subcommand("run").unwrap().clone();
        let known: Vec<_> = run
            .get_arguments()
            .map(|arg| arg.get_id().as_str())
            .collect();
        for setting in SETTINGS {
            assert_eq!(
                known.contains(&setting.key),
                setting.is_of(Program::Transfer),
                "{}",
                setting.key
            );
        }
    }

    #[test]
    fn an_artifact_has_a_release_and_a_wait() {
        let line = [
            "sinemora-transfer",
            "read",
            "a.tar",
            "--release",
            "2",
            "--wait",
            "5",
        ];
        let matches = command().try_get_matches_from(line).unwrap();
        let (_, matches) = matches.subcommand().unwrap();
        let expected = ArtifactArguments {
            name: "a.tar".to_owned(),
            release: Some("2".to_owned()),
            patience: Duration::from_secs(5),
        };
        assert_eq!(artifact(matches), Some(expected));
    }
}
