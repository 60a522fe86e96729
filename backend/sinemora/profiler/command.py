"""`sinemora profile`: the command line of the profiler."""

import argparse
import contextlib
import os
import shlex
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from sinemora.curves.core.observations import ObservationError
from sinemora.kit.handover import HandoverError
from sinemora.profiler import journal, machine, network, profile, results, sweep
from sinemora.profiler.recipes import RECIPES, ProfileError, Recipe, found
from sinemora.profiler.upload import upload

_EXAMPLES = """\
Examples:
  sinemora profile memcached --out memcached
  sinemora profile http --to 2000 --points 16 --seconds 5
  sinemora profile --command 'my-bench --host {address} --clients {load} --time {seconds}' \\
      --server 'my-server --port 9000' --pattern 'ops/s: ([0-9.]+)' --unit queries/s --loads 1,2,4,8,16
  sinemora profile redis --upload https://sinemora.example --name 'Redis GET'      (key in SINEMORA_API_KEY, or --key)

The benchmark runs in one network namespace, the server in another, with delaybox between them (or NetEm where the
kernel has it). First the smallest load is searched that saturates the server with nothing added; then every latency is
run in random order, round after round, until its mean is known to --tolerance or --repeats is reached.
Idle processors are kept awake by loops of idle priority, because waking one takes 10 to 100 µs, which would be
taken for latency of the network; --let-sleep leaves that to the machine.
A run during which other work uses more than a tenth of a processor is done again when the machine is quiet, until
--patience is used up; what is disturbed even so is told.
Stop it any time: the same command goes on where it was. Written into --out: measurements.csv (what a curve is made of),
profile.json (everything, with the machine), curve.svg, journal.jsonl (the runs).
In commands {address}, {port}, {load}, {seconds} and {requests} are filled in, and {user}, whom a server that does not
want to be root can become.
Exit codes: 0 done, 1 failed, 2 not understood, 130 interrupted (run it again to go on)."""


def add(commands: Any) -> None:
    """Add the command to the subparsers of `sinemora`."""
    parser = commands.add_parser(
        "profile",
        help="measure the curve of an application: performance against added latency",
        description="Run a benchmark under injected latency and fit the curve.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("recipe", nargs="?", choices=sorted(RECIPES), help="a predefined benchmark")
    own = parser.add_argument_group("a benchmark of your own")
    own.add_argument("--command", metavar="WORDS", help="the benchmark; its output holds the result")
    own.add_argument("--server", metavar="WORDS", help="the server it needs, run in the other namespace")
    own.add_argument("--pattern", metavar="REGEX", help="regular expression; the result is its group in the last match")
    own.add_argument("--pointer", metavar="/A/B", help="or: path of the result in JSON that the benchmark prints")
    own.add_argument(
        "--metric", choices=("rate", "duration"), help="rate falls with latency, duration grows (default: rate)"
    )
    own.add_argument("--unit", help="unit of the result")
    own.add_argument("--port", type=int, help="value of {port}")
    run = parser.add_argument_group("the sweep")
    run.add_argument("--to", type=float, default=1000, metavar="µs", help="largest added round trip (default: 1000)")
    run.add_argument("--points", type=int, default=12, help="number of latencies above 0 (default: 12)")
    run.add_argument("--at", metavar="µs,µs,…", help="these latencies instead; 0 is always one")
    run.add_argument("--loads", metavar="N,N,…", help="loads to search in; a single one is used without search")
    run.add_argument("--seconds", type=float, default=2, help="length of a run, whole seconds (default: 2)")
    run.add_argument("--warm-up", type=float, default=2, metavar="SECONDS", help="before the first run (default: 2)")
    run.add_argument("--repeats", metavar="MIN,MAX", default="3,8", help="runs of each latency (default: 3,8)")
    run.add_argument("--tolerance", type=float, default=0.02, help="target width of the 95%% interval (default: 0.02)")
    run.add_argument(
        "--patience",
        type=float,
        default=120,
        metavar="SECONDS",
        help="seconds to wait for a quiet machine (default: 120)",
    )
    run.add_argument("--seed", type=int, default=1, help="seed of the random order (default: 1)")
    run.add_argument("--let-sleep", action="store_true", help="let processors idle between requests, see below")
    run.add_argument("--network", choices=("auto", "delaybox", "netem"), default="auto")
    run.add_argument(
        "--delaybox", type=Path, metavar="PATH", help="path of delaybox, if it is not on PATH or built here"
    )
    out = parser.add_argument_group("the result")
    out.add_argument("--out", type=Path, metavar="FOLDER", help="default: profile-RECIPE")
    out.add_argument("--fresh", action="store_true", help="discard earlier runs")
    out.add_argument("--upload", metavar="URL", help="upload the result as a curve to this server")
    out.add_argument("--key", help="API key (default: SINEMORA_API_KEY)")
    out.add_argument("--name", help="name of the curve (default: the recipe's)")
    out.add_argument("--curve", metavar="ID", help="add it as the next version of this curve")
    parser.set_defaults(run=lambda options: _profile(parser, options))


def _profile(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    recipe, plan = _recipe(parser, options), _plan(parser, options)
    plan = replace(plan, metric=recipe.metric, loads=plan.loads or recipe.loads)
    key = str(options.key or os.environ.get("SINEMORA_API_KEY", ""))
    if options.upload and not key:
        parser.error("--upload needs --key or SINEMORA_API_KEY")
    folder = options.out or Path(f"profile-{recipe.name}")
    settings = profile.Settings(options.seconds, options.warm_up, options.patience)
    signal.signal(signal.SIGTERM, _interrupted)
    try:
        words = sys.argv[2:] if sys.argv[1:2] == ["profile"] else sys.argv[1:]
        network.in_own_namespace([sys.executable, "-m", "sinemora.profiler", *words])
        recipe = found(recipe)
        if options.fresh:
            journal.forget(folder)
        kept = journal.Journal(folder, _asked(recipe, plan, settings, options))
        between = network.open_network(options.network, options.delaybox)
        try:
            with contextlib.nullcontext() if options.let_sleep else machine.awake():
                made = profile.make(recipe, plan, settings, between, kept, _say)
        finally:
            between.close()
        print(results.summary(made))
        print("Written: " + ", ".join(map(str, results.write(made, folder))))
        if options.upload:
            print("Curve: " + upload(made, options.upload, key, options.name or recipe.name, options.curve))
    except (ProfileError, ObservationError, HandoverError) as error:
        print(f"profile: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nprofile: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


def _recipe(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Recipe:
    if (options.recipe is None) == (options.command is None):
        parser.error("give a recipe or --command")
    if options.recipe is not None:
        changes = {name: getattr(options, name) for name in ("unit", "port") if getattr(options, name) is not None}
        return replace(RECIPES[options.recipe], **changes)
    if (options.pattern is None) == (options.pointer is None):
        parser.error("--command needs --pattern or --pointer to find its result")
    loads = (1, 2, 4, 8, 16, 32, 64) if "{load}" in options.command else (1,)
    return Recipe(
        name="command",
        server=None if options.server is None else tuple(shlex.split(options.server)),
        command=tuple(shlex.split(options.command)),
        pattern=options.pattern,
        pointer=options.pointer,
        metric=options.metric or "rate",
        unit=options.unit or "",
        loads=loads,
        port=options.port or 9000,
    )


def _plan(parser: argparse.ArgumentParser, options: argparse.Namespace) -> sweep.Plan:
    try:
        if options.at:
            added_us = tuple(sorted({0.0, *(float(text) for text in options.at.split(","))}))
        else:
            added_us = sweep.latencies(options.to, options.points)
        loads = tuple(sorted({int(text) for text in options.loads.split(",")})) if options.loads else ()
        least, most = (int(text) for text in options.repeats.split(","))
    except ValueError as error:
        parser.error(f"not understood: {error}")
    if len(added_us) < 3 or added_us[0] < 0:
        parser.error("at least two latencies above 0 are needed, 8 to 20 are good")
    if not 1 <= least <= most or any(load < 1 for load in loads):
        parser.error("--repeats is MIN,MAX with 1 ≤ MIN ≤ MAX; loads are 1 or more")
    if not options.seconds >= 1:
        parser.error("--seconds must be 1 or more")
    return sweep.Plan(
        added_us=added_us,
        loads=loads,
        repeats_min=least,
        repeats_max=most,
        tolerance=options.tolerance,
        seed=options.seed,
    )


def _asked(recipe: Recipe, plan: sweep.Plan, settings: profile.Settings, options: argparse.Namespace) -> dict[str, Any]:
    """What makes a profile this one: runs of another must not be mixed in."""
    return {
        "recipe": recipe.name,
        "command": recipe.command,
        "server": recipe.server,
        "added_us": plan.added_us,
        "loads": plan.loads,
        "seconds": settings.seconds,
        "seed": plan.seed,
        "network": options.network,
        "let_sleep": options.let_sleep,
    }


def _interrupted(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
