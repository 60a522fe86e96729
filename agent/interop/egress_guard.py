"""The egress guard's effect: the same flows over a link that a token bucket shapes, without it and with it.

The bucket (`tc tbf`) is beyond the sender's interface, like the limit of a hypervisor. The
boundaries come from a study of the tail lab on the same sizes.
"""

import json
import random
import shlex
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sinemora.labs.tail_lab.core import study
from sinemora.labs.tail_lab.core.link import Link
from sinemora.labs.tail_lab.core.policies import PacketPolicy, command_of
from sinemora.labs.tail_lab.core.workloads import Workload

from agents import GUARD
from laboratory import Host, Lab, LabError

FLOW_SENDER = Path(__file__).with_name("flow_sender.py")
LINK_MBIT = 40.0
QUEUE_MS = 100
"""Queue of the bucket, like that of a switch port or of a hypervisor."""
LENGTH_S = 15.0
PORT = 9_000
SHORT = (1_000, 30_000)
BULK = (1_000_000, 6_000_000)
SHORT_PER_S, BULK_PER_S = 40.0, 1.3
SEED = 22
CLASSES = 8
ALPHAS = {"log-priority": 1.5, "strict-priority": 1e15}
"""α of the web search workload, and infinity: by bytes alone."""


@dataclass(frozen=True)
class Flow:
    """When a flow starts (s), and its bytes."""

    at_s: float
    size: int

    @property
    def is_short(self) -> bool:
        """Whether it is one of the short flows."""
        return self.size <= SHORT[1]


@dataclass(frozen=True)
class Times:
    """Completion times of flows, s."""

    p50: float
    p99: float
    tail_mean: float
    mean: float

    @classmethod
    def of(cls, took_s: Sequence[float]) -> "Times":
        """Return the figures of these times; tail mean as in the tail lab: of those at or above p99."""
        ordered = sorted(took_s)
        first = int(0.99 * (len(ordered) - 1))
        return cls(
            statistics.median(ordered), ordered[first], statistics.mean(ordered[first:]), statistics.mean(ordered)
        )


def flows_of(seed: int, length_s: float = LENGTH_S) -> list[Flow]:
    """Return short and bulk flows of about 0.8 of the link, in the order of their start."""
    chance = random.Random(seed)

    def arrivals(per_s: float, sizes: tuple[int, int]) -> list[Flow]:
        found, at_s = [], chance.expovariate(per_s)
        while at_s < length_s:
            low, high = sizes
            found.append(Flow(at_s, round(low * (high / low) ** chance.random())))
            at_s += chance.expovariate(per_s)
        return found

    both = arrivals(SHORT_PER_S, SHORT) + arrivals(BULK_PER_S, BULK)
    return sorted(both, key=lambda flow: flow.at_s)


def guard_of_the_lab(flows: Sequence[Flow], alpha: float) -> list[str]:
    """Return the options of the guard that a study of these sizes finds at this α."""
    sizes = sorted(flow.size for flow in flows)
    points = tuple((size, (rank + 1) / len(sizes)) for rank, size in enumerate(sizes))
    request = study.StudyRequest(
        Workload("own", "Own flow sizes", points, stepped=True), link=Link(LINK_MBIT), flows=2_000,
        policies=(PacketPolicy.D_TAIL_BLIND,), classes=CLASSES, alpha=alpha,
    )  # fmt: skip
    outcome = study.run(request, lambda *_: None).outcomes[-1]
    command = command_of(outcome.policy, outcome.alpha, outcome.boundaries, LINK_MBIT)
    if command is None:
        raise LabError("the study found no classes")
    return shlex.split(command.replace("eth0", "e0"))[3:]


class Scene:
    """A sender and a receiver, and the bucket between them."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.sender, self.receiver = lab.host("sender"), lab.host("receiver")
        limit = round(LINK_MBIT * 1e6 / 8 * QUEUE_MS / 1e3)
        bucket = ("rate", f"{LINK_MBIT:.0f}mbit", "burst", "16000", "limit", str(limit))
        lab.run("tc", "qdisc", "add", "dev", self.receiver.port, "root", "tbf", *bucket)
        server = self.receiver.start([sys.executable, FLOW_SENDER, "serve", self.receiver.address, str(PORT)])
        server.require("the receiver", "serving")

    def send(self, flows: Sequence[Flow]) -> list[float]:
        """Send the flows; return how long each took, s."""
        file = self.lab.folder / "flows.json"
        file.write_text(json.dumps([(flow.at_s, flow.size) for flow in flows]), "utf-8")
        printed = self.sender.run(sys.executable, FLOW_SENDER, "send", self.receiver.address, str(PORT), file)
        took_s: list[float] = json.loads(printed)
        return took_s


def guard(host: Host, *arguments: str) -> str:
    """Run `sinemora-guard` on a host and return what it printed; raises LabError when it fails."""
    done = host.try_as_root(GUARD, *arguments)
    if done.returncode:
        raise LabError(f"sinemora-guard {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def compare(seed: int = SEED, length_s: float = LENGTH_S) -> dict[str, dict[str, Times]]:
    """Return the times of short, bulk and all flows without the guard and in both modes, the same flows each time."""
    flows = flows_of(seed, length_s)
    options = {"off": None} | {mode: guard_of_the_lab(flows, alpha) for mode, alpha in ALPHAS.items()}
    found: dict[str, dict[str, Times]] = {}
    with Lab() as lab:
        scene = Scene(lab)
        for mode, chosen in options.items():
            if chosen:
                guard(scene.sender, "on", *chosen)
            took_s = scene.send(flows)
            if chosen:
                guard(scene.sender, "off")
            both = list(zip(flows, took_s, strict=True))
            found[mode] = {
                "short": Times.of([took for flow, took in both if flow.is_short]),
                "bulk": Times.of([took for flow, took in both if not flow.is_short]),
                "all": Times.of(took_s),
            }
    return found
