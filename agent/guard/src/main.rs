//! `sinemora-guard`: command line of the library.

use std::process::ExitCode;

use sinemora_agent::cli::settings;
use sinemora_agent::config::{Config, host_name};
use sinemora_agent::program;
use sinemora_guard::{GuardError, action, command, execute};

fn main() -> ExitCode {
    let matches = command().get_matches();
    let ports = || {
        settings(&matches, std::env::vars_os(), false)
            .and_then(|layers| Config::resolve(&layers, &host_name()))
            .map(|config| config.measurement_ports())
            .map_err(|error| GuardError::Usage(error.to_string()))
    };
    let done = action(&matches).and_then(|action| execute(&action, ports, &mut std::io::stdout()));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => program::fail("sinemora-guard", &error, error.exit_code()),
    }
}
