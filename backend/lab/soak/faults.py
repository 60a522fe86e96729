"""Faults of a soak. Each is injected by the id of a process that the soak started, and returns when it is over."""

import signal
import time
from collections.abc import Callable
from typing import Protocol

import httpx2
import numpy as np
import zstandard

from lab.benchmarks.storing.load import request_of
from lab.benchmarks.storing.product import World
from lab.benchmarks.storing.worlds import peers, report, window
from lab.embedded_product import EmbeddedProduct
from lab.soak.fleet import Record
from lab.soak.outages import Injected
from lab.soak.product_faults import stopped
from lab.soak.senders import Burst
from lab.soak.site import QUEUE_REPORTS, Site

STOPPED_S = 8.0
STORAGE_AWAY_S = 15.0
FULL_WITHIN_S, FILLED_TRIES = 15.0, 3
"""Longest time until the queue is full, and how often it is tried. Agents are known for five seconds."""
RECOVERED_WITHIN_S = 180.0
_WINDOW_S = 10
_HOUR_S, _DAY_S = 3600, 86_400
_PAUSE_S = 0.2
# More than the queue of the API takes at once.
_BURST = 3 * QUEUE_REPORTS


class Senders(Protocol):
    """Parts of a soak or of a bad day that faults of reports need."""

    product: EmbeddedProduct
    worlds: dict[str, World]
    burst: Record
    wrong: list[str]


def _replace(site: Site) -> None:
    """Replace API, workers and beat under load, as an upgrade does."""
    site.product.do("replace")


def _killed(name: str) -> Callable[[Site], None]:
    def kill(site: Site) -> None:
        restarts = site.product.child(name)["restarts"]
        site.product.kill(name)
        site.product.until(lambda: site.product.child(name)["restarts"] > restarts, f"{name} is started again")

    return kill


def _gateway_killed(site: Site) -> None:
    site.gateway.end(signal.SIGKILL)
    site.gateway.start()


def _database_stopped(site: Site) -> None:
    with stopped(site.product, "postgres"):
        time.sleep(STOPPED_S)


def _workers_stopped(site: Site) -> None:
    with stopped(site.product, "watcher", "notifier", "worker", "mover"):
        time.sleep(STOPPED_S)


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


def _storage_away(site: Site) -> None:
    """Stop the object storage, which the archiver of the database writes to."""
    site.storage.stop()
    time.sleep(STORAGE_AWAY_S)
    site.storage.start()


FAULTS: dict[str, Callable[[Site], None]] = {
    "replace": _replace,
    "api killed": _killed("api"),
    "clock late": clock_late,
    "worker killed": _killed("worker"),
    "valkey killed": _killed("valkey"),
    "database stopped": _database_stopped,
    "object storage away": _storage_away,
    "gateway killed": _gateway_killed,
    "database killed": _killed("postgres"),
    "queue full": queue_full,
    "workers stopped": _workers_stopped,
    "watcher killed": _killed("watcher"),
}


def inject(site: Site, fault: str, injected: list[Injected]) -> Injected:
    """Inject a fault and wait until it is over and everything works; add when that was to `injected`, and return it.

    An interrupted one is added as if it had recovered then.
    """
    began_at, over_at = time.time(), 0.0
    recovered = True
    try:
        FAULTS[fault](site)
        over_at = time.time()
        until_s = time.monotonic() + RECOVERED_WITHIN_S
        while recovered and not site.works(over_at):
            time.sleep(_PAUSE_S)
            recovered = time.monotonic() < until_s
    finally:
        now = time.time()
        injected.append(Injected(fault, began_at, over_at or now, now if recovered else None))
    return injected[-1]


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
