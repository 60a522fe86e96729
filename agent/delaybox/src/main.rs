//! `delaybox`: command line of the library.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use delaybox::appliance::Appliance;
use delaybox::cli::{self, Task};
use delaybox::config::Config;
use delaybox::control::{Remote, follow_input, stop_on_signals};
use delaybox::error::Error;
use delaybox::sides;
use delaybox::verify::verify;

fn main() -> ExitCode {
    let done = cli::task(&cli::command().get_matches()).and_then(|task| match task {
        Task::Run { config, control } => run(config, control),
        Task::Verify { request, json } => verify(&request).map(|verification| {
            if json {
                print_json(&serde_json::json!(verification));
            } else {
                let _ = write!(std::io::stdout(), "{}", verification.table());
            }
        }),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "delaybox: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(config: Config, control: bool) -> Result<(), Error> {
    let sides = Arc::new(sides::open(
        &config.left,
        &config.right,
        &config.addressing,
    )?);
    let (remote, commands, wake) = Remote::new()?;
    stop_on_signals(remote.try_clone()?)?;
    if control {
        follow_input(remote, Arc::clone(&sides))?;
    }
    print_json(&serde_json::json!({
        "ready": true,
        "pid": std::process::id(),
        "left": sides[0].report(),
        "right": sides[1].report(),
    }));
    let snapshot = Appliance::new(Arc::clone(&sides), config.options).run(&commands, &wake)?;
    print_json(&serde_json::json!({ "statistics": snapshot.report(&sides) }));
    Ok(())
}

/// Print one line; ignore a closed standard output.
fn print_json(value: &serde_json::Value) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{value}").and_then(|()| out.flush());
}
