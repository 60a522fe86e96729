"""Faults of reports: more than the API takes at once, and windows of another time."""

import time
from typing import Protocol

import httpx2
import numpy as np
import zstandard

from lab.benchmarks.storing.load import request_of
from lab.benchmarks.storing.product import World
from lab.benchmarks.storing.worlds import peers, report, window
from lab.embedded_product import EmbeddedProduct
from lab.soak.fleet import Record
from lab.soak.product_faults import stopped
from lab.soak.senders import Burst

QUEUE_REPORTS = 100
"""Size of the API's queue of reports. The default of 2,000 takes as many connections to fill."""
FULL_WITHIN_S, FILLED_TRIES = 15.0, 3
"""Longest time until the queue is full, and how often it is tried. Agents are known for five seconds."""
_WINDOW_S = 10
_HOUR_S, _DAY_S = 3600, 86_400
# More than the queue of the API takes at once.
_BURST = 3 * QUEUE_REPORTS


class Senders(Protocol):
    """Parts of a day that faults of reports need."""

    product: EmbeddedProduct
    worlds: dict[str, World]
    burst: Record
    wrong: list[str]


def queue_full(site: Senders) -> None:
    """Send more reports than the queue of the API takes, while the database stands still."""
    if not any(_fill_queue(site) for _ in range(FILLED_TRIES)):
        site.wrong.append("a full queue refused no report")


def _fill_queue(site: Senders) -> bool:
    """Return whether the queue refused a report. On a busy machine the API forgets the agents before it is full."""
    keys = site.worlds["burst"].vm_keys
    newest_s = int(time.time()) // _WINDOW_S * _WINDOW_S - _HOUR_S - _WINDOW_S * len(site.burst.acknowledged)
    windows = [(i % len(keys), newest_s - _WINDOW_S * (i // len(keys))) for i in range(len(keys) + _BURST)]
    requests = [((keys[vm], start), _request(site, vm, start)) for vm, start in windows]
    # The API has to know the agents: it asks the database for others, and their reports wait before the queue.
    with Burst(site.product.port, dict(requests[: len(keys)]), site.burst):
        pass
    with (
        Burst(site.product.port, dict(requests[len(keys) :]), site.burst) as sending,
        stopped(site.product, "postgres"),
    ):
        return sending.wait_for_refusal(FULL_WITHIN_S)


def clock_late(site: Senders) -> None:
    """Report windows of an hour ahead, two hours ago and two months ago; the first and the last are refused."""
    world, now_s = site.worlds["burst"], int(time.time()) // _WINDOW_S * _WINDOW_S
    late = now_s - 2 * _HOUR_S - _WINDOW_S * len(site.burst.acknowledged)
    expected = {now_s + _HOUR_S: "422 window_in_future", late: "204", now_s - 60 * _DAY_S: "422 window_too_old"}
    for start, right in expected.items():
        seen = _answer(site, 0, start)
        if seen != right:
            site.wrong.append(f"a window from {start - now_s} s: {seen} instead of {right}")
        elif seen == "204":
            site.burst.acknowledged[world.vm_keys[0], start] = time.time()


def _report(site: Senders, vm: int, start: int) -> bytes:
    """Return the compressed report of a window of a VM of the mesh for faults."""
    world = site.worlds["burst"]
    keys = world.vm_keys
    message = report(window(np.random.default_rng(vm), keys[vm], peers(keys, vm)[:4]), world.mesh_key)
    message.windows[0].started_at_s = start
    return zstandard.ZstdCompressor(level=1).compress(message.SerializeToString())


def _request(site: Senders, vm: int, start: int) -> bytes:
    return request_of(site.worlds["burst"].credentials[vm], _report(site, vm, start))


def _answer(site: Senders, vm: int, start: int) -> str:
    """Send a report once; return status and problem code."""
    headers = {
        "Authorization": f"Bearer {site.worlds['burst'].credentials[vm]}",
        "Content-Type": "application/x-protobuf",
        "Content-Encoding": "zstd",
    }
    url = f"{site.product.address}/v1/agents/self/reports"
    answer = httpx2.post(url, content=_report(site, vm, start), headers=headers, timeout=30, trust_env=False)
    return str(answer.status_code) if answer.is_success else f"{answer.status_code} {answer.json().get('code')}"
