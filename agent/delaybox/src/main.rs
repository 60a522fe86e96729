//! `delaybox`: command line of the library.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use delaybox::appliance::{Appliance, Options, Ports, Snapshot};
use delaybox::cli::{self, Task};
use delaybox::config::Config;
use delaybox::control::{Remote, follow_input, stop_on_signals};
use delaybox::error::Error;
use delaybox::line::settings::Order;
use delaybox::relay::{self, Relay, RelayPorts};
use delaybox::sides;
use delaybox::verify::verify;

fn main() -> ExitCode {
    let done = cli::task(&cli::command().get_matches()).and_then(|task| match task {
        Task::Run { config, control } => run(config, control),
        Task::Relay { relay, control } => run_relay(relay, control),
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
    let ready = serde_json::json!({
        "ready": true,
        "pid": std::process::id(),
        "left": sides[0].report(),
        "right": sides[1].report(),
    });
    let report = {
        let sides = Arc::clone(&sides);
        move |snapshot: &Snapshot| serde_json::json!(sides::report(snapshot, &sides))
    };
    pass_on(
        sides,
        config.options,
        &ready,
        control.then_some(Order::parse),
        report,
    )
}

fn run_relay(relay: Relay, control: bool) -> Result<(), Error> {
    let ports = Arc::new(RelayPorts::open(relay.hosts.clone(), relay.ports)?);
    let ready = serde_json::json!({
        "ready": true,
        "pid": std::process::id(),
        "hosts": ports.hosts().all().len(),
    });
    let report = {
        let ports = Arc::clone(&ports);
        move |snapshot: &Snapshot| serde_json::json!(relay::report(snapshot, &ports))
    };
    let parse = move |text: &str| relay.hosts.order(text);
    pass_on(
        ports,
        relay.options,
        &ready,
        control.then_some(parse),
        report,
    )
}

/// Move packets until stopped; with `parse` follow changes on standard input. Print when ready, and the end's statistics.
fn pass_on<P: Ports + Send + Sync + 'static>(
    ports: Arc<P>,
    options: Options,
    ready: &serde_json::Value,
    parse: Option<impl Fn(&str) -> Result<Order, String> + Send + 'static>,
    report: impl Fn(&Snapshot) -> serde_json::Value + Clone + Send + 'static,
) -> Result<(), Error> {
    let (remote, commands, wake) = Remote::new()?;
    stop_on_signals(remote.try_clone()?)?;
    if let Some(parse) = parse {
        follow_input(remote, parse, report.clone())?;
    }
    print_json(ready);
    let snapshot = Appliance::new(ports, options).run(&commands, &wake)?;
    print_json(&serde_json::json!({ "statistics": report(&snapshot) }));
    Ok(())
}

/// Print one line; ignore a closed standard output.
fn print_json(value: &serde_json::Value) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{value}").and_then(|()| out.flush());
}
