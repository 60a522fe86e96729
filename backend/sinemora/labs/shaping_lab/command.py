"""`sinemora lab shape`: workloads under the shaping profiles of the source, on real queues of this machine."""

import json
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NoReturn

from typer import Exit, Option, Typer

from sinemora.kit.delaybox import DelayboxError
from sinemora.labs.profiler.recipes import ProfileError
from sinemora.labs.shaping_lab.core.profiles import BASELINE, PROFILES, ProfileName, Scale, described
from sinemora.labs.shaping_lab.core.summary import Figures
from sinemora.labs.shaping_lab.core.workloads import Workload, WorkloadName, workload_named
from sinemora.labs.shaping_lab.namespaces import CommandFailed, unavailable
from sinemora.labs.shaping_lab.study import RunFailed, StudyRequest, run
from sinemora_client.commands import CommandError, check_writable, table, write_text

_EPILOG = """\\b
Examples:
  sudo sinemora lab shape
  sudo sinemora lab shape --workload c --profile interference --profile 'tb switch' --seconds 30
  sudo sinemora lab shape --workload batch --link-mbit 400
  sudo sinemora lab shape --unacknowledged --workload a --output study.json
  sinemora lab shape --list

A client, a server and a noisy neighbour run in network namespaces of this machine, each behind a port of a switch.
Links, token buckets (tc tbf) and queues are those of the kernel. No packet leaves the machine. Rates are scaled from
the 10 Gbit/s of the source to --link-mbit. Compare ratios to the profile `interference`, not times: the source had
other machines. Everything is removed at the end, also after Ctrl-C.

Exit codes: 0 success, 1 the machine cannot or a run failed, 2 invalid options, 130 interrupted."""

SECONDS_MAX = 120.0
TOTAL_MAX_S = 3_600.0

app = Typer(add_completion=False, rich_markup_mode=None)
lab = Typer(rich_markup_mode=None)
app.add_typer(lab, name="lab", help="Rehearse on this machine what shaping does to applications.")


@lab.callback()
def _group() -> None:
    """Rehearse on this machine what shaping does to applications."""


@lab.command("shape", epilog=_EPILOG)
def shape(
    workload: Annotated[
        list[WorkloadName] | None, Option(help="Workload; repeatable.", show_default="c, batch")
    ] = None,
    profile: Annotated[list[ProfileName] | None, Option(help="Profile; repeatable.", show_default="all ten")] = None,
    seconds: Annotated[float, Option(min=1, max=SECONDS_MAX, help="Time of each workload under each profile.")] = 10.0,
    link_mbit: Annotated[float, Option(min=10, max=10_000, help="Rate of the links.")] = 200.0,
    delay_us: Annotated[float, Option(min=0, max=100_000, help="One-way delay of the client, by delaybox.")] = 0.0,
    unacknowledged: Annotated[bool, Option(help="Do not wait for writes, as the source did.")] = False,
    seed: Annotated[int, Option(help="Seed of the random numbers.")] = 1,
    output: Annotated[Path | None, Option(help="Write the study to a JSON file.")] = None,
    as_json: Annotated[bool, Option("--json", help="Print the study as JSON.")] = False,
    list_profiles: Annotated[bool, Option("--list", help="List the profiles, and exit.")] = False,
) -> None:
    """Run a key-value and a batch workload under shaping profiles, next to the figures of the source (root)."""
    scale = Scale(link_mbit)
    profiles = [each for each in PROFILES if not profile or each.name in profile]
    if list_profiles:
        rows = [(each.name, "; ".join(described(each, scale))) for each in profiles]
        sys.stdout.write(table(("profile", "measures"), rows) + "\n")
        return
    workloads = [workload_named(each) for each in dict.fromkeys(workload or (WorkloadName.C, WorkloadName.BATCH))]
    request = StudyRequest(workloads, profiles, seconds, scale, seed, not unacknowledged, delay_us)
    if request.expected_s > TOTAL_MAX_S:
        _fail(f"This takes {request.expected_s / 60:.0f} min, more than an hour. Ask for less at once.", 2)
    try:
        check_writable(output)
    except CommandError as error:
        _fail(str(error), 2)
    if reason := unavailable(("tbf", "htb")):
        _fail(reason, 1)
    sys.stderr.write(f"About {request.expected_s:.0f} s.\n")
    # A terminated run must remove its namespaces too.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        figures = run(request, _show)
    except KeyboardInterrupt:
        _fail("interrupted", 130)
    except (CommandFailed, RunFailed, ProfileError, DelayboxError) as error:
        _fail(str(error), 1)
    sys.stderr.write(f"\r{' ' * 60}\r")
    study = _study(request, figures)
    if output is not None:
        write_text(json.dumps(study), output)
    sys.stdout.write(json.dumps(study, indent=2) + "\n" if as_json else _text(request, figures))


def _fail(words: str, status: int) -> NoReturn:
    sys.stderr.write(f"lab shape: {words}\n")
    raise Exit(status)


def _interrupt(_signal: int, _frame: Any) -> None:
    raise KeyboardInterrupt


def _show(share: float, note: str) -> None:
    sys.stderr.write(f"\r{share:4.0%} {note:55}")
    sys.stderr.flush()


def _study(request: StudyRequest, rows: list[tuple[Workload, Figures]]) -> dict[str, Any]:
    return {
        "link_mbit": request.scale.link_mbit,
        "seconds": request.seconds,
        "acknowledged_writes": request.acknowledged,
        "delay_us": request.delay_us,
        "rows": [{"workload": workload.name} | asdict(row) for workload, row in rows],
    }


def _text(request: StudyRequest, rows: list[tuple[Workload, Figures]]) -> str:
    parts = [
        f"Links of {request.scale.link_mbit:g} Mbit/s, {request.seconds:g} s each. Times in ms; in brackets the"
        " source. × is the ratio of p99 to the profile `interference`, here and in the source."
    ]
    for workload, operation in dict.fromkeys((workload, row.operation) for workload, row in rows):
        chosen = [row for each, row in rows if (each, row.operation) == (workload, operation)]
        base = next((row for row in chosen if row.profile == BASELINE), None)
        header = ("profile", "per s", "p50", "p95", "p99", "p99.9", "×", "200 ms tail")
        parts.append(f"{workload.title}: {operation.value}\n{table(header, [_row(row, base) for row in chosen])}")
    return "\n\n".join(parts) + "\n"


def _row(row: Figures, base: Figures | None) -> tuple[str, ...]:
    source, source_base = row.source, None if base is None else base.source
    rate = f"{row.per_s:.4g}"
    if row.mb_per_s is not None:
        rate = f"{row.mb_per_s:.4g} MB/s" + _bracket(row.source_mb_per_s)
    ratio = _ratio(row.p99_us, None if base is None else base.p99_us)
    if source is not None and source_base is not None:
        ratio += f" ({source.p99_us / source_base.p99_us:.3g})"
    return (
        row.profile,
        rate,
        _ms(row.p50_us),
        _ms(row.p95_us) + _bracket(None if source is None else source.p95_us / 1e3),
        _ms(row.p99_us) + _bracket(None if source is None else source.p99_us / 1e3),
        _ms(row.p999_us) + _bracket(None if source is None else source.p999_us / 1e3),
        ratio,
        "found" if row.tail.found else "-",
    )


def _ratio(value: float | None, base: float | None) -> str:
    return "-" if value is None or base is None else f"{value / base:.3g}"


def _ms(us: float | None) -> str:
    return "-" if us is None else f"{us / 1e3:.4g}"


def _bracket(value: float | None) -> str:
    return "" if value is None else f" ({value:.4g})"
