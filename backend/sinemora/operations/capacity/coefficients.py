"""Measured cost of reports, of their pairs and of what is stored: `coefficients.json`, written by a benchmark."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

FILE = "coefficients.json"
KEY_KEPT_S = 5.0
"""Time for which the API keeps the credential of an agent (`inventory/agents.py`), s."""

Costs = Mapping[str, float]
"""Cost of one of each thing that is counted, by its name."""


def total(costs: Costs, **counts: float) -> float:
    """Return the cost of counted things. KeyError for a thing without a cost."""
    return sum(costs[name] * count for name, count in counts.items())


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Coefficients of the model. Times are processor seconds, sizes bytes, errors percent.

    `api` and `database` are for a report, a pair in it, and a VM whose credential is read again (`KEY_KEPT_S`);
    `merge` and `merge_database` for a frame that is stored in a coarser tier, a pair read for it, and a pair in it;
    `upload` for a report and its pairs. `frame_bytes` is the size of a frame without its pairs; `pair_sizes` that of a
    pair by the number of exchanges it summarises. `api_memory` is for a process and each VM it knows, `worker_memory`
    for a process and each pair that a VM reports in a minute; `database_memory` is PostgreSQL's. `measured` has the
    sizes: VMs of a mesh and pairs of a report; `errors` the largest errors at sizes that were not used to fit.
    """

    measured_on: str
    host: str
    api: Costs
    database: Costs
    merge: Costs
    merge_database: Costs
    upload: Costs
    frame_bytes: float
    pair_sizes: Sequence[tuple[float, float]]
    api_memory: Costs
    worker_memory: Costs
    database_memory: float
    measured: Mapping[str, float]
    errors: Mapping[str, float]

    def pair_bytes(self, exchanges: float) -> float:
        """Return the bytes of a stored pair that summarises `exchanges`, linear in their logarithm."""
        summarised, sizes = zip(*self.pair_sizes, strict=True)
        return float(np.interp(math.log(exchanges), np.log(summarised), sizes))


@cache
def stored() -> Coefficients:
    """Return the coefficients of this version."""
    return Coefficients(**json.loads(files(__package__).joinpath(FILE).read_text("utf-8")))
