"""`sinemora simulate`: placement policies through time, a JSON object for each."""

import hashlib
import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from typer import Exit, Option, Typer

from sinemora.kit.handover import HandoverError, upload_result
from sinemora.simulation.core import report as reports
from sinemora.simulation.core import series
from sinemora.simulation.core import trace as traces
from sinemora.simulation.core.network import Series
from sinemora.simulation.core.schemes import Scheme
from sinemora.simulation.core.simulate import World
from sinemora.simulation.core.simulate import simulate as run_simulation
from sinemora.simulation.core.state import State, StateError
from sinemora.simulation.core.workload import Workload

_KEEP_EVERY_S = 20.0
_WORLD = World()
_EPILOG = """\b
Examples:
  sinemora simulate --policy random --policy gang_budget --hours 2
  sinemora simulate --machines 12500 --hours 19.5 --trace google2011 --kept runs --report runs      (all of the trace)
  sinemora simulate --noise 0.15 --policy never_move --policy exact --policy budget
  sinemora simulate --kept runs --upload https://sinemora.example --name "A tenth"   (key in SINEMORA_API_KEY or --key)

Without --trace, jobs are drawn from the statistics of the Google trace of 2011. The folder of a trace contains
task_events/part-*.csv.gz and, optionally, job_events.

Without --latency, latency is drawn from published statistics; --statistics replaces them with a table. The folder of
--latency contains rack-*.csv, pod-*.csv and cluster-*.csv: one round trip in µs per line, one line per second.

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
    step_s: Annotated[int, Option(help="Length of a step, in seconds.")] = _WORLD.step_s,
    round_s: Annotated[int, Option(help="Time between rounds of moves, in seconds.")] = _WORLD.round_s,
    window_s: Annotated[int, Option(help="Length of a measured window, in seconds.")] = _WORLD.window_s,
    history_s: Annotated[int, Option(help="Look-back of priced moves, in seconds.")] = _WORLD.history_s,
    seed: Annotated[int, Option(help="Seed of the random numbers.")] = _WORLD.seed,
    hours: Annotated[float, Option(help="Length of the simulation, in hours.")] = _WORLD.seconds / 3600,
    move_price: Annotated[int, Option(help="Price of a move, in cost points.")] = _WORLD.move_price,
    noise: Annotated[float, Option(help="Noise of a measured latency, such as 0.15.")] = _WORLD.noise,
    trace: Annotated[Path | None, Option(metavar="FOLDER", help="Jobs of a cluster trace.")] = None,
    latency: Annotated[Path | None, Option(metavar="FOLDER", help="Measured traces of latency.")] = None,
    statistics: Annotated[Path | None, Option(metavar="CSV", help="Statistics to draw latency from.")] = None,
    kept: Annotated[Path | None, Option(metavar="FOLDER", help="Folder for states, to resume later.")] = None,
    report: Annotated[Path | None, Option(metavar="FOLDER", help="Folder for figures, chart and report.")] = None,
    upload: Annotated[str | None, Option(metavar="URL", help="Upload the report to this server.")] = None,
    key: Annotated[str | None, Option(help="API key.", show_default="SINEMORA_API_KEY")] = None,
    name: Annotated[str, Option(help="Name of the uploaded report.")] = "Simulation",
    output: Annotated[Path | None, Option(help="File to write.", show_default="standard output")] = None,
) -> None:
    """Compare placement policies through time. Write a JSON object for each."""
    world = World(
        machines=machines,
        slots=slots,
        seconds=round(hours * 3600),
        step_s=step_s,
        round_s=round_s,
        window_s=window_s,
        history_s=history_s,
        noise=noise,
        move_price=move_price,
        seed=seed,
    )
    key = key or os.environ.get("SINEMORA_API_KEY", "")
    key_missing = "--upload needs --key or SINEMORA_API_KEY" if upload and not key else None
    if problem := _invalid(world) or key_missing:
        sys.stderr.write(f"simulate: {problem}\n")
        raise Exit(2)
    try:
        jobs, seconds = _jobs(world, trace), _latency(world, latency, statistics)
        lines = [reports.summary(_run(world, scheme, jobs, seconds, kept)) for scheme in policy or list(Scheme)]
    except (traces.TraceError, series.SeriesError, StateError, OSError) as error:
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
    inputs = {"trace": trace, "latency": latency, "statistics": statistics}
    names = {option: path.resolve().name if path else None for option, path in inputs.items()}
    result = {"world": asdict(world) | names, "policies": lines}
    if report:
        for path in reports.write(result, report):
            sys.stderr.write(f"{path}\n")
    if upload:
        try:
            created = upload_result(upload, key, "/v1/simulations", {"name": name, **result})
        except HandoverError as error:
            sys.stderr.write(f"simulate: {error}\n")
            raise Exit(1) from None
        sys.stderr.write(f"Report: {upload.rstrip('/')}/simulations/{created['id']}\n")


def _invalid(world: World) -> str | None:
    if world.machines < 2 or world.slots < 2:
        return "at least 2 machines of 2 slots are needed"
    if (
        world.step_s < 1
        or world.seconds < world.step_s
        or world.round_s < world.step_s
        or min(world.window_s, world.history_s) < 1
    ):
        return "steps, windows and look-back must be at least 1 s, rounds and the simulation at least one step"
    if not 0 <= world.noise < 1 or world.move_price < 0:
        return "--noise must be at least 0 and below 1, --move-price at least 0"
    return None


def _jobs(world: World, folder: Path | None) -> Workload:
    if folder:
        jobs = Workload.of_trace(traces.jobs(folder, world.seconds), np.random.default_rng(world.seed))
        if int(jobs.size.max(initial=0)) > world.machines * world.slots // 2:
            raise traces.TraceError(
                f"the trace has jobs of {jobs.size.max()} tasks: use --machines {traces.MACHINES}, its cluster's size"
            )
        return jobs
    return Workload.drawn(world.machines, world.slots, world.seconds, np.random.default_rng(world.seed))


def _latency(world: World, folder: Path | None, statistics: Path | None) -> Series:
    if folder:
        return series.read_traces(folder)
    published = series.read_statistics(statistics) if statistics else series.PUBLISHED
    return series.drawn(published, np.random.default_rng(world.seed))


def _run(world: World, scheme: Scheme, jobs: Workload, seconds: Series, kept: Path | None) -> Any:
    path = kept / f"{scheme}.npz" if kept else None
    of = asdict(world) | {"policy": scheme, "input": _digest(jobs, seconds)}
    state = State.read(path, of) if path and path.exists() else None
    written = started = time.monotonic()
    first = state.step if state else 0

    def after_step(now: State) -> None:
        nonlocal written
        at, last = time.monotonic(), now.step == world.steps
        left_s = (at - started) / (now.step - first) * (world.steps - now.step)
        sys.stderr.write(f"\r{scheme} {now.step}/{world.steps}, {left_s:.0f} s left   ")
        if path and (last or at - written > _KEEP_EVERY_S):
            now.write(path, of)
            written = at

    outcome = run_simulation(world, scheme, jobs, seconds, state=state, after_step=after_step)
    sys.stderr.write(f"\r{scheme}: area {outcome.area:.2f} %{' ' * 30}\n")
    return outcome


def _digest(jobs: Workload, seconds: Series) -> str:
    """Return a digest that identifies jobs and latency."""
    digest = hashlib.sha256(seconds.delay_ns.tobytes())
    for part in (jobs.comes_s, jobs.size, jobs.kind, jobs.end_job, jobs.end_s):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:16]
