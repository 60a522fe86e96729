//! Parts that the programs of a VM share: their log, the signals that stop them, a start from the beginning.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::config::{Config, LogFormat, find};
use crate::run::RunError;
use crate::stop::Stop;

/// Replace this process by a new one with that command line, and the token in its environment. Return only if that
/// fails.
pub fn start_again(line: &[OsString], token: Option<&str>) -> RunError {
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

/// Write an error to standard error. Return the exit code `code`.
pub fn fail(program: &str, error: &impl std::fmt::Display, code: u8) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "{program}: {error}");
    ExitCode::from(code)
}

/// Set `stop` on the first signal, with a line in the log; end the process at once on the second.
pub fn stop_on_signals(stop: &Stop, line: &'static str) -> Result<(), RunError> {
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
            tracing::info!("{line}");
            stop.set();
        }
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(body)
        .map_err(failed)
        .map(|_| ())
}

/// End the process when a thread panics, in every build: without one of its threads it would only look alive.
pub fn end_on_panic() {
    let write_message = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        write_message(panic);
        std::process::abort();
    }));
}

/// Start the log on standard error.
pub fn start_logging(config: &Config) {
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
