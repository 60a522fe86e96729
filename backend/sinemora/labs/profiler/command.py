"""`sinemora profile`: the command line of the profiler."""

import contextlib
import hashlib
import re
import shlex
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from typer import Argument, BadParameter, Exit, Option, Typer

from sinemora.applications.curves.core.observations import ObservationError
from sinemora.applications.curves.core.variable import Shape
from sinemora.kit.delaybox import DelayboxError
from sinemora.labs.profiler import journal, machine, network, profile, results, star, sweep, variation
from sinemora.labs.profiler.recipes import RECIPES, ProfileError, Recipe, resolved
from sinemora_client import Client, SinemoraError
from sinemora_client.profiles import key_of_environment

_EPILOG = """\b
Examples:
  sinemora profile memcached --out memcached
  sinemora profile http --to 2000 --points 16 --seconds 5
  sinemora profile --command 'my-bench --host {address} --clients {load} --time {seconds}' \\
      --server 'my-server --port 9000' --pattern 'ops/s: ([0-9.]+)' --unit queries/s --loads 1,2,4,8,16
  sinemora profile training --shape uniform --around 4000 --magnitudes 400,1400
  sinemora profile redis --replay outbound.csv --replay inbound.csv       (written by sinemora delay-tables)
  sinemora profile memcached --clients 2 --delay-at one-client
  sinemora profile redis --upload https://sinemora.example --name 'Redis GET'      (key in SINEMORA_API_KEY, or --key)

The benchmark and the server run in two network namespaces, with delaybox between them (or NetEm if the kernel
supports it). The profiler first searches for the smallest load that saturates the server without added latency. It then
runs all latencies in random order, round after round, until each mean is within --tolerance or has all --repeats.

Loops of idle priority keep idle processors awake: waking one takes 10 to 100 µs, which would count as latency of the
network. --let-sleep turns this off.

If other work uses more than a tenth of a processor during a run, the run is repeated once the machine is quiet. Waiting
and repeats take at most --patience; runs that stay disturbed are reported.

--shape or --replay add runs with variable latency around a median, compared with the median alone. --magnitudes are the
deviations of each direction: half the range of uniform, three standard deviations of normal, the 97.5th percentile of
heavy tails.

--clients runs the benchmark on several hosts around a switch; --delay-at selects whose link has the latency.

An interrupted profile continues with the same command. Files in --out: measurements.csv (the samples of the curve),
profile.json (all results, with the machine), curve.svg, journal.jsonl (the runs).

Placeholders in commands: {address}, {port}, {load}, {seconds}, {requests}, {clients} (hosts), {workers} (load of all
clients), {folder} (temporary), and {user}, an unprivileged user for servers that refuse to run as root.

Exit codes: 0 success, 1 failure, 2 invalid options, 130 interrupted (continue with the same command)."""

app = Typer(
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    pretty_exceptions_enable=False,
)


def _recipe(name: str) -> Recipe:
    if name not in RECIPES:
        raise ValueError(f"{name!r} is not one of {', '.join(sorted(RECIPES))}")
    return RECIPES[name]


@app.command("profile", epilog=_EPILOG)
def run_profile(
    recipe: Annotated[
        Recipe | None, Argument(parser=_recipe, help=f"Predefined benchmark: {', '.join(sorted(RECIPES))}.")
    ] = None,
    command: Annotated[str | None, Option(metavar="WORDS", help="Own benchmark; it prints the result.")] = None,
    server: Annotated[
        str | None, Option(metavar="WORDS", help="Server of the own benchmark, run in the other namespace.")
    ] = None,
    pattern: Annotated[
        str | None, Option(metavar="REGEX", help="Regular expression; the result is its group in the last match.")
    ] = None,
    pointer: Annotated[str | None, Option(metavar="/A/B", help="Or: JSON pointer to the result in the output.")] = None,
    metric: Annotated[
        Literal["rate", "duration"],
        Option(help="Result of the own benchmark: rate falls with latency, duration grows."),
    ] = "rate",
    unit: Annotated[str | None, Option(help="Unit of the result.")] = None,
    port: Annotated[int | None, Option(help="Value of {port}.", show_default="of the recipe, or 9000")] = None,
    to: Annotated[float, Option(metavar="µs", help="Largest added round trip.")] = 1000,
    points: Annotated[int, Option(help="Number of latencies above 0.")] = 12,
    at: Annotated[str | None, Option(metavar="µs,µs,…", help="These latencies instead; 0 is always one.")] = None,
    loads: Annotated[
        str | None, Option(metavar="N,N,…", help="Loads to search in; a single one is used without search.")
    ] = None,
    seconds: Annotated[float, Option(help="Length of a run, whole seconds.")] = 2,
    warm_up: Annotated[float, Option(metavar="SECONDS", help="Load before the first run.")] = 2,
    repeats: Annotated[str, Option(metavar="MIN,MAX", help="Runs of each latency.")] = "3,8",
    tolerance: Annotated[float, Option(help="Target width of the 95 % interval, as a share of the mean.")] = 0.02,
    patience: Annotated[float, Option(metavar="SECONDS", help="Limit of waiting and repeats.")] = 120,
    seed: Annotated[int, Option(help="Seed of the random order.")] = 1,
    let_sleep: Annotated[bool, Option("--let-sleep", help="Let idle processors sleep, see below.")] = False,
    shape: Annotated[
        Literal["uniform", "normal", "pareto", "pareto-normal"] | None,
        Option(help="Also measure variable latency of this shape."),
    ] = None,
    replay: Annotated[
        list[Path] | None,
        Option(metavar="FILE.csv", help="Or of measured delays: a table of delaybox, or two, outbound and inbound."),
    ] = None,
    around: Annotated[
        float | None, Option(metavar="µs", help="Median round trip of variable latency.", show_default="of --replay")
    ] = None,
    magnitudes: Annotated[
        str | None,
        Option(metavar="µs,µs,…", help="Magnitudes of variance in each direction.", show_default="of --replay"),
    ] = None,
    clients: Annotated[int, Option(help="Client hosts that run the benchmark at once.")] = 1,
    delay_at: Annotated[
        Literal["server", "one-client", "clients"],
        Option(help="Role whose link to the switch is delayed, of several clients."),
    ] = "server",
    latency: Annotated[
        list[str] | None,
        Option(metavar="NAME=WHERE", help="Request latency in the output of the own benchmark; repeatable."),
    ] = None,
    latency_unit: Annotated[Literal["ns", "us", "ms", "s"], Option(help="Unit of that latency.")] = "us",
    between: Annotated[
        Literal["auto", "delaybox", "netem"], Option("--network", help="Source of the added latency.")
    ] = "auto",
    delaybox: Annotated[
        Path | None, Option(metavar="PATH", help="Path of delaybox, if it is not on PATH or built here.")
    ] = None,
    out: Annotated[
        Path | None, Option(metavar="FOLDER", help="Folder for the result.", show_default="profile-RECIPE")
    ] = None,
    fresh: Annotated[bool, Option("--fresh", help="Discard earlier runs.")] = False,
    upload: Annotated[str | None, Option(metavar="URL", help="Upload the result as a curve to this server.")] = None,
    key: Annotated[
        str | None, Option(help="API key.", show_default="SINEMORA_API_KEY or the file SINEMORA_API_KEY_FILE")
    ] = None,
    name: Annotated[str | None, Option(help="Name of the curve.", show_default="the recipe's")] = None,
    curve: Annotated[str | None, Option(metavar="ID", help="Add it as the next version of this curve.")] = None,
) -> None:
    """Measure the curve of an application: performance against added latency.

    Run a benchmark under injected latency and fit the curve.
    """
    if latency and recipe is not None:
        raise BadParameter("--latency is for --command; recipes have theirs")
    if (recipe is None) == (command is None):
        raise BadParameter("a recipe or --command is needed, not both")
    if recipe is not None:
        recipe = replace(recipe, unit=recipe.unit if unit is None else unit, port=recipe.port if port is None else port)
    else:
        recipe = _own_recipe(command or "", server, pattern, pointer, metric, unit or "", port or 9000)
        recipe = replace(recipe, latency=_statistics(latency or []), latency_unit=latency_unit)
    plan = replace(_plan(at, to, points, loads, repeats, seconds), tolerance=tolerance, seed=seed, metric=recipe.metric)
    plan = replace(plan, loads=plan.loads or recipe.loads)
    try:
        key = key or (key_of_environment() if upload else "")
    except SinemoraError as error:
        raise BadParameter(str(error)) from None
    if upload and not key:
        raise BadParameter("--upload needs --key, SINEMORA_API_KEY or SINEMORA_API_KEY_FILE")
    folder = out or Path(f"profile-{recipe.name}")
    try:
        kind, plan = _variation(plan, shape, replay or [], around, magnitudes)
        signal.signal(signal.SIGTERM, _interrupted)
        words = sys.argv[2:] if sys.argv[1:2] == ["profile"] else sys.argv[1:]
        network.in_own_namespace([sys.executable, "-m", "sinemora.labs.profiler", *words])
        recipe = resolved(recipe)
        settings = profile.RunSettings(seconds, warm_up, patience, kind, delay_at)
        if fresh:
            journal.forget(folder)
        # These parameters identify a profile: runs of others must not be mixed in.
        identity: dict[str, object] = {
            "recipe": recipe.name,
            "command": recipe.command,
            "server": recipe.server,
            "added_us": plan.added_us,
            "loads": plan.loads,
            "seconds": seconds,
            "seed": seed,
            "network": between,
            "let_sleep": let_sleep,
        }
        # Profiles of earlier versions had none of these, and continue.
        if kind is not None:
            identity |= {
                "varied": plan.varied,
                "variance": kind.name,
                "tables": [_digest(path) for path in replay or ()],
            }
        if clients > 1:
            identity |= {"clients": clients, "delay_at": delay_at}
        runs = journal.Journal(folder, identity)
        opened: network.ProfiledNetwork
        if clients == 1:
            opened = network.open_network(between, delaybox)
        elif between == "netem":
            raise ProfileError("NetEm joins one client.\nWhat to do: --network delaybox")
        else:
            opened = star.star(clients, delay_at, delaybox)
        try:
            with contextlib.nullcontext() if let_sleep else machine.awake():
                result = profile.make(recipe, plan, settings, opened, runs, _report_progress)
        finally:
            opened.close()
        print(results.summary(result))
        print("Written: " + ", ".join(map(str, results.write(result, folder))))
        if upload:
            print("Curve: " + _upload(result, upload, key, name or recipe.name, curve))
    except (ProfileError, DelayboxError, ObservationError, SinemoraError) as error:
        print(f"profile: {error}", file=sys.stderr)
        raise Exit(1) from None
    except KeyboardInterrupt:
        print("\nprofile: interrupted; the same command continues from here", file=sys.stderr)
        raise Exit(130) from None


def _own_recipe(
    command: str, server: str | None, pattern: str | None, pointer: str | None,
    metric: Literal["rate", "duration"], unit: str, port: int,
) -> Recipe:  # fmt: skip
    if (pattern is None) == (pointer is None):
        raise BadParameter("--command needs --pattern or --pointer to find its result")
    return Recipe(
        name="command",
        server=None if server is None else tuple(shlex.split(server)),
        command=tuple(shlex.split(command)),
        pattern=pattern,
        pointer=pointer,
        metric=metric,
        unit=unit,
        loads=(1, 2, 4, 8, 16, 32, 64) if "{load}" in command else (1,),
        port=port,
    )


def _statistics(texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    pairs = tuple((name, where) for name, _, where in (text.partition("=") for text in texts))
    if any(not name or not where for name, where in pairs):
        raise BadParameter("--latency is NAME=REGEX or NAME=/JSON/POINTER, as in p99=/latency/p99")
    for _, where in pairs:
        try:
            groups = 1 if where.startswith("/") else re.compile(where).groups
        except re.error as error:
            raise BadParameter(f"--latency: {where!r} is not a regular expression: {error}") from None
        if groups not in (1, 2):
            raise BadParameter(f"--latency: {where!r} needs one group, the number, or two, number and unit")
    return pairs


def _variation(
    plan: sweep.SweepPlan, shape: Shape | None, replay: Sequence[Path], around: float | None, magnitudes: str | None
) -> tuple[variation.Variation | None, sweep.SweepPlan]:
    """Return the kind of variance, and the plan with its conditions."""
    if shape is None and not replay:
        if around is not None or magnitudes is not None:
            raise BadParameter("--around and --magnitudes need --shape or --replay")
        return None, plan
    if shape is not None and (replay or around is None or magnitudes is None):
        raise BadParameter("--shape needs --around and --magnitudes, and excludes --replay")
    if len(replay) > 2:
        raise BadParameter("--replay takes one table for both directions, or two: outbound and inbound")
    tables = [variation.read_table(path) for path in replay]
    kind = variation.Variation(shape, (tables[0], tables[-1]) if tables else None)
    try:
        sizes_us = [float(text) for text in magnitudes.split(",")] if magnitudes else [kind.magnitude_us]
    except ValueError as error:
        raise BadParameter(f"invalid list of numbers: {error}") from None
    around_us = kind.median_us if around is None else around
    if not around_us > 0 or not all(size > 0 for size in sizes_us):
        raise BadParameter("--around and --magnitudes must be above 0; 0, no variance, is always measured")
    for size in sizes_us if shape is not None else ():
        variation.words_of(shape, around_us, size)  # type: ignore[arg-type]
    varied = tuple(sweep.Condition(around_us, size) for size in sorted(set(sizes_us)))
    return kind, replace(plan, added_us=tuple(sorted({*plan.added_us, around_us})), varied=varied)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _plan(at: str | None, to: float, points: int, loads: str | None, repeats: str, seconds: float) -> sweep.SweepPlan:
    try:
        latencies_us = [float(text) for text in at.split(",")] if at else sweep.latencies(to, points)
        added_us = tuple(sorted({0.0, *latencies_us}))
        all_loads = tuple(sorted({int(text) for text in loads.split(",")})) if loads else ()
        least, most = (int(text) for text in repeats.split(","))
    except ValueError as error:
        raise BadParameter(f"invalid list of numbers: {error}") from None
    if len(added_us) < 3 or added_us[0] < 0:
        raise BadParameter("at least two latencies above 0 are needed; 8 to 20 are recommended")
    if not 1 <= least <= most or any(load < 1 for load in all_loads):
        raise BadParameter("--repeats is MIN,MAX with 1 ≤ MIN ≤ MAX; loads are 1 or more")
    if not seconds >= 1:
        raise BadParameter("--seconds must be 1 or more")
    return sweep.SweepPlan(added_us=added_us, loads=all_loads, repeats_min=least, repeats_max=most)


def _interrupted(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _report_progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _upload(made: profile.Profile, url: str, key: str, name: str, curve_id: str | None) -> str:
    """Create a curve from a profile, or the next version of curve `curve_id`; return the address of its page.

    Raises `SinemoraError` with the server's message.
    """
    body: dict[str, Any] = {
        "metric": made.recipe.metric,
        "source": "\n".join(results.source(made)),
        "rows": [{"latency_us": run.added_us, "performance": run.value} for run in results.steady(made)],
    }
    if curve_id is None:
        body |= {"name": name, "unit": made.recipe.unit, "description": f"sinemora profile, load {made.load}"}
    path = "/v1/curves" if curve_id is None else f"/v1/curves/{curve_id}/versions"
    with Client(url, key) as client:
        return f"{client.url}/curves/{client.request('POST', path, body=body).json()['id']}"
