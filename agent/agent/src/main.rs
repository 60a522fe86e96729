//! `sinemora-agent`: command line of the library.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use sinemora_agent::artifacts::read_artifact;
use sinemora_agent::check::check;
use sinemora_agent::cli::{self, Task};
use sinemora_agent::clocks::clocks;
use sinemora_agent::config::{Config, LogFormat, find, host_name, write_settings};
use sinemora_agent::egress_guard::{self, GuardError};
use sinemora_agent::run::{Ended, RunError, enrol_only, run};
use sinemora_agent::stop::Stop;

fn main() -> ExitCode {
    let matches = cli::command().get_matches();
    if let Some(("egress-guard", matches)) = matches.subcommand() {
        return guard_egress(matches);
    }
    let settings =
        cli::task_and_settings(&matches, std::env::vars_os()).and_then(|(task, layers)| {
            Config::resolve(&layers, &host_name()).map(|config| (task, layers, config))
        });
    let (task, layers, config) = match settings {
        Ok(settings) => settings,
        Err(error) => return fail(&RunError::Config(error)),
    };
    if let Some((line, token)) = cli::without_token(std::env::args_os(), &matches)
        && matches!(task, Task::Run | Task::Enrol { .. })
    {
        // The same process, whose command line others can read, once more without the secret.
        return fail(&start_again(&line, Some(&token)));
    }
    start_logging(&config);
    let done = match task {
        Task::Set => write_settings(&layers, cli::config_file(&matches).as_deref())
            .map(|path| {
                let _ = writeln!(std::io::stdout(), "Wrote {}", path.display());
            })
            .map_err(RunError::Config),
        Task::Check => {
            return match check(&config, &layers, &mut std::io::stdout().lock()) {
                Ok(true) => ExitCode::SUCCESS,
                // A reader that stops early (`| head`) is not an error.
                Ok(false) | Err(_) => ExitCode::FAILURE,
            };
        }
        Task::Clocks => {
            // Ignore a closed standard output.
            let _ = clocks(&config, &mut std::io::stdout().lock());
            Ok(())
        }
        Task::Enrol { force } => enrol_only(&config, force).map(|identity| {
            // Ignore a closed standard output.
            let _ = writeln!(
                std::io::stdout(),
                "Enrolled {} as agent {}. Start it with: sinemora-agent run",
                config.name,
                identity.agent_id
            );
        }),
        Task::Read => {
            return read(&config, &matches);
        }
        Task::Run => {
            let stop = Stop::default();
            let ended = stop_on_signals(&stop).and_then(|()| run(&config, &stop));
            ended.and_then(|ended| match ended {
                Ended::Stopped => Ok(()),
                Ended::AddressLost => {
                    Err(start_again(&std::env::args_os().collect::<Vec<_>>(), None))
                }
            })
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

/// Writes an artifact to standard output.
fn read(config: &Config, matches: &clap::ArgMatches) -> ExitCode {
    let Some(wanted) = cli::artifact(matches) else {
        return ExitCode::FAILURE;
    };
    let mut out = std::io::stdout().lock();
    let done = read_artifact(
        &config.state_dir,
        &wanted.name,
        wanted.release.as_deref(),
        wanted.patience,
        &mut out,
    );
    match done {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "sinemora-agent: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Starts, removes or shows the egress guard.
fn guard_egress(matches: &clap::ArgMatches) -> ExitCode {
    let ports = || {
        cli::settings(matches, std::env::vars_os(), false)
            .and_then(|layers| Config::resolve(&layers, &host_name()))
            .map(|config| config.measurement_ports())
            .map_err(|error| GuardError::Usage(error.to_string()))
    };
    let done = egress_guard::action(matches)
        .and_then(|action| egress_guard::execute(&action, ports, &mut std::io::stdout()));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "sinemora-agent: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// Replaces this process by a new one with that command line, and the token in its environment. Returns only if that
/// fails.
fn start_again(line: &[OsString], token: Option<&str>) -> RunError {
    let why = match std::env::current_exe() {
        Ok(program) => {
            let mut command = Command::new(program);
            command.args(line.iter().skip(1));
            if let (Some(token), Some(setting)) = (token, find("token")) {
                command.env(setting.env(), token);
            }
            command.exec()
        }
        Err(error) => error,
    };
    RunError::Io {
        at: "starting again".to_owned(),
        why: why.to_string(),
    }
}

fn fail(error: &RunError) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "sinemora-agent: {error}");
    ExitCode::from(error.exit_code())
}

/// Stop the agent on the first signal, end it at once on the second.
fn stop_on_signals(stop: &Stop) -> Result<(), RunError> {
    let failed = |e: std::io::Error| RunError::Io {
        at: "signals".to_owned(),
        why: e.to_string(),
    };
    let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(failed)?;
    let stop = stop.clone();
    let body = move || {
        for signal in signals.forever() {
            if stop.is_set() {
                std::process::exit(128 + signal);
            }
            tracing::info!("stopping: the open windows are spooled");
            stop.set();
        }
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(body)
        .map_err(failed)
        .map(|_| ())
}

fn start_logging(config: &Config) {
    let to_stderr = tracing_subscriber::fmt()
        .with_max_level(config.log_level)
        .with_target(false)
        .with_ansi(std::io::stderr().is_terminal())
        // Otherwise a failed log write is reported to standard error, which fails and panics for the same reason.
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
    match config.log_format {
        LogFormat::Text => to_stderr.init(),
        LogFormat::Json => to_stderr.json().flatten_event(true).init(),
    }
}
