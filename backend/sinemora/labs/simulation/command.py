"""`sinemora simulate`: placement policies through time, a JSON object for each."""

import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from typer import BadParameter, Exit, Option, Typer

from sinemora.applications.curves.core import upload
from sinemora.applications.curves.core.curve import Curve
from sinemora.applications.curves.core.fit import fit
from sinemora.applications.curves.core.library import LIBRARY
from sinemora.applications.curves.core.observations import ObservationError
from sinemora.labs.simulation.core import best, series
from sinemora.labs.simulation.core import report as reports
from sinemora.labs.simulation.core import trace as traces
from sinemora.labs.simulation.core.inputs import Inputs, drawn_jobs, drawn_round_trips
from sinemora.labs.simulation.core.schemes import BEST, Scheme
from sinemora.labs.simulation.core.simulate import ROOTS_MAX, World
from sinemora.labs.simulation.core.simulate import simulate as run_simulation
from sinemora.labs.simulation.core.state import SimulationState, SimulationStateError
from sinemora.labs.simulation.core.workload import Points, Workload
from sinemora.labs.simulation.provenance import code_digest
from sinemora.recommendations.placement.policies.nomora import Parameters
from sinemora.recommendations.placement.problem import WAITING_COST
from sinemora_client import Client, SinemoraError
from sinemora_client.profiles import key_of_environment

_KEEP_EVERY_S = 20.0
_WORLD = World()
_NOMORA = _WORLD.nomora
_CURVES = [entry.key for entry in LIBRARY]
_CURVE_POINTS = 200
_MIX = ", ".join(f"{key}={share:g}" for key, share in _WORLD.mix.items())
_EPILOG = """\b
Examples:
  sinemora simulate --policy random --policy best --hours 2
  sinemora simulate --policy random --policy nomora_105_110 --machines 12500 --hours 19.5 --trace google2011 --kept runs
  sinemora simulate --policy nomora --p-m 120 --p-r 150 --preemption --beta 0.5
  sinemora simulate --rack-size 192 --pod-racks 48 --mix spark-glm=0.5 --mix dns=0.5
  sinemora simulate --noise 0.15 --policy best --move-cost 0.02 --moves-max 10
  sinemora simulate --kept runs --upload https://sinemora.example --name "A tenth"   (key in SINEMORA_API_KEY or --key)

Without --trace, jobs are drawn from the statistics of the Google trace of 2011. The folder of a trace contains
task_events/part-*.csv.gz and, optionally, job_events.

Without --latency, latency is drawn from published statistics of one-way delay; --statistics replaces them with a
table. A round trip is twice the one-way delay. The folder of --latency contains rack-*.csv, pod-*.csv and
cluster-*.csv: one round trip in µs per line, one line per second, as many lines as the simulation has seconds. Lines
beyond are the history that --history-s reads.

--p-m, --p-r, --omega, --gamma, --beta and --preemption are parameters of the policy nomora. The policies nomora_… have
the published ones. --move-cost and --moves-max are parameters of the policy best, which recommendations use too.

--kept stores the state of every policy on disk. An interrupted run continues with the same command; finished policies
are not simulated again, so --upload sends their report at once.

Exit codes: 0 success, 1 failure, 2 invalid options, 130 interrupted."""

app = Typer(
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    pretty_exceptions_enable=False,
)


@app.command(epilog=_EPILOG)
def simulate(
    policy: Annotated[list[Scheme] | None, Option(help="Policy to simulate; repeatable.", show_default="all")] = None,
    machines: Annotated[int, Option(help="Number of machines.")] = _WORLD.machines,
    slots: Annotated[int, Option(help="Slots of each machine.")] = _WORLD.slots,
    rack_size: Annotated[int, Option(help="Machines per rack.")] = _WORLD.rack_size,
    pod_racks: Annotated[int, Option(help="Racks per pod.")] = _WORLD.pod_racks,
    mix: Annotated[
        list[str] | None,
        Option(
            metavar="CURVE=SHARE",
            help="Share of the jobs with a published curve, or with one fitted to a file of samples (shop.csv=0.5);"
            " repeatable.",
            show_default=_MIX,
        ),
    ] = None,
    step_s: Annotated[int, Option(help="Length of a step, in seconds.")] = _WORLD.step_s,
    round_s: Annotated[int, Option(help="Time between rounds of moves, in seconds.")] = _WORLD.round_s,
    window_s: Annotated[int, Option(help="Length of a measured window, in seconds.")] = _WORLD.window_s,
    history_s: Annotated[
        int, Option(help="Past that all policies average before moves, in seconds; 0: the window.")
    ] = _WORLD.history_s,
    seed: Annotated[int, Option(help="Seed of the random numbers.")] = _WORLD.seed,
    hours: Annotated[float, Option(help="Length of the simulation, in hours.")] = _WORLD.seconds / 3600,
    move_cost: Annotated[float, Option(help="Least gain of a move in performance.")] = _WORLD.move_cost,
    moves_max: Annotated[int | None, Option(help="Most moves of a round.", show_default="no limit")] = _WORLD.moves_max,
    p_m: Annotated[int, Option(help="Cost up to which a machine is preferred.")] = _NOMORA.p_m,
    p_r: Annotated[int, Option(help="Cost up to which a rack is preferred.")] = _NOMORA.p_r,
    omega: Annotated[float, Option(help="Cost of a waiting task per second.")] = _NOMORA.omega,
    gamma: Annotated[int, Option(help="Cost of a waiting task.")] = _NOMORA.gamma,
    beta: Annotated[float, Option(help="Discount of a running task's machine per second it has run.")] = _NOMORA.beta,
    preemption: Annotated[bool, Option("--preemption", help="Running tasks may move.")] = False,
    roots: Annotated[int, Option(help="Roots of a job, as far as it has tasks; a task counts the nearest.")] = 1,
    start_at_random: Annotated[
        bool, Option("--start-at-random", help="Place the jobs of the first step at random under every policy.")
    ] = False,
    noise: Annotated[float, Option(help="Noise of a measured latency, such as 0.15.")] = _WORLD.noise,
    trace: Annotated[Path | None, Option(metavar="FOLDER", help="Jobs of a cluster trace.")] = None,
    latency: Annotated[Path | None, Option(metavar="FOLDER", help="Measured traces of latency.")] = None,
    statistics: Annotated[Path | None, Option(metavar="CSV", help="Statistics to draw latency from.")] = None,
    kept: Annotated[Path | None, Option(metavar="FOLDER", help="Folder for states, to resume later.")] = None,
    report: Annotated[Path | None, Option(metavar="FOLDER", help="Folder for figures, chart and report.")] = None,
    upload: Annotated[str | None, Option(metavar="URL", help="Upload the report to this server.")] = None,
    key: Annotated[
        str | None, Option(help="API key.", show_default="SINEMORA_API_KEY or the file SINEMORA_API_KEY_FILE")
    ] = None,
    name: Annotated[str, Option(help="Name of the uploaded report.")] = "Simulation",
    output: Annotated[Path | None, Option(help="File to write.", show_default="standard output")] = None,
) -> None:
    """Compare placement policies through time. Write a JSON object for each."""
    try:
        shares, own_curves = _mix(mix) if mix else (_WORLD.mix, {})
    except (ValueError, OSError) as error:
        sys.stderr.write(f"simulate: {error}\n")
        raise Exit(2) from None
    world = World(
        machines=machines,
        slots=slots,
        rack_size=rack_size,
        pod_racks=pod_racks,
        mix=shares,
        own_curves=own_curves,
        nomora=Parameters(p_m, p_r, omega, gamma, beta, aggregate=True),
        preemption=preemption,
        roots=roots,
        start_at_random=start_at_random,
        seconds=round(hours * 3600),
        step_s=step_s,
        round_s=round_s,
        window_s=window_s,
        history_s=history_s,
        noise=noise,
        move_cost=move_cost,
        moves_max=moves_max,
        seed=seed,
    )
    try:
        key = key or (key_of_environment() if upload else "")
    except SinemoraError as error:
        raise BadParameter(str(error)) from None
    key_missing = "--upload needs --key, SINEMORA_API_KEY or SINEMORA_API_KEY_FILE" if upload and not key else None
    policies = policy or list(Scheme)
    if problem := _invalid(world, policies) or key_missing:
        sys.stderr.write(f"simulate: {problem}\n")
        raise Exit(2)
    try:
        inputs = _inputs(world, trace, latency, statistics)
        lines = [reports.summary(_run(world, scheme, inputs, kept)) for scheme in policies]
    except (traces.JobTraceError, series.SeriesError, SimulationStateError, OSError) as error:
        sys.stderr.write(f"\nsimulate: {error}\n")
        raise Exit(1) from None
    except KeyboardInterrupt:
        sys.stderr.write("\nsimulate: interrupted; with --kept the same command continues from here\n")
        raise Exit(130) from None
    text = "".join(json.dumps(line) + "\n" for line in lines)
    if output:
        output.write_text(text, "utf-8")
    else:
        sys.stdout.write(text)
    # Names of the inputs only: a report must not disclose local folders.
    given = {"trace": trace, "latency": latency, "statistics": statistics}
    names = {option: path.resolve().name if path else None for option, path in given.items()}
    result = {
        "world": reports.describe(world, version("sinemora"), code_digest(), inputs.digest()) | names,
        "policies": lines,
    }
    if report:
        for path in reports.write(result, report):
            sys.stderr.write(f"{path}\n")
    if upload:
        try:
            with Client(upload, key) as client:
                created = client.request("POST", "/v1/simulations", body={"name": name, **result}).json()
        except SinemoraError as error:
            sys.stderr.write(f"simulate: {upload}: {error}\n")
            raise Exit(1) from None
        sys.stderr.write(f"Report: {upload.rstrip('/')}/simulations/{created['id']}\n")


def _mix(given: list[str]) -> tuple[dict[str, float], dict[str, Points]]:
    """Return shares by curve, scaled to the sum of 1, and the curves of files. Raises `ValueError`, `OSError`."""
    shares: dict[str, float] = {}
    own: dict[str, Points] = {}
    for entry in given:
        key, _, share = entry.rpartition("=")
        if Path(key).suffix in (".csv", ".json"):
            curve, key = _fitted(Path(key)), Path(key).stem
            at_us = np.linspace(0.0, curve.end_us, _CURVE_POINTS)
            own[key] = tuple(zip(at_us.tolist(), curve(at_us).tolist(), strict=True))
        try:
            shares[key] = float(share)
        except ValueError:
            raise ValueError(f"--mix {entry}: expected CURVE=SHARE, such as spark-glm=0.5") from None
        if key not in _CURVES and key not in own:
            raise ValueError(f"--mix {entry}: no published curve {key!r}; there are {', '.join(_CURVES)}")
        if not 0 < shares[key] < math.inf:
            raise ValueError(f"--mix {entry}: a share must be above 0")
    return {key: share / sum(shares.values()) for key, share in shares.items()}, own


def _fitted(file: Path) -> Curve:
    """Return the curve fitted to a file of samples. Raises `ValueError`, `OSError`."""
    try:
        return fit(upload.parse(file.read_bytes()).samples()).curve
    except ObservationError as error:
        raise ValueError(f"--mix {file}: {error.message}") from None


def _invalid(world: World, policies: Sequence[Scheme]) -> str | None:
    if world.machines < 2 or world.slots < 2:
        return "at least 2 machines of 2 slots are needed"
    if not 1 <= world.roots <= ROOTS_MAX:
        return f"--roots must be 1 to {ROOTS_MAX}"
    if world.rack_size < 1 or world.pod_racks < 1:
        return "--rack-size and --pod-racks must be at least 1"
    if min(world.nomora.p_m, world.nomora.p_r) < 0 or min(world.nomora.omega, world.nomora.beta) < 0:
        return "--p-m, --p-r, --omega and --beta must be at least 0"
    if world.nomora.gamma < WAITING_COST:
        return f"--gamma must be at least {WAITING_COST}: more than the worst placement costs"
    if (
        world.step_s < 1
        or world.seconds < world.step_s
        or world.round_s < world.step_s
        or world.window_s < 1
        or world.history_s < 0
    ):
        return (
            "steps and windows must be at least 1 s, the past at least 0 s, rounds and the simulation at least one step"
        )
    if not 0 <= world.noise < 1 or not 0 <= world.move_cost <= 1 or (world.moves_max or 0) < 0:
        return "--noise must be at least 0 and below 1, --move-cost 0 to 1, --moves-max at least 0"
    if world.machines > best.MACHINES_MAX and BEST & set(policies):
        return f"the policy best is simulated on up to {best.MACHINES_MAX:,} machines: name other policies (--policy)"
    return None


def _inputs(world: World, trace: Path | None, latency: Path | None, statistics: Path | None) -> Inputs:
    if latency:
        round_trips = series.read_traces(latency, world.covered_s, world.lookback_s)
    else:
        published = series.read_statistics(statistics) if statistics else series.PUBLISHED
        round_trips = drawn_round_trips(world, published)
    return Inputs(_jobs_of_trace(world, trace) if trace else drawn_jobs(world), round_trips)


def _jobs_of_trace(world: World, folder: Path) -> Workload:
    jobs = Workload.of_trace(traces.jobs(folder, world.seconds), np.random.default_rng(world.seed), world.mix)
    if int(jobs.size.max(initial=0)) > world.machines * world.slots // 2:
        raise traces.JobTraceError(
            f"the trace has jobs of {jobs.size.max()} tasks: use --machines {traces.MACHINES}, its cluster's size"
        )
    return jobs


def _run(world: World, scheme: Scheme, inputs: Inputs, kept: Path | None) -> Any:
    path = kept / f"{scheme}.npz" if kept else None
    of = asdict(world) | {"policy": scheme, "input": inputs.digest()}
    state = SimulationState.read(path, of) if path and path.exists() else None
    written = started = time.monotonic()
    first = state.step if state else 0

    def after_step(now: SimulationState) -> None:
        nonlocal written
        at, last = time.monotonic(), now.step == world.steps
        left_s = (at - started) / (now.step - first) * (world.steps - now.step)
        sys.stderr.write(f"\r{scheme} {now.step}/{world.steps}, {left_s:.0f} s left   ")
        if path and (last or at - written > _KEEP_EVERY_S):
            now.write(path, of)
            written = at

    outcome = run_simulation(world, scheme, inputs.jobs, inputs.round_trips, state=state, after_step=after_step)
    sys.stderr.write(f"\r{scheme}: area {outcome.area:.2f} %{' ' * 30}\n")
    return outcome
