//! Comparison of injected and achieved delays: the box's own times, and probes through the box.

use std::sync::Arc;
use std::sync::mpsc::channel;

use serde::Serialize;

use crate::appliance::{Appliance, Command};
use crate::config::Config;
use crate::control::Remote;
use crate::error::Error;
use crate::line::settings::{Direction, Order, Settings};
use crate::probe::{Plan, ProbeResult, send_probes};
use crate::sides::{self, Sides};
use crate::statistics::{DirectionReport, Report};
use crate::summary::{Figures, Summary};
use crate::units::readable;

/// Turns of measuring the path without and with delay, so that drifts of the machine affect both.
const ROUNDS: u32 = 5;
/// Time to wait for the last probes beyond the longest delay drawn.
const PATIENCE_NS: i64 = 300_000_000;

/// Settings of a comparison.
#[derive(Debug, Clone)]
pub struct Request {
    pub config: Config,
    pub probes: u32,
    pub interval_ns: i64,
}

/// Comparison of one direction.
#[derive(Debug, Clone, Serialize)]
pub struct Verdict {
    pub direction: &'static str,
    pub delay: String,
    pub sent: u32,
    /// Exact counts: the box counts lost packets, the probes missing ones; they agree if nothing else drops packets.
    pub lost_in_box: u64,
    pub not_arrived: u64,
    pub reordered: u32,
    /// Median of the path without delay, in nanoseconds; already subtracted from `seen_ns`.
    pub floor_ns: i64,
    /// As drawn.
    pub injected_ns: Option<Figures>,
    /// With the rate limit, and with waiting for the previous packet: the intended delay.
    pub planned_ns: Option<Figures>,
    pub achieved_ns: Option<Figures>,
    pub seen_ns: Option<Figures>,
}

/// Comparison of both directions.
#[derive(Debug, Clone, Serialize)]
pub struct Verification {
    pub scheduler: &'static str,
    pub directions: Vec<Verdict>,
}

/// Run a box between two new namespaces and send probes through it.
pub fn verify(request: &Request) -> Result<Verification, Error> {
    let sides = Arc::new(sides::open(
        &request.config.left,
        &request.config.right,
        &request.config.addressing,
    )?);
    let (remote, commands, wake) = Remote::new()?;
    let mut options = request.config.options.clone();
    let requested = std::mem::replace(&mut options.settings, vec![Settings::default(); 2]);
    let seed = options.seed;
    let box_sides = Arc::clone(&sides);
    let running =
        std::thread::spawn(move || Appliance::new(box_sides, options).run(&commands, &wake));
    let seen = compare(&sides, &remote, &requested, request, seed);
    remote.send(Command::Stop);
    match running.join() {
        Ok(Ok(_)) => seen,
        Ok(Err(error)) => Err(error),
        Err(_) => Err(Error::setting("verify", "the box died")),
    }
}

fn compare(
    sides: &Arc<Sides>,
    remote: &Remote,
    requested: &[Settings],
    request: &Request,
    seed: u64,
) -> Result<Verification, Error> {
    let mut verdicts = Vec::new();
    let mut scheduler = "";
    for direction in Direction::BOTH {
        let settings = &requested[direction.index()];
        let plan = Plan {
            count: (request.probes / ROUNDS).max(1),
            interval_ns: request.interval_ns,
            patience_ns: PATIENCE_NS,
        };
        remote.send(Command::Record(false));
        remote.send(Command::Reset);
        let (mut floor, mut seen) = (ProbeResult::default(), ProbeResult::default());
        let before = statistics(remote, sides)?;
        for round in 0..u64::from(ROUNDS) {
            remote.send(Command::Apply(Order::all_of(
                direction,
                &Settings::default(),
            )));
            floor.append(send_probes(sides, direction, plan, seed + 2 * round)?);
            remote.send(Command::Apply(Order::all_of(direction, settings)));
            remote.send(Command::Record(true));
            seen.append(send_probes(sides, direction, plan, seed + 2 * round + 1)?);
            remote.send(Command::Record(false));
        }
        remote.send(Command::Apply(Order::all_of(
            direction,
            &Settings::default(),
        )));
        let after = statistics(remote, sides)?;
        scheduler = after.scheduler;
        let report = after.of(direction);
        let floor_ns = figures(&floor, 0).map_or(0, |figures| figures.p50);
        verdicts.push(Verdict {
            direction: direction.name(),
            delay: settings.delay.to_string(),
            sent: seen.sent,
            lost_in_box: gone(report) - gone(before.of(direction)),
            not_arrived: u64::from(seen.sent) - seen.delays_ns.len() as u64,
            reordered: seen.reordered,
            floor_ns,
            injected_ns: report.drawn_ns.clone(),
            planned_ns: report.planned_ns.clone(),
            achieved_ns: report.achieved_ns.clone(),
            seen_ns: figures(&seen, floor_ns),
        });
    }
    Ok(Verification {
        scheduler,
        directions: verdicts,
    })
}

fn gone(report: &DirectionReport) -> u64 {
    report.counters.lost_packets + report.counters.dropped_packets
}

fn statistics(remote: &Remote, sides: &Sides) -> Result<Report, Error> {
    let (to, from) = channel();
    remote.send(Command::Statistics(to));
    from.recv()
        .map(|snapshot| sides::report(&snapshot, sides))
        .map_err(|_| Error::setting("verify", "the box has ended"))
}

fn figures(result: &ProbeResult, floor_ns: i64) -> Option<Figures> {
    Summary::of(result.delays_ns.iter().map(|delay| delay - floor_ns)).figures()
}

impl Verification {
    /// Format the comparison as a table.
    pub fn table(&self) -> String {
        let mut out = String::new();
        for verdict in &self.directions {
            out += &format!(
                "{} {}: {} probes, {} lost in the box, {} not arrived, {} reordered; path without delay {}\n",
                verdict.direction,
                verdict.delay,
                verdict.sent,
                verdict.lost_in_box,
                verdict.not_arrived,
                verdict.reordered,
                readable(verdict.floor_ns as f64),
            );
            out += "            injected     in order     achieved   seen outside\n";
            let column = |figures: &Option<Figures>| {
                figures.as_ref().map(|figures| {
                    let mut values: Vec<(&str, f64)> = figures
                        .quantiles()
                        .map(|(name, ns)| (name, ns as f64))
                        .to_vec();
                    values.extend([("mean", figures.mean), ("sd", figures.sd)]);
                    values
                })
            };
            let columns = [
                &verdict.injected_ns,
                &verdict.planned_ns,
                &verdict.achieved_ns,
                &verdict.seen_ns,
            ]
            .map(column);
            for (at, name) in ["p01", "p10", "p50", "p90", "p99", "mean", "sd"]
                .into_iter()
                .enumerate()
            {
                out += &format!("  {name:5}");
                for values in &columns {
                    let text = values
                        .as_ref()
                        .map_or("none".to_owned(), |values| readable(values[at].1));
                    out += &format!("{text:>13}");
                }
                out.push('\n');
            }
        }
        out += &format!("scheduling: {}\n", self.scheduler);
        out
    }
}
