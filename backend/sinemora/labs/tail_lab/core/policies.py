"""Policies of the tail lab: orders of packets at a link."""

from collections.abc import Sequence
from enum import StrEnum

ALPHA_MAX = 1e15
"""Stands for infinity: the order is that of bytes alone."""


class PacketPolicy(StrEnum):
    """Order in which a link sends packets."""

    FCFS = "fcfs"
    PS = "ps"
    LAS = "las"
    SRPT = "srpt"
    PBS = "pbs"
    D_TAIL_BLIND = "d_tail_blind"
    D_TAIL_AWARE = "d_tail_aware"


NATURAL = {
    PacketPolicy.PBS: PacketPolicy.LAS,
    PacketPolicy.D_TAIL_BLIND: PacketPolicy.LAS,
    PacketPolicy.D_TAIL_AWARE: PacketPolicy.SRPT,
}
"""The policies with α and the baseline of each: its limit as α grows."""
TUNABLE = tuple(NATURAL)
"""Policies with the parameter α."""
USUAL = tuple(policy for policy in PacketPolicy if policy is not PacketPolicy.PBS)
"""The policies that are compared unless others are asked for; PBS differs from blind D-TAIL by first packets alone."""
NAMES = {
    PacketPolicy.FCFS: "FCFS",
    PacketPolicy.PS: "PS",
    PacketPolicy.LAS: "LAS",
    PacketPolicy.SRPT: "SRPT",
    PacketPolicy.PBS: "PBS",
    PacketPolicy.D_TAIL_BLIND: "D-TAIL blind",
    PacketPolicy.D_TAIL_AWARE: "D-TAIL aware",
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
