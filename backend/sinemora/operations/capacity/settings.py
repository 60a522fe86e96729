"""Inputs of the capacity model from settings and price lists."""

import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files

from sinemora.kit.config import settings
from sinemora.operations.capacity.model import TierKept


@dataclass(frozen=True, slots=True)
class MachinePrices:
    """USD a month for a processor, a GiB of memory and a GiB of disk: list prices of a day, and their page."""

    core_month: float
    memory_gib_month: float
    disk_gib_month: float
    as_of: date
    source: str


def kept_tiers(window_s: int) -> tuple[TierKept, ...]:
    """Return the tiers of the store with their retention; the first has the windows as reported."""
    kept = settings()
    return (
        TierKept("windows", window_s, kept.retention_raw_days),
        TierKept("minutes", 60, kept.retention_1m_days),
        TierKept("quarters", 900, kept.retention_15m_days),
        TierKept("hours", 3600, kept.retention_1h_days),
        TierKept("days", 86_400, kept.retention_1d_days),
    )


@cache
def list_prices() -> MachinePrices:
    """Return the list prices of machines."""
    row = tomllib.loads(files(__package__).joinpath("prices.toml").read_text("utf-8"))
    return MachinePrices(**row)
