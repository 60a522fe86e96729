"""Statistics of the exchanges of a measurement on demand. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sinemora.measurements.on_demand.path_probes import EcnFields

Delays = Sequence[int | None]
Losses = Sequence[bool | None]
"""Flag of each packet; None is unknown."""


@dataclass(frozen=True)
class DelaySummary:
    """Delays of one direction or of the round trip, ns; null without any. `unknown`: packets whose fate is unknown."""

    measured: int
    lost: int
    unknown: int
    min_ns: int | None
    p50_ns: int | None
    p99_ns: int | None
    max_ns: int | None


@dataclass(frozen=True)
class Exchanges:
    """Exchanges seen from the source of the measured path, one entry each; null is not measured, or unknown."""

    at_ns: Sequence[int]
    flow: Sequence[int]
    outbound_ns: Delays
    inbound_ns: Delays
    outbound_lost: Losses
    inbound_lost: Losses
    outbound_ecn: EcnFields
    inbound_ecn: EcnFields
    outbound_reversed: Losses
    inbound_reversed: Losses

    @property
    def round_trip_ns(self) -> list[int | None]:
        """Return the sum of both delays of each exchange that has both."""
        pairs = zip(self.outbound_ns, self.inbound_ns, strict=True)
        return [None if out is None or back is None else out + back for out, back in pairs]

    @property
    def round_trip_lost(self) -> list[bool | None]:
        """Return for each exchange whether a packet of it was lost; None if that is unknown."""
        pairs = zip(self.outbound_lost, self.inbound_lost, strict=True)
        return [True if out or back else None if out is None or back is None else False for out, back in pairs]

    def turned(self) -> "Exchanges":
        """Return the exchanges seen from the other end."""
        return Exchanges(
            self.at_ns,
            self.flow,
            self.inbound_ns,
            self.outbound_ns,
            self.inbound_lost,
            self.outbound_lost,
            self.inbound_ecn,
            self.outbound_ecn,
            self.inbound_reversed,
            self.outbound_reversed,
        )


def summarise(delays_ns: Delays, lost: Losses) -> DelaySummary:
    """Return the statistics of one direction. Quantiles are of the delays themselves (nearest rank)."""
    known = np.array([delay for delay in delays_ns if delay is not None], np.int64)
    lost_count, unknown = sum(one is True for one in lost), sum(one is None for one in lost)
    if known.size == 0:
        return DelaySummary(0, lost_count, unknown, None, None, None, None)
    low, median, high, top = np.quantile(known, [0, 0.5, 0.99, 1], method="inverted_cdf")
    return DelaySummary(int(known.size), lost_count, unknown, int(low), int(median), int(high), int(top))
