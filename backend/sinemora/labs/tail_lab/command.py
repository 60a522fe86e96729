"""`sinemora tail-lab`: a study of the order of packets at a link, in this process."""

import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn
from uuid import UUID

from pydantic import ValidationError
from typer import Exit, Option, Typer

from sinemora.kit.field_errors import message_of
from sinemora.labs.tail_lab.core.classes import ClassSpread
from sinemora.labs.tail_lab.core.policies import ALPHA_MAX, NAMES, PacketPolicy
from sinemora.labs.tail_lab.core.study import run
from sinemora.labs.tail_lab.core.summary import TailFigure
from sinemora.labs.tail_lab.core.workloads import SizesError, own_workload
from sinemora.labs.tail_lab.reads import request_of, study_read
from sinemora.labs.tail_lab.schemas import TailBaseline, TailStudyCreate, TailStudyRead, WorkloadKey
from sinemora_client.commands import CommandError, table, utf8_of

_FIRST = TailStudyCreate()
_EPILOG = """\\b
Examples:
  sinemora tail-lab --workload w5
  sinemora tail-lab --workload w4 --objective p99 --against ps --policy d_tail_aware --policy srpt
  sinemora tail-lab --sizes flows.csv --load 0.6 --link-mbit 1000 --classes 4
  sinemora tail-lab --workload w5 --alpha 1.5 --json

FILE of --sizes is a table with the column bytes, and optionally count. α is found by search, on flows of its own; the
policies are then compared on others. Without --flows about 10 million packets are sent. Without --policy all but pbs
are compared.

Exit codes: 0 success, 2 invalid options or flow sizes, 130 interrupted."""

app = Typer(add_completion=False, rich_markup_mode=None)


@app.command("tail-lab", epilog=_EPILOG)
def tail_lab(
    workload: Annotated[WorkloadKey, Option(help="Workload of the source.")] = _FIRST.workload,
    sizes: Annotated[Path | None, Option(metavar="FILE", help="Own flow sizes, CSV; - for standard input.")] = None,
    load: Annotated[float, Option(help="Share of the capacity of the link.")] = _FIRST.load,
    link_mbit: Annotated[float, Option(help="Rate of the link, Mbit/s.")] = _FIRST.link_mbit,
    packet_bytes: Annotated[int, Option(help="Data of a full packet.")] = _FIRST.packet_bytes,
    flows: Annotated[int | None, Option(help="Number of flows.", show_default="by packets")] = None,
    seed: Annotated[int, Option(help="Seed of the random numbers.")] = _FIRST.seed,
    policy: Annotated[list[PacketPolicy] | None, Option(help="Policy; repeatable.", show_default="all but pbs")] = None,
    objective: Annotated[TailFigure, Option(help="Figure that the search minimises.")] = _FIRST.objective,
    against: Annotated[
        TailBaseline | None,
        Option(
            help="Baseline of the search.",
            show_default="las or srpt",
        ),
    ] = None,
    mean_loss_max: Annotated[
        float, Option(help="Rise of the mean that the search permits, percent; -1: any.")
    ] = _FIRST.mean_loss_max or 0.0,
    alpha: Annotated[float | None, Option(help="α, instead of a search; 1e15 is infinity.")] = None,
    evaluations: Annotated[int, Option(help="Evaluations of a search.")] = _FIRST.evaluations,
    classes: Annotated[int | None, Option(help="Compare with so many classes of priority, 2 to 8.")] = None,
    spread: Annotated[ClassSpread, Option(help="What every class carries equally much of.")] = _FIRST.spread,
    as_json: Annotated[bool, Option("--json", help="Print the whole study as JSON.")] = False,
) -> None:
    """Find the order of packets that cuts the tail of a bottleneck link."""
    given: dict[str, Any] = {
        "workload": WorkloadKey.OWN if sizes else workload, "load": load, "link_mbit": link_mbit,
        "packet_bytes": packet_bytes, "flows": flows, "seed": seed, "policies": policy or None,
        "objective": objective, "against": against, "mean_loss_max": None if mean_loss_max < 0 else mean_loss_max,
        "alpha": alpha, "evaluations": evaluations, "classes": classes, "spread": spread,
    }  # fmt: skip
    try:
        given["sizes_csv"] = utf8_of(sizes) if sizes else None
        body = TailStudyCreate.model_validate(given)
        request = request_of(body, own_workload(body.sizes_csv).points if body.sizes_csv is not None else None)
    except ValidationError as error:
        first = error.errors()[0]
        where = "".join(f"--{str(part).replace('_', '-')}: " for part in first["loc"][:1])
        _refuse(f"{where}{message_of(first)}")
    except SizesError as error:
        _refuse(f"{sizes}: {error.message}")
    except CommandError as error:
        _refuse(str(error))
    if reason := request.too_long():
        _refuse(reason)
    try:
        study = run(request, _show)
    except KeyboardInterrupt:
        sys.stderr.write("\ntail-lab: interrupted\n")
        raise Exit(130) from None
    sys.stderr.write(f"\r{' ' * 60}\r")
    read = study_read(UUID(int=0), body, study)
    sys.stdout.write(read.model_dump_json(indent=2, exclude={"id"}) + "\n" if as_json else _text(read))


def _refuse(words: str) -> NoReturn:
    sys.stderr.write(f"tail-lab: {words}\n")
    raise Exit(2)


def _show(share: float, note: str = "") -> None:
    sys.stderr.write(f"\r{share:4.0%} {note:55}" if note else f"\r{share:4.0%}")
    sys.stderr.flush()


def _alpha(alpha: float | None) -> str:
    if alpha is None:
        return "-"
    return "∞" if alpha >= ALPHA_MAX else f"{alpha:.4g}"


def _time(value_s: float) -> str:
    return f"{value_s * 1e3:.4g} ms" if value_s >= 1e-3 else f"{value_s * 1e6:.4g} µs"


def _text(study: TailStudyRead) -> str:
    rows = []
    for outcome in study.outcomes:
        figures = outcome.figures
        gains = {each.against: each.gains for each in outcome.gains}
        name = NAMES[outcome.policy] + (f", {outcome.classes} classes" if outcome.classes else "")
        rows.append((
            name, _alpha(outcome.alpha), _time(figures.mean), _time(figures.p99), _time(figures.tail_mean),
            _time(figures.small_p99),
            ", ".join(f"{NAMES[against]} {gain.tail_mean:+.1f} %" for against, gain in gains.items()),
        ))  # fmt: skip
    header = ("policy", "α", "mean", "p99", "tail mean", "p99 of small flows", "tail mean below")
    parts = [
        f"{study.workload_name}, {study.flows:,} flows, {study.packets:,} packets, load {study.offered_load:.3f}.",
        table(header, rows),
    ]
    for search in study.searches:
        best = search.best
        limit = "" if best.allowed else " No α keeps the limit of the mean; this one exceeds it least."
        parts.append(
            f"{NAMES[search.policy]}: α = {_alpha(best.alpha)} of {len(search.evaluations)} evaluations;"
            f" {study.objective.value} {best.gain:+.1f} % below {NAMES[search.against]}, mean {best.mean_loss:+.1f} %,"
            f" on the flows of the search.{limit}"
        )
    if study.beside_source:
        comparison = [
            (f"{row.protocol}: {NAMES[row.policy]} below {NAMES[row.against]}, {row.figure.value}",
             f"{row.source_percent:g} %", f"{row.here_percent:.1f} %", row.verdict.value)
            for row in study.beside_source
        ]  # fmt: skip
        parts.append(table(("gain", "source", "here", ""), comparison))
        parts += sorted({f"{row.verdict.value}: {row.why}" for row in study.beside_source if row.verdict != "agrees"})
    parts += [
        f"These {outcome.classes} classes on a VM (docs/egress-guard.md):\n  {outcome.egress_guard}"
        for outcome in study.outcomes
        if outcome.egress_guard
    ]
    return "\n\n".join(parts) + "\n"
