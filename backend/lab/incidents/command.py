"""`python -m lab.incidents`: synthetic meshes with known truth, as a file."""

import argparse
import io
import json
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from lab.incidents.events import Event, Scenario, make

_ARRAYS = ("median_ns", "max_ns", "loss", "clock_error_ns", "silent")


def main(arguments: Sequence[str]) -> int:
    """Write the file asked for. Return 0, or 2 when an argument cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m lab.incidents", description=__doc__)
    parser.add_argument(
        "--seed", type=int, default=1, help="any number; the same number gives the same file (default: 1)"
    )
    parser.add_argument("--out", type=Path, required=True, help="ZIP file to write")
    parser.add_argument(
        "--mix",
        action="append",
        metavar="EVENT=COUNT",
        help=f"number of incidents of a kind, may be repeated (default: one of each); kinds: {', '.join(Event)}",
    )
    return _run(parser.parse_args(arguments))


def mixed(wanted: dict[Event, int], seed: int) -> Iterator[Scenario]:
    """Yield a number of incidents of each kind. The n-th of a kind has the seed `seed` + n."""
    for event, count in wanted.items():
        for number in range(count):
            yield make(event, seed + number)


def write(scenarios: Iterator[Scenario], path: Path) -> int:
    """Write a ZIP with `truth.json`, a list in order, and for each incident `NNNN.npz` with its arrays.

    Return their number.
    """
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
