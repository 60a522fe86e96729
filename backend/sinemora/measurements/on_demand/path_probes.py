"""Counts of the ECN marks and of the order of packets that a measurement on demand observed. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

EcnFields = Sequence[int | None]
"""ECN field of each packet at its arrival (RFC 3168), which left with ECT(0); None is unknown."""
NOT_ECT, ECT1, CE = 0, 1, 3


@dataclass(frozen=True)
class PathProbes:
    """Packets of one direction.

    `ecn_known`: packets that left with ECT(0) and whose field at arrival is known. Of those, `ce` were marked by a
    congested switch, `cleared` arrived as not ECN-capable (bleached), `altered` with ECT(1). `pairs`: packets sent
    back to back, both of which arrived; `reversed`: pairs whose second packet arrived first.
    """

    ecn_known: int
    ce: int
    cleared: int
    altered: int
    pairs: int
    reversed: int


def count_probes(fields: EcnFields, reversals: Sequence[bool | None]) -> PathProbes:
    """Count the packets of one direction by ECN field, and its pairs by order."""
    known = [field for field in fields if field is not None]
    order = [reversal for reversal in reversals if reversal is not None]
    return PathProbes(
        len(known), known.count(CE), known.count(NOT_ECT), known.count(ECT1), len(order), order.count(True)
    )
