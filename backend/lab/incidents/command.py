"""`python -m lab.incidents`: writes synthetic meshes with known truth into a file."""

import io
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
from typer import BadParameter, Option, Typer

from lab.incidents.events import Event, Scenario, make

_ARRAYS = ("median_ns", "p90_ns", "max_ns", "loss", "clock_error_ns", "silent")


app = Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def main(
    out: Annotated[Path, Option(help="ZIP file to write.")],
    seed: Annotated[int, Option(min=0, help="Any number from 0; the same number gives the same file.")] = 1,
    mix: Annotated[
        list[str] | None,
        Option(
            metavar="EVENT=COUNT",
            help=f"Number of incidents of a kind; repeatable. Kinds: {', '.join(Event)}.",
            show_default="one of each",
        ),
    ] = None,
) -> None:
    """Write synthetic meshes with known truth into a file."""
    counts = {event: 1 for event in Event} if not mix else {}
    for text in mix or ():
        name, _, count = text.partition("=")
        if name not in list(Event) or not count.isdigit():
            raise BadParameter(f"--mix {text}: write EVENT=COUNT, with one of {', '.join(Event)}.")
        counts[Event(name)] = int(count)
    written = write(mixed(counts, seed), out)
    sys.stderr.write(f"{written} scenarios in {out}\n")


def mixed(counts: dict[Event, int], seed: int) -> Iterator[Scenario]:
    """Yield a number of incidents of each kind. The n-th of a kind has the seed `seed` + n."""
    for event, count in counts.items():
        for number in range(count):
            yield make(event, seed + number)


def write(scenarios: Iterator[Scenario], path: Path) -> int:
    """Write a ZIP with `truth.json`, a list in order, and for each incident `NNNN.npz` with its arrays.

    Return their number.
    """
    truths = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        for number, scenario in enumerate(scenarios):
            packed = io.BytesIO()
            np.savez_compressed(packed, **{name: getattr(scenario.windows, name) for name in _ARRAYS})
            file.writestr(f"{number:04}.npz", packed.getvalue())
            truths.append({"file": f"{number:04}.npz", **scenario.described()})
        file.writestr("truth.json", json.dumps(truths, indent=1))
    return len(truths)
