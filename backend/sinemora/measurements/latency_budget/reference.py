"""Published contributions of hosts, hypervisors and switches to a one-way delay: reference, not measured here.

Source: D. A. Popescu, *Latency-driven performance in data centres*, UCAM-CL-TR-937, 2019. Table 2.6 was measured on
bare-metal hosts of 2016 with 10 Gb/s Ethernet. One host that receives a packet and sends it on (experiments 4, 5 and 7)
does both halves of a one-way delay between two hosts. With all upper ends, the sum is the baseline of section 4.9:
"a median OWD baseline of 220 µs".
"""

from dataclasses import dataclass
from enum import StrEnum


class Component(StrEnum):
    """Part of a path between two VMs that processes packets."""

    NIC = "nic"
    KERNEL = "kernel"
    HYPERVISOR = "hypervisor"
    SWITCHES = "switches"


@dataclass(frozen=True, slots=True)
class Reference:
    """Contribution of one component to a one-way delay, ns, with the place in the source."""

    component: Component
    low_ns: int
    high_ns: int
    source: str


SOURCE = "UCAM-CL-TR-937"

REFERENCES = (
    Reference(Component.NIC, 804, 985, "table 2.6: minimum of 7a to median of 7b"),
    Reference(
        Component.KERNEL, 0, 4_500 - 946, "table 2.6: with kernel bypass none, to the median of 4 less that of 5"
    ),
    Reference(
        Component.HYPERVISOR,
        0,
        200_000,
        "sections 3.4 and 4.9: on bare metal none, to VirtualBox at a low message rate",
    ),
    Reference(Component.SWITCHES, 512, 15_000, "table 2.6: minimum of 8c, one switch, to section 4.9, fat tree"),
)


class BudgetVerdict(StrEnum):
    """Place of a measured base delay relative to the sum of the reference."""

    BELOW = "below"
    WITHIN = "within"
    ABOVE = "above"


def verdict(low_ns: int, high_ns: int, ways: int) -> BudgetVerdict:
    """Return the verdict on a base delay, or its processing, with bounds; `ways` is 2 for round trips.

    It is below or above only if the whole interval is.
    """
    if high_ns < ways * sum(part.low_ns for part in REFERENCES):
        return BudgetVerdict.BELOW
    return BudgetVerdict.ABOVE if low_ns > ways * sum(part.high_ns for part in REFERENCES) else BudgetVerdict.WITHIN
