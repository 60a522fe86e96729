"""Cost of probing: packets, bytes and price of a mesh under a strategy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sinemora.fleet.meshes.strategies.prices import EgressPrice
from sinemora.fleet.meshes.strategies.turns import Ints, Words

_DAY_S = 86_400
_GIB = 1 << 30
# Headers of IPv4 and UDP.
_HEADERS = 28
# Delay_Req, and a Sync with its two extensions (agent-measurements.md).
SHORT_EXCHANGE = (2, 44 + 136 + 2 * _HEADERS)
# Delay_Req, Sync, and a Delay_Resp with the received counts.
LONG_EXCHANGE = (3, 44 + 44 + 92 + 3 * _HEADERS)
# The next request must leave this much before the deadline of an exchange to carry its timestamp, ms.
_SOON_MS = 50


@dataclass(frozen=True, slots=True)
class Probing:
    """Rate of a mesh: exchanges per second and flow, flows of a pair, time until an exchange is lost (ms)."""

    rate_hz: int
    flows: int
    loss_deadline_ms: int

    @property
    def exchange(self) -> tuple[int, int]:
        """Return packets and bytes (IPv4 packets) of an exchange, both directions together."""
        interval_ms = 1000 / self.rate_hz
        return SHORT_EXCHANGE if interval_ms <= self.loss_deadline_ms + _SOON_MS else LONG_EXCHANGE


@dataclass(frozen=True, slots=True)
class ProbeTraffic:
    """Traffic of probing by where it goes; bytes are those of all packets of a day."""

    same_zone_bytes_per_day: int
    between_zones_bytes_per_day: int
    between_regions_bytes_per_day: int
    between_providers_bytes_per_day: int


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost of probing. Packets of an agent are those it sends and receives.

    `usd_per_day` is None when the price of some of the traffic is unknown.
    """

    pairs_per_window: float
    agent_packets_per_s: float
    agent_packets_per_s_max: float
    packets_per_s: float
    bytes_per_day: int
    traffic: ProbeTraffic
    usd_per_day: float | None


@dataclass(frozen=True, slots=True)
class ZonePlace:
    """Provider and region of a zone."""

    provider: str
    region: str


def cost_of(
    turns: Words,
    period: int,
    probing: Probing,
    zone_of: Ints,
    places: Sequence[ZonePlace],
    prices: Mapping[str, EgressPrice],
) -> Cost:
    """Return the cost of probing by turns [n, n]; `zone_of` [n]: the zone of each VM, by position in `places`."""
    packets, size = probing.exchange
    per_pair = probing.rate_hz * probing.flows
    of_turns = np.stack([np.count_nonzero(turns >> np.uint64(turn) & np.uint64(1), axis=1) for turn in range(period)])
    share = np.bitwise_count(turns) / period
    zones = len(places)
    blocks = np.zeros((zones, zones))
    np.add.at(blocks, (zone_of[:, None], zone_of[None, :]), share / 2)
    pairs = float(share.sum() / 2)
    bytes_per_day = blocks * per_pair * size * _DAY_S
    kinds = np.array([[_kind(one, other) for other in places] for one in places]).reshape(zones, zones)
    traffic = ProbeTraffic(*(round(float(bytes_per_day[kinds == kind].sum())) for kind in range(4)))
    usd = 0.0
    for kind, field in ((1, "between_zones"), (2, "between_regions")):
        for row, place in enumerate(places):
            moved = float(bytes_per_day[row][kinds[row] == kind].sum())
            price = prices.get(place.provider)
            usd += moved / _GIB * (float("nan") if price is None else getattr(price, field)) if moved else 0.0
    unknown = np.isnan(usd) or traffic.between_providers_bytes_per_day > 0
    return Cost(
        pairs,
        float(of_turns.mean()) * per_pair * packets if of_turns.size else 0.0,
        float(of_turns.max(initial=0)) * per_pair * packets,
        pairs * per_pair * packets,
        round(float(bytes_per_day.sum())),
        traffic,
        None if unknown else usd,
    )


def _kind(one: ZonePlace, other: ZonePlace) -> int:
    """Return the position in `Traffic` of the traffic between two zones; that of a zone with itself is set apart."""
    if one is other:
        return 0
    if one.provider != other.provider:
        return 3
    return 1 if one.region == other.region else 2
