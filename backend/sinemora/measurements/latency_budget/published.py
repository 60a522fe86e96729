"""Published delays between VMs of public clouds, to lay under one's own.

Source: D. A. Popescu, *Latency-driven performance in data centres*, UCAM-CL-TR-937, 2019, table 4.3
(`published_delays.csv`): traces of PTPd between two VMs each. All are within one zone but GCE-USW2, which is between
two zones of us-west1 (section 4.2). PTPd reports half of the round trip as one-way delay (IEEE 1588-2019, 11.3).
"""

import csv
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

SOURCE = "UCAM-CL-TR-937, table 4.3"


class PathClass(StrEnum):
    """Places of the ends of a path, relative to one another."""

    SAME_ZONE = "same_zone"
    BETWEEN_ZONES = "between_zones"
    BETWEEN_REGIONS = "between_regions"
    BETWEEN_PROVIDERS = "between_providers"


@dataclass(frozen=True, slots=True)
class Place:
    """Zone with its region and provider."""

    provider: str
    region: str
    zone: str


@dataclass(frozen=True, slots=True)
class PublishedTrace:
    """One-way delays of one published trace, ns; `started_on` is a date."""

    provider: str
    path_class: PathClass
    name: str
    started_on: str
    messages_per_second: int
    mean_ns: int
    p50_ns: int
    p99_ns: int
    p999_ns: int
    max_ns: int
    sd_ns: int


def class_of(source: Place, target: Place) -> PathClass:
    """Return the class of the paths between two zones."""
    if source.provider != target.provider:
        return PathClass.BETWEEN_PROVIDERS
    if source.region != target.region:
        return PathClass.BETWEEN_REGIONS
    return PathClass.SAME_ZONE if source.zone == target.zone else PathClass.BETWEEN_ZONES


@cache
def traces() -> tuple[PublishedTrace, ...]:
    """Return all traces in the order of the table."""
    text = files(__package__).joinpath("published_delays.csv").read_text("utf-8")
    return tuple(
        PublishedTrace(
            row["provider"],
            PathClass(row["path_class"]),
            row["trace"],
            row["started_on"],
            int(row["messages_per_second"]),
            *(round(float(row[f"{name}_us"]) * 1_000) for name in ("mean", "p50", "p99", "p999", "max", "stddev")),
        )
        for row in csv.DictReader(text.splitlines())
    )


def traces_of(provider: str, path_class: PathClass) -> list[PublishedTrace]:
    """Return the traces of a provider (by the name that agents report) and a path class; often there are none."""
    return [trace for trace in traces() if (trace.provider, trace.path_class) == (provider, path_class)]
