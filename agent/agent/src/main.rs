//! `sinemora-agent`: command line of the library.

use std::io::Write;
use std::process::ExitCode;

use sinemora_agent::check::check;
use sinemora_agent::cli::{self, Task};
use sinemora_agent::clocks_command::clocks;
use sinemora_agent::config::{Config, host_name, write_settings};
use sinemora_agent::program::{self, end_on_panic, start_again, start_logging, stop_on_signals};
use sinemora_agent::run::{Ended, RunError, enrol_only, retire, run};
use sinemora_agent::stop::Stop;

const NAME: &str = "sinemora-agent";

fn main() -> ExitCode {
    if let Some(place) = cli::moved(std::env::args_os()) {
        return program::fail(NAME, &place, 2);
    }
    let matches = cli::command().get_matches();
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
    end_on_panic();
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
        Task::Retire => retire(&config).map(|was_enrolled| {
            let line = if was_enrolled {
                "This VM has left its meshes. Stop the agent now; a new token enrols it again."
            } else {
                "Nothing to do: this VM is not enrolled."
            };
            // Ignore a closed standard output.
            let _ = writeln!(std::io::stdout(), "{line}");
        }),
        Task::Run => {
            let transfers = ["artifacts", "bulk_sender"];
            if transfers
                .iter()
                .any(|key| layers.get(key).is_some_and(|raw| raw.text == "true"))
            {
                tracing::info!(
                    "artifacts and bulk sender are of sinemora-transfer, which is switched on next to the agent"
                );
            }
            let stop = Stop::default();
            let ended = stop_on_signals(&stop, "stopping: the open windows are spooled")
                .and_then(|()| run(&config, &stop));
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

fn fail(error: &RunError) -> ExitCode {
    program::fail(NAME, error, error.exit_code())
}
