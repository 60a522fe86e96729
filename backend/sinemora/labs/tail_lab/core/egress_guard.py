"""The command that puts an order of the lab in force (docs/egress-guard.md)."""

from collections.abc import Sequence

from sinemora.labs.tail_lab.core.policies import ALPHA_MAX, PacketPolicy


def command_of(policy: PacketPolicy, alpha: float | None, boundaries: Sequence[float], link_mbit: float) -> str | None:
    """Return the command for classes of blind D-TAIL; None for others.

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
