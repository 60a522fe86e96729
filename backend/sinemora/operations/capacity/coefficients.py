"""Measured cost of reports, of their pairs and of what is stored: `coefficients.toml`, written by a benchmark."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

FILE = "coefficients.toml"
KEY_KEPT_S = 5.0
"""Time for which the API keeps the credential of an agent (`inventory/agents.py`), s."""


@dataclass(frozen=True, slots=True)
class Line:
    """Cost that is linear in two counts: of what is sent or stored at once (a report, a frame, a VM), and of pairs."""

    each: float
    pair: float

    def of(self, count: float, pairs: float) -> float:
        """Return the cost of `count` things with `pairs` pairs in total."""
        return self.each * count + self.pair * pairs


@dataclass(frozen=True, slots=True)
class Ingest:
    """Processor seconds of a report, of a pair in it, and of a VM whose credential is read again (`KEY_KEPT_S`)."""

    report: float
    pair: float
    vm: float

    def of(self, reports: float, pairs: float, vms: float) -> float:
        """Return the processor seconds of reports."""
        return self.report * reports + self.pair * pairs + self.vm * vms


@dataclass(frozen=True, slots=True)
class Merge:
    """Processor seconds of a frame that is stored in a coarser tier, of a pair read for it, and of a pair in it."""

    frame: float
    read: float
    pair: float

    def of(self, frames: float, read: float, pairs: float) -> float:
        """Return the processor seconds of merged frames."""
        return self.frame * frames + self.read * read + self.pair * pairs


@dataclass(frozen=True, slots=True)
class Errors:
    """Largest error of predictions at sizes that were not used for the coefficients, percent."""

    processor: float
    disk: float
    memory: float


@dataclass(frozen=True, slots=True)
class Measured:
    """Sizes that the coefficients were measured at: VMs of a mesh, and pairs of a report."""

    vms_min: int
    vms_max: int
    pairs_min: float
    pairs_max: float


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Coefficients of the model. Times are processor seconds, sizes bytes.

    `upload` is for a report and its pairs. `frame` is the size of a frame without its pairs;
    `pair_sizes` that of a pair by the number of exchanges it summarises. `api_memory` is for a process and each VM it
    knows, `worker_memory` for a process and each pair that a VM reports in a minute; `database_memory` is PostgreSQL's.
    """

    measured_on: date
    host: str
    api: Ingest
    database: Ingest
    merge: Merge
    merge_database: Merge
    upload: Line
    frame: float
    pair_sizes: Sequence[tuple[float, float]]
    api_memory: Line
    worker_memory: Line
    database_memory: float
    measured: Measured
    errors: Errors

    def pair_bytes(self, exchanges: float) -> float:
        """Return the bytes of a stored pair that summarises `exchanges`, linear in their logarithm."""
        points = self.pair_sizes
        if exchanges <= points[0][0]:
            return points[0][1]
        for (low, size_low), (high, size_high) in pairwise(points):
            if exchanges <= high:
                share = math.log(exchanges / low) / math.log(high / low)
                return size_low + share * (size_high - size_low)
        return points[-1][1]


def parse(text: str) -> Coefficients:
    """Return the coefficients of a TOML document. Raises KeyError, TypeError or ValueError for another one."""
    table = tomllib.loads(text)
    return Coefficients(
        measured_on=table["measured_on"],
        host=table["host"],
        **{name: kind(**table[name]) for name, kind in KINDS.items()},
        frame=table["frame_bytes"],
        pair_sizes=[(row["exchanges"], row["bytes"]) for row in table["pair_sizes"]],
        database_memory=table["database_memory"],
        measured=Measured(**table["measured"]),
        errors=Errors(**table["errors"]),
    )


KINDS: Mapping[str, type[Any]] = {
    "api": Ingest,
    "database": Ingest,
    "merge": Merge,
    "merge_database": Merge,
    "upload": Line,
    "api_memory": Line,
    "worker_memory": Line,
}


def document(values: Coefficients) -> str:
    """Return coefficients as the TOML document that `parse` reads."""
    rows = [
        "# Written by `make bench-scale ONLY=capacity`. Processor seconds and bytes (docs/capacity.md).",
        f"measured_on = {values.measured_on.isoformat()}",
        f'host = "{values.host}"',
        f"frame_bytes = {_number(values.frame)}",
        f"database_memory = {_number(values.database_memory)}",
    ]
    for name in (*KINDS, "measured", "errors"):
        one = getattr(values, name)
        rows += ["", f"[{name}]", *(f"{field.name} = {_number(getattr(one, field.name))}" for field in fields(one))]
    for exchanges, size in values.pair_sizes:
        rows += ["", "[[pair_sizes]]", f"exchanges = {_number(exchanges)}", f"bytes = {_number(size)}"]
    return "\n".join(rows) + "\n"


def _number(value: float) -> str:
    return f"{value:.4g}" if value < 1000 else str(round(value))


@cache
def stored() -> Coefficients:
    """Return the coefficients of this version."""
    return parse(files(__package__).joinpath(FILE).read_text("utf-8"))
