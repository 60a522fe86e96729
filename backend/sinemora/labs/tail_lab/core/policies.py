"""Policies of the tail lab: orders of packets at a link, and transports of a leaf-spine network."""

from collections.abc import Sequence
from enum import StrEnum

ALPHA_MAX = 1e15
"""Stands for infinity: the order is that of bytes alone."""


class TailTopology(StrEnum):
    """Network of a study."""

    SINGLE_LINK = "single_link"
    LEAF_SPINE = "leaf_spine"


class PacketPolicy(StrEnum):
    """Order in which a link sends packets; then transports of a leaf-spine network, simplified, with their orders."""

    FCFS = "fcfs"
    PS = "ps"
    LAS = "las"
    SRPT = "srpt"
    PBS = "pbs"
    D_TAIL_BLIND = "d_tail_blind"
    D_TAIL_AWARE = "d_tail_aware"
    TCP = "tcp"
    DCTCP = "dctcp"
    DCTCP_D_TAIL_BLIND = "dctcp_d_tail_blind"
    DCTCP_D_TAIL_AWARE = "dctcp_d_tail_aware"
    PFABRIC_LAS = "pfabric_las"
    PFABRIC = "pfabric"
    PFABRIC_D_TAIL_BLIND = "pfabric_d_tail_blind"
    PFABRIC_D_TAIL_AWARE = "pfabric_d_tail_aware"
    HOMA = "homa"
    HOMA_D_TAIL_AWARE = "homa_d_tail_aware"


NATURAL = {
    PacketPolicy.PBS: PacketPolicy.LAS,
    PacketPolicy.D_TAIL_BLIND: PacketPolicy.LAS,
    PacketPolicy.D_TAIL_AWARE: PacketPolicy.SRPT,
    PacketPolicy.DCTCP_D_TAIL_BLIND: PacketPolicy.DCTCP,
    PacketPolicy.DCTCP_D_TAIL_AWARE: PacketPolicy.DCTCP,
    PacketPolicy.PFABRIC_D_TAIL_BLIND: PacketPolicy.PFABRIC_LAS,
    PacketPolicy.PFABRIC_D_TAIL_AWARE: PacketPolicy.PFABRIC,
    PacketPolicy.HOMA_D_TAIL_AWARE: PacketPolicy.HOMA,
}
"""The policies with α and the baseline of each: on a link its limit as α grows; else the transport without α."""
TUNABLE = tuple(NATURAL)
"""Policies with the parameter α."""
_LINK = tuple(PacketPolicy)[: list(PacketPolicy).index(PacketPolicy.TCP)]
POLICIES_OF = {
    TailTopology.SINGLE_LINK: _LINK,
    TailTopology.LEAF_SPINE: tuple(policy for policy in PacketPolicy if policy not in _LINK),
}
"""The policies of each network."""
USUAL_OF = {
    # PBS differs from blind D-TAIL by the first packets alone.
    TailTopology.SINGLE_LINK: tuple(policy for policy in _LINK if policy is not PacketPolicy.PBS),
    TailTopology.LEAF_SPINE: (
        PacketPolicy.DCTCP,
        PacketPolicy.DCTCP_D_TAIL_AWARE,
        PacketPolicy.PFABRIC,
        PacketPolicy.PFABRIC_D_TAIL_AWARE,
        PacketPolicy.HOMA,
        PacketPolicy.HOMA_D_TAIL_AWARE,
    ),
}
"""The policies that are compared unless others are asked for."""
NAMES = {
    PacketPolicy.FCFS: "FCFS",
    PacketPolicy.PS: "PS",
    PacketPolicy.LAS: "LAS",
    PacketPolicy.SRPT: "SRPT",
    PacketPolicy.PBS: "PBS",
    PacketPolicy.D_TAIL_BLIND: "D-TAIL blind",
    PacketPolicy.D_TAIL_AWARE: "D-TAIL aware",
    PacketPolicy.TCP: "TCP-like",
    PacketPolicy.DCTCP: "DCTCP-like",
    PacketPolicy.DCTCP_D_TAIL_BLIND: "DCTCP-like, D-TAIL blind",
    PacketPolicy.DCTCP_D_TAIL_AWARE: "DCTCP-like, D-TAIL aware",
    PacketPolicy.PFABRIC_LAS: "pFabric-like, LAS",
    PacketPolicy.PFABRIC: "pFabric-like, SRPT",
    PacketPolicy.PFABRIC_D_TAIL_BLIND: "pFabric-like, D-TAIL blind",
    PacketPolicy.PFABRIC_D_TAIL_AWARE: "pFabric-like, D-TAIL aware",
    PacketPolicy.HOMA: "Homa-like, SRPT",
    PacketPolicy.HOMA_D_TAIL_AWARE: "Homa-like, D-TAIL aware",
}
"""Names of the policies in text."""


def command_of(policy: PacketPolicy, alpha: float | None, boundaries: Sequence[float], link_mbit: float) -> str | None:
    """Return the command that puts classes of blind D-TAIL in force (docs/egress-guard.md); None for others.

    The guard knows no sizes in advance, and it needs classes. Without age, α = ∞, classes are by bytes: -b/α is log2 of
    them. Boundaries that are equal are one class fewer.
    """
    if policy is not PacketPolicy.D_TAIL_BLIND or alpha is None or not boundaries:
        return None
    if alpha >= ALPHA_MAX:
        mode = "strict-priority"
        values = sorted({max(1, round(2 ** (-boundary / alpha))) for boundary in boundaries})
        listed = ",".join(map(str, values))
    else:
        mode = f"log-priority --alpha {alpha:.6g}"
        listed = ",".join(f"{value:g}" for value in sorted({round(boundary, 3) for boundary in boundaries}))
    rate = f"{link_mbit:g}mbit" if link_mbit < 1_000 else f"{link_mbit / 1_000:g}gbit"
    return f"sudo sinemora-guard on --interface eth0 --rate {rate} --mode {mode} --boundaries={listed}"
