"""Prices of traffic between VMs by provider: `egress_prices.toml`, or those of the user."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class EgressPrice:
    """Price of traffic between zones of a region and between regions, USD per GiB moved."""

    provider: str
    between_zones: float
    between_regions: float
    source: str


@cache
def listed() -> tuple[date, Mapping[str, EgressPrice]]:
    """Return the day of the table, and its prices by the provider's name as agents report it."""
    table = tomllib.loads(files(__package__).joinpath("egress_prices.toml").read_text("utf-8"))
    checked_on: date = table.pop("checked_on")
    return checked_on, {provider: EgressPrice(provider, **row) for provider, row in table.items()}
