"""Figures of the source next to those measured here, with what can agree and what cannot.

Source: K. Mahajan, "Next Generation Cloud Computing Architectures: Performance and Pricing", Columbia University, 2021,
section 2.4: a leaf-spine network of 144 hosts at a load of 80 %. Its plots have no numbers in the text; these are all
that it prints. On one link processor sharing stands for DCTCP, which shares links; SRPT (aware) and LAS (blind) stand
for pFabric, SRPT for Homa.
"""

from dataclasses import dataclass
from enum import StrEnum

from sinemora.labs.tail_lab.core.policies import PacketPolicy
from sinemora.labs.tail_lab.core.summary import TailFigure

_POINTS = 3.0
"""Percentage points by which a figure may be lower and still agree: the source states no interval."""


class SourceVerdict(StrEnum):
    """`agrees`: as much as the source says, or more; `lower`: less; `cannot`: one link cannot show it."""

    AGREES = "agrees"
    LOWER = "lower"
    CANNOT = "cannot"


@dataclass(frozen=True, slots=True)
class Printed:
    """A gain that the source prints, percent: of a policy in a figure against a baseline."""

    protocol: str
    policy: PacketPolicy
    against: PacketPolicy
    figure: TailFigure
    percent: float
    alpha: float | None = None
    """Best α that the source names for it."""

    @property
    def why(self) -> str:
        """Why the figure may differ here."""
        if self.against is PacketPolicy.SRPT and self.figure in (TailFigure.MEAN, TailFigure.P99):
            return (
                "On one link that never idles no policy has a lower mean than SRPT, and p99 follows it; the source's"
                f" gain over {self.protocol} comes from several hops and from the transport."
            )
        if self.protocol == "DCTCP":
            return (
                "Processor sharing stands for DCTCP: it has the sharing, not the queues and slow starts that priorities"
                " also remove."
            )
        return (
            "The same order of packets on one link; the source adds hops, buffers and the transport. A limit of the"
            " mean lowers the gain too."
        )

    def verdict(self, here: float) -> SourceVerdict:
        """Return how the figure found here compares."""
        if here >= self.percent - _POINTS:
            return SourceVerdict.AGREES
        cannot = self.against is PacketPolicy.SRPT and self.figure in (TailFigure.MEAN, TailFigure.P99)
        return SourceVerdict.CANNOT if cannot else SourceVerdict.LOWER


_BLIND, _AWARE = PacketPolicy.D_TAIL_BLIND, PacketPolicy.D_TAIL_AWARE
_SMALL = {"w1": (20, 76), "w2": (59.26, 74.07), "w3": (42.19, 68.75), "w4": (35, 41.67), "w5": (41, 43.33)}
"""Table 2.1: p99 of the smallest bucket of sizes on DCTCP, blind and aware."""

PRINTED: dict[str, list[Printed]] = {
    key: [
        Printed("DCTCP", _BLIND, PacketPolicy.PS, TailFigure.SMALL_P99, blind),
        Printed("DCTCP", _AWARE, PacketPolicy.PS, TailFigure.SMALL_P99, aware),
    ]
    for key, (blind, aware) in _SMALL.items()
}
PRINTED["w1"] += [Printed("pFabric", _AWARE, PacketPolicy.SRPT, TailFigure.MEAN, -1.2)]
PRINTED["w1"] += [Printed("Homa", _AWARE, PacketPolicy.SRPT, TailFigure.P99, 0.25)]
PRINTED["w2"] += [Printed("Homa", _AWARE, PacketPolicy.SRPT, TailFigure.P99, 0.25)]
PRINTED["w3"] += [
    Printed("Homa", _AWARE, PacketPolicy.SRPT, TailFigure.P99, 15.3, 0.0014),
    Printed("Homa", _AWARE, PacketPolicy.SRPT, TailFigure.MEAN, 10.71, 0.0014),
]
PRINTED["w4"] += [
    Printed("pFabric", _BLIND, PacketPolicy.LAS, TailFigure.TAIL_MEAN, 10, 1.37),
    Printed("pFabric", _AWARE, PacketPolicy.SRPT, TailFigure.TAIL_MEAN, 10, 1.49),
    Printed("Homa", _AWARE, PacketPolicy.SRPT, TailFigure.P99, 28.39, 0.03),
    Printed("Homa", _AWARE, PacketPolicy.SRPT, TailFigure.MEAN, 22.11, 0.03),
]
PRINTED["w5"] += [
    Printed("pFabric", _BLIND, PacketPolicy.LAS, TailFigure.TAIL_MEAN, 20),
    Printed("pFabric", _AWARE, PacketPolicy.SRPT, TailFigure.TAIL_MEAN, 37),
    Printed("pFabric", _AWARE, PacketPolicy.SRPT, TailFigure.P99, 29.66, 2.0),
]
