"""The bulk sender of real agents across a real token bucket (`tc tbf`): its rate against the bucket and against its own
cap, how evenly two VMs share a bucket, and what a run does to the delays that the same agents measure.

The bucket shapes what the receiver's VM receives, probes included, and queues for at most 50 ms.
"""

import json
import secrets
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from lab.benchmarks import figures
from sinemora.measurements.aggregate.fairness import jain_index

from agents import Agent, Fleet, peer, quantiles_ns
from laboratory import Lab, wait_until

PORT = 8422
QUEUE_MS = 50
RATES = (1_250_000, 2_500_000, 5_000_000, 12_500_000)
"""Of the buckets, bytes/s: 10 to 100 Mbit/s."""
SECONDS = 4.0
"""Of a transfer at the bucket's rate."""
REPEATS = 5
SHARED = 5_000_000
PROBE_HZ = 128
_WIRE = 1514 / 1448
"""Bytes that the bucket counts for each byte of data: Ethernet, IPv4 and TCP with timestamps, MTU 1500."""


class Scene:
    """Two agents that send, one that receives, and the bucket before the latter."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.fleet = lab, Fleet(lab)
        hosts = [lab.host(name) for name in ("one", "two", "receiver")]
        limits: dict[str, Any] = {
            "bulk_sender": "true",
            "bulk_max_size": "256MiB",
            "bulk_max_mbit": "1000",
            "bulk_max_s": "60",
        }
        *self.senders, self.receiver = [self.fleet.agent(host) for host in hosts]
        for agent in (*self.senders, self.receiver):
            self.fleet.transfer(agent, **limits)
        self.probe()

    def bucket(self, rate: int) -> int:
        """Shape to `rate` bytes/s; return the depth, bytes: what passes in 20 ms, at least ten packets."""
        depth = max(rate // 50, 10 * 1514)
        shape = ("tbf", "rate", f"{8 * rate}bit", "burst", str(depth), "latency", f"{QUEUE_MS}ms")
        self.lab.run("tc", "qdisc", "replace", "dev", self.receiver.host.port, "root", *shape)
        return depth

    def probe(self, **of_agents: Any) -> None:
        """Let the senders measure the receiver; `bulk` has the order of each agent by its key."""
        bulk = of_agents.get("bulk", {})
        one, two = self.senders
        for agent in self.senders:
            peers = [peer(self.receiver.key, self.receiver.host.address, "client")]
            agent.follow(peers, PROBE_HZ, bulk=bulk.get(agent.key, []))
        peers = [peer(agent.key, agent.host.address, "responder") for agent in (one, two)]
        self.receiver.follow(peers, PROBE_HZ, bulk=bulk.get(self.receiver.key, []))

    def run(self, size: int, cap: int | None = None, senders: int = 1) -> list[dict[str, Any]]:
        """Send `size` bytes from each of the first senders at once, capped (bytes/s); return the reported steps."""
        id, starts_ns = f"order-{time.time_ns()}", time.time_ns() + 2 * 10**9
        order = {"id": id, "secret": secrets.token_hex(32), "starts_at_ns": starts_ns}
        order["ends_at_ns"] = starts_ns + 50 * 10**9
        bulk: dict[int, list[dict[str, Any]]] = {}
        for at, agent in enumerate(self.senders[:senders]):
            step = {"index": at, "phase": 0, "port": PORT, "bytes": size, "connections": 1, "rate_bytes_per_s": cap}
            for end, other, role in ((agent, self.receiver, "sender"), (self.receiver, agent, "receiver")):
                part = step | {"role": role, "address": other.host.address}
                bulk.setdefault(end.key, [order | {"steps": []}])[0]["steps"].append(part)
        self.probe(bulk=bulk)
        ended = [self._step(agent, id) for agent in self.senders[:senders]]
        self.probe()
        return ended

    def _step(self, agent: Agent, id: str) -> dict[str, Any]:
        found: list[dict[str, Any]] = []

        def has_ended() -> bool:
            for path in self.fleet.folder.glob(f"{agent.key}-*.bulk"):
                report = json.loads(path.read_bytes())
                steps = report["steps"] if report["order_id"] == id else []
                found.extend(step for step in steps if step["elapsed_us"] or step["error"])
            return bool(found)

        wait_until("the end of a transfer", has_ended, 60)
        if found[0]["error"]:
            raise RuntimeError(f"{agent.host.name}: {found[0]['error']}")
        return found[0]


@contextmanager
def scene() -> Iterator[Scene]:
    """Yield the agents, once they measure one another."""
    with Lab() as lab:
        made = Scene(lab)
        for agent in made.senders:
            agent.await_answers([made.receiver.key])
        yield made


def run(seed: int = 1) -> None:
    """Print the figures. The order of the buckets follows `seed`."""
    with scene() as made:
        _rates(made, [RATES[at] for at in np.random.default_rng(seed).permutation(len(RATES))])
        made.bucket(SHARED)
        _sharing(made)
        _disturbance(made)


def _rates(made: Scene, rates: Sequence[int]) -> None:
    shares, of_caps = {}, {}
    for rate in rates:
        depth = made.bucket(rate)
        size = round(SECONDS * rate / _WIRE)
        (step,) = made.run(size)
        shares[rate] = 100 * (size * _WIRE - depth) / (step["elapsed_us"] / 1e6 * rate)
        cap = rate // 2
        (step,) = made.run(size // 2, cap)
        of_caps[rate] = 100 * (size // 2) / (step["elapsed_us"] / 1e6) / cap
    for name, found in (("bucket_use", shares), ("cap_use", of_caps)):
        by_rate = {str(rate): round(share, 2) for rate, share in found.items()}
        figures.report(f"bulk_sender_{name}_percent", min(found.values()), by_rate=by_rate)
    figures.report("bulk_sender_above_cap_percent", max(0.0, max(of_caps.values()) - 100))


def _sharing(made: Scene) -> None:
    indices = []
    for _ in range(REPEATS):
        size = round(SECONDS * SHARED / _WIRE / 2)
        steps = made.run(size, senders=2)
        indices.append(jain_index([size / step["elapsed_us"] for step in steps]) or 0.0)
    spread = [round(index, 4) for index in sorted(indices)]
    figures.report("bulk_sender_jain_of_two", statistics.median(indices), runs=spread)


def _disturbance(made: Scene) -> None:
    """Print the p99 of round trips while a transfer runs less that before it, in turns with and without a cap."""
    added: dict[str, list[float]] = {"capped": [], "free": []}
    quiet = []
    for _ in range(REPEATS):
        for name, cap in (("capped", SHARED // 2), ("free", None)):
            before = time.time()
            time.sleep(SECONDS + 1)
            quiet.append(_p99_ms(made, before, time.time()))
            size = round(SECONDS * (cap or SHARED))
            (step,) = made.run(size, cap)
            start_s = step["started_at_ns"] / 1e9
            added[name].append(_p99_ms(made, start_s, start_s + step["elapsed_us"] / 1e6) - quiet[-1])
    detail = {"quiet_p99_ms": round(statistics.median(quiet), 3), "bucket_mbit": SHARED * 8e-6, "queue_ms": QUEUE_MS}
    for name, values in added.items():
        turns = [round(value, 3) for value in values]
        figures.report(f"bulk_sender_{name}_p99_added_ms", statistics.median(values), turns=turns, **detail)


def _p99_ms(made: Scene, start_s: float, end_s: float) -> float:
    """Return the p99 of the first sender's round trips in the whole windows of a time, ms."""
    first, last = int(np.ceil(start_s)), int(end_s) - 1
    windows = made.senders[0].await_windows(last - first + 1, first)
    columns = [window.round_trip for window in windows if window.started_at_s <= last]
    return quantiles_ns(columns, 0.99)[0] / 1e6
