//! `sinemora-transfer`: command line of the library.

use std::io::Write;
use std::process::ExitCode;

use clap::ArgMatches;
use sinemora_agent::cli::settings;
use sinemora_agent::config::write_settings;
use sinemora_agent::program::{self, end_on_panic, start_again, start_logging, stop_on_signals};
use sinemora_agent::run::{Ended, RunError};
use sinemora_agent::stop::Stop;
use sinemora_transfer::artifacts::read_artifact;
use sinemora_transfer::cli;
use sinemora_transfer::config::TransferConfig;
use sinemora_transfer::run::run;

const NAME: &str = "sinemora-transfer";

fn main() -> ExitCode {
    let matches = cli::command().get_matches();
    let Some((command, matches)) = matches.subcommand() else {
        return ExitCode::FAILURE;
    };
    match execute(command, matches) {
        Ok(code) => code,
        Err(error) => program::fail(NAME, &error, error.exit_code()),
    }
}

fn execute(command: &str, matches: &ArgMatches) -> Result<ExitCode, RunError> {
    let layers = settings(matches, std::env::vars_os(), command == "set")?;
    let config = TransferConfig::resolve(&layers)?;
    end_on_panic();
    start_logging(&config.agent);
    match command {
        "set" => {
            let path = write_settings(&layers, cli::config_file(matches).as_deref())?;
            let _ = writeln!(std::io::stdout(), "Wrote {}", path.display());
        }
        "read" => return Ok(read(&config, matches)),
        _ => {
            let stop = Stop::default();
            stop_on_signals(&stop, "stopping")?;
            if let Ended::AddressLost = run(&config, &stop)? {
                return Err(start_again(&std::env::args_os().collect::<Vec<_>>(), None));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Write an artifact to standard output.
fn read(config: &TransferConfig, matches: &ArgMatches) -> ExitCode {
    let Some(wanted) = cli::artifact(matches) else {
        return ExitCode::FAILURE;
    };
    let mut out = std::io::stdout().lock();
    let done = read_artifact(
        &config.agent.state_dir,
        &wanted.name,
        wanted.release.as_deref(),
        wanted.patience,
        &mut out,
    );
    match done {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => program::fail(NAME, &error, 1),
    }
}
