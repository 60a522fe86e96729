"""Boundaries of priority classes, so that each class carries an equal share of the load.

The source replicates Homa's method: it runs the workload at one α, records the priorities of packets, and spreads them
evenly. One section of the source spreads packets, another bytes; both are here. The first packets of flows are all in
the highest class, so its other packets have only what is left of its share.
"""

from enum import StrEnum

import numpy as np

from sinemora.labs.tail_lab.core.link import Chosen, Flows, Progress, simulate


class ClassSpread(StrEnum):
    """Quantity that every class carries equally much of."""

    BYTES = "bytes"
    PACKETS = "packets"


def boundaries_of(
    flows: Flows, chosen: Chosen, classes: int, spread: ClassSpread, progress: Progress | None = None
) -> list[float]:
    """Return the `classes` - 1 ascending boundaries, log2 of the priority."""
    trained = simulate(flows, chosen, progress, record=True)
    if not trained.recorded.size:  # every flow is one packet
        return [0.0] * (classes - 1)
    if spread is ClassSpread.BYTES:
        weights = trained.recorded_bytes.astype(np.float64)
        total, top = int(flows.sizes.sum()), int(np.minimum(flows.sizes, flows.link.packet_bytes).sum())
    else:
        weights, total, top = np.ones(trained.recorded.size), trained.packets, flows.sizes.size
    rest = total - top
    order = np.argsort(trained.recorded, kind="stable")
    values, cumulative = trained.recorded[order], np.cumsum(weights[order])
    cumulative *= rest / cumulative[-1]  # of many packets only some are recorded
    lower = min(total / classes, rest / max(classes - 1, 1))  # the top class may be full with first packets alone
    at = np.searchsorted(cumulative, lower * np.arange(1, classes))
    return [float(values[index]) if index < values.size else np.nextafter(values[-1], np.inf).item() for index in at]
