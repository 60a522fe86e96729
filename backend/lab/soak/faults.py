"""Faults of reports: more than the API takes at once, and windows of another time."""

import asyncio
import json
import time

import numpy as np

from lab.benchmarks.storing.worlds import peers, report, request_at, window
from lab.soak.day import QUEUE_REPORTS, Day
from lab.soak.fleet import WINDOW_S, Line
from lab.soak.product_faults import stopped
from lab.soak.senders import Burst

FULL_WITHIN_S, FILLED_TRIES = 15.0, 3
"""Longest time until the queue is full, and how often it is tried. Agents are known for five seconds."""
_HOUR_S, _DAY_S = 3600, 86_400
# More than the queue of the API takes at once.
_BURST = 3 * QUEUE_REPORTS


def queue_full(running: Day) -> None:
    """Send more reports than the queue of the API takes, while the database stands still."""
    if not any(_fill_queue(running) for _ in range(FILLED_TRIES)):
        running.wrong.append("a full queue refused no report")


def _fill_queue(running: Day) -> bool:
    """Return whether the queue refused a report. On a busy machine the API forgets the agents before it is full."""
    keys = running.worlds["burst"].vm_keys
    newest_s = int(time.time()) // WINDOW_S * WINDOW_S - _HOUR_S - WINDOW_S * len(running.burst.acknowledged)
    windows = [(i % len(keys), newest_s - WINDOW_S * (i // len(keys))) for i in range(len(keys) + _BURST)]
    requests = [((keys[vm], start), _request(running, vm, start)) for vm, start in windows]
    # The API has to know the agents: it asks the database for others, and their reports wait before the queue.
    with Burst(running.product.port, dict(requests[: len(keys)]), running.burst):
        pass
    with (
        Burst(running.product.port, dict(requests[len(keys) :]), running.burst) as sending,
        stopped(running.product, "postgres"),
    ):
        return sending.wait_for_refusal(FULL_WITHIN_S)


def clock_late(running: Day) -> None:
    """Report windows of an hour ahead, two hours ago and two months ago; the first and the last are refused."""
    world, now_s = running.worlds["burst"], int(time.time()) // WINDOW_S * WINDOW_S
    late = now_s - 2 * _HOUR_S - WINDOW_S * len(running.burst.acknowledged)
    expected = {now_s + _HOUR_S: "422 window_in_future", late: "204", now_s - 60 * _DAY_S: "422 window_too_old"}
    for start, right in expected.items():
        seen = _answer(running, 0, start)
        if seen != right:
            running.wrong.append(f"a window from {start - now_s} s: {seen} instead of {right}")
        elif seen == "204":
            running.burst.acknowledged[world.vm_keys[0], start] = time.time()


def _request(running: Day, vm: int, start: int) -> bytes:
    """Return the report of a window of a VM of the mesh for faults, as the bytes of an HTTP request."""
    world = running.worlds["burst"]
    keys = world.vm_keys
    message = report(window(np.random.default_rng(vm), keys[vm], peers(keys, vm)[:4]), world.mesh_key)
    return request_at(world.credentials[vm], message, start)


def _answer(running: Day, vm: int, start: int) -> str:
    """Send a report once; return status and problem code."""

    async def asked() -> tuple[int, bytes]:
        line = Line(running.product.port)
        answer = await line.ask(_request(running, vm, start))
        line.close()
        return answer

    status, body = asyncio.run(asked())
    return str(status) if status < 400 else f"{status} {json.loads(body).get('code')}"
