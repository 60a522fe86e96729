"""The ten shaping profiles of the source as queueing disciplines of Linux, scaled to the rate of the lab's links.

Source: J. A. Hasenoot, "The Performance of Distributed Applications: A Traffic Shaping Perspective", Leiden University,
2022, table 2. Its links had 10 Gbit/s. Its token buckets had 1 Gbit/s and a depth of 100 kB on switches, for all that
leaves a host, and 12.5 MB on hosts, for each container; both drop. Its queues had weights of 70 and 30.

A node of the lab is a host and its port of the switch:

    host `uplink`     what leaves the host: link, per-application buckets, queues
    port `uplink`     what the switch takes from the host: one shared bucket
    port `downlink`   what the switch sends to the host: link, queues
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

SOURCE_LINK_MBIT = 10_000.0
SOURCE_BUCKET_MBIT = 1_000.0
_SWITCH_DEPTH_BYTES = 100e3
_HOST_DEPTH_BYTES = 12.5e6
_DEPTH_PACKETS_MIN = 10
PACKET = 1_514
"""Bytes of a full Ethernet frame, which `tc` counts."""
_QUEUE_S = 0.02
"""Time that the queue of a link holds."""
_LINK_DEPTH_S = 0.0005
"""Time that the bucket of a link holds: timers of the kernel are not exact."""
_LEAVES = ("10", "20")
_WEIGHTS = (70, 30)
"""Weights of the application and of its neighbour."""
NEIGHBOUR_TOS = 0x28
"""Type of service of the neighbour's packets: DSCP 10 (AF11), the lower class."""

Discipline = tuple[str, ...]
"""Arguments of `tc qdisc add dev DEV` or `tc filter add dev DEV`, the first of which is the kind of object."""


class ProfileName(StrEnum):
    """Name of a profile: token buckets (tb) and priority queues (pq), with their places."""

    NONE = "none"
    INTERFERENCE = "interference"
    TB_SWITCH = "tb switch"
    PQ_SWITCH = "pq switch"
    TB_PQ_SWITCH = "tb+pq switch"
    TB_HOST = "tb host"
    PQ_HOST = "pq host"
    TB_PQ_HOST = "tb+pq host"
    PQ_HOST_TB_SWITCH = "pq host + tb switch"
    TB_HOST_PQ_SWITCH = "tb host + pq switch"


@dataclass(frozen=True, slots=True)
class Profile:
    """Measures of a profile: interference, and a token bucket (tb) or priority queues (pq) on switch and host."""

    name: ProfileName
    interference: bool = True
    tb_switch: bool = False
    pq_switch: bool = False
    tb_host: bool = False
    pq_host: bool = False


PROFILES = (
    Profile(ProfileName.NONE, interference=False),
    Profile(ProfileName.INTERFERENCE),
    Profile(ProfileName.TB_SWITCH, tb_switch=True),
    Profile(ProfileName.PQ_SWITCH, pq_switch=True),
    Profile(ProfileName.TB_PQ_SWITCH, tb_switch=True, pq_switch=True),
    Profile(ProfileName.TB_HOST, tb_host=True),
    Profile(ProfileName.PQ_HOST, pq_host=True),
    Profile(ProfileName.TB_PQ_HOST, tb_host=True, pq_host=True),
    Profile(ProfileName.PQ_HOST_TB_SWITCH, pq_host=True, tb_switch=True),
    Profile(ProfileName.TB_HOST_PQ_SWITCH, tb_host=True, pq_switch=True),
)
BASELINE = ProfileName.INTERFERENCE


@dataclass(frozen=True, slots=True)
class Scale:
    """Rate of the lab's links; buckets keep their ratio to it, and depths their ratio to the bucket's rate."""

    link_mbit: float

    @property
    def bucket_mbit(self) -> float:
        """Rate of a token bucket."""
        return self.link_mbit * SOURCE_BUCKET_MBIT / SOURCE_LINK_MBIT

    @property
    def switch_depth(self) -> int:
        """Depth of a bucket on the switch, bytes; at least ten packets, which do not scale."""
        return max(round(_SWITCH_DEPTH_BYTES * self.link_mbit / SOURCE_LINK_MBIT), _DEPTH_PACKETS_MIN * PACKET)

    @property
    def host_depth(self) -> int:
        """Depth of a bucket on a host, bytes."""
        return max(round(_HOST_DEPTH_BYTES * self.link_mbit / SOURCE_LINK_MBIT), _DEPTH_PACKETS_MIN * PACKET)


def host_up(profile: Profile, scale: Scale) -> list[Discipline]:
    """Return the disciplines of what leaves a host: the link, with queues or buckets of each application."""
    if not (profile.tb_host or profile.pq_host):
        return [_link(scale)]
    made = _classes(scale, _WEIGHTS if profile.pq_host else (50, 50))
    if profile.tb_host:
        made = [one for one in made if "bfifo" not in one]
        made += [_bucket(("parent", f"1:{leaf}"), scale.bucket_mbit, scale.host_depth) for leaf in _LEAVES]
    return made


def port_up(profile: Profile, scale: Scale) -> list[Discipline]:
    """Return the disciplines of what the switch takes from a host: a bucket that all its applications share."""
    return [_bucket(("root",), scale.bucket_mbit, scale.switch_depth)] if profile.tb_switch else []


def port_down(profile: Profile, scale: Scale) -> list[Discipline]:
    """Return the disciplines of what the switch sends to a host."""
    return _classes(scale, _WEIGHTS) if profile.pq_switch else [_link(scale)]


def _link(scale: Scale) -> Discipline:
    """Return a link: a bucket of a few packets with a queue."""
    return ("qdisc", "root", *_tbf(scale.link_mbit, _link_depth(scale), _link_queue(scale)))


def _link_depth(scale: Scale) -> int:
    return max(2 * PACKET, round(scale.link_mbit * 125_000 * _LINK_DEPTH_S))


def _link_queue(scale: Scale) -> int:
    return max(40 * PACKET, round(scale.link_mbit * 125_000 * _QUEUE_S))


def _bucket(parent: Discipline, rate_mbit: float, depth: int) -> Discipline:
    """Return a token bucket that drops: its queue holds two packets."""
    return ("qdisc", *parent, *_tbf(rate_mbit, depth, 2 * PACKET))


def _tbf(rate_mbit: float, depth: int, limit: int) -> Discipline:
    return ("tbf", "rate", _bits(rate_mbit), "burst", str(depth), "limit", str(limit))


def _classes(scale: Scale, weights: tuple[int, int]) -> list[Discipline]:
    """Return a link with two classes, the neighbour's traffic in the second: shares of the link, of which one class
    takes what the other leaves.
    """
    burst = ("burst", str(_link_depth(scale)), "cburst", str(_link_depth(scale)))
    link = _bits(scale.link_mbit)
    made: list[Discipline] = [
        ("qdisc", "root", "handle", "1:", "htb", "default", _LEAVES[0]),
        ("class", "parent", "1:", "classid", "1:1", "htb", "rate", link, "ceil", link, *burst),
    ]
    for leaf, weight in zip(_LEAVES, weights, strict=True):
        share = _bits(scale.link_mbit * weight / sum(weights))
        made.append(("class", "parent", "1:1", "classid", f"1:{leaf}", "htb", "rate", share, "ceil", link, *burst,
                     "quantum", str(PACKET * weight // min(weights))))  # fmt: skip
        made.append(("qdisc", "parent", f"1:{leaf}", "bfifo", "limit", str(_link_queue(scale))))
    mark = ("match", "ip", "dsfield", hex(NEIGHBOUR_TOS), "0xfc")
    made.append(("filter", "parent", "1:", "protocol", "ip", "prio", "1", "u32", *mark, "flowid", f"1:{_LEAVES[1]}"))
    return made


def _bits(rate_mbit: float) -> str:
    return f"{round(rate_mbit * 1e6)}bit"


def described(profile: Profile, scale: Scale) -> Sequence[str]:
    """Return what a profile does, in words."""
    words = []
    if profile.interference:
        words.append(f"a neighbour that sends {scale.link_mbit / 2:g} Mbit/s on average in both directions")
    bucket = f"token bucket of {scale.bucket_mbit:g} Mbit/s"
    if profile.tb_switch:
        words.append(f"{bucket} and {scale.switch_depth / 1e3:.3g} kB on the switch, for all that leaves a host")
    if profile.tb_host:
        words.append(f"{bucket} and {scale.host_depth / 1e3:.4g} kB on the host, for each application")
    for place, queues in (("switch", profile.pq_switch), ("host", profile.pq_host)):
        if queues:
            words.append(f"queues on the {place}, weights {_WEIGHTS[0]} and {_WEIGHTS[1]}")
    return words or ["the link alone"]
