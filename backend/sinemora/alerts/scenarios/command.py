"""`sinemora scenarios`: meshes with known truth, as a file."""

import argparse
import io
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sinemora.alerts.scenarios.events import Event, Scenario, make

_ARRAYS = ("median_ns", "max_ns", "loss", "clock_error_ns", "silent")


def add(commands: Any) -> None:
    """Add the command to the program's."""
    command: argparse.ArgumentParser = commands.add_parser(
        "scenarios", help="networks in which something goes wrong, with the truth about it"
    )
    command.add_argument("--seed", type=int, default=1, help="any number; the same gives the same (default: 1)")
    command.add_argument("--out", type=Path, required=True, help="ZIP file to write")
    command.add_argument(
        "--mix",
        action="append",
        metavar="EVENT=COUNT",
        help=f"how many of a kind, may be repeated (default: one of each); kinds: {', '.join(Event)}",
    )
    command.set_defaults(run=_run)


def mixed(wanted: dict[Event, int], seed: int) -> Iterator[Scenario]:
    """So many of each kind. The n-th of a kind has the seed `seed` + n."""
    for event, count in wanted.items():
        for number in range(count):
            yield make(event, seed + number)


def write(scenarios: Iterator[Scenario], path: Path) -> int:
    """A ZIP with `truth.json`, a list in order, and for each scenario `NNNN.npz` with its arrays; how many."""
    told = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        for number, scenario in enumerate(scenarios):
            packed = io.BytesIO()
            np.savez_compressed(packed, **{name: getattr(scenario.windows, name) for name in _ARRAYS})
            file.writestr(f"{number:04}.npz", packed.getvalue())
            told.append({"file": f"{number:04}.npz", **scenario.described()})
        file.writestr("truth.json", json.dumps(told, indent=1))
    return len(told)


def _run(options: argparse.Namespace) -> int:
    wanted = {event: 1 for event in Event} if not options.mix else {}
    for said in options.mix or ():
        name, _, count = said.partition("=")
        if name not in list(Event) or not count.isdigit():
            sys.stderr.write(f"--mix {said}: write EVENT=COUNT, with one of {', '.join(Event)}.\n")
            return 2
        wanted[Event(name)] = int(count)
    if options.seed < 0:
        sys.stderr.write("--seed is a number from 0 on.\n")
        return 2
    written = write(mixed(wanted, options.seed), options.out)
    sys.stderr.write(f"{written} scenarios in {options.out}\n")
    return 0
