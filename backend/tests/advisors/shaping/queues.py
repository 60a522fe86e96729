"""Queues on a row of network namespaces that know classes, and one that does not."""

from collections.abc import Sequence

from sinemora.advisors.shaping.burst import OVERHEAD
from tests.advisors.shaping.row import Row, within

FULL = 1400 + OVERHEAD
_LEAST_BITS = 8_000
"""Rate that a class behind a strict priority is guaranteed: HTB needs one, and it is less than a packet a second."""


def classes(path: Row, rate: float, preferred_dscp: int, share: float | None) -> None:
    """Shape the path to `rate` bytes/s with two classes of HTB, one of which has a DSCP.

    `share`: that of the preferred class while both send; None: strict priority, as of the qdisc `prio`, which few small
    kernels have: the other class may borrow what the preferred one leaves.
    """
    link = f"{round(8 * rate)}bit"
    first, second = (link, f"{_LEAST_BITS}bit") if share is None else (_bits(rate, share), _bits(rate, 1 - share))
    burst = ("burst", str(2 * FULL), "cburst", str(2 * FULL))
    _htb(path, link, burst, ("20", [("10", first, "0"), ("20", second, "0" if share is not None else "7")]), "bfifo")
    mark = ("match", "ip", "dsfield", hex(preferred_dscp << 2), "0xfc")
    _tc(path, "filter", "parent", "1:", "protocol", "ip", "prio", "1", "u32", *mark, "flowid", "1:10")


def one_queue(path: Row, rate: float, packets: int) -> None:
    """Shape the path to `rate` bytes/s with one queue that counts packets: size and class make no difference."""
    link = f"{round(8 * rate)}bit"
    burst = ("burst", str(2 * FULL), "cburst", str(2 * FULL))
    _htb(path, link, burst, ("10", [("10", link, "0")]), "pfifo", packets)


def _htb(
    path: Row,
    link: str,
    burst: Sequence[str],
    leaves: tuple[str, list[tuple[str, str, str]]],
    queue: str,
    packets: int = 10,
) -> None:
    default, made = leaves
    path.shape("handle", "1:", "htb", "default", default)
    _tc(path, "class", "parent", "1:", "classid", "1:1", "htb", "rate", link, "ceil", link, *burst)
    for leaf, rate, priority in made:
        limits = ("rate", rate, "ceil", link, *burst, "prio", priority, "quantum", str(FULL))
        _tc(path, "class", "parent", "1:1", "classid", f"1:{leaf}", "htb", *limits)
        limit = str(packets if queue == "pfifo" else packets * FULL)
        _tc(path, "qdisc", "parent", f"1:{leaf}", queue, "limit", limit)


def _tc(path: Row, kind: str, *arguments: str) -> None:
    within(path.router, "tc", kind, "add", "dev", path.shaped, *arguments)


def _bits(rate: float, share: float) -> str:
    return f"{round(8 * rate * share)}bit"
