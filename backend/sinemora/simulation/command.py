"""`sinemora simulate`: placement policies through time, a JSON object for each."""

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from sinemora.kit.handover import HandoverError, upload_result
from sinemora.simulation.core import report, series, trace
from sinemora.simulation.core.network import Series
from sinemora.simulation.core.schemes import Scheme
from sinemora.simulation.core.simulate import World, simulate
from sinemora.simulation.core.state import State, StateError
from sinemora.simulation.core.workload import Workload

_KEEP_EVERY_S = 20.0
_EXAMPLES = """\
Examples:
  sinemora simulate --policy random --policy gang_budget --hours 2
  sinemora simulate --machines 12500 --hours 19.5 --trace google2011 --kept runs --report runs      (all of the trace)
  sinemora simulate --noise 0.15 --policy never_move --policy exact --policy budget
  sinemora simulate --kept runs --upload https://sinemora.example --name "A tenth"   (key in SINEMORA_API_KEY or --key)

Without --trace jobs are drawn with the statistics of the Google trace of 2011; a trace's folder holds
task_events/part-*.csv.gz and perhaps job_events. Without --latency seconds of latency are drawn with published
statistics (of your own: --statistics table.csv); a folder of traces holds rack-*.csv, pod-*.csv and cluster-*.csv, a
round trip in µs a line, a line a second.
With --kept the state of every policy is on disk: stop it any time, the same command goes on. What is finished is only
told again: with --upload it is handed over at once.
Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted."""


def add(commands: Any) -> None:
    """Add the command to the program's."""
    command: argparse.ArgumentParser = commands.add_parser(
        "simulate",
        help="compare placement policies through time",
        description=__doc__,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    world = World()
    command.add_argument("--policy", action="append", choices=list(Scheme), help="one or more (default: all)")
    for name in ("machines", "slots", "step-s", "round-s", "window-s", "history-s", "seed"):
        default = getattr(world, name.replace("-", "_"))
        command.add_argument(f"--{name}", type=int, default=default, help="default: %(default)s")
    command.add_argument("--hours", type=float, default=world.seconds / 3600, help="default: %(default)s")
    command.add_argument("--move-price", type=int, default=world.move_price, help="cost points (default: %(default)s)")
    command.add_argument("--noise", type=float, default=world.noise, help="noise of a measured latency, such as 0.15")
    command.add_argument("--trace", type=Path, metavar="FOLDER", help="jobs of a cluster trace")
    command.add_argument("--latency", type=Path, metavar="FOLDER", help="measured traces of latency")
    command.add_argument("--statistics", type=Path, metavar="CSV", help="statistics to draw latency with")
    command.add_argument("--kept", type=Path, metavar="FOLDER", help="folder for states, to resume later")
    command.add_argument("--report", type=Path, metavar="FOLDER", help="folder for figures, picture and page")
    command.add_argument("--upload", metavar="URL", help="upload the report to this server")
    command.add_argument("--key", help="API key (default: SINEMORA_API_KEY)")
    command.add_argument("--name", default="Simulation", help="name of the report there (default: %(default)s)")
    command.add_argument("--output", type=Path, help="file to write (default: standard output)")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    world = World(
        machines=options.machines,
        slots=options.slots,
        seconds=round(options.hours * 3600),
        step_s=options.step_s,
        round_s=options.round_s,
        window_s=options.window_s,
        history_s=options.history_s,
        noise=options.noise,
        move_price=options.move_price,
        seed=options.seed,
    )
    key = str(options.key or os.environ.get("SINEMORA_API_KEY", ""))
    keyless = "--upload needs --key or SINEMORA_API_KEY" if options.upload and not key else None
    if wrong := _wrong(world) or keyless:
        sys.stderr.write(f"simulate: {wrong}\n")
        return 2
    try:
        lines = list(_outcomes(options, world))
    except (trace.TraceError, series.SeriesError, StateError, OSError) as error:
        sys.stderr.write(f"\nsimulate: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\nsimulate: interrupted; with --kept the same command goes on from here\n")
        return 130
    text = "".join(json.dumps(line) + "\n" for line in lines)
    if options.output:
        options.output.write_text(text, "utf-8")
    else:
        sys.stdout.write(text)
    whole = {"world": asdict(world) | _read(options), "policies": lines}
    if options.report:
        for path in report.write(whole, options.report):
            sys.stderr.write(f"{path}\n")
    if options.upload:
        try:
            made = upload_result(options.upload, key, "/v1/simulations", {"name": options.name, **whole})
        except HandoverError as error:
            sys.stderr.write(f"simulate: {error}\n")
            return 1
        sys.stderr.write(f"Report: {options.upload.rstrip('/')}/simulations/{made['id']}\n")
    return 0


def _read(options: argparse.Namespace) -> dict[str, str | None]:
    """What was read instead of drawn: names, for where it lies is nobody's business."""
    found = {"trace": options.trace, "latency": options.latency, "statistics": options.statistics}
    return {what: path.resolve().name if path else None for what, path in found.items()}


def _wrong(world: World) -> str | None:
    if world.machines < 2 or world.slots < 2:
        return "at least 2 machines of 2 slots"
    if (
        world.step_s < 1
        or world.seconds < world.step_s
        or world.round_s < world.step_s
        or min(world.window_s, world.history_s) < 1
    ):
        return "a step is at least a second, and neither longer than the whole nor than a round"
    if not 0 <= world.noise < 1 or world.move_price < 0:
        return "noise is from 0 to below 1, the price of moves 0 or more"
    return None


def _outcomes(options: argparse.Namespace, world: World) -> Iterator[dict[str, Any]]:
    if options.trace:
        found = trace.jobs(options.trace, world.seconds)
        jobs = Workload.of_trace(found, np.random.default_rng(world.seed))
        if int(jobs.size.max(initial=0)) > world.machines * world.slots // 2:
            raise trace.TraceError(
                f"the trace has jobs of {jobs.size.max()} tasks; the cluster of it had {trace.MACHINES} machines:"
                f" --machines {trace.MACHINES}"
            )
    else:
        jobs = Workload.drawn(world.machines, world.slots, world.seconds, np.random.default_rng(world.seed))
    if options.latency:
        seconds = series.read_traces(options.latency)
    else:
        statistics = series.read_statistics(options.statistics) if options.statistics else series.PUBLISHED
        seconds = series.drawn(statistics, np.random.default_rng(world.seed))
    for scheme in (Scheme(one) for one in options.policy or list(Scheme)):
        yield report.summary(_one(world, scheme, jobs, seconds, options.kept))


def _one(world: World, scheme: Scheme, jobs: Workload, seconds: Series, kept: Path | None) -> Any:
    path = kept / f"{scheme}.npz" if kept else None
    of = asdict(world) | {"policy": scheme, "input": _digest(jobs, seconds)}
    state = State.read(path, of) if path and path.exists() else None
    written = begun = time.monotonic()
    first = state.step if state else 0

    def after_step(now: State) -> None:
        nonlocal written
        at, last = time.monotonic(), now.step == world.steps
        left_s = (at - begun) / (now.step - first) * (world.steps - now.step)
        sys.stderr.write(f"\r{scheme} {now.step}/{world.steps}, {left_s:.0f} s left   ")
        if path and (last or at - written > _KEEP_EVERY_S):
            now.write(path, of)
            written = at

    outcome = simulate(world, scheme, jobs, seconds, state=state, after_step=after_step)
    sys.stderr.write(f"\r{scheme}: area {outcome.area:.2f} %{' ' * 30}\n")
    return outcome


def _digest(jobs: Workload, seconds: Series) -> str:
    """What tells jobs and latency from others."""
    found = hashlib.sha256(seconds.delay_ns.tobytes())
    for part in (jobs.comes_s, jobs.size, jobs.kind, jobs.end_job, jobs.end_s):
        found.update(np.ascontiguousarray(part).tobytes())
    return found.hexdigest()[:16]
