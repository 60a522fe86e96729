"""Rows of the source: tables 9 to 20, percentiles of YCSB operations under each profile, and its sort (Terasort).

The source has medians of the sort as box plots only: the throughputs here are read from them, to about 2 %. Tables 21
and 22 list hardware.
"""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_ROWS = Path(__file__).with_name("reference.csv")
SORT_MB_PER_S = {
    "none": 99.6, "interference": 93.9, "tb switch": 86.9, "pq switch": 94.7, "tb+pq switch": 89.4, "tb host": 94.7,
    "pq host": 99.2, "tb+pq host": 93.9, "pq host + tb switch": 86.1, "tb host + pq switch": 93.9,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SourceRow:
    """Percentiles of an operation of a YCSB workload under a profile, µs."""

    workload: str
    operation: str
    profile: str
    p95_us: float
    p99_us: float
    p999_us: float


@cache
def source_rows() -> tuple[SourceRow, ...]:
    """Return the 120 rows of tables 9 to 20."""
    with _ROWS.open(encoding="utf-8") as file:
        return tuple(
            SourceRow(
                line["operation"].split()[0].lower(),
                line["operation"].split()[1],
                line["profile"],
                *(float(line[name]) for name in ("p95_us", "p99_us", "p999_us")),
            )
            for line in csv.DictReader(file)
        )


def source_row(workload: str, operation: str, profile: str) -> SourceRow | None:
    """Return the row of an operation under a profile; None if the source has none."""
    asked = (workload, operation, profile)
    return next((row for row in source_rows() if (row.workload, row.operation, row.profile) == asked), None)
