//! Control of a running box: signals, and lines on standard input.

use std::io::{BufRead, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::appliance::{Command, Snapshot};
use crate::error::Error;
use crate::line::settings::Order;

/// Sender of commands that wakes the box.
#[derive(Debug)]
pub struct Remote {
    commands: Sender<Command>,
    wake: UnixStream,
}

impl Remote {
    /// Create a remote and the channels that the box reads.
    pub fn new() -> Result<(Self, Receiver<Command>, UnixStream), Error> {
        let made = || {
            let (near, far) = UnixStream::pair()?;
            near.set_nonblocking(true)?;
            far.set_nonblocking(true)?;
            Ok((near, far))
        };
        let (near, far) =
            made().map_err(|error: std::io::Error| Error::system("a pair of sockets", &error))?;
        let (commands, receiver) = channel();
        Ok((
            Self {
                commands,
                wake: near,
            },
            receiver,
            far,
        ))
    }

    /// Send a command; return false if the box has ended.
    pub fn send(&self, command: Command) -> bool {
        let sent = self.commands.send(command).is_ok();
        // A full stream wakes just as well.
        let _ = (&self.wake).write(&[1]);
        sent
    }

    pub fn try_clone(&self) -> Result<Self, Error> {
        Ok(Self {
            commands: self.commands.clone(),
            wake: self
                .wake
                .try_clone()
                .map_err(|error| Error::system("a socket", &error))?,
        })
    }
}

/// Stop the box on the first SIGTERM or SIGINT, end it at once on the second.
pub fn stop_on_signals(remote: Remote) -> Result<(), Error> {
    let mut signals =
        Signals::new([SIGTERM, SIGINT]).map_err(|error| Error::system("signals", &error))?;
    let body = move || {
        let mut asked = false;
        for signal in signals.forever() {
            if asked || !remote.send(Command::Stop) {
                std::process::exit(128 + signal);
            }
            asked = true;
        }
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(body)
        .map(drop)
        .map_err(|error| Error::system("a thread", &error))
}

/// Execute lines of standard input and print one JSON object for each; the end of the input stops the box.
///
/// `parse` reads changes, `report` converts statistics.
pub fn follow_input(
    remote: Remote,
    parse: impl Fn(&str) -> Result<Order, String> + Send + 'static,
    report: impl Fn(&Snapshot) -> serde_json::Value + Send + 'static,
) -> Result<(), Error> {
    let body = move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let answer = answer(line.trim(), &remote, &parse, &report);
            if writeln!(std::io::stdout(), "{answer}").is_err() {
                break;
            }
        }
        remote.send(Command::Stop);
    };
    std::thread::Builder::new()
        .name("control".to_owned())
        .spawn(body)
        .map(drop)
        .map_err(|error| Error::system("a thread", &error))
}

fn answer(
    line: &str,
    remote: &Remote,
    parse: impl Fn(&str) -> Result<Order, String>,
    report: impl Fn(&Snapshot) -> serde_json::Value,
) -> serde_json::Value {
    let ended = || serde_json::json!({ "error": "the box has ended" });
    // Confirm only what applies to the next packet.
    let done = |command| {
        let (to, from) = channel();
        if remote.send(command) && remote.send(Command::Tell(to)) && from.recv().is_ok() {
            serde_json::json!({ "done": line })
        } else {
            ended()
        }
    };
    match line {
        "stop" if remote.send(Command::Stop) => serde_json::json!({ "done": line }),
        "stop" => ended(),
        "reset" => done(Command::Reset),
        "statistics" => {
            let (to, from) = channel();
            remote.send(Command::Statistics(to));
            match from.recv() {
                Ok(snapshot) => serde_json::json!({ "statistics": report(&snapshot) }),
                Err(_) => ended(),
            }
        }
        _ => match parse(line) {
            Ok(order) => done(Command::Apply(order)),
            Err(why) => serde_json::json!({
                "error": format!("{why}; or write statistics, reset or stop")
            }),
        },
    }
}
